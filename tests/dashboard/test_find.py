"""One search over people, end users and memories, in one's own apps."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import EndUser
from contacts.edit import archive_contact
from memories.corrections import edit_memories
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


@pytest.fixture
def li() -> EndUser:
    """Two end users of two apps with people and memories; Li's."""
    li = make_end_user(external_id="li-1", app=make_app(name="chatter"))
    hong = make_contact(li, "小红", aliases=["阿红"], mention_count=9)
    make_memory(li, "小红在腾讯工作", hong)
    gone = make_memory(li, "小红在华为工作", hong)
    edit_memories.outdate(li, [gone], actor="extractor")
    bob = make_end_user(external_id="bob_100%", app=make_app(name="other"))
    make_memory(bob, "Hong Wei works at Tencent.", make_contact(bob, "Hong Wei"))
    return li


@pytest.mark.parametrize(
    ("typed", "people", "users", "memories"),
    [
        ("xiaohong", ["小红"], [], []),
        ("阿红", ["小红"], [], []),
        ("hong", ["小红", "Hong Wei"], [], ["Hong Wei works at Tencent."]),
        ("腾讯", [], [], ["小红在腾讯工作"]),
        ("tencent hong", [], [], ["Hong Wei works at Tencent."]),
        ("BOB_", [], ["bob_100%"], []),
        ("100%", [], ["bob_100%"], []),
        ("%", [], ["bob_100%"], []),
        ("", [], [], []),
    ],
)
def test_what_is_typed_finds_people_users_and_memories_of_all_apps(
    li: EndUser, typed: str, people: list[str], users: list[str], memories: list[str]
) -> None:
    found = signed_in("viewer").get("/find/", {"q": typed}).context["found"]
    assert [one.name for one in found["people"]] == people
    assert [one.external_id for one in found["users"]] == users
    assert [one.content for one in found["memories"]] == memories


def test_of_other_apps_and_of_archived_ones_nothing_is_found(li: EndUser) -> None:
    limited = signed_in("viewer", [li.app])

    def named() -> list[str]:
        return [one.name for one in limited.get("/find/", {"q": "hong"}).context["found"]["people"]]

    assert named() == ["小红"]
    archive_contact(li, li.contacts.get().pk, actor="operator:x")
    assert named() == ["小红"]  # an archived person is found, and marked
    assert "in the archive" in limited.get("/find/", {"q": "hong"}).content.decode()
    signed_in("admin").post(f"/apps/{li.app_id}/archive/", {"archived": "1"})
    assert named() == []
    assert limited.get(f"/u/{li.pk}/people/").status_code == 404


def test_it_takes_the_same_statements_however_much_is_found(li: EndUser) -> None:
    client = signed_in("viewer")

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            headers = {"HX-Request": "true", "HX-Target": "found"}
            assert b"<html" not in client.get("/find/", {"q": "hong"}, headers=headers).content
        return len(queries)

    few = statements()
    for place in range(12):
        make_memory(li, f"Hong {place} sings.", make_contact(li, f"Hong {place}"))
    assert statements() == few


def test_what_stands_beside_a_name_is_escaped_once(li: EndUser) -> None:
    make_contact(li, "Hannah", relationship="Tariq's girlfriend")
    page = signed_in("viewer").get("/find/", {"q": "Hannah"}).content.decode()
    assert "Tariq&#x27;s girlfriend" in page
