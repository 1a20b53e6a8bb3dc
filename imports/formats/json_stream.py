"""Objects of a large JSON document, one at a time."""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any

import ijson

from accounts.reasons import Reason
from imports.source import Source
from imports.types import NotReadable

_HOLDS_LIST = re.compile(rb'\{[^\[{]{0,2000}"conversations"\s*:\s*\[\s*\{')


def objects(
    source: Source, at: str, beside: Collection[str] = ()
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each object at the path ``at``, with the scalars that were read before it at the paths of
    ``beside`` (in dots; ``item`` is that of a list), up to where the file is damaged. Raises
    NotReadable where nothing is before that."""
    scalars: dict[str, Any] = {}
    builder: Any = None
    read = 0
    try:
        with source.open() as stream:
            for path, event, value in ijson.parse(without_mark(stream), use_float=True):
                if builder is not None:
                    builder.event(event, value)
                    if path == at and event == "end_map":
                        read += 1
                        yield scalars, builder.value
                        builder = None
                elif path == at and event == "start_map":
                    builder = ijson.ObjectBuilder()
                    builder.event(event, value)
                elif event == "start_map":
                    for key in [key for key in scalars if key.startswith(f"{path}.")]:
                        del scalars[key]
                elif path in beside and event in ("string", "number", "boolean"):
                    scalars[path] = value
    except (ijson.JSONError, UnicodeError, RecursionError) as error:
        if not read:
            raise NotReadable("chat_damaged", name=source.name) from error
        source.skipped.add(Reason("chat_cut_off", name=source.name))


def root(source: Source) -> str:
    """The path of the conversations in a document that is a list of them, holds one, or is one."""
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"[":
        return "item"
    return "conversations.item" if _HOLDS_LIST.match(head) else ""


def without_mark(stream: Any) -> Any:
    """The stream behind its byte order mark."""
    head = stream.peek(3)[:3] if hasattr(stream, "peek") else b""
    if head == b"\xef\xbb\xbf":
        stream.read(3)
    return stream


def text_of(value: Any) -> str:
    """A string, or nothing."""
    return value if isinstance(value, str) else ""


def moment(value: Any) -> datetime | None:
    """A time in seconds since 1970, as a number or a text, or in ISO 8601."""
    try:
        if isinstance(value, str) and not value.strip().replace(".", "", 1).isdigit():
            return datetime.fromisoformat(value.strip())
        seconds = float(value)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
