"""Reading the facts of memories that were posted or corrected."""

import pytest

from contacts import edit
from contacts.models import Contact
from memories.pipeline import read_facts
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


def test_what_became_of_its_people_meanwhile_stands():
    end_user = make_end_user(language="en")
    gone, stays = make_contact(end_user, "Ann"), make_contact(end_user, "Ben")
    memory = make_memory(end_user, "Ann and Ben live in Leeds", gone, stays, unread=True)
    people = list(end_user.contacts.all())
    draft = read_facts._draft(memory, people)
    gone.delete()
    edit.edit_contact(end_user, stays.pk, {"relationship": "neighbour"}, actor="app")
    read_facts._write(memory, people, draft)
    memory.refresh_from_db()
    assert not memory.unread
    assert "neighbour" in Contact.objects.get(pk=stays.pk).card
