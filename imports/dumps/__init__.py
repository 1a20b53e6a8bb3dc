"""Files of people and memories instead of chats, one module each: ``sniff(head)`` says how likely
a text is of it, ``read(source, me)`` reads all of it: ``me`` is who of its ``owners`` is the user,
"" nobody of them, None while nobody has said so. It raises NotReadable."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from imports.dumps import book_file, mem0, memory_graph
from imports.formats import FORMATS, TITLES
from imports.source import Source, decoded, parts
from imports.types import Dump, NotReadable

DUMPS: tuple[ModuleType, ...] = (book_file, mem0, memory_graph)
LEAST = 0.5  # of a text that is taken for a format


def read(path: Path, me: str | None, name: str = "") -> Dump | None:
    """The people and memories of a file; None where it holds a chat. Raises NotReadable."""
    form, sources = recognised(parts(path, name=name))
    if form not in DUMPS:
        return None
    dump: Dump = form.read(sources[0], me)
    return dump


def recognised(sources: Sequence[Source]) -> tuple[ModuleType, list[Source]]:
    """The module for the parts of a file, and those parts that are of its format. Raises
    NotReadable."""
    by_format: dict[ModuleType, list[Source]] = {}
    for source in sources:
        head = decoded(source.head())
        form = next((one for one in DUMPS if one.sniff(head) >= LEAST), None)
        form = form or max(FORMATS, key=lambda one: one.sniff(head))
        if form.sniff(head) >= LEAST:
            by_format.setdefault(form, []).append(source)
    if not by_format:
        raise NotReadable("chat_unknown", formats=", ".join(TITLES.values()))
    [form, *others] = by_format
    if others or (form in DUMPS and len(by_format[form]) > 1):
        names = [TITLES[one.NAME] for one in by_format if one in FORMATS] or TITLES.values()
        raise NotReadable("chat_several_kinds", formats=", ".join(names))
    return form, by_format[form]
