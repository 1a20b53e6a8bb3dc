"""Whatever is done to memories, nothing dangles, nothing is lost, and the doctor is content."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import Change
from accounts.rollback import CannotUndo
from contacts import relations, store
from contacts.merge import InvalidMerge
from contacts.models import Contact
from memories import graph
from memories.corrections import edit_memories, merge_contacts, rewrite
from memories.corrections.edit_memories import InvalidCorrection
from memories.corrections.erasure_requests import hide
from memories.corrections.undo import undo_change
from memories.models import Edge, Entity, EntityLink, Link, Memory
from memories.models.memory import content_hash
from memories.pipeline import store_memories
from memories.types import Draft, ExtractedMemory, MemoryType, Resolution, Subtype, Verdict
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory
from tests.memories.snapshots import absorbed, assert_same, assert_sound, knowledge

NAMES = ["Ada", "Bea", "Cleo"]
PLACES = ["Ghent", "Leeds", "York", "Turin"]
KINDS = ["complements", "causes", "shares_entity:Ghent", "conflicts"]
SPACE = "test/3"


class World:
    """An end user with three people and memories of them, and all that may happen to these."""

    def __init__(self) -> None:
        self.end_user = make_end_user(language="en")
        self.people = [make_contact(self.end_user, name) for name in NAMES]
        self.told = 0
        self.ever: set[str] = set()
        for n in range(5):
            self.tell(n, n, n)
        relations.relate(
            self.end_user, self.people[0], "friend", self.people[1], [self.memory(0).id]
        )
        for contact in self.people[:2]:
            store.save(Contact.objects.get(pk=contact.pk), [])
        self.learn(0, 0, 0)
        self.learn(1, 1, 1)
        self.relate(0, 1, 2)

    def memory(self, n: int) -> Memory:
        """The n-th fact, whatever became of it."""
        rows = Memory.objects.of(self.end_user).filter(kind="fact").order_by("created_at", "pk")
        return rows[n % rows.count()]

    def active(self, n: int) -> Memory:
        rows = Memory.objects.of(self.end_user).active().filter(kind="fact")
        return rows.order_by("created_at", "pk")[n % max(1, rows.count())]

    def person(self, n: int) -> Contact:
        """The n-th person, or whom they were merged into."""
        found = store.survivor(self.end_user, self.people[n % 3].id)
        assert found is not None
        found.end_user = self.end_user
        return found

    def actor(self, n: int) -> str:
        return "refiner" if n % 2 else "operator:ann"

    def _said(self, a: int, b: int) -> tuple[str, Contact, dict[str, Any]]:
        self.told += 1
        one = self.person(a)
        place = PLACES[b % 4]
        content = f"{one.name} was in {place} on day {self.told}. {one.name} liked it a lot."
        self.ever.add(content)
        return content, one, {"key": "location", "value": place, "person": str(one.id)}

    # What may happen. Each takes three numbers that choose.

    def tell(self, a: int, b: int, c: int) -> None:
        content, one, fact = self._said(a, b)
        make_memory(
            self.end_user, content, one, facts=[fact], source_message_ids=[self.told], quote=content
        )

    def store(self, a: int, b: int, c: int) -> None:
        """Through the pipeline's own step; c chooses how it stands to what is known."""
        content, one, _ = self._said(a, b)
        key = content_hash(content)
        extracted = ExtractedMemory(content, MemoryType.PERSONAL, Subtype.FRIEND, (self.told,))
        draft = Draft(key, content, SOME_DAY, extracted, (), [0.1, 0.2, 0.3], ["x", str(c)])
        verdict = [Verdict.SUPERSEDES, Verdict.COMPLEMENTS, Verdict.NEW][c % 3]
        target = self.active(b).id
        stored = store_memories.store(
            self.end_user, [draft], {key: [Resolution(verdict, (target,), "newer")]}, SPACE
        )
        Memory.objects.filter(pk__in=stored.added).update(tokens=rewrite.derived.tokenise(content))
        Link.objects.bulk_create(
            [
                Link(end_user=self.end_user, contact=one, memory_id=pk, made_by="extractor")
                for pk in stored.added
            ]
        )
        store.save(Contact.objects.get(pk=one.pk), [])

    def learn(self, a: int, b: int, c: int) -> None:
        """A profile takes a memory in."""
        memory = self.active(a)
        for link in Link.objects.standing().filter(memory=memory).select_related("contact"):
            if link.contact.merged_into_id is None:
                link.contact.end_user = self.end_user
                absorbed(link.contact, memory, "location", PLACES[b % 4], f"Event {c % 3}")

    def relate(self, a: int, b: int, c: int) -> None:
        one, other = self.active(a), self.active(b)
        if KINDS[c % 4].startswith(Edge.SHARES_ENTITY):
            entity, _ = Entity.objects.get_or_create(
                end_user=self.end_user, kind="place", name="Ghent", key="ghent"
            )
            for memory in (one, other):
                EntityLink.objects.get_or_create(
                    end_user=self.end_user, entity=entity, memory=memory
                )
        if one != other:
            Edge.objects.get_or_create(
                end_user=self.end_user, source=one, target=other, kind=KINDS[c % 4]
            )

    def outdate(self, a: int, b: int, c: int) -> None:
        by = self.active(b)
        memories = [memory for memory in [self.memory(a)] if memory != by]
        edit_memories.outdate(self.end_user, memories, actor="extractor", by=by.id)

    def hide(self, a: int, b: int, c: int) -> None:
        hide(self.end_user, [self.memory(a)], actor="extractor")

    def edit(self, a: int, b: int, c: int) -> None:
        content = f"{NAMES[b % 3]} edits {a} {c}."
        memory = self.memory(a)
        edit_memories.edit(self.end_user, memory.id, {"content": content}, actor="operator:ann")
        self.ever.add(content)

    def unlink(self, a: int, b: int, c: int) -> None:
        edit_memories.unlink(
            self.end_user, self.memory(a).id, self.people[b % 3].id, actor="operator:ann"
        )

    def unite(self, a: int, b: int, c: int) -> None:
        one, other = self.people[a % 3], self.people[b % 3]
        merge_contacts.merge(self.end_user, one.id, other.id, actor="operator:ann")

    def split(self, a: int, b: int, c: int) -> None:
        whole = self.memory(a)
        pieces = [f"{part.strip(' .')}." for part in whole.content.split(". ")]
        rewrite.split(self.end_user, whole.id, pieces, actor=self.actor(c))
        self.ever.update(pieces)

    def trim(self, a: int, b: int, c: int) -> None:
        memory = self.memory(a)
        content = memory.content.replace(" a lot", "").replace(" was", "")
        rewrite.trim(self.end_user, memory.id, content, actor=self.actor(c))
        self.ever.add(content)

    def merge(self, a: int, b: int, c: int) -> None:
        chosen = {m.id: m for m in (self.active(a), self.active(b), self.active(a + c % 2))}
        longest = max(chosen.values(), key=lambda memory: len(memory.content)).content
        content = longest if c % 3 == 0 else " ".join(sorted(m.content for m in chosen.values()))
        rewrite.merge_memories(self.end_user, list(chosen), content, actor=self.actor(c))
        self.ever.add(content)

    def undo(self, a: int, b: int, c: int) -> None:
        changes = Change.objects.of(self.end_user).filter(undone_at=None)
        if changes:
            undo_change(changes[a % len(changes)], actor="operator:ann", with_later=b % 2 == 0)

    def do(self, step: tuple[str, int, int, int]) -> bool:
        verb, *numbers = step
        try:
            getattr(self, verb)(*numbers)
        except (CannotUndo, InvalidCorrection, InvalidMerge, IndexError) as refusal:
            note(f"{step}: {refusal}")
            return False
        note(str(step))
        return True


