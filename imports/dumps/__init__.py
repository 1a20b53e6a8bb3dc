"""Files of people and memories instead of chats, one module each: ``sniff(head)`` says how likely
a text is of it (0 to 1), ``read(source, me)`` reads all of it: ``me`` is who of its ``owners`` is
the user, "" nobody of them, None while nobody has said so. It raises NotReadable."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from imports.dumps import book_file, mem0, memory_graph
from imports.formats import FORMATS, LEAST, TITLES
from imports.source import Source, decoded, parts
from imports.types import Dump, NotReadable


class DumpFormat(Protocol):
    def sniff(self, head: str) -> float: ...

    def read(self, source: Source, me: str | None) -> Dump: ...


DUMPS: tuple[DumpFormat, ...] = (book_file, mem0, memory_graph)


def read(path: Path, me: str | None, name: str = "") -> Dump | None:
    """The people and memories of a file; None where it holds none but perhaps a chat. Raises
    NotReadable."""
    recognised = _recognised(parts(path, name=name))
    if recognised is None:
        return None
    form, source = recognised
    return form.read(source, me)


def _recognised(sources: Sequence[Source]) -> tuple[DumpFormat, Source] | None:
    """The format and the part that is of it. Raises NotReadable where there are several."""
    matches: list[tuple[DumpFormat, Source]] = []
    chats = 0
    for source in sources:
        head = decoded(source.head())
        form = next((one for one in DUMPS if one.sniff(head) >= LEAST), None)
        if form is not None:
            matches.append((form, source))
        else:
            chats += max(one.sniff(head) for one in FORMATS) >= LEAST
    if len(matches) > 1 or (matches and chats):
        raise NotReadable("chat_several_kinds", formats=", ".join(TITLES.values()))
    return matches[0] if matches else None
