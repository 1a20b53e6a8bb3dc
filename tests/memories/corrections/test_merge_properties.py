"""Random corrections, undone newest first: exactly what was; and nothing that machines learnt
meanwhile is lost or doubled."""

from contextlib import suppress
from copy import copy
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import Change, EndUser
from accounts.rollback import CannotUndo, LaterChanges, later_changes
from contacts import relations, store
from contacts.edit import NameTaken, edit_contact
from contacts.merge import InvalidMerge, not_the_same
from contacts.models import Contact
from memories.corrections import derived, edit_memories, erasure_requests, merge_contacts, rewrite
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Consolidation, Link, Memory
from memories.pipeline import consolidate, sync_contacts
from memories.types import AttributeValue, ProfilePatch, TimelineEvent
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.snapshots import assert_same, assert_sound, knowledge
from understanding.names import name_key
from understanding.text import normalise

ANN = "operator:ann"
NAMES = ["Ada", "Bea", "Cleo", "Dora", "Enid"]
KEYS = ["location", "interests", "job_title"]
WORDS = ["amber", "birch", "coral", "denim", "ebony"]


class World:
    """An end user with five people, and everything that may happen to them."""

    def __init__(self) -> None:
        self.end_user = make_end_user(language="en")
        self.people = [make_contact(self.end_user, name).id for name in NAMES]
        self.everyone = [*self.people]
        self.told = 0
        for n in range(8):
            self.tell(n, n // 2, n)
        for n in range(5):
            self.consolidate(n, n, n)
        self.relate(0, 2, 1)
        self.relate(3, 1, 2)
        self.told_of_both = make_memory(self.end_user, "Both.", self.at(0), self.at(1))

    def again(self) -> "World":
        """The same end user and people as they were at first, for another example."""
        other = copy(self)
        other.end_user = EndUser.objects.get(pk=self.end_user.pk)
        other.people, other.everyone = [*self.people], [*self.everyone]
        return other

    def at(self, n: int) -> Contact:
        """The n-th person, or whom they were merged into."""
        found = store.survivor(self.end_user, self.people[n % len(self.people)])
        assert found is not None
        found.end_user = self.end_user
        return found

    def memory(self, n: int) -> Memory:
        rows = Memory.objects.of(self.end_user).filter(kind="fact").order_by("content", "pk")
        return rows[n % rows.count()]

    # What may happen. Each takes three numbers that choose.

    def tell(self, a: int, b: int, c: int) -> None:
        self.told += 1
        one = self.at(a)
        fact = {"key": KEYS[b % 3], "value": WORDS[c % 5], "person": str(one.id)}
        about = {contact.id: contact for contact in (one, self.at(a + c % 2))}
        name = [one.name, *one.aliases][b % (1 + len(one.aliases))]
        content = f"Memory {self.told} of {name}."
        make_memory(self.end_user, content, *about.values(), facts=[fact])

    def link(self, a: int, b: int, c: int) -> None:
        pairs = [(self.memory(b), self.at(a), 0.7)]
        if sync_contacts.link(self.end_user, pairs, Link.MadeBy.BACKFILL):
            store.save(self.at(a), [])

    def learn(self, a: int, b: int, c: int) -> None:
        contact = self.at(a)
        store.add_aliases(contact, [f"{WORDS[b % 5]} {c % 3}"])
        contact.mention_count += 1
        contact.last_mentioned_at = timezone.now()
        store.save(contact, ["aliases", "mention_count", "last_mentioned_at"])

    def consolidate(self, a: int, b: int, c: int) -> None:
        contact = self.at(a)
        work = consolidate.claim(self.end_user.pk, contact.id, timezone.now())
        assert work is not None
        request, links = consolidate.request_for(work)
        ids = [memory.id for memory in request.memories]
        patch = ProfilePatch(
            attributes={KEYS[b % 3]: (AttributeValue(WORDS[c % 5], tuple(ids)),)} if ids else {},
            replaces=frozenset([KEYS[b % 3]]) if c % 4 == 0 and ids else frozenset(),
            timeline=(TimelineEvent(WORDS[b % 5], f"20{c % 9}0", (ids[0],)),) if ids else (),
            personality=f"{contact.personality} {WORDS[c % 5]}" if ids and b % 3 == 0 else None,
            personality_sources=tuple(ids) if ids and b % 3 == 0 else (),
        )
        consolidate.write(work, links, patch)
        Consolidation.objects.filter(pk=work.pk).update(state="done")

    def relate(self, a: int, b: int, c: int) -> None:
        one, other = self.at(a), self.at(b)
        relations.relate(self.end_user, one, "friend", other, [self.memory(c).id])
        for contact in (one, other):
            store.save(Contact.objects.get(pk=contact.pk), [])

    def move(self, a: int, b: int, c: int) -> None:
        memory = self.memory(c)
        edit_memories.move(self.end_user, memory.id, self.at(a).id, self.at(b).id, actor=ANN)

    def unlink(self, a: int, b: int, c: int) -> None:
        edit_memories.unlink(self.end_user, self.memory(b).id, self.at(a).id, actor=ANN)

    def edit(self, a: int, b: int, c: int) -> None:
        values = {"content": f"Edited {a} {c}."}
        edit_memories.edit(self.end_user, self.memory(b).id, values, actor=ANN)

    def outdate(self, a: int, b: int, c: int) -> None:
        edit_memories.outdate(self.end_user, [self.memory(b)], actor=ANN)

    def rename(self, a: int, b: int, c: int) -> None:
        self.state(a, {"name": f"{WORDS[b % 5]}"})

    def describe(self, a: int, b: int, c: int) -> None:
        values = {"attributes": {KEYS[b % 3]: [WORDS[c % 5]]}, "relationship": WORDS[c % 5]}
        self.state(a, values)

    def state(self, a: int, values: dict[str, Any]) -> None:
        """With what a worker does then."""
        contact, _ = edit_contact(self.end_user, self.at(a).id, values, actor=ANN)
        derived.write_profile_memory(contact)

    def merge(self, a: int, b: int, c: int) -> None:
        merge_contacts.merge(self.end_user, self.at(a).id, self.at(b).id, actor=ANN)

    def split(self, a: int, b: int, c: int) -> None:
        contact = self.at(a)
        facts = Memory.objects.about(contact.id).filter(kind="fact").order_by("content")
        ids = list(facts.values_list("pk", flat=True))[b % 3 :: 2]
        new, _ = merge_contacts.split(self.end_user, contact.id, ids, name=WORDS[c % 5], actor=ANN)
        self.people.append(new.id)
        self.everyone.append(new.id)

    def resolve(self, a: int, b: int, c: int) -> None:
        contact = self.at(a)
        key = KEYS[b % 3]
        values = [entry["value"] for entry in contact.attributes.get(key, [])] or ["none"]
        merge_contacts.resolve_attribute(
            self.end_user, contact.id, key, values[c % len(values)], actor=ANN
        )

    def tell_apart(self, a: int, b: int, c: int) -> None:
        not_the_same(self.end_user, self.at(a).id, self.at(b).id, actor=ANN)

    def split_memory(self, a: int, b: int, c: int) -> None:
        pieces = [f"Piece {a}.", f"Piece {b} of {c}."]
        rewrite.split(self.end_user, self.memory(b).id, pieces, actor=ANN)

    def trim(self, a: int, b: int, c: int) -> None:
        memory = self.memory(b)
        rewrite.trim(self.end_user, memory.id, memory.content[:-2], actor=ANN)

    def merge_memories(self, a: int, b: int, c: int) -> None:
        ids = [self.memory(n).id for n in (a, b, c)]
        rewrite.merge_memories(self.end_user, ids, f"Together {a} {c}.", actor=ANN)

    def hide(self, a: int, b: int, c: int) -> None:
        contacts = [self.at(a)] if c % 3 == 0 and len(self.people) > 3 else []
        erasure_requests.hide(self.end_user, [self.memory(b)], actor=ANN, contacts=contacts)
        self.still_there()

    def still_there(self) -> None:
        there = set(Contact.objects.of(self.end_user).values_list("pk", flat=True))
        self.people = [pk for pk in self.everyone if pk in there]

    def undo(self, a: int, b: int, c: int) -> None:
        changes = Change.objects.of(self.end_user).filter(undone_at=None).order_by("created_at")
        if changes:
            undo_change(changes[a % len(changes)], actor=ANN, with_later=b % 2 == 0)
            self.still_there()

    def forget(self, a: int, b: int, c: int) -> None:
        if c % 3 == 0 and len(self.people) > 3:
            erase.forget_contact(self.end_user, self.at(a).id)
        else:
            erase.forget_memory(self.end_user, self.memory(b).id)
        self.still_there()

    def do(self, step: tuple[str, int, int, int]) -> None:
        verb, *numbers = step
        try:
            getattr(self, verb)(*numbers)
        except (
            CannotUndo,
            InvalidMerge,
            NameTaken,
            edit_memories.InvalidCorrection,
            erase.NothingToForget,
        ) as refusal:
            note(f"{step}: {refusal}")
        else:
            note(str(step))


MACHINE = ["tell", "link", "learn", "consolidate", "relate"]
PEOPLE = [
    "move", "unlink", "edit", "outdate", "rename", "describe", "merge", "split", "resolve",
    "tell_apart", "split_memory", "trim", "merge_memories", "hide",
]  # fmt: skip
KINDS = {
    "contacts.contact": "contacts",
    "contacts.relation": "relations",
    "contacts.suggestion": "suggestions",
    "memories.link": "links",
    "memories.memory": "memories",
    "memories.edge": "edges",
}
NUMBER = st.integers(0, 11)


def steps(verbs: list[str], numbers: st.SearchStrategy[int], most: int) -> Any:
    return st.lists(st.tuples(st.sampled_from(verbs), numbers, numbers, numbers), max_size=most)


def assert_nothing_twice(world: World) -> None:
    for contact in Contact.objects.of(world.end_user):
        keys = [name_key(name) for name in (contact.name, *contact.aliases)]
        assert len(keys) == len(set(keys))
        for entries in contact.attributes.values():
            values = [normalise(entry["value"]) for entry in entries]
            assert len(values) == len(set(values))
        events = [(event["text"], event["at"]) for event in contact.timeline]
        assert len(events) == len(set(events))
        assert len(contact.memory_ids) == len(set(contact.memory_ids))


# An example is hundreds of statements: to shrink a failing one would take many minutes.
FEW = settings(
    max_examples=settings().max_examples // 10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def changes_of(world: World) -> list[Change]:
    return list(Change.objects.of(world.end_user).order_by("-created_at"))


class Undo(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        cls.shared = (World(),)  # wrapped: Django would copy the world itself for each test

    @FEW
    @given(steps(PEOPLE, NUMBER, 20))
    def test_all_that_people_did_undone_newest_first_leaves_exactly_what_was(
        self, done: Any
    ) -> None:
        world = self.shared[0].again()
        before = knowledge(world.end_user)
        for step in done:
            world.do(step)
        rows = {change.pk: change.rows for change in changes_of(world)}
        for change in changes_of(world):
            note(f"undo {change.verb}")
            assert later_changes(change) == []
            undo_change(change, actor=ANN)
            assert_sound(world.end_user)
        assert_same(knowledge(world.end_user), before)
        assert rows == {change.pk: change.rows for change in changes_of(world)}

    @FEW
    @given(steps(PEOPLE, NUMBER, 15), NUMBER)
    def test_one_undone_with_the_later_ones_leaves_each_row_as_before_the_first_of_them(
        self, done: Any, chosen: int
    ) -> None:
        world = self.shared[0].again()
        states = [knowledge(world.end_user)]
        changes: list[Change] = []
        for step in done:
            world.do(step)
            if (made := changes_of(world)) and made[0] not in changes:
                changes.append(made[0])
                states.append(knowledge(world.end_user))
        if not changes:
            return
        place = chosen % len(changes)
        later = later_changes(changes[place])
        if later:
            with pytest.raises(LaterChanges) as refused:
                undo_change(changes[place], actor=ANN)
            assert refused.value.changes == later
            assert_same(knowledge(world.end_user), states[-1])
        assert undo_change(changes[place], actor=ANN, with_later=True) == later
        assert_sound(world.end_user)
        now = knowledge(world.end_user)
        first: dict[tuple[str, str], int] = {}
        for n in sorted(map(changes.index, (changes[place], *later))):
            for row in changes[n].rows:
                first.setdefault((KINDS[row["model"]], row["id"]), n)
        for (kind, pk), n in first.items():
            assert _tracked(now, kind, pk) == _tracked(states[n], kind, pk)
        for change in changes_of(world):
            if not change.undone_at:
                undo_change(change, actor=ANN)
        assert_same(knowledge(world.end_user), states[0])

    @FEW
    @given(steps(MACHINE + PEOPLE + ["undo"], NUMBER, 40))
    def test_whatever_happens_in_between_nothing_is_lost_or_doubled(self, between: Any) -> None:
        world = self.shared[0].again()
        start = set(Memory.objects.filter(kind="fact").values_list("pk", flat=True))
        for step in [("merge", 0, 1, 0), *between]:
            world.do(step)
            assert_nothing_twice(world)
        assert_sound(world.end_user)
        facts = Memory.objects.filter(kind="fact")
        learnt = set(facts.exclude(pk__in=_made_by_changes(world)).values_list("pk", flat=True))
        for change in changes_of(world):
            if not change.undone_at:
                undo_change(change, actor=ANN)
                assert_sound(world.end_user)
                assert_nothing_twice(world)
        assert set(facts.values_list("pk", flat=True)) == learnt >= start
        told = facts.filter(content__startswith="Memory").values_list("pk", flat=True)
        about = Link.objects.standing().filter(contact__merged_into=None)
        assert set(told) <= set(about.values_list("memory", flat=True))

    @settings(FEW, max_examples=FEW.max_examples // 3)
    @given(steps(MACHINE + PEOPLE + ["undo", "forget", "forget"], NUMBER, 20))
    def test_what_was_erased_for_good_is_no_undo_s_to_bring_back(self, done: Any) -> None:
        world = self.shared[0].again()
        for step in done:
            world.do(step)
        for change in changes_of(world):
            with suppress(CannotUndo):
                undo_change(change, actor=ANN, with_later=True)
                connection.check_constraints()
        assert_sound(world.end_user)


def _tracked(state: dict[str, Any], kind: str, pk: str) -> list[dict[str, Any]]:
    """A row but for what follows from others, which later changes may have touched."""
    follows = {"card", "memory_ids", "tokens", "consolidated_into_id", "importance"}
    told = {"content", "said_at"}  # of a profile
    return [
        {
            name: value
            for name, value in row.items()
            if name not in (follows | told if row.get("kind") == "profile" else follows)
        }
        for row in state[kind]
        if str(row["pk"]) == pk
    ]


def _made_by_changes(world: World) -> set[str]:
    return {
        row["id"]
        for change in changes_of(world)
        if not change.undone_at
        for row in change.rows
        if row["model"] == "memories.memory" and row["before"] is None
    }
