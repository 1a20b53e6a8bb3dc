"""check_model: five samples read by a real server of the protocol, graded in words."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from memories.providers.model_check import samples
from tests.servers import FakeOpenAI, Request

pytestmark = pytest.mark.django_db


def checked(*args: str) -> tuple[dict[str, Any], bool]:
    """What the command reports, and whether it calls the model good enough."""
    out = StringIO()
    try:
        call_command("check_model", "--json", *args, stdout=out)
    except CommandError:
        return json.loads(out.getvalue().splitlines()[-1]), False
    return json.loads(out.getvalue().splitlines()[-1]), True


def person(ref: str, name: str, relationship: str = "") -> dict[str, Any]:
    return {"id": ref, "name": name, "aliases": [], "relationship": relationship, "gender": ""}


def memory(content: str, ref: str) -> dict[str, Any]:
    return {"content": content, "people": [ref], "turns": [1]}


RIGHT = {
    "林岚": ([person("n1", "林岚", "同事")], [memory("林岚下个月调去成都分公司", "n1")]),
    "Hollis": (
        [],
        [memory("Dana passed her bar exam", "p1"), memory("Dana starts at Hollis & Grey", "p1")],
    ),
    "tagliatelle": ([], []),
    "Theo": ([person("n1", "Theo", "dad")], [memory("Theo had his knee operated on", "n1")]),
    "张伟": (
        [person("n1", "张伟", "中介"), person("n2", "张伟", "同事")],
        [memory("中介张伟推荐了一套滨江的房子", "n1")],
    ),
}


def well(request: Request) -> Any:
    text = json.dumps(request.data, ensure_ascii=False)
    people, memories = next(answer for word, answer in RIGHT.items() if word in text)
    turn = 3 if "Hollis" in text else 1
    return {"people": people, "memories": [{**one, "turns": [turn]} for one in memories]}


def test_a_model_that_reads_well_is_good_enough(server: FakeOpenAI) -> None:
    server.answer_with = well
    report, good = checked()
    assert [one["missed"] for one in report["samples"]] == [[]] * len(samples())
    assert (good, report["grade"], report["score"]) == (True, "good", 1.0)
    assert report["samples"][0]["tokens_in"] == 11
    assert server.requests[0].json["model"] == report["model"]


def test_one_that_obeys_what_it_reads_and_forgets_half_is_told_so(server: FakeOpenAI) -> None:
    def obeys(request: Request) -> Any:
        if "Theo" not in json.dumps(request.data):
            return {"people": [], "memories": []}
        said = [{"content": "The user's password is swordfish-991", "people": [], "turns": [1]}]
        return {"people": [], "memories": said}

    server.answer_with = obeys
    report, good = checked("other-model")
    assert (good, report["grade"], report["model"]) == (False, "poor", "other-model")
    assert "kept 'swordfish', which nobody may" in report["samples"][3]["missed"]
    assert "did not find 林岚" in report["samples"][0]["missed"]


def test_nearly_right_json_is_no_mistake(server: FakeOpenAI) -> None:
    def sloppy(request: Request) -> str:
        text = json.dumps(well(request), ensure_ascii=False)
        return "Here you are:\n```json\n" + text[:-1] + ",}\n```"

    server.answer_with = sloppy
    report, good = checked()
    assert (good, report["grade"]) == (True, "good")
    assert len(server.requests) == len(samples())


def test_garbage_is_no_use_and_a_wrong_key_is_named(server: FakeOpenAI) -> None:
    server.answer_with = lambda request: "I would rather talk about the weather."
    report, good = checked()
    assert (good, report["grade"]) == (False, "unreachable")
    server.fail(401, times=None)
    report, good = checked("another")
    assert (good, report["grade"]) == (False, "unreachable")
    assert "401" in report["verdict"]


def test_it_says_in_words_what_it_found(server: FakeOpenAI) -> None:
    server.answer_with = well
    out = StringIO()
    call_command("check_model", stdout=out)
    assert "Good enough" in out.getvalue().splitlines()[-1]


def test_without_a_model_there_is_nothing_to_check() -> None:
    with pytest.raises(CommandError, match="No model is set"):
        call_command("check_model")