MACHINE = ["tell", "store", "learn", "relate", "outdate"]
PEOPLE = ["hide", "edit", "unlink", "unite", "split", "trim", "merge", "undo"]
NUMBER = st.integers(0, 11)


def steps(verbs: list[str], most: int) -> Any:
    return st.lists(st.tuples(st.sampled_from(verbs), NUMBER, NUMBER, NUMBER), max_size=most)


def told(world: World) -> set[str]:
    """Every text that can still be read: in a memory of any status, or in a change."""
    found = set(Memory.objects.of(world.end_user).values_list("content", flat=True))
    for rows in Change.objects.of(world.end_user).values_list("rows", flat=True):
        for row in rows:
            found |= {
                side["content"]
                for side in (row["before"], row["after"])
                if side and "content" in side
            }
    return found


def visible(world: World) -> dict[UUID, set[UUID]]:
    """What a walk along the edges shows of each memory that can be met."""
    shown = (
        Memory.objects.of(world.end_user).exclude(status="archived").values_list("pk", flat=True)
    )
    return {pk: set(graph.neighbours(world.end_user, [pk], hops=2, heal=False)) for pk in shown}


def assert_whole(world: World) -> None:
    assert_sound(world.end_user)
    assert world.ever <= told(world)
    memories = {m.pk: m for m in Memory.objects.of(world.end_user)}
    for edge in Edge.both_ways.of(world.end_user):
        assert {edge.source_id, edge.target_id} <= memories.keys()
        assert Edge.both_ways.filter(
            source=edge.target_id, target=edge.source_id, kind=edge.kind, inverse=not edge.inverse
        ).exists()
    for neighbours in visible(world).values():
        assert all(memories[pk].status != "archived" for pk in neighbours)
    for memory in memories.values():
        if memory.merged_into_id:
            assert memory.status == "archived"
            assert memory.merged_into_id in memories
            assert not Link.objects.filter(memory=memory).exists()


# An example is hundreds of statements: to shrink a failing one would take many minutes.
FEW = settings(
    max_examples=settings().max_examples // 10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Engine(TestCase):
    @FEW
    @given(steps([*MACHINE, *PEOPLE, "merge", "split", "undo"], 30))
    def test_nothing_dangles_and_nothing_is_lost_whatever_happens(self, done: Any) -> None:
        world = World()
        for step in done:
            if world.do(step) and step[0] == "undo":
                assert_whole(world)
        assert_whole(world)

    @FEW
    @given(steps([verb for verb in PEOPLE if verb != "undo"], 14))
    def test_all_that_was_done_undone_from_the_last_leaves_what_was(self, done: Any) -> None:
        world = World()
        edges: Callable[[], list[Any]] = lambda: sorted(  # noqa: E731
            Edge.objects.of(world.end_user).values_list("source", "kind", "target"), key=str
        )
        before, stated = knowledge(world.end_user), edges()
        for step in done:
            world.do(step)
        for change in Change.objects.of(world.end_user).order_by("-created_at"):
            note(f"undo {change.verb}")
            undo_change(change, actor="operator:ann")
        assert_whole(world)
        assert edges() == stated
        assert_same(knowledge(world.end_user), before)
