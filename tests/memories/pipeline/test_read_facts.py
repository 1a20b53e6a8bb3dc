"""Reading the facts of memories that were posted or corrected."""

import pytest

from contacts import edit
from contacts.models import Contact
from memories.corrections import merge_contacts
from memories.pipeline import read_facts
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


def test_whom_a_memory_is_about_by_now_is_whose_facts_are_written():
    end_user = make_end_user(language="en")
    anna, ann = make_contact(end_user, "Anna"), make_contact(end_user, "Ann")
    memory = make_memory(end_user, "Ann lives in Leeds", ann, unread=True)
    draft = read_facts._draft(memory, [ann])
    assert [fact.person for fact in draft.facts] == [ann.pk]
    merge_contacts.merge(end_user, ann.pk, anna.pk, actor="app")
    edit.edit_contact(end_user, anna.pk, {"relationship": "neighbour"}, actor="app")
    assert not read_facts._write(memory, [ann], draft)
    assert read_facts.read(end_user.pk, memory.pk)
    memory.refresh_from_db()
    assert not memory.unread
    assert [fact["person"] for fact in memory.facts] == [str(anna.pk)]
    assert "neighbour" in Contact.objects.get(pk=anna.pk).card
