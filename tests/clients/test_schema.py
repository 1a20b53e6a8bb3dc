"""The Python client has every operation, field and answer of the API's description, and no other."""

import ast
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from mio_client import types as client_types
from mio_client.methods import Methods, Operation

from mio_site import openapi
from tests.clients.answers import differences, is_union
from tools import client_types as written

PACKAGE = Path(written.FILE).parent
JSON = "application/json"
# What each module of an adapter may import besides the client and the standard library.
EXTRAS = {
    "client": {"httpx"},
    "langgraph": {"langgraph"},
    "langchain": {"langchain_core", "pydantic"},
    "agents": {"agents"},
    "llama_index": {"llama_index"},
    "pydantic_ai": {"pydantic_ai"},
}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return openapi.OneSchema().get_schema()


@pytest.fixture(scope="module")
def described(schema: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {key: one for key, one in written.operations(schema).items() if "/api/v1/" in key[1]}


def rows() -> dict[tuple[str, str], Operation[Any, Any]]:
    found = [one for one in vars(Methods).values() if isinstance(one, Operation)]
    return {(one.method, one.path): one for one in found}


def test_its_types_are_those_of_the_api() -> None:
    same = written.FILE.read_text(encoding="utf-8") == written.client_types()
    assert same, "the API changed: python -m tools client_types --write"


def test_each_operation_is_one_row_and_each_row_an_operation(described: Any) -> None:
    held = rows()
    assert len(held) == sum(isinstance(one, Operation) for one in vars(Methods).values())
    assert described.keys() - held.keys() == set(), "add a row to mio_client/methods.py"
    assert held.keys() - described.keys() == set(), "the API has no such operation"


def test_each_row_has_the_parameters_fields_and_answers_of_its_operation(described: Any) -> None:
    for key, operation in described.items():
        row, given = rows()[key], operation.get("parameters", [])
        in_path = {one["name"] for one in given if one["in"] == "path"}
        assert {f"{{{part}}}" for part in row.parts} == {f"{{{part}}}" for part in in_path}, key
        assert [row.path.index(f"{{{part}}}") for part in row.parts] == sorted(
            row.path.index(f"{{{part}}}") for part in row.parts
        ), key
        assert row.form is _form(operation), key
        answers = [one for status, one in operation["responses"].items() if status < "3"]
        assert _answers(row.answer) == _components(answers), key


def _form(operation: dict[str, Any]) -> Any:
    """The type of what may be sent: the body, or the query, never both."""
    if any(one["in"] == "query" for one in operation.get("parameters", [])):
        assert "requestBody" not in operation
        return getattr(client_types, written.query_name(operation))
    return _component(operation["requestBody"]) if "requestBody" in operation else None


def _component(part: dict[str, Any]) -> Any:
    if JSON not in part["content"]:
        return str  # a file
    of = part["content"][JSON]["schema"]
    return getattr(client_types, of["$ref"].rsplit("/", 1)[-1]) if "$ref" in of else dict[str, Any]


def _components(answers: list[dict[str, Any]]) -> list[Any]:
    return list({str(_component(one)): _component(one) for one in answers}.values())


def _answers(annotation: Any) -> list[Any]:
    return list(get_args(annotation)) if is_union(annotation) else [annotation]


def test_no_recorded_answer_holds_what_its_type_does_not_name(described: Any) -> None:
    odd = [
        f"{key}: {problem}"
        for key, operation in described.items()
        for status, answer in operation["responses"].items()
        if status < "3" and "example" in answer["content"].get(JSON, {})
        for problem in differences(answer["content"][JSON]["example"], _component(answer))
        if problem.startswith("+")
    ]
    assert odd == []


def test_it_needs_nothing_but_httpx_and_an_adapter_its_framework() -> None:
    for path in PACKAGE.glob("*.py"):
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = {
            alias.name
            if isinstance(node, ast.Import)
            else str(node.module)
            for node in tree
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }  # fmt: skip
        imported = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
        assert imported - {"mio_client"} <= EXTRAS.get(path.stem, set()), path.name
