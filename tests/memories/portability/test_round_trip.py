"""A user on whom every verb was used goes out, comes in under another id, and goes out again
the same; there every change can be taken back as here."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.models import Change, EndUser
from accounts.rollback import CannotUndo
from contacts.edit import edit_contact
from contacts.merge import InvalidMerge
from contacts.models import Contact, Relation, Suggestion
from memories import portability
from memories.corrections import edit_memories, merge_contacts
from memories.corrections.undo import undo_change
from memories.models import Edge, Entity, EntityLink, Erasure, Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.pipeline.forget_requests import forget_asked
from memories.types import ForgetRequest
from tests.factories import make_app, make_contact, make_memory
from tests.memories.portability.documents import comparable
from tests.memories.snapshots import assert_sound

pytestmark = pytest.mark.django_db

TALK = [
    "我朋友小梅在华为当工程师，她住在东莞。",
    "小梅喜欢爬山，养了一只叫毛毛的猫。",
    "我同事老韩下个月去青岛出差。",
    "老韩的女儿叫朵朵，今年上小学。",
    "我朋友阿豪在开店卖茶叶，他对花生过敏。",
    "小梅搬到广州了。",
    "我表姐小雯在学画画。",
    "我喜欢喝乌龙茶。",
    "阿豪和小雯是邻居。",
    "别记这个",
]
STEPS = 25
REFUSALS = (InvalidMerge, edit_memories.InvalidCorrection, CannotUndo)

Verb = Callable[[EndUser, random.Random], object]


def _contact(user: EndUser, chance: random.Random) -> Contact:
    people = list(Contact.objects.of(user).standing().order_by("name", "namesake"))
    return chance.choice(people or [make_contact(user, "阿新")])


def _memory(user: EndUser, chance: random.Random) -> Memory:
    rows = Memory.objects.of(user).filter(kind="fact").order_by("content", "pk")
    return chance.choice(list(rows))


def _link(user: EndUser, chance: random.Random) -> Any:
    contact = _contact(user, chance)
    return contact, contact.links.filter(rejected=False, memory__kind="fact").first()


def edit(user: EndUser, chance: random.Random) -> None:
    text = {"content": f"改写{chance.random()}", "status": chance.choice(["active", "outdated"])}
    edit_memories.edit(user, _memory(user, chance).id, text, actor="operator:a", why="错字")


def add(user: EndUser, chance: random.Random) -> None:
    columns = {"type": "personal", "subtype": "friend"}
    about = [_contact(user, chance)]
    edit_memories.add(user, f"新{chance.random()}", actor="app:b", contacts=about, **columns)


def unlink(user: EndUser, chance: random.Random) -> None:
    contact, link = _link(user, chance)
    if link:
        edit_memories.unlink(user, link.memory_id, contact.id, actor="operator:a")


def move(user: EndUser, chance: random.Random) -> None:
    contact, link = _link(user, chance)
    if link:
        to = _contact(user, chance).id
        edit_memories.move(user, link.memory_id, contact.id, to, actor="operator:a")


def outdate(user: EndUser, chance: random.Random) -> None:
    memory = _memory(user, chance)
    by = make_memory(user, f"后来{chance.random()}")
    ending = edit_memories.Ending(certainty=0.7)
    edit_memories.outdate(
        user, [memory], actor="extractor", why="后来变了", by=by.id, ending=ending
    )


def merge(user: EndUser, chance: random.Random) -> None:
    one, other = _contact(user, chance), _contact(user, chance)
    if one != other:
        merge_contacts.merge(user, one.id, other.id, actor="operator:a")


def split(user: EndUser, chance: random.Random) -> None:
    contact, link = _link(user, chance)
    if link:
        name = f"新人{chance.randrange(10**6)}"
        merge_contacts.split(user, contact.id, [link.memory_id], name=name, actor="operator:a")


def resolve(user: EndUser, chance: random.Random) -> None:
    contact = _contact(user, chance)
    for key, values in contact.attributes.items():
        value = values[-1]["value"]
        merge_contacts.resolve_attribute(user, contact.id, key, value, actor="operator:a")
        return


def forget(user: EndUser, chance: random.Random) -> None:
    forget_asked(user, [ForgetRequest(_contact(user, chance).id, asked_in=_asked(user))])


def _asked(user: EndUser) -> int:
    return user.messages.latest("seq").pk


def undo(user: EndUser, chance: random.Random) -> None:
    changes = Change.objects.of(user).filter(undone_at=None).order_by("created_at")
    undo_change(chance.choice(list(changes)), actor="operator:a")


VERBS: list[Verb] = [
    edit, add, unlink, move, outdate, merge, split, resolve, undo, forget,
]  # fmt: skip


def rich() -> EndUser:
    """An end user on whom every verb was used."""
    chance = random.Random(0)
    incoming = [Incoming("user", text, session_id="s") for text in TALK]
    user = receive(make_app(), "rich", incoming).end_user
    run.process(user.pk)
    user.refresh_from_db()
    people = list(Contact.objects.of(user).order_by("name")[:2])
    first, second = sorted(people, key=lambda contact: contact.id)
    Relation.objects.get_or_create(end_user=user, subject=first, kind="neighbour", object=second)
    Suggestion.objects.get_or_create(
        end_user=user, first=first, second=second, defaults={"verdict": "likely", "confidence": 0.6}
    )
    edit_contact(user, first.id, {"relationship": "邻居"}, actor="operator:a")
    one, other = Memory.objects.of(user).filter(kind="fact")[:2]
    Edge.objects.create(end_user=user, source=one, target=other, kind="causes", confidence=0.4)
    place = Entity.objects.create(end_user=user, kind="place", name="广州", key="广州")
    EntityLink.objects.create(end_user=user, entity=place, memory=one)
    united = make_memory(user, "合起来说的", mention_count=3)
    make_memory(user, "分开说的", status="archived", merged_into=united, refined_at=one.said_at)
    for verb in [*VERBS, *chance.choices(VERBS, k=STEPS)]:
        try:
            verb(user, chance)
        except REFUSALS:
            continue
        connection.check_constraints()
    run.process(user.pk)
    user.refresh_from_db()
    return user


def test_a_copy_is_exported_as_the_original_and_every_change_is_undone_in_it_as_there() -> None:
    user = rich()
    assert Erasure.objects.of(user).exists()
    document = portability.export_user(user)

    copied = portability.import_user(user.app, document, external_id="copy")

    again = portability.export_user(copied)
    ours, theirs = comparable(document), comparable(again)
    assert ours.keys() == theirs.keys()
    for part in ours:
        if not isinstance(ours[part], list):
            assert ours[part] == theirs[part]
            continue
        left = [row for row in ours[part] if row not in theirs[part]]
        right = [row for row in theirs[part] if row not in ours[part]]
        assert (left, right) == ([], []), part
    assert_sound(copied)
    for here, there in zip(changes(user), changes(copied), strict=True):
        assert undone(here) == undone(there), (here.verb, here.created_at)
    assert comparable_knowledge(user) == comparable_knowledge(copied)
    assert_sound(copied)


def changes(user: EndUser) -> list[Change]:
    return list(Change.objects.of(user).filter(undone_at=None).order_by("-created_at"))


def undone(change: Change) -> bool:
    try:
        undo_change(change, actor="operator:b")
    except CannotUndo:
        return False
    connection.check_constraints()
    return True


def comparable_knowledge(user: EndUser) -> Any:
    """What is known of whom, without ids."""
    return (
        sorted(
            (c.name, c.namesake, c.relationship, tuple(c.aliases), c.card, c.merged_into_id is None)
            for c in Contact.objects.of(user)
        ),
        sorted(
            (m.content, m.status, m.kind, m.outdated_confidence) for m in Memory.objects.of(user)
        ),
        sorted(Erasure.objects.of(user).values_list("state", flat=True)),
    )
