"""What the description of the API says besides what the views do: the errors of each operation by
name, and examples, which ``python -m tools api_examples`` records from real calls."""

import json
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
COMMON_CODES = ("not_authenticated", "authentication_failed", "key_of_one_user", "not_acceptable", "throttled", "internal",
       "no_database")  # fmt: skip
BODY_CODES = ("invalid", "parse_error", "too_large", "unsupported_media_type", "busy")
# The code of a part of the address that names nothing.
CODES_OF_PARTS = {
    "user": "invalid_user",
    "contact_id": "unknown_contact",
    "memory_id": "unknown_memory",
    "message_id": "unknown_message",
    "change_id": "unknown_change",
    "edge_id": "unknown_edge",
    "erasure_id": "unknown_forgetting",
    "relation_id": "unknown_relation",
    "suggestion_id": "unknown_suggestion",
    "job_id": "unknown_job",
    "date_id": "unknown_date",
    "webhook_id": "unknown_webhook",
    "delivery_id": "unknown_delivery",
}
# Operations that create the user, or return nothing for an unknown one.
MAKES_USER = {"address_book_create", "messages_create", "contacts_create", "contacts_bulk_create", "memories_create",
             "users_update", "context_create", "search_create"}  # fmt: skip
NO_CONFLICT = {"context_create", "search_create", "process_create", "messages_create",
               "v1_app_partial_update", "users_update", "forget_create"}  # fmt: skip
EXTRA_CODES = {
    "contacts_create": ["name_taken"],
    "contacts_bulk_create": ["name_taken"],
    "contacts_update": ["name_taken"],
    "changes_undo": ["cannot_undo", "later_changes"],
    "process_create": ["too_many_wait", "postponed", "timeout"],
    "forget_create": ["not_found"],
    "memories_links_destroy": ["unknown_link"],
    "dates_list": ["unknown_contact"],
    "relations_list": ["unknown_contact"],
    "suggestions_list": ["unknown_contact"],
}


USER = {
    "type": "string",
    "maxLength": MAX_EXTERNAL_ID,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f\ufffd]+$",
}

_GENERATING = Lock()


class RequestForm(OpenApiSerializerExtension):
    """Describes a request: no other fields are allowed, and each says what it accepts."""

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
    """Generates once in a process: it says the same to everybody, and two generations at once
    break each other's registries."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:  # noqa: ARG002
        with _GENERATING:
            return _generated()


@cache
def _generated() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


def complete(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: the schema with the errors and examples of its operations."""
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            for asked in operation.get("parameters", ()):
                if asked["in"] == "path":
                    asked["schema"] = _part(asked["name"], asked["schema"])
            form = operation["responses"].pop("4XX", {}).get("content", {}).get(JSON)
            if form:
                _name_errors(path, method, operation, form["schema"])
                _give_examples(operation)
    return result


def _part(name: str, described: dict[str, Any]) -> dict[str, Any]:
    """A part of an address."""
    if name == "user":
        return USER
    return {**described, "minimum": 0} if described["type"] == "integer" else described


def codes_of(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    """The codes that an operation may refuse or fail with."""
    name = operation["operationId"]
    parts = [asked for asked in operation.get("parameters", ()) if asked["in"] == "path"]
    codes = [
        *COMMON_CODES,
        *(CODES_OF_PARTS[asked["name"]] for asked in parts if asked["name"] in CODES_OF_PARTS),
    ]
    if any(asked["in"] == "query" for asked in operation.get("parameters", ())):
        codes.append("invalid")
    if "{user}" in path and name not in MAKES_USER:
        codes.append("unknown_user")
    if "requestBody" in operation:
        codes += BODY_CODES
    if method != "get":
        codes += ["busy"] if name in NO_CONFLICT else ["busy", "conflict"]
    return list(dict.fromkeys([*codes, *EXTRA_CODES.get(name, ())]))


def _name_errors(path: str, method: str, operation: dict[str, Any], schema: Any) -> None:
    by_status: dict[int, list[str]] = {}
    for code in codes_of(path, method, operation):
        by_status.setdefault(CODES[code][0], []).append(code)
    for status, codes in sorted(by_status.items()):
        bodies = {code: {"error": {"code": code, "message": CODES[code][1]}} for code in codes}
        operation["responses"][str(status)] = {
            "description": " ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
            "content": {
                JSON: {
                    "schema": schema,
                    "examples": {code: {"value": value} for code, value in bodies.items()},
                }
            },
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
