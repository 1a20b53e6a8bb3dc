"""The memories about a person: unlinked, outdated, moved, split off and edited."""

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts.models import Contact
from memories.corrections import edit_memories
from memories.models import Edge, Memory
from tests.dashboard.person.pages import at, ids, links, page, three, undo_from_toast, undo_latest
from tests.factories import make_contact, make_memory

pytestmark = pytest.mark.django_db


def test_outdated_memories_come_last_with_what_replaced_them(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    new = make_memory(user, "小红在字节工作", hong)
    old = make_memory(user, "小红在华为工作", hong)
    make_memory(user, "hidden thing", hong, status="archived")
    edit_memories.outdate(user, [old], actor="extractor", by=new.pk)
    response = reviewer.get(at(hong, "?tab=memories"))
    assert [m.pk for m in response.context["page"].rows] == [new.pk, old.pk]
    assert response.context["replacements"][old.pk] == new
    html = response.content.decode()
    assert "outdated" in html
    assert "hidden thing" not in html
    assert Edge.objects.of(user).exists()


def test_chosen_memories_are_unlinked_with_one_undo_for_all(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    memories = three(user, hong)
    response = reviewer.post(at(hong, "memories/unlink/"), ids(memories[:2]), follow=True)
    assert links(hong) == 1
    assert f"/u/{user.pk}/changes/undo/" in response.content.decode()
    undo_from_toast(reviewer, response)
    assert links(hong) == 3
    assert all(change.undone_at for change in user.changes.all())


def test_chosen_memories_are_outdated_and_back(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    memories = three(user, hong)
    reviewer.post(f"/u/{user.pk}/memories/outdate/", ids(memories[:2]))
    assert Memory.objects.of(user).filter(status="outdated").count() == 2
    undo_latest(reviewer, user)
    assert not Memory.objects.of(user).filter(status="outdated").exists()


def test_chosen_memories_are_moved_to_whom_they_are_about(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    memories, other = three(user, hong), make_contact(user, "红红")
    html = page(reviewer, hong, f"memories/move/?memory={memories[0].pk}&q=红红")
    assert str(other.pk) in html
    data = {**ids(memories[:2]), "person": str(other.pk)}
    response = reviewer.post(at(hong, "memories/move/"), data, follow=True)
    assert (links(hong), links(other)) == (1, 2)
    undo_from_toast(reviewer, response)
    assert (links(hong), links(other)) == (3, 0)


def test_moving_to_nobody_keeps_the_choice(reviewer: Client, user: EndUser, hong: Contact) -> None:
    memories = three(user, hong)
    for asked, status in (({"ask": "1", "q": "hong"}, 200), ({}, 422)):
        response = reviewer.post(at(hong, "memories/move/"), ids(memories[:2]) | asked)
        assert response.status_code == status
        assert {m.pk for m in response.context["memories"]} == {m.pk for m in memories[:2]}
    assert links(hong) == 3


def test_moving_to_the_same_person_moves_nothing(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    data = {**ids(three(user, hong)), "person": str(hong.pk)}
    reviewer.post(at(hong, "memories/move/"), data)
    assert links(hong) == 3
    assert not user.changes.exists()


def test_memories_of_someone_else_are_split_off(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    memories = three(user, hong)
    assert "小红 0" in "".join(page(reviewer, hong, f"memories/split/?memory={memories[0].pk}").replace("<mark>", "").replace("</mark>", ""))  # fmt: skip
    data = {**ids(memories[:2]), "name": "小红", "relationship": "同学"}
    reviewer.post(at(hong, "memories/split/"), data)
    new = Contact.objects.of(user).exclude(pk=hong.pk).get()
    assert (new.name, new.namesake, new.relationship) == ("小红", 1, "同学")
    assert (links(hong), links(new)) == (1, 2)
    undo_latest(reviewer, user)
    assert links(hong) == 3


def test_a_split_without_a_name_keeps_what_was_typed(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    data = {**ids(three(user, hong)), "name": "··", "relationship": "同学"}
    response = reviewer.post(at(hong, "memories/split/"), data)
    assert response.status_code == 422
    assert "同学" in response.content.decode()
    assert Contact.objects.of(user).count() == 1


@pytest.mark.parametrize("path", ["unlink", "move", "split"])
def test_nothing_chosen_does_nothing(
    reviewer: Client, user: EndUser, hong: Contact, path: str
) -> None:
    three(user, hong)
    elsewhere = make_memory(user, "about nobody")
    for chosen in ([], ["nonsense"], [str(elsewhere.pk)]):
        response = reviewer.post(at(hong, f"memories/{path}/"), {"memory": chosen}, follow=True)
        assert "Choose memories first" in response.content.decode()
    assert not user.changes.exists()


def test_a_memory_is_edited(reviewer: Client, user: EndUser, hong: Contact) -> None:
    memory, taken, _ = three(user, hong)
    address = f"/u/{user.pk}/memories/{memory.pk}/edit/"
    assert "小红 0" in reviewer.get(address).content.decode()
    reviewer.post(address, {"content": "小红搬家了", "why": ""})
    assert Memory.objects.get(pk=memory.pk).content == "小红搬家了"
    undo_latest(reviewer, user)
    assert Memory.objects.get(pk=memory.pk).content == "小红 0"
    for wrong in ("", taken.content, "x" * 10_001):
        response = reviewer.post(address, {"content": wrong})
        assert response.status_code == 422
        assert 'role="alert"' in response.content.decode()
