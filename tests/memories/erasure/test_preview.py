"""The preview of an erasure counts what the erasure then takes, and only reads."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction

from accounts.models import EndUser
from contacts.models import Contact
from memories.corrections import edit_edges, edit_memories, rewrite
from memories.erasure import erase
from memories.models import Memory, Message
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app

pytestmark = pytest.mark.django_db

TALK = [
    ("user", "My friend Brenda lives in Berlin."),
    ("assistant", "Berlin is a lovely place for Brenda."),
    ("user", "She is moving to a bigger flat next month."),
    ("user", "Anna is Brenda's sister. Anna works as a nurse in Oslo."),
    ("user", "Brenda and Anna went to Rome together."),
    ("assistant", "Rome with Brenda and Anna sounds fun."),
    ("user", "我同事老韩下个月去青岛出差。"),
    ("user", "老韩和Anna在同一家医院工作。"),
    ("user", "I like green tea."),
]


@pytest.fixture
def life() -> EndUser:
    """Messages read by the pipeline, and corrected: an edge, an edit, a merge and a split."""
    told = [Incoming(role, text, id=str(n)) for n, (role, text) in enumerate(TALK)]
    user = receive(make_app(), "ann", told).end_user
    run.process(user.pk)
    user.refresh_from_db()
    facts = list(Memory.objects.of(user).facts().active().order_by("said_at", "pk"))
    assert len(facts) > 5
    edit_edges.connect(user, facts[0].pk, facts[1].pk, "causes", actor="operator:ada")
    edit_memories.edit(user, facts[2].pk, {"content": "She moves in May."}, actor="operator:ada")
    rewrite.merge_memories(
        user, [facts[3].pk, facts[0].pk], "Brenda has Anna.", actor="operator:ada"
    )
    rewrite.split(user, facts[4].pk, ["Anna saw Rome.", "Brenda saw Rome."], actor="operator:ada")
    return user


def taken(user: EndUser, forget: Callable[[], object]) -> tuple[set[object], int, int]:
    """The memories that an erasure removes, how many contacts, and how many messages it empties;
    it is rolled back."""

    def kept() -> tuple[set[object], int, int]:
        facts = set(Memory.objects.of(user).facts().values_list("pk", flat=True))
        said = Message.objects.of(user).exclude(content="")
        return facts, Contact.objects.of(user).standing().count(), said.count()

    with transaction.atomic():
        before = kept()
        forget()
        after = kept()
        transaction.set_rollback(True)
    return before[0] - after[0], before[1] - after[1], before[2] - after[2]


def shown(look: Callable[[], erase.Preview]) -> tuple[set[object], int, int]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT s; SET LOCAL transaction_read_only = on")
        plan = look()
        found = set(plan.rows.values_list("pk", flat=True))
        assert plan.memories == len(found)
        transaction.set_rollback(True)
    return found, plan.contacts, plan.messages


def test_a_preview_of_anybody_counts_what_forgetting_them_takes(life: EndUser) -> None:
    people = Contact.objects.of(life).standing()
    assert people.count() >= 3
    for person in people:
        *rows, messages = shown(lambda pk=person.pk: erase.preview_contact(life, pk))
        *gone, emptied = taken(life, lambda pk=person.pk: erase.forget_contact(life, pk))
        assert rows == gone
        assert rows[0]
        assert 0 < messages <= emptied


def test_a_preview_of_any_memory_counts_what_forgetting_it_takes(life: EndUser) -> None:
    for pk in Memory.objects.of(life).facts().values_list("pk", flat=True):
        *rows, messages = shown(lambda pk=pk: erase.preview_memories(life, [pk]))
        *gone, emptied = taken(life, lambda pk=pk: erase.forget_these(life, [pk], (), (), ()))
        assert rows == gone
        assert messages <= emptied
