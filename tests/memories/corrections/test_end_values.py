"""A value of somebody's that a person takes away or replaces ends in the memories that state it."""

import pytest

from contacts.edit import edit_contact
from contacts.models import Contact
from memories.corrections.undo import undo_change
from memories.models import Memory
from tests.factories import make_life

pytestmark = pytest.mark.django_db

TOLD = "My friend Beatriz lives in Porto."


@pytest.mark.parametrize("values", [["Braga"], []])
def test_no_card_quotes_it_as_true_any_more_and_undo_brings_it_back(values: list[str]) -> None:
    end_user = make_life(said=[TOLD])
    contact = Contact.objects.of(end_user).get()
    memory = Memory.objects.of(end_user).facts().get()
    assert "Porto" in str(contact.card)
    held = memory.facts

    changed = {"attributes": {"location": values}}
    contact, change = edit_contact(end_user, contact.pk, changed, actor="operator:x")
    memory.refresh_from_db()
    assert [bool(row.get("outdated_at")) for row in memory.facts] == [True]
    contact.refresh_from_db()
    assert "Porto" not in contact.card_today

    undo_change(change, actor="operator:x")
    memory.refresh_from_db()
    assert memory.facts == held


def test_another_value_of_the_same_key_stays() -> None:
    end_user = make_life(said=[TOLD])
    contact = Contact.objects.of(end_user).get()
    changed = {"attributes": {"location": ["Porto"], "hobby": ["rowing"]}}
    edit_contact(end_user, contact.pk, changed, actor="operator:x")
    assert not any("outdated_at" in row for row in Memory.objects.of(end_user).facts().get().facts)
