"""The description of the API is OpenAPI 3.1: each operation has a sentence, an example that fits it,
and the errors by name."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from accounts.errors import CODES
from mio_site import openapi

ROOT = Path(__file__).resolve().parents[2]
JSON = "application/json"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return openapi.OneSchema().get_schema()


def operations(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for path in schema["paths"].values()
        for operation in path.values()
    }


def test_however_many_ask_at_once_it_is_generated_once() -> None:
    openapi._generated.cache_clear()
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(openapi.OneSchema().get_schema) for _ in range(4)]
    first, *others = [one.result() for one in asked]
    assert all(other is first for other in others)


def test_it_is_openapi_3_1(schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1")
    validate(schema)


def test_each_operation_has_a_sentence_named_errors_and_an_example_that_fits(
    schema: dict[str, Any],
) -> None:
    lacking, wrong = [], []
    for name, operation in operations(schema).items():
        answers = operation["responses"]
        codes = {code for status in answers for code in _errors(answers[status])}
        if not operation.get("summary") or not codes >= {"authentication_failed", "throttled"}:
            lacking.append(name)
        parts = [part["content"][JSON] for part in answers.values() if JSON in part["content"]]
        given = [part for part in parts if "example" in part]
        if "requestBody" in operation:
            asked = operation["requestBody"]["content"][JSON]
            given.append(asked)
        kept = answers.get("200", {}).get("content", {})
        given += [{**part, "example": one["value"]} for kind, part in kept.items() if kind != JSON
                  for one in part.get("examples", {}).values()]  # fmt: skip
        if not given or any("example" not in part for part in given):
            lacking.append(f"{name}: no example")
        for part in given:
            check = Draft202012Validator({**part["schema"], "components": schema["components"]})
            wrong += [f"{name}: {e.json_path} {e.message[:80]}"
                      for e in check.iter_errors(part.get("example"))]  # fmt: skip
    assert lacking == []
    assert wrong == []


def _errors(answer: dict[str, Any]) -> dict[str, Any]:
    return answer.get("content", {}).get(JSON, {}).get("examples", {})


def test_every_code_that_a_view_refuses_with_is_in_the_table_and_in_the_docs() -> None:
    given = re.compile(r'ApiError\(\s*\d{3},\s*"(\w+)"|conflict\(\s*[^()]*(?:\(.*?\))?, "(\w+)"')
    raised = {
        one or other
        for package in ("accounts", "contacts", "memories")
        for file in (ROOT / package).rglob("*.py")
        for one, other in given.findall(file.read_text(encoding="utf-8"))
    }
    assert {"timeout", "name_taken", "later_changes", "too_many_wait"} <= raised
    assert raised - CODES.keys() == set()
    told = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"`{code}`" not in told] == []
