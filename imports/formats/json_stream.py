"""Reads the objects of a large JSON document, or of lines of JSON, one at a time."""

import io
import json
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any

import ijson

from accounts.reasons import Reason
from imports.formats.text_lines import numbered_lines
from imports.source import Source
from imports.types import NotReadable

_SCALARS = ("string", "number", "boolean", "null")


def objects(
    source: Source, at: str, beside: Collection[str] = ()
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields each object at the path ``at`` (an empty dict for a scalar), with the scalars that
    were read before it at the paths of ``beside`` (with dots; ``item`` is that of a list), up to
    where the file is damaged. Raises NotReadable if no object precedes the damage."""
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
                elif path == at and event in _SCALARS:
                    yield scalars, {}
                elif path == at and event == "start_map":
                    builder = ijson.ObjectBuilder()
                    builder.event(event, value)
                elif event == "start_map":
                    scalars = {k: v for k, v in scalars.items() if not k.startswith(f"{path}.")}
                elif path in beside and event in _SCALARS:
                    scalars[path] = value
    except (ijson.JSONError, UnicodeError, RecursionError) as error:
        if not read:
            raise NotReadable("chat_damaged", name=source.name) from error
        source.skipped.add(Reason("chat_cut_off", name=source.name))


def root(source: Source) -> str:
    """Returns the path of the conversations in a document: a list of them, one with a list, or one."""
    at = first_object(source.head())
    return at if at in ("item", "conversations.item") else ""


def first_object(head: bytes) -> str:
    """Returns the path of the first object within a document that begins with ``head``; "" for none."""
    try:
        for path, event, _ in ijson.parse(io.BytesIO(head.removeprefix(b"\xef\xbb\xbf"))):
            if path and event == "start_map":
                return str(path)
    except (ijson.JSONError, UnicodeError, RecursionError):
        pass
    return ""


def json_lines(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields the object in each line, after the line's number; other lines are skipped."""
    for number, line in numbered_lines(source):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield number, row
        else:
            source.skipped.add(Reason("chat_damaged_line", name=source.name, number=number))


def without_mark(stream: Any) -> Any:
    """Returns the stream, past its byte order mark."""
    head = stream.peek(3)[:3]
    if head == b"\xef\xbb\xbf":
        stream.read(3)
    return stream


def text_of(value: Any) -> str:
    """Returns a string as it is, "" for any other value."""
    return value if isinstance(value, str) else ""


def moment(value: Any) -> datetime | None:
    """Reads a time: seconds or milliseconds since 1970 as a number or text, or ISO 8601; else None."""
    try:
        if isinstance(value, str) and not value.strip().replace(".", "", 1).isdigit():
            return datetime.fromisoformat(value.strip())
        seconds = float(value)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
