"""The user's own card over HTTP: read and corrected key by key, undone, exported, forgotten."""

import json

import pytest

from accounts.models import Change
from memories.corrections.undo import undo_change
from memories.models import Memory
from memories.portability import export_user, import_user
from tests.api import assert_error
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


def own(key, value, **more):
    return {"key": key, "value": value, "person": None, **more}


def test_a_card_shows_the_memories_that_each_value_comes_from(client, zoe):
    told = make_memory(zoe, "The user lives in York and is allergic to figs",
                       facts=[own("location", "York"), own("allergy", "figs")])  # fmt: skip
    code, card = client.get("users/zoe/card/")
    assert (code, card["card"]) == (200, "Allergies: figs\nLocation: York")
    value = {"value": "figs", "sources": [str(told.pk)], "since": None}
    assert card["attributes"]["allergy"] == [value]
    assert client.get("users/nobody/card/")[0] == 404


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_an_app_states_takes_the_place_of_what_memories_told_until_it_is_undone(
    client, zoe, language
):
    zoe.language = language
    zoe.save()
    told = make_memory(zoe, "They live in Leeds, and figs make them sneeze",
                       facts=[own("location", "Leeds"), own("allergy", "figs")])  # fmt: skip
    before = client.get("users/zoe/card/")[1]
    stated = {"allergy": ["figs", "bees"], "location": None, "answer_wish": "no tables"}
    code, changed = client.patch("users/zoe/card/", {"attributes": stated})
    assert code == 200
    values = {key: [v["value"] for v in held] for key, held in changed["attributes"].items()}
    assert values == {"answer_wish": ["no tables"], "allergy": ["bees", "figs"]}
    told.refresh_from_db()
    assert told.status == "active"
    assert ["outdated_at" in fact for fact in told.facts] == [True, False]
    assert client.patch("users/zoe/card/", {"attributes": stated})[1]["change_id"] is None
    undo_change(Change.objects.get(pk=changed["change_id"]), actor="operator:x")
    assert client.get("users/zoe/card/")[1] == before
    assert Memory.objects.of(zoe).count() == 1


def test_a_value_that_was_taken_away_is_stated_again_by_the_memory_that_said_it(client, zoe):
    for values in (["bees"], None, "bees"):
        client.patch("users/zoe/card/", {"attributes": {"allergy": values}})
    assert client.get("users/zoe/card/")[1]["card"] == "Allergies: bees"
    assert Memory.objects.of(zoe).count() == 1


def test_what_the_card_can_not_say_is_refused(client, zoe):
    for attributes in ({"shoe_size": "40"}, {"allergy": ""}, {"allergy": 4}, None):
        answer = client.patch("users/zoe/card/", {"attributes": attributes})
        assert_error(answer, 400, "invalid")
    secret = {"attributes": {"answer_wish": "my password is hunter2hunter2"}}
    assert client.patch("users/zoe/card/", secret)[0] in (400, 409)
    assert Memory.objects.of(zoe).count() == 0


def test_the_card_is_exported_with_its_memories_and_forgotten_with_them(client, zoe):
    client.patch("users/zoe/card/", {"attributes": {"diet": "no meat"}})
    import_user(client.app, json.loads(json.dumps(export_user(zoe))), external_id="yan")
    ((memory,),) = (
        one["sources"] for one in client.get("users/yan/card/")[1]["attributes"]["diet"]
    )
    assert client.post("users/yan/forget/", {"memory": memory})[0] == 200
    assert client.get("users/yan/card/")[1] == {"card": "", "attributes": {}}
    assert client.get("users/zoe/card/")[1]["card"] == "Diet: no meat"


def test_a_question_of_somebody_else_gets_no_card_of_the_user(client, zoe):
    client.patch("users/zoe/card/", {"attributes": {"diet": "no meat"}})
    asked = {"message": "What shall we cook?", "include": ["user"]}
    assert client.post("users/zoe/context/", asked)[1]["user_card"] == "Diet: no meat"
    found = client.post("users/zoe/context/", {**asked, "speaker": "Anna"})[1]
    assert (found["user_card"], found["system_prompt"]) == ("", "")
