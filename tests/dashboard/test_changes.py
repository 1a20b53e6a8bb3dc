"""The list of changes: what was changed, by whom and why, and nothing that was to be forgotten."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from accounts.models import EndUser
from contacts import edit
from contacts.models import Relation
from memories.corrections import edit_memories, merge_contacts
from memories.models import Memory
from tests.factories import SOME_DAY, make_contact, make_memory

OPERATOR = "operator:ada"


def page(client: Client, user: EndUser) -> str:
    return client.get(reverse("dashboard:changes", args=[user.pk])).content.decode()


def test_an_edited_person_is_named_with_what_was_and_what_is(
    reviewer: Client, user: EndUser
) -> None:
    hong = make_contact(user, "小红", relationship="朋友")
    values = {"relationship": "同事", "aliases": ["阿红"], "attributes": {"company": ["腾讯"]}}
    edit.edit_contact(user, hong.pk, values, actor=OPERATOR, why="she said so")
    edit.edit_contact(user, hong.pk, {"attributes": {"company": ["百度"]}}, actor=OPERATOR)
    html = page(reviewer, user)
    assert reverse("dashboard:contact", args=[user.pk, hong.pk]) in html
    assert "she said so" in html
    for gone in ("朋友", "腾讯"):
        assert f'<del><bdi class="said">{gone}</bdi></del>' in html
    for new in ("同事", "阿红", "腾讯", "百度"):
        assert f'<ins><bdi class="said">{new}</bdi></ins>' in html


def test_a_memory_is_shown_as_it_was_and_as_it_is(reviewer: Client, user: EndUser) -> None:
    memory = make_memory(user, "小红住在深圳", make_contact(user, "小红"))
    edit_memories.edit(user, memory.pk, {"content": "小红住在广州"}, actor=OPERATOR)
    html = page(reviewer, user)
    assert '<del><bdi class="said">小红住在深圳</bdi></del>' in html
    assert '<ins><bdi class="said">小红住在广州</bdi></ins>' in html


def test_both_of_a_merge_are_named_though_one_is_gone(reviewer: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "红红")
    merge_contacts.merge(user, other.pk, one.pk, actor=OPERATOR)
    html = page(reviewer, user)
    assert "小红" in html
    assert "红红" in html


def test_the_changes_of_a_person_say_the_same(reviewer: Client, user: EndUser) -> None:
    hong, ming = make_contact(user, "小红"), make_contact(user, "小明")
    memory = make_memory(user, "小红会弹琴", hong)
    edit_memories.move(user, memory.pk, hong.pk, ming.pk, actor=OPERATOR)
    at = reverse("dashboard:contact", args=[user.pk, hong.pk])
    html = reviewer.get(f"{at}?tab=changes").content.decode()
    assert reverse("dashboard:contact", args=[user.pk, ming.pk]) in html
    assert "小红会弹琴" in html


def test_the_changes_of_who_was_merged_through_somebody_else_are_a_persons_as_well(
    reviewer: Client, user: EndUser
) -> None:
    first, second, last = (make_contact(user, name) for name in ("小红", "阿红", "红红"))
    edit.edit_contact(user, first.pk, {"relationship": "同事"}, actor=OPERATOR, why="she said so")
    for gone, stays in ((first, second), (second, last)):
        merge_contacts.merge(user, gone.pk, stays.pk, actor=OPERATOR)
    at = reverse("dashboard:contact", args=[user.pk, last.pk])
    assert "she said so" in reviewer.get(at, {"tab": "changes"}).content.decode()


def test_what_is_to_be_forgotten_is_not_told_again(reviewer: Client, user: EndUser) -> None:
    memory = make_memory(user, "小红住在深圳", make_contact(user, "小红"))
    edit_memories.edit(user, memory.pk, {"content": "小红住在广州"}, actor=OPERATOR)
    Memory.objects.update(status=Memory.Status.ARCHIVED)
    html = page(reviewer, user)
    assert "住在" not in html


def test_long_lists_of_subjects_are_cut(reviewer: Client, user: EndUser) -> None:
    memories = [make_memory(user, f"fact {number}") for number in range(9)]
    edit_memories.outdate(user, memories, actor=OPERATOR)
    html = page(reviewer, user)
    assert html.count("fact ") == 3
    assert "and 6 more" in html


def test_the_page_costs_as_many_statements_for_many_changes(
    reviewer: Client, user: EndUser, django_assert_max_num_queries: Any
) -> None:
    people = [make_contact(user, f"Person {number}") for number in range(20)]
    for person in people:
        edit.edit_contact(user, person.pk, {"relationship": "friend"}, actor=OPERATOR)
    with django_assert_max_num_queries(16):
        assert page(reviewer, user).count("<ins>") == 20


def test_later_changes_are_named_on_a_page_that_undoes_all_together(
    reviewer: Client, user: EndUser
) -> None:
    memory, other = make_memory(user, "小红住在深圳"), make_memory(user, "小明住在成都")
    first = edit_memories.edit(user, memory.pk, {"content": "小红住在广州"}, actor=OPERATOR)
    edit_memories.edit(user, memory.pk, {"content": "小红住在杭州"}, actor=OPERATOR, why="moved")
    apart = edit_memories.edit(user, other.pk, {"content": "小明住在昆明"}, actor=OPERATOR)
    back = reverse("dashboard:changes", args=[user.pk])
    undo = reverse("dashboard:undo", args=[user.pk, first.pk])
    response = reviewer.post(undo, {"next": back}, follow=True)
    html = response.content.decode()
    assert "Undo all together" in html
    assert "moved" in html
    assert "小明" not in html
    asked = {"change": str(first.pk), "with_later": "1", "next": back}
    response = reviewer.post(reverse("dashboard:undo_all", args=[user.pk]), asked, follow=True)
    assert "2 changes undone." in response.content.decode()
    memory.refresh_from_db()
    apart.refresh_from_db()
    assert (memory.content, apart.undone_at) == ("小红住在深圳", None)


def test_what_one_action_changed_twice_is_undone_by_one_undo(
    reviewer: Client, user: EndUser
) -> None:
    memory = make_memory(user, "小红住在深圳")
    changes = [
        edit_memories.edit(user, memory.pk, {"content": content}, actor=OPERATOR)
        for content in ("小红住在广州", "小红住在杭州")
    ]
    asked = {"change": [str(change.pk) for change in changes]}
    reviewer.post(reverse("dashboard:undo_all", args=[user.pk]), asked)
    memory.refresh_from_db()
    assert memory.content == "小红住在深圳"


def test_what_changed_in_lives_is_told_with_what_held_before(
    reviewer: Client, user: EndUser, django_assert_max_num_queries: Any
) -> None:
    address = reverse("dashboard:lives", args=[user.pk])
    assert "No life changes yet" in reviewer.get(address).content.decode()
    for name in ("Kim", "Bo", ""):
        person = make_contact(user, name) if name else None
        moved = SOME_DAY + timedelta(days=7)
        for place, said, status, until in (
            ("Oslo", SOME_DAY, "outdated", moved),
            # It began before the other was told of.
            ("Bergen", SOME_DAY - timedelta(days=1), "active", None),
        ):
            fact = {"key": "location", "value": place, "person": person and str(person.pk)}
            people, told = [person] if person else [], f"{name} is in {place}"
            times = {"said_at": said, "valid_to": until}
            make_memory(user, told, *people, facts=[fact], status=status, **times)
    gone = {"key": "location", "value": "Rome", "person": str(uuid4())}
    make_memory(user, "Somebody in Rome", facts=[gone], status="outdated")
    with django_assert_max_num_queries(12):
        page = reviewer.get(address)
    whose = [person and person.name for person, _steps in page.context["found"]]
    assert sorted(whose, key=str) == ["Bo", "Kim", None]
    for _person, steps in page.context["found"]:
        assert [step.value for _, step in steps] == ["Oslo", "Bergen"]
    html = page.content.decode()
    assert (html.count(">Location<"), html.count('class="outdated"')) == (6, 3)


def test_the_list_is_narrowed_to_whose_changes_are_asked_for(
    reviewer: Client, user: EndUser
) -> None:
    memory = make_memory(user, "小红住在深圳", make_contact(user, "小红"))
    for actor in (OPERATOR, "app:chat", "refiner"):
        edit_memories.edit(user, memory.pk, {"content": f"by {actor}"}, actor=actor)
    at = reverse("dashboard:changes", args=[user.pk])
    for by, actor in (("operators", OPERATOR), ("apps", "app:chat"), ("jobs", "refiner")):
        rows = reviewer.get(at, {"by": by}).context["page"].rows
        assert [change.actor for change in rows] == [actor]


def test_a_relation_is_told_with_what_was_said_of_whom(reviewer: Client, user: EndUser) -> None:
    hong, ming = make_contact(user, "小红"), make_contact(user, "小明")
    edit.add_relation(user, hong.pk, "姐姐", ming.pk, actor=OPERATOR)
    relation = Relation.objects.get()
    assert '<ins><bdi class="said">姐姐</bdi></ins>' in page(reviewer, user)
    edit.remove_relation(user, relation.pk, actor=OPERATOR)
    assert '<del><bdi class="said">姐姐</bdi></del>' in page(reviewer, user)
    Memory.objects.all().delete()
    ming.delete()
    assert "姐姐" not in page(reviewer, user)
