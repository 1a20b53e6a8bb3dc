"""What a person took away stays away from messages that had come by then, not from later ones."""

import pytest

from accounts.models import EndUser
from contacts import edit
from contacts.models import Contact, Relation
from memories.corrections import edit_memories, merge_contacts
from memories.corrections.undo import undo_change
from memories.models import Batch, Link, Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app, make_end_user
from tests.servers import FakeOpenAI

pytestmark = pytest.mark.django_db

ANN = "operator:ann"
SAID = {
    "people": [
        {"id": "n1", "name": "Oliver", "aliases": ["Olly"], "relationship": "colleague"},
        {"id": "n2", "name": "Nina", "relationship": "friend"},
    ],
    "memories": [
        {
            "content": "Olly is the brother of Nina",
            "type": "personal",
            "subtype": "colleague",
            "people": ["n1", "n2"],
            "turns": [1],
        }
    ],
    "relations": [{"subject": "n1", "kind": "brother", "object": "n2", "turns": [1]}],
}


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(app=make_app(), external_id="ann", language="en")


def say(end_user: EndUser) -> None:
    text = "My colleague Oliver, I call him Olly, is the brother of my friend Nina."
    receive(end_user.app, end_user.external_id, [Incoming("user", text)])


def read(end_user: EndUser, server: FakeOpenAI) -> None:
    server.reply_json(SAID)
    assert run.extract_next(end_user.pk, everything=True)
    assert Batch.objects.latest("pk").state == "done"


def known(name: str = "Oliver") -> tuple[bool, bool]:
    """Whether the relation and the alias are known."""
    return Relation.objects.exists(), "Olly" in Contact.objects.get(name=name).aliases


def take_away(end_user: EndUser, name: str = "Oliver") -> None:
    edit.remove_relation(end_user, Relation.objects.get().pk, actor=ANN)
    one = Contact.objects.get(name=name)
    left = [alias for alias in one.aliases if alias != "Olly"]
    edit.edit_contact(end_user, one.id, {"aliases": left}, actor=ANN)


def test_what_waited_when_a_person_took_it_away_does_not_bring_it_back(server, end_user):
    say(end_user)
    read(end_user, server)
    assert known() == (True, True)
    say(end_user)
    take_away(end_user)
    read(end_user, server)
    assert known() == (False, False)


def test_a_message_that_comes_later_is_new_knowledge(server, end_user):
    say(end_user)
    read(end_user, server)
    take_away(end_user)
    say(end_user)
    read(end_user, server)
    assert known() == (True, True)


def test_what_was_taken_away_and_given_back_is_learnt_again(server, end_user):
    say(end_user)
    read(end_user, server)
    say(end_user)
    removed = edit.remove_relation(end_user, Relation.objects.get().pk, actor=ANN)
    undo_change(removed, actor=ANN)
    read(end_user, server)
    assert known() == (True, True)


def test_it_stays_away_from_the_one_whom_they_were_merged_into(server, end_user):
    say(end_user)
    read(end_user, server)
    say(end_user)
    take_away(end_user)
    oliver = Contact.objects.get(name="Oliver")
    otis, _ = edit.create_contact(end_user, "Otis", actor=ANN)
    merge_contacts.merge(end_user, oliver.id, otis.id, actor=ANN)
    read(end_user, server)
    assert known("Otis") == (False, False)


def test_a_link_that_a_person_rejected_is_not_made_by_whatever_is_said_again(server, end_user):
    say(end_user)
    read(end_user, server)
    memory, nina = Memory.objects.get(kind="fact"), Contact.objects.get(name="Nina")
    edit_memories.unlink(end_user, memory.id, nina.id, actor=ANN)
    say(end_user)
    read(end_user, server)
    assert Link.objects.get(contact=nina, memory=memory).rejected
