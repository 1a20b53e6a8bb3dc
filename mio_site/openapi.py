"""Adds to the description of the API the errors of each operation, and examples, which ``python -m
tools api_examples`` records."""

import json
import tomllib
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

from accounts.api import MAX_EXTERNAL_ID
from accounts.errors import CODES
from accounts.fields import NOT_BLANK, TEXT, Strict

EXAMPLES = Path(__file__).with_name("api_examples.json")
JSON = "application/json"
# Which errors each operation may answer with.
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

USER = {
    "type": "string",
    "maxLength": MAX_EXTERNAL_ID,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f\ufffd]+$",
}

_GENERATING = Lock()


class RequestForm(OpenApiSerializerExtension):
    """Describes a request: no other fields are allowed, and each field states what it accepts."""

    target_class = Strict
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        described = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        if not self.target.fields:
            return described
        for name, field in self.target.fields.items():
            _narrow(described["properties"][name], field)
        return {**described, "additionalProperties": False, **self.target.described}


def _narrow(described: dict[str, Any], field: serializers.Field) -> None:
    """Adds the restrictions of a field that drf-spectacular does not describe."""
    described.update(getattr(field, "described", {}))
    if isinstance(field, serializers.ListField):
        _narrow(described["items"], field.child)
    elif isinstance(field, serializers.DictField):
        _narrow(described["additionalProperties"], field.child)
    elif isinstance(field, serializers.CharField) and "pattern" not in described:
        described["pattern"] = TEXT if field.allow_blank else NOT_BLANK


class OneSchema(SchemaGenerator):
    """Generates the schema once per process: two generations at once break each other's registries."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:  # noqa: ARG002
        with _GENERATING:
            return _generated()


@cache
def _generated() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


def complete(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: returns the schema with errors and examples of its operations."""
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            for part in operation.get("parameters", ()):
                if part["in"] == "path" and part["name"] == "user":
                    part["schema"] = USER
                elif part["in"] == "path" and part["schema"]["type"] == "integer":
                    part["schema"]["minimum"] = 0
            form = operation["responses"].pop("4XX", {}).get("content", {}).get(JSON)
            if form:
                _name_errors(path, method, operation, form["schema"])
                _give_examples(operation)
    return result


def codes_of(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    """Returns the codes with which an operation may be refused or fail."""
    name = operation["operationId"]
    parts = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"]
    codes = [*TABLE["common"], *(TABLE["parts"][part] for part in parts if part in TABLE["parts"])]
    if any(one["in"] == "query" for one in operation.get("parameters", ())):
        codes.append("invalid")
    if "{user}" in path and name not in TABLE["makes_user"]:
        codes.append("unknown_user")
    if "requestBody" in operation:
        codes += TABLE["with_body"]
    if method != "get":
        codes += ["busy"] if name in TABLE["no_conflict"] else ["busy", "conflict"]
    return list(dict.fromkeys([*codes, *TABLE["extra"].get(name, ())]))


def _name_errors(path: str, method: str, operation: dict[str, Any], schema: Any) -> None:
    by_status: dict[int, list[str]] = {}
    for code in codes_of(path, method, operation):
        by_status.setdefault(CODES[code][0], []).append(code)
    for status, codes in sorted(by_status.items()):
        examples = {
            code: {"value": {"error": {"code": code, "message": CODES[code][1]}}} for code in codes
        }
        operation["responses"][str(status)] = {
            "description": " ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
            "content": {JSON: {"schema": schema, "examples": examples}},
        }


def _give_examples(operation: dict[str, Any]) -> None:
    example = _examples().get(operation["operationId"], {})
    if "request" in example and "requestBody" in operation:
        operation["requestBody"]["content"][JSON]["example"] = example["request"]
    answer = operation["responses"].get(str(example.get("status")), {})
    if JSON in answer.get("content", {}):
        answer["content"][JSON]["example"] = example["response"]


@cache
def _examples() -> dict[str, Any]:
    return json.loads(EXAMPLES.read_text(encoding="utf-8")) if EXAMPLES.exists() else {}
