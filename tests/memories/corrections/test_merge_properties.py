"""Merge, fifty random things, undo: nothing is lost, nothing doubled, all is in step."""

from collections.abc import Callable
from copy import copy
from typing import Any
from uuid import UUID

from django.utils import timezone
from hypothesis import HealthCheck, Phase, example, given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.changes import CannotUndo
from accounts.models import Change, EndUser
from contacts import relations, store
from contacts.edit import NameTaken, edit_contact
from contacts.merge import InvalidMerge, not_the_same
from contacts.models import Contact
from contacts.names import name_key
from contacts.text import normalise
from memories.corrections import edit_memories, merge_contacts
from memories.models import Consolidation, Link, Memory
from memories.pipeline import consolidate, linker
from memories.types import AttributeValue, ProfilePatch, TimelineEvent
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.snapshots import assert_same, assert_sound, knowledge, overlook_readings

ANN = "operator:ann"
NAMES = ["Ada", "Bea", "Cleo", "Dora", "Enid"]
KEYS = ["location", "interests", "job_title"]
WORDS = ["amber", "birch", "coral", "denim", "ebony"]


class World:
    """An end user with five people, and everything that may happen to them."""

    def __init__(self) -> None:
        self.end_user = make_end_user(language="en")
        self.people = [make_contact(self.end_user, name).id for name in NAMES]
        self.told = 0
        for n in range(8):
            self.tell(n, n // 2, n)
        for n in range(5):
            self.consolidate(n, n, n)
        self.relate(0, 2, 1)
        self.relate(3, 1, 2)
        self.told_of_both = make_memory(self.end_user, "Both.", self.at(0), self.at(1))
        self.merged: Change | None = None

    def again(self) -> "World":
        """The same end user and people as they were at first, for another example."""
        other = copy(self)
        other.end_user = EndUser.objects.get(pk=self.end_user.pk)
        other.people = [*self.people]
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
        make_memory(self.end_user, f"Memory {self.told}.", *about.values(), facts=[fact])

    def link(self, a: int, b: int, c: int) -> None:
        pairs = [(self.memory(b), self.at(a), 0.7)]
        if linker.link(self.end_user, pairs, Link.MadeBy.BACKFILL):
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
        edit_contact(self.end_user, self.at(a).id, {"name": f"{WORDS[b % 5]}"}, actor=ANN)

    def describe(self, a: int, b: int, c: int) -> None:
        values = {"attributes": {KEYS[b % 3]: [WORDS[c % 5]]}, "relationship": WORDS[c % 5]}
        edit_contact(self.end_user, self.at(a).id, values, actor=ANN)

    def merge(self, a: int, b: int, c: int) -> None:
        merge_contacts.merge(self.end_user, self.at(a).id, self.at(b).id, actor=ANN)

    def split(self, a: int, b: int, c: int) -> None:
        contact = self.at(a)
        facts = Memory.objects.about(contact.id).filter(kind="fact").order_by("content")
        ids = list(facts.values_list("pk", flat=True))[b % 3 :: 2]
        new, _ = merge_contacts.split(self.end_user, contact.id, ids, name=WORDS[c % 5], actor=ANN)
        self.people.append(new.id)

    def resolve(self, a: int, b: int, c: int) -> None:
        contact = self.at(a)
        key = KEYS[b % 3]
        values = [entry["value"] for entry in contact.attributes.get(key, [])] or ["none"]
        merge_contacts.resolve_attribute(
            self.end_user, contact.id, key, values[c % len(values)], actor=ANN
        )

    def tell_apart(self, a: int, b: int, c: int) -> None:
        not_the_same(self.end_user, self.at(a).id, self.at(b).id, actor=ANN)

    def undo(self, a: int, b: int, c: int) -> None:
        changes = Change.objects.of(self.end_user).filter(undone_at=None)
        if self.merged:
            changes = changes.exclude(pk=self.merged.pk)
        if changes:
            edit_memories.undo(changes[a % len(changes)], actor=ANN)
            there = set(Contact.objects.values_list("pk", flat=True))
            self.people = [pk for pk in self.people if pk in there]

    def do(self, step: tuple[str, int, int, int]) -> None:
        verb, *numbers = step
        try:
            getattr(self, verb)(*numbers)
        except (
            CannotUndo,
            InvalidMerge,
            NameTaken,
            edit_memories.InvalidCorrection,
        ) as refusal:
            note(f"{step}: {refusal}")
        else:
            note(str(step))

    def names(self, *contact_ids: UUID) -> set[str]:
        rows = Contact.objects.filter(pk__in=contact_ids)
        return {name_key(name) for row in rows for name in (row.name, *row.aliases)}

    def known(self, *contact_ids: UUID) -> set[UUID]:
        """The fact memories that are about these contacts."""
        links = Link.objects.standing().filter(contact__in=contact_ids, memory__kind="fact")
        return set(links.values_list("memory", flat=True))


MACHINE = ["tell", "link", "learn", "consolidate", "relate"]
PEOPLE = [
    "move", "unlink", "edit", "outdate", "rename", "describe", "merge", "split", "resolve",
    "tell_apart", "undo",
]  # fmt: skip
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
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class MergeAndUndo(TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        cls.shared = (World(),)  # wrapped: Django would copy the world itself for each test

    @FEW
    @given(steps(MACHINE + PEOPLE, NUMBER, 50))
    def test_whatever_happens_in_between_nothing_is_lost_or_doubled(self, between: Any) -> None:
        world = self.shared[0].again()
        one, other = world.people[:2]
        world.merged = merge_contacts.merge(world.end_user, one, other, actor=ANN)
        for step in between:
            world.do(step)
            assert_nothing_twice(world)
        assert_sound(world.end_user)
        memories = set(Memory.objects.filter(kind="fact").values_list("pk", "content", "status"))
        united = world.at(0).id
        before = world.known(united), world.names(united)

        edit_memories.undo(world.merged, actor=ANN)

        assert_sound(world.end_user)
        assert_nothing_twice(world)
        apart = Contact.objects.get(pk=one)
        assert apart.merged_into_id is None
        rest = world.at(1).id
        assert rest != one
        assert world.known(one, rest) == before[0]
        assert world.names(one, rest) >= before[1]
        assert memories == set(
            Memory.objects.filter(kind="fact").values_list("pk", "content", "status")
        )

    @FEW
    @example([("split", 0, 9, 10)], False)
    @given(steps(MACHINE + PEOPLE, NUMBER, 25), st.booleans())
    def test_what_nobody_touched_is_exactly_as_it_was(self, between: Any, turned: bool) -> None:
        world = self.shared[0].again()
        one, other = world.people[1::-1] if turned else world.people[:2]
        mine = {"contact_id", "subject_id", "object_id", "first_id", "second_id"}

        def ours() -> dict[str, Any]:
            return {
                kind: [row for row in rows if {row.get(at) for at in mine | {"pk"}} & {one, other}]
                for kind, rows in knowledge(world.end_user).items()
                if kind not in ("keys", "memories")
            }

        before, known = ours(), world.known(one, other)
        known |= {pk for row in before["relations"] for pk in row["sources"]}
        keys = [row for row in knowledge(world.end_user)["keys"] if row[0] in (one, other)]
        merged = merge_contacts.merge(world.end_user, one, other, actor=ANN)
        strangers = Strangers(world, {one, other}, known)
        for step in between:
            strangers.do(step)
        edit_memories.undo(merged, actor=ANN)
        assert_sound(world.end_user)
        now = ours()
        for state in (now, before):
            for row in state["contacts"]:
                row.pop("card")  # it names those who are related, and may be renamed
            for row in (*state["relations"], *state["suggestions"]):
                row.pop("pk")  # a split tells the same again of another
                for at in mine & row.keys():  # the other end may be merged
                    row[at] = row[at] if row[at] in (one, other) else None
        assert_same(now, before)
        after = [row for row in knowledge(world.end_user)["keys"] if row[0] in (one, other)]
        assert after == keys

    @FEW
    @given(steps([v for v in PEOPLE if v != "undo"], NUMBER, 20))
    def test_all_that_people_did_undone_from_the_last_leaves_what_was(self, done: Any) -> None:
        world = self.shared[0].again()
        before = knowledge(world.end_user)
        for step in done:
            world.do(step)
        for change in Change.objects.of(world.end_user).order_by("-created_at"):
            note(f"undo {change.verb}")
            edit_memories.undo(change, actor=ANN)
            assert_sound(world.end_user)
        after = knowledge(world.end_user)
        overlook_readings(after, before)
        assert_same(after, before)


class Strangers:
    """The same world, where things only happen to those who were not merged."""

    def __init__(self, world: World, family: set[UUID], known: set[UUID]) -> None:
        self.world, self.family, self.known = world, family, known
        self.memory: Callable[[int], Memory] = world.memory
        world.memory = self._memory  # type: ignore[method-assign]
        self.at = world.at
        world.at = self._at  # type: ignore[method-assign]

    def _at(self, n: int) -> Contact:
        strangers = [pk for pk in self.world.people if pk not in self.family]
        found = store.survivor(self.world.end_user, strangers[n % len(strangers)])
        assert found is not None
        found.end_user = self.world.end_user
        return found

    def _memory(self, n: int) -> Memory:
        rows = Memory.objects.of(self.world.end_user).filter(kind="fact").exclude(pk__in=self.known)
        return rows.order_by("content", "pk")[n % rows.count()]

    def do(self, step: tuple[str, int, int, int]) -> None:
        if step[0] != "undo":
            self.world.do(step)
