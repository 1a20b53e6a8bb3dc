"""A person's names and values are corrected, and each says where it comes from."""

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts import edit
from contacts.models import Contact
from memories.corrections import edit_memories
from tests.dashboard.person.pages import at, fresh, page, undo_latest
from tests.factories import json_value, make_contact, make_memory, make_message

pytestmark = pytest.mark.django_db


def test_an_alias_is_added_removed_and_taken_back(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    reviewer.post(at(hong, "aliases/"), {"do": "add", "alias": " Hong  Hong "})
    assert fresh(hong).aliases == ["阿红", "Hong Hong"]
    reviewer.post(at(hong, "aliases/"), {"do": "remove", "alias": "阿红"})
    assert fresh(hong).aliases == ["Hong Hong"]
    undo_latest(reviewer, user)
    assert fresh(hong).aliases == ["阿红", "Hong Hong"]


def test_an_alias_made_the_name_keeps_the_old_name_as_alias(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    reviewer.post(at(hong, "aliases/"), {"do": "primary", "alias": "阿红"})
    assert (fresh(hong).name, fresh(hong).aliases) == ("阿红", ["小红"])
    undo_latest(reviewer, user)
    assert (fresh(hong).name, fresh(hong).aliases) == ("小红", ["阿红"])


def test_an_alias_that_is_anothers_name_can_not_be_made_the_name(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    make_contact(user, "阿红")
    data = {"do": "primary", "alias": "阿红"}
    html = reviewer.post(at(hong, "aliases/"), data, follow=True).content.decode()
    assert "already known" in html
    assert fresh(hong).name == "小红"


@pytest.mark.parametrize("alias", ["", " · ", "\0"])
def test_an_alias_of_nothing_is_refused(reviewer: Client, hong: Contact, alias: str) -> None:
    reviewer.post(at(hong, "aliases/"), {"do": "add", "alias": alias})
    assert fresh(hong).aliases == ["阿红"]


def test_a_person_is_edited_and_the_old_name_stays(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    data = {"name": "王红", "relationship": "同事", "gender": "female", "why": "said so"}
    reviewer.post(at(hong, "edit/"), data)
    now = fresh(hong)
    assert (now.name, now.aliases, now.relationship) == ("王红", ["阿红", "小红"], "同事")
    assert user.changes.get().why == "said so"
    html = reviewer.post(at(hong, "edit/"), {**data, "name": ""}).content.decode()
    assert 'role="alert"' in html
    undo_latest(reviewer, user)
    assert fresh(hong).name == "小红"


def test_a_value_is_added_changed_and_removed(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    address = at(hong, "attributes/")
    reviewer.post(address, {"key": "Company", "new": "腾讯"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["腾讯"]
    reviewer.post(address, {"key": "company", "old": "腾讯", "new": "字节"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节"]
    reviewer.post(address, {"key": "company", "old": "字节", "new": "x", "remove": "1"})
    assert "company" not in fresh(hong).attributes
    undo_latest(reviewer, user)
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节"]
    reviewer.post(address, {"key": "血型", "new": "A"})
    assert set(fresh(hong).attributes) == {"company"}
    reviewer.post(address, {"key": "公司", "new": "华为"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节", "华为"]


def test_a_value_under_a_key_of_a_model_in_chinese_is_corrected(
    reviewer: Client, user: EndUser
) -> None:
    person = make_contact(user, "林悦", attributes={"血型": [json_value("A")]})
    reviewer.post(at(person, "attributes/"), {"key": "血型", "old": "A", "new": "B"})
    assert fresh(person).attributes["血型"] == [json_value("B")]


def test_a_value_is_changed_with_its_day_and_reason_and_says_who_stated_it(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    user.settle("Asia/Shanghai")
    address = at(hong, "attributes/")
    reviewer.post(
        address, {"key": "company", "new": "腾讯", "since": "2024-03-01", "why": "her CV"}
    )
    assert fresh(hong).attributes["company"] == [
        json_value("腾讯", since="2024-03-01T00:00:00+08:00")
    ]
    html = page(reviewer, hong)
    assert 'value="2024-03-01"' in html
    assert "Entered by" in html
    assert "her CV" in html
    said = {"key": "company", "old": "腾讯", "was": "2024-03-01"}
    for new, since, kept in (
        ("腾讯", "2024-03-01", 1),  # nothing changes
        ("腾讯", "2024-04-01", 2),
        ("字节", "2024-03-01", 3),
        ("字节", "31 May", 3),  # of the value that is gone
    ):
        reviewer.post(address, {**said, "new": new, "since": since})
        assert user.changes.count() == kept
    assert fresh(hong).attributes["company"] == [json_value("字节")]


def test_an_alias_that_others_bear_is_told_of_and_stays_marked(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    other = make_contact(user, "红红")
    address = at(hong, "aliases/")
    said = reviewer.post(address, {"do": "add", "alias": "红红"}, follow=True).content.decode()
    assert "is called \u2068红红\u2069 as well" in said
    assert f"/review/{hong.pk}/{other.pk}/" in said
    assert "红红" in fresh(hong).aliases


def test_a_value_without_a_key_is_told_beside_the_field_and_kept(
    reviewer: Client, hong: Contact
) -> None:
    html = reviewer.post(
        at(hong, "attributes/"), {"key": "!!", "new": "kept text"}, follow=True
    ).content.decode()
    assert 'role="alert"' in html
    assert "kept text" in html


def test_one_of_contradicting_values_is_chosen(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    edit.edit_contact(user, hong.pk, {"attributes": {"company": ["腾讯", "字节"]}}, actor="app:x")
    assert "Only one can be right" in page(reviewer, hong)
    reviewer.post(at(hong, "resolve/"), {"key": "company", "value": "字节"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节"]
    undo_latest(reviewer, user)
    assert len(fresh(hong).attributes["company"]) == 2
    html = reviewer.post(
        at(hong, "resolve/"), {"key": "company", "value": "x"}, follow=True
    ).content.decode()
    assert "no company of this value" in html


def test_an_earlier_value_is_shown_with_who_changed_it_and_why(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    edit.edit_contact(user, hong.pk, {"attributes": {"location": ["深圳"]}}, actor="app:x")
    edit.edit_contact(
        user, hong.pk, {"attributes": {"location": ["广州"]}}, actor="operator:li", why="moved"
    )
    attribute = next(a for a in reviewer.get(at(hong)).context["attributes"] if a.key == "location")
    assert [v.value for v in attribute.values] == ["广州"]
    assert [(f.value, f.change.actor, f.change.why) for f in attribute.former] == [
        ("深圳", "operator:li", "moved")
    ]


def test_an_earlier_value_is_known_from_the_memory_that_told_it(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    facts = [{"key": "company", "value": "华为", "person": str(hong.pk)}]
    old = make_memory(user, "小红在华为工作", hong, facts=facts)
    edit_memories.outdate(user, [old], actor="extractor")
    attribute = next(a for a in reviewer.get(at(hong)).context["attributes"] if a.key == "company")
    assert attribute.values == []
    assert [(f.value, *f.sources) for f in attribute.former] == [("华为", old.pk)]


def test_sources_show_the_memory_and_the_message_with_the_name_marked(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    message = make_message(user, "今天阿红<b>换了工作</b>")
    memory = make_memory(user, "小红换了工作", hong, source_message_ids=[message.pk])
    hong.attributes = {"job_title": [json_value("工程师", [memory.pk])]}
    hong.save(update_fields=["attributes"])
    assert f"sources/?m={memory.pk}" in page(reviewer, hong)
    address = at(hong, f"sources/?m={memory.pk}&m=nonsense")
    fragment = reviewer.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "今天<mark>阿红</mark>&lt;b&gt;" in fragment
    assert "<mark>小红</mark>换了工作" in fragment
    assert "<html" not in fragment
    assert "<html" in reviewer.get(address).content.decode()
