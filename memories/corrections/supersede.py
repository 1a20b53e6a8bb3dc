"""One memory takes the place of others, or only of those of their facts that it contradicts."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from uuid import UUID

from accounts.models import Change, EndUser
from memories.corrections import edit_memories, rewrite
from memories.fact_conflicts import contradicted
from memories.models import Memory
from memories.types import StoredFact
from understanding.sentences import clauses, sentences

Ended = Mapping[UUID, Sequence[StoredFact]]


def _quotes_more(memory: Memory, facts: Sequence[StoredFact]) -> bool:
    """Whether a memory is a quote of more clauses than these facts account for."""
    told = [part for one in sentences(memory.quote) for part in clauses(one)]
    return memory.brackets is not None and len(told) > len(facts)


def supersede(
    end_user: EndUser,
    memories: Sequence[Memory],
    by: Memory,
    *,
    actor: str,
    why: str = "",
    certainty: float | None = None,
    ended: Ended = MappingProxyType({}),
    remains: Mapping[UUID, str] = MappingProxyType({}),
    keep: bool = False,
) -> Change | None:
    """Ends what ``by`` contradicts: the facts of ``memories`` that ``ended`` names, else those
    that its own facts exclude. A memory of which no other fact stands becomes outdated, as does
    one whose facts tell nothing of the matter; what ``remains`` true of it, in words, is a memory
    of its own then. One change, None when there is nothing to do; with ``keep`` it is undone
    before what was done to ``by`` earlier."""
    new = by.as_stored()
    found: dict[UUID, Sequence[StoredFact]] = {}
    for memory in memories:
        old = memory.as_stored()
        gone = ended.get(memory.pk) or [
            fact for _, fact in contradicted(new.facts, new.said_at, old.facts)
        ]
        says_more = not {*old.current} <= {*gone} or _quotes_more(memory, gone)
        if rest := remains.get(memory.pk):
            facts = zip(memory.facts, old.facts, strict=True)
            kept = [row for row, fact in facts if fact not in gone]
            rewrite.split(end_user, memory.pk, [rest], actor=actor, why=why, fewest=1, facts=kept)
        elif gone and says_more:
            found[memory.pk] = gone
    return edit_memories.outdate(
        end_user,
        memories,
        actor=actor,
        why=why,
        valid_to=by.said_at,
        by=by.pk,
        certainty=certainty,
        ended=found,
        until=by.began_at,
        keep=[by] if keep else [],
    )
