"""Requests made up after the description of the API: none that it allows is refused as wrong."""

import json
import random
from collections import Counter
from itertools import islice
from typing import Any

import pytest

from mio_site import openapi
from tests.api import ApiClient
from tests.factories import make_contact, make_end_user, make_memory
from tests.servers import FakeOpenAI
from tools.fuzz_api import USERS, MadeUp, refused

EACH = 2  # allowed requests of each endpoint that takes a query or a body
TRIED = 300  # are made up, where few are allowed


@pytest.mark.django_db
def test_what_the_description_allows_is_not_refused_as_wrong(settings: Any) -> None:
    with FakeOpenAI() as server:  # the local model would cost more than all else
        settings.MIO_EMBEDDINGS, settings.MIO_EMBEDDING_MODEL = "openai", "embed"
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-test", server.base_url
        sent, wrong = _sent(ApiClient())
    assert wrong == []
    assert {name for name, many in sent.items() if many < EACH} == set()


def _takes_values(operation: tuple[str, str, Any]) -> bool:
    asked = operation[2].get("parameters", ())
    return "requestBody" in operation[2] or any(one["in"] == "query" for one in asked)


def _sent(client: ApiClient) -> tuple[Counter[str], list[str]]:
    zoe = make_end_user(app=client.app, external_id=USERS[0])
    ids = [str(make_contact(zoe, "Kim").pk), str(make_memory(zoe, "Kim sings.").pk)]
    made_up, chance = MadeUp(openapi.OneSchema().get_schema()), random.Random(32)
    sent, wrong = Counter[str](), list[str]()
    for operation in filter(_takes_values, made_up.operations):
        tried = (made_up.request_of(*operation, chance, ids) for _ in range(TRIED))
        for asked in islice((one for one in tried if one.allowed), EACH):
            sent[asked.name] += 1
            code, answer = client.call(asked.method, asked.address, asked.body)
            assert code != 500
            if refused(asked, code, json.dumps(answer)):
                wrong.append(f"{asked.name} {asked.address} {asked.body}: {answer['error']}")
    return sent, wrong
