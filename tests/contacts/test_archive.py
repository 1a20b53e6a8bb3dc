"""Who is archived is known, and kept out of lists, prompts, suggestions and cards."""

import pytest

from accounts.models import EndUser
from contacts import relations, store
from contacts.edit import UnknownContact, archive_contact
from contacts.lookup import Turn, look_up
from contacts.models import Contact
from contacts.suggestions import suggest
from memories.corrections import merge_contacts
from memories.corrections.edit_dates import dates_of
from memories.corrections.undo import undo_change
from tests.api import ApiClient
from tests.dashboard.signin import signed_in
from tests.factories import json_value, make_contact, make_end_user, make_suggestion

pytestmark = pytest.mark.django_db
LISTS = {"contacts": 2, "suggestions": 0, "dates": 0}
TURNS = (("user", "昨天见到小红了"), ("assistant", "她好吗？"))


@pytest.fixture
def user() -> EndUser:
    return make_end_user(language="zh")


def meant(user: EndUser, text: str, *turns: tuple[str, str]) -> list[str]:
    mentions, *_ = look_up(
        user, text, lambda: ([Turn(*turn) for turn in turns], ()), stay_messages=3
    )
    return [mention.person.name for mention in mentions]


@pytest.mark.parametrize("said", ["小红来了", "她最近怎么样了", "红红还好吗", "小红的表哥呢"])
def test_nobody_archived_is_meant_and_nobody_else_is_taken_for_them(
    user: EndUser, said: str
) -> None:
    hong = make_contact(user, "小红", aliases=["红红"], gender="female")
    make_contact(user, "小虹", gender="female")  # sounds alike
    before = meant(user, said, *TURNS)
    assert "小红" in before
    change = archive_contact(user, hong.pk, actor="operator:x")
    assert change is not None
    assert meant(user, said, *TURNS) == [name for name in before if name != "小红"]
    undo_change(change, actor="operator:x")
    assert meant(user, said, *TURNS) == before


def test_they_are_not_listed_suggested_or_named_on_cards_but_found_again_by_name(
    user: EndUser,
) -> None:
    hong, twin, ming = (make_contact(user, name) for name in ("王小红", "小红", "小明"))
    hong.attributes = {"birthday": [json_value("5月3日")]}
    store.save(hong, ["attributes"])
    make_suggestion(hong, twin)
    relations.state(user, hong, "妻子", ming)
    store.save(ming, [])
    assert "妻子" in ming.card
    archive_contact(user, hong.pk, actor="operator:x", why="moved away")
    assert archive_contact(user, hong.pk, actor="operator:x") is None
    ming.refresh_from_db()
    assert "妻子" not in ming.card
    client = signed_in("reviewer")
    page = {only: client.get(f"/u/{user.pk}/people/", {"only": only}) for only in ("", "archived")}
    assert {one.name for one in page[""].context["page"].rows} == {"小红", "小明"}
    assert [one.name for one in page["archived"].context["page"].rows] == ["王小红"]
    assert client.get("/review/").context["at"] is None
    drawn = client.get(f"/u/{user.pk}/people/map/").context["map"]["panels"]
    assert {one.contact for *_panel, people in drawn for one in people} == {twin, ming}
    assert dates_of(user) == []
    assert [one.kind for one in dates_of(user, contact=hong.pk)] == ["birthday"]
    app = ApiClient(user.app)
    lists = {name: app.get(f"users/{user.external_id}/{name}/")[1] for name in LISTS}
    assert {name: found["count"] for name, found in lists.items()} == LISTS
    assert suggest(user, lambda *_: ()).contacts == 2
    assert store.find(user, "王小红") == [hong]  # what is told of them is still theirs
    client.post(f"/u/{user.pk}/people/{hong.pk}/archive/", {"archived": ""})
    ming.refresh_from_db()
    assert "妻子" in ming.card
    assert user.changes.filter(verb__in=["archive", "unarchive"]).count() == 2


def test_one_who_is_not_archived_stays_so_after_a_merge(user: EndUser) -> None:
    hong, other = make_contact(user, "小红"), make_contact(user, "红红")
    archive_contact(user, hong.pk, actor="operator:x")
    merge_contacts.merge(user, other.pk, hong.pk, actor="operator:x")
    assert Contact.objects.get(pk=hong.pk).archived_at is None
    with pytest.raises(UnknownContact):
        archive_contact(make_end_user(external_id="b"), hong.pk, actor="operator:x")


def test_a_client_archives_lists_whom_it_holds_and_brings_back() -> None:
    client = ApiClient()
    user = make_end_user(app=client.app, external_id="zoe")
    hong = make_contact(user, "小红")
    at = f"users/zoe/contacts/{hong.pk}/"
    for archived, again in ((True, False), (True, True), (False, False)):
        status, answer = client.post(f"{at}archive/", {"archived": archived, "why": "moved"})
        assert (status, answer["archived_at"] is not None) == (200, archived)
        assert (answer["change_id"] is None) == again
        for query, there in (("", not archived), ("?archived=true", archived)):
            assert client.get(f"users/zoe/contacts/{query}")[1]["count"] == there
    assert client.post(f"{at}archive/", {})[0] == 400
