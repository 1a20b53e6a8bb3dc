"""Splitting and merging memories over HTTP."""

from uuid import uuid4

import pytest

from memories.models import Memory
from tests.api import ApiClient, assert_error, user_address
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db
CONTENT = "Nora sings in a choir, and Ivan keeps bees near Ghent."


@pytest.fixture
def api():
    return ApiClient()


@pytest.fixture
def end_user(api):
    return make_end_user(app=api.app, external_id="u", language="en")


def split(api, memory_id, body):
    return api.post(user_address("u", f"memories/{memory_id}/split/"), body)


def merge(api, body):
    return api.post(user_address("u", "memories/merge/"), body)


def test_a_split_answers_with_the_pieces_and_can_be_undone(api, end_user):
    nora, ivan = make_contact(end_user, "Nora"), make_contact(end_user, "Ivan")
    whole = make_memory(end_user, CONTENT, nora, ivan)
    known = make_memory(end_user, "Ivan keeps bees.", ivan)
    status, body = split(
        api, whole.id, {"pieces": ["Nora sings in a choir.", "Ivan keeps bees."], "why": "two"}
    )
    assert status == 201
    by_content = {piece["content"]: piece for piece in body["pieces"]}
    assert by_content["Nora sings in a choir."]["contacts"] == [str(nora.id)]
    assert by_content["Ivan keeps bees."]["id"] == str(known.id)
    assert api.get(user_address("u", f"memories/{whole.id}/"))[1]["status"] == "active"

    assert api.post(user_address("u", f"changes/{body['change_id']}/undo/"), {})[0] == 200
    assert set(Memory.objects.all()) == {whole, known}


def test_a_merge_answers_with_the_new_memory_and_can_be_undone(api, end_user):
    nora = make_contact(end_user, "Nora")
    one, other = (
        make_memory(end_user, "Nora sings.", nora),
        make_memory(end_user, "Nora sings well.", nora),
    )
    status, body = merge(
        api, {"ids": [str(one.id), str(other.id)], "content": "Nora sings very well."}
    )
    assert status == 201
    assert (body["content"], body["status"]) == ("Nora sings very well.", "active")
    assert body["contacts"] == [str(nora.id)]
    one.refresh_from_db()
    assert (one.status, str(one.merged_into_id)) == ("archived", body["id"])
    listed = api.get(user_address("u", "memories/"))[1]
    assert [memory["id"] for memory in listed["results"]] == [body["id"]]

    assert api.post(user_address("u", f"changes/{body['change_id']}/undo/"), {})[0] == 200
    assert set(Memory.objects.active()) == {one, other}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"pieces": "two"},
        {"pieces": []},
        {"pieces": ["One."]},
        {"pieces": ["One.", " "]},
        {"pieces": ["One.", 2]},
        {"pieces": ["One.", "x" * 1001]},
        {"pieces": ["x"] * 21},
        {"pieces": ["One.", "Two."], "facts": []},
        {"pieces": ["One.", "Two."], "why": "x" * 501},
        ["One.", "Two."],
    ],
)
def test_a_split_of_nonsense_is_bad_input(api, end_user, body):
    whole = make_memory(end_user, CONTENT)
    assert_error(split(api, whole.id, body), 400)
    assert Memory.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"ids": None},
        {"ids": []},
        {"ids": ["1", "2"]},
        {"ids": [str(uuid4()), str(uuid4())]},
        {"ids": [str(uuid4())] * 51},
        {"content": ""},
        {"content": None},
        {"content": "x" * 1001},
        {"into": str(uuid4())},
    ],
)
def test_a_merge_of_nonsense_is_bad_input(api, end_user, change):
    ids = [str(make_memory(end_user, content).id) for content in ("One.", "Two.")]
    assert_error(merge(api, {"ids": ids, "content": "Both.", **change}), 400)
    assert Memory.objects.active().count() == 2


def test_memories_of_other_users_are_unknown(api, end_user):
    theirs = make_memory(make_end_user(app=api.app, external_id="v"), CONTENT)
    mine = make_memory(end_user, "Nora sings.")
    assert_error(split(api, theirs.id, {"pieces": ["One.", "Two."]}), 404, "unknown_memory")
    assert_error(split(api, uuid4(), {"pieces": ["One.", "Two."]}), 404, "unknown_memory")
    error = assert_error(
        merge(api, {"ids": [str(mine.id), str(theirs.id)], "content": "Both."}), 400
    )
    assert str(theirs.id) in error["fields"]["ids"][0]
    assert Memory.objects.active().count() == 2


def test_what_does_not_hold_now_is_a_conflict(api, end_user):
    one, gone = (
        make_memory(end_user, "Nora sings."),
        make_memory(end_user, CONTENT, status="outdated"),
    )
    profile = make_memory(end_user, "Nora", kind="profile")
    pieces = {"pieces": ["One.", "Two."]}
    for memory in (gone, profile):
        assert_error(split(api, memory.id, pieces), 409)
        assert_error(merge(api, {"ids": [str(one.id), str(memory.id)], "content": "Both."}), 409)
    assert_error(merge(api, {"ids": [str(one.id)] * 2, "content": "Both."}), 409)
