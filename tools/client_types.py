"""python -m tools client_types: writes the types of the Python client from the API's description."""

import keyword
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from mio_site.openapi import OneSchema

FILE = Path(__file__).resolve().parent.parent / "clients/python/mio_client/types.py"
HEAD = '''"""What the API takes and answers with. Written by ``python -m tools client_types --write``."""

from datetime import datetime
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

'''
PLAIN = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}
PAGE = {"count", "next", "results"}
Schema = Mapping[str, Any]


class Command(BaseCommand):
    help = "Checks that the types of the Python client are those of the API; --write renews them."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--write", action="store_true", help="write clients/python/…/types.py")

    def handle(self, *, write: bool, **_options: Any) -> None:
        source = client_types()
        if write:
            FILE.write_text(source, encoding="utf-8")
        elif FILE.read_text(encoding="utf-8") != source:
            raise CommandError("Not the API's any more: python -m tools client_types --write")


def client_types() -> str:
    """The source of the module, formatted: a TypedDict for each component of the description
    and for the query of each operation. What an answer holds is always there."""
    schema = OneSchema().get_schema()
    parts = schema["components"]["schemas"]
    asked = _asked(schema)
    blocks = [_page()]
    blocks += [_component(name, parts[name], name in asked) for name in _ordered(parts)]
    blocks += [_query(operation) for operation in operations(schema).values()]
    source = HEAD + "\n\n".join(filter(None, blocks))
    formatted = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FILE), "-"],
        input=source, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return formatted.stdout


def operations(schema: Schema) -> dict[tuple[str, str], dict[str, Any]]:
    """The operations of a description by method and address."""
    return {
        (method.upper(), path): operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }


def query_name(operation: Schema) -> str:
    """What the type of an operation's query is called."""
    return "".join(part.title() for part in operation["operationId"].split("_")) + "Query"


def _asked(schema: Schema) -> set[str]:
    """The components that requests hold, at any depth."""
    parts = schema["components"]["schemas"]
    found: set[str] = set()
    waiting = [
        name for one in operations(schema).values() for name in _named(one.get("requestBody"))
    ]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _named(parts[name])
    return found


def _named(part: Any) -> Iterator[str]:
    """The components that a part of the description refers to."""
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].rsplit("/", 1)[-1]
        for value in part.values():
            yield from _named(value)
    elif isinstance(part, list):
        for value in part:
            yield from _named(value)


def _ordered(parts: Schema) -> list[str]:
    """The components, each after those that it refers to."""
    done: list[str] = []

    def visit(name: str) -> None:
        for other in _named(parts[name]):
            visit(other)
        if name not in done:
            done.append(name)

    for name in sorted(parts):
        visit(name)
    return done


def _page() -> str:
    return "class Page(TypedDict, Generic[T]):\n    count: int\n    next: str | None\n    results: list[T]\n"


def _component(name: str, part: Schema, in_request: bool) -> str:
    if "properties" not in part:
        return f"{name} = {_type(part, in_request).replace('None', 'Literal[None]')}"
    fields = part["properties"]
    if fields.keys() == PAGE:
        return f"{name} = Page[{_type(fields['results']['items'], in_request)}]"
    required = set(part.get("required", ())) if in_request else fields.keys()
    return _typed_dict(name, {key: _type(one, in_request) for key, one in fields.items()}, required)


def _query(operation: Schema) -> str:
    given = [one for one in operation.get("parameters", ()) if one["in"] == "query"]
    if not given:
        return ""
    fields = {one["name"]: _type(one["schema"], True) for one in given}
    if "metadata" in fields:  # a JSON object, which the client encodes
        fields["metadata"] = "dict[str, Any]"
    required = {one["name"] for one in given if one.get("required")}
    return _typed_dict(query_name(operation), fields, required)


def _typed_dict(name: str, fields: Mapping[str, str], required: Any) -> str:
    # A word of Python's own gets the underscore that the client takes away.
    lines = [
        f"    {key}_: {kind}" if keyword.iskeyword(key) else f"    {key}: {kind}"
        for key, kind in (
            (key, kind if key in required else f"NotRequired[{kind}]")
            for key, kind in fields.items()
        )
    ]
    return f"class {name}(TypedDict):\n" + "\n".join(lines) + "\n"


def _type(part: Schema, in_request: bool) -> str:
    if "$ref" in part:
        return str(part["$ref"].rsplit("/", 1)[-1])
    for key in ("oneOf", "anyOf", "allOf"):
        if key in part:
            return " | ".join(dict.fromkeys(_type(one, in_request) for one in part[key]))
    if "enum" in part:
        return f"Literal[{', '.join(repr(value) for value in part['enum'])}]"
    kinds = part.get("type", "object")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " | ".join(_plain(kind, part, in_request) for kind in kinds)


def _plain(kind: str, part: Schema, in_request: bool) -> str:
    if kind == "array":
        return f"list[{_type(part['items'], in_request)}]"
    if kind == "object" and isinstance(part.get("additionalProperties"), Mapping):
        values = part["additionalProperties"]
        return f"dict[str, {_type(values, in_request) if values else 'Any'}]"
    if kind == "string" and part.get("format") == "date-time" and in_request:
        return "str | datetime"
    return PLAIN[kind]
