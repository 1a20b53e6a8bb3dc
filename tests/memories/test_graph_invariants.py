"""Store, supersede, merge memories, split, archive and undo in any order: no edge dangles where
anyone sees it, nothing that was said is lost, and the doctor finds nothing wrong."""

from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import Change
from accounts.rollback import CannotUndo
from memories.corrections import edit_edges, edit_memories, rewrite
from memories.corrections.edit_memories import InvalidCorrection
from memories.corrections.erasure_requests import hide
from memories.corrections.undo import undo_change
from memories.graph import neighbours
from memories.models import Edge, Memory
from memories.pipeline import tag_entities
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.snapshots import assert_sound

ANN = "operator:ann"
PLACES = ["Lisbon", "Porto", "Ghent"]
KINDS = ["causes", "conflicts", "motivated_by", "instance_of"]


class World:
    """An end user with some memories of two people, and all that may happen to memories."""

    def __init__(self) -> None:
        self.end_user = make_end_user(language="en")
        self.people = [make_contact(self.end_user, name) for name in ("Ada", "Bea")]
        self.said: set[str] = set()
        for n in range(5):
            self.store(n, n, n)
        for n in range(4):
            ends = {"source": self.memory(n), "target": self.memory(n + 1)}
            Edge.objects.create(end_user=self.end_user, kind=KINDS[n], **ends)

    def memory(self, n: int) -> Memory:
        rows = Memory.objects.of(self.end_user).order_by("created_at", "content")
        return rows[n % rows.count()]

    # What may happen. Each takes three numbers that choose.

    def store(self, a: int, b: int, _c: int) -> None:
        content = f"Person {len(self.said)} moved to {PLACES[a % 3]}. They like it."
        self.said.add(content)
        memory = make_memory(self.end_user, content, self.people[b % 2])
        tag_entities.tag(self.end_user, [memory])

    def connect(self, a: int, b: int, c: int) -> None:
        ends = self.memory(a).pk, self.memory(b).pk
        edit_edges.connect(self.end_user, *ends, KINDS[c % 4], actor=ANN)

    def supersede(self, a: int, b: int, _c: int) -> None:
        if self.memory(a) != self.memory(b):
            edit_memories.outdate(self.end_user, [self.memory(a)], actor=ANN, by=self.memory(b).pk)

    def hide(self, a: int, _b: int, _c: int) -> None:
        hide(self.end_user, [self.memory(a)], actor=ANN)

    def set_status(self, a: int, b: int, _c: int) -> None:
        status = ["archived", "active", "outdated"][b % 3]
        edit_memories.edit(self.end_user, self.memory(a).pk, {"status": status}, actor=ANN)

    def split(self, a: int, _b: int, c: int) -> None:
        pieces = [f"{part.strip('.')}, note {c}." for part in self.memory(a).content.split(". ")]
        rewrite.split(self.end_user, self.memory(a).pk, pieces, actor=ANN)

    def merge(self, a: int, b: int, c: int) -> None:
        ids = [self.memory(a).pk, self.memory(b).pk]
        rewrite.merge_memories(self.end_user, ids, f"All of it, told {c}.", actor=ANN)

    def tag_again(self, a: int, b: int, _c: int) -> None:
        active = [m for m in (self.memory(a), self.memory(b)) if m.status == "active"]
        tag_entities.tag(self.end_user, active)

    def undo(self, a: int, b: int, _c: int) -> None:
        changes = Change.objects.of(self.end_user).filter(undone_at=None).order_by("-created_at")
        if changes:
            undo_change(changes[a % len(changes)], actor=ANN, with_later=b % 2 == 0)

    # What must hold.

    def look(self) -> None:
        ids = [*Memory.objects.of(self.end_user).values_list("pk", flat=True)]
        archived = {
            *Memory.objects.of(self.end_user).filter(status="archived").values_list("pk", flat=True)
        }
        for pk in ids:
            seen = neighbours(self.end_user, [pk], hops=2)
            assert archived.isdisjoint(seen)
            assert seen.keys() <= set(ids)
            between = {step.source for beside in seen.values() for step in beside.steps}
            assert archived.isdisjoint(between - {pk})

    def check(self) -> None:
        assert self.said <= {*Memory.objects.of(self.end_user).values_list("content", flat=True)}
        self.look()
        assert_sound(self.end_user)


EVENTS = [
    World.store, World.connect, World.supersede, World.hide, World.set_status, World.split,
    World.merge, World.tag_again, World.undo,
]  # fmt: skip
NUMBERS = st.integers(0, 20)
STEPS = st.lists(
    st.tuples(st.sampled_from(EVENTS), NUMBERS, NUMBERS, NUMBERS), min_size=3, max_size=12
)
STRICT = settings(
    max_examples=settings().max_examples // 10,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def live(world: World, steps: list) -> None:
    for event, *numbers in steps:
        note(f"{event.__name__} {numbers}")
        try:
            event(world, *numbers)
        except (InvalidCorrection, CannotUndo) as refused:
            note(f"  refused: {refused}")


class GraphProperties(TestCase):
    @STRICT
    @given(STEPS)
    def test_any_sequence_leaves_the_graph_sound_and_nothing_said_is_lost(
        self, steps: list
    ) -> None:
        world = World()
        live(world, steps)
        world.check()

    @STRICT
    @given(STEPS)
    def test_undoing_all_from_the_last_on_brings_every_edge_back(self, steps: list) -> None:
        world = World()
        before = edges(world)
        unrecorded = (World.store, World.tag_again, World.undo)
        live(world, [step for step in steps if step[0] not in unrecorded])
        world.look()
        for change in Change.objects.of(world.end_user).order_by("-created_at"):
            undo_change(change, actor=ANN)
        world.check()
        assert edges(world) == before


def edges(world: World) -> set[tuple]:
    rows = Edge.both_ways.of(world.end_user)
    return {*rows.values_list("source", "kind", "target", "inverse")}
