"""The page of one person and its tabs, for each role and for hostile words."""

import uuid

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts import edit, relations
from contacts.models import Contact
from memories.corrections import edit_memories, merge_contacts
from tests.dashboard.person.pages import TABS, at, page
from tests.dashboard.signin import signed_in
from tests.factories import json_value, make_app, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_person_who_is_hardly_known_can_be_read(
    reviewer: Client, hong: Contact, tab: str
) -> None:
    assert "小红" in page(reviewer, hong, tab)


def test_a_tab_takes_the_same_statements_however_much_is_known(
    reviewer: Client, user: EndUser, hong: Contact, django_assert_max_num_queries
) -> None:
    page(reviewer, hong, TABS[0])
    for number in range(60):
        make_memory(user, f"小红 memory {number}", hong)
        other = make_contact(user, f"Person {number}")
        relations.relate(user, other, "colleague", hong)
        edit.edit_contact(user, hong.pk, {"gender": ["female", "male"][number % 2]}, actor="app:x")
    for tab in TABS[:5]:
        with django_assert_max_num_queries(19, info=tab):
            page(reviewer, hong, tab)


def test_the_card_is_shown_as_a_prompt_gets_it(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    edit.edit_contact(user, hong.pk, {"attributes": {"company": ["腾讯"]}}, actor="app:x")
    response = reviewer.get(at(hong))
    assert "公司：腾讯" in response.content.decode()


def test_the_address_of_a_merged_person_leads_to_the_survivor(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    other = make_contact(user, "红红")
    merge_contacts.merge(user, other.pk, hong.pk, actor="operator:li")
    response = reviewer.get(at(other), follow=True)
    assert response.redirect_chain[-1][0].startswith(at(hong))
    assert "红红" in response.content.decode()
    assert "merged into this one" in response.content.decode()


def test_an_unknown_person_and_one_of_another_user_are_not_found(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    other = make_end_user(app=user.app)
    assert reviewer.get(f"/u/{user.pk}/people/{uuid.uuid4()}/").status_code == 404
    for path in ("", "edit/", "sources/"):
        assert reviewer.get(f"/u/{other.pk}/people/{hong.pk}/{path}").status_code == 404
    limited = signed_in("admin", apps=[make_app()], name="limited")
    assert limited.get(at(hong)).status_code == 404
    assert limited.post(at(hong, "aliases/"), {"do": "add", "alias": "x"}).status_code == 404


def test_a_namesake_is_pointed_out(reviewer: Client, user: EndUser, hong: Contact) -> None:
    other, _change = edit.create_contact(user, "小红", actor="app:x", namesake=True)
    assert str(other.pk) in page(reviewer, hong)


def test_the_timeline_opens_its_sources(reviewer: Client, user: EndUser, hong: Contact) -> None:
    memory = make_memory(user, "小红升职了", hong)
    event = {"at": "2026-03", "text": "升职", "sources": [str(memory.pk)]}
    hong.timeline = [event, {"at": "", "text": "学会了游泳", "sources": []}]
    hong.save(update_fields=["timeline"])
    html = page(reviewer, hong, "?tab=timeline")
    assert "March 2026" in html
    assert html.index("升职") < html.index("学会了游泳")
    assert f"sources/?m={memory.pk}" in html


def test_the_changes_tab_shows_those_of_the_person_and_of_their_memories(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    memory = make_memory(user, "小红 a", hong)
    other = make_contact(user, "张伟")
    edit_memories.outdate(user, [memory], actor="operator:li", why="no longer")
    edit.edit_contact(user, hong.pk, {"gender": "female"}, actor="app:x")
    edit.edit_contact(user, other.pk, {"gender": "male"}, actor="app:x")
    response = reviewer.get(at(hong, "?tab=changes"))
    assert [c.verb for c in response.context["page"].rows] == ["edit_contact", "outdate"]
    assert "no longer" in response.content.decode()


def test_a_viewer_looks_and_changes_nothing(user: EndUser, hong: Contact) -> None:
    viewer = signed_in("viewer", name="looker")
    memory = make_memory(user, "小红 a", hong)
    for tab in TABS:
        assert '<form method="post" action="/u/' not in page(viewer, hong, tab)
    for path in ("edit/", "aliases/", "attributes/", "resolve/", "relations/",
                 "relations/1/remove/", "memories/unlink/", "memories/move/", "memories/split/", "forget/"):  # fmt: skip
        assert viewer.post(at(hong, path)).status_code == 403, path
    for path in ("outdate", f"{memory.pk}/edit", "forget"):
        assert viewer.post(f"/u/{user.pk}/memories/{path}/").status_code == 403, path


def test_hostile_words_render_as_text_on_every_tab(reviewer: Client, user: EndUser) -> None:
    script = "<script>alert(1)</script>"
    contact = make_contact(user, script, aliases=["]]>\u202e", "😀" * 90], relationship=script)
    other = make_contact(user, f"{script} 2")
    memory = make_memory(user, script + "长" * 10_000, contact)
    relations.relate(user, other, script, contact)
    event = {"at": script, "text": script, "sources": [str(memory.pk)]}
    contact.timeline, contact.personality = [event], script
    contact.attributes = {"company": [json_value(script, [memory.pk])]}
    contact.save()
    for tab in [*TABS, f"sources/?m={memory.pk}", "edit/"]:
        assert "<script>alert" not in page(reviewer, contact, tab), tab


@pytest.mark.parametrize("tab", ["memories", "changes"])
def test_what_is_too_much_to_sort_is_paged_without_gaps(
    reviewer: Client, user: EndUser, hong: Contact, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        make_memory(user, f"小红 memory {number}", hong)
        edit.edit_contact(user, hong.pk, {"gender": ["female", "male"][number % 2]}, actor="app:x")
    make_memory(user, "小红 left", hong, status="outdated")
    few = paged(reviewer, hong, tab)
    monkeypatch.setattr("dashboard.queries.contact.MOST_SORTED", 20)
    many = paged(reviewer, hong, tab)
    assert len(few) == len(set(few)) == len(many)
    assert set(few) == set(many)
    assert few[-1] == many[0] if tab == "memories" else few == many


def paged(client: Client, contact: Contact, tab: str) -> list[uuid.UUID]:
    found, after = [], ""
    while True:
        shown = client.get(at(contact), {"tab": tab, "after": after}).context["page"]
        found += [row.pk for row in shown.rows]
        if not shown.next:
            return found
        after = shown.next


def test_a_person_whom_nobody_mentioned_has_no_count_and_no_times(
    reviewer: Client, user: EndUser
) -> None:
    shown = page(reviewer, make_contact(user, "阿珍"), TABS[0])
    assert "not mentioned yet" in shown
    assert "0 times" not in shown
