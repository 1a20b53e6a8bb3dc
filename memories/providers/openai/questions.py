"""The smaller questions to a model, each as JSON with short ids, and how its answer is read: which
memories are related, which records are one person, how memories are better said, whom a message
means. What an answer says of an id that was not shown is left out.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any
from uuid import UUID

from accounts.reasons import Reason
from memories.providers.errors import OutputError
from memories.providers.openai.consolidation import MAX_REASON, memory_as_json
from memories.providers.openai.extraction import MAX_CONTENT, MAX_VALUE, to_json
from memories.providers.openai.schemas import (
    FoundRelationsOut,
    PairsOut,
    ReviewsOut,
    RewritesOut,
    WhoOut,
)
from memories.types import (
    FoundRelation,
    MeantPeople,
    RelationCase,
    Rewrite,
    Sameness,
    ShownTurn,
    StoredMemory,
    WhoRequest,
)
from understanding.same_person.records import Record
from understanding.statements.secrets import masked
from understanding.text import clean

MAX_NAMES, MAX_ATTRIBUTES, MAX_FACTS = 8, 12, 6  # of a record
MAX_PIECES = 12  # of a memory that is split
MAX_MESSAGE, MAX_TURN, MAX_LINE = 2000, 400, 200


class RelationPrompt:
    """Memories beside others that may have to do with them."""

    name, answer = "classify", FoundRelationsOut

    def __init__(self, cases: Sequence[RelationCase]) -> None:
        self._cases = {f"c{number}": case for number, case in enumerate(cases, 1)}
        shown = {one.id for memory, others in cases for one in (memory, *others)}
        self._memories = {f"m{number}": pk for number, pk in enumerate(sorted(shown), 1)}
        self._short = {pk: short for short, pk in self._memories.items()}

    def as_json(self) -> str:
        """The cases as the model sees them."""
        cases = [
            {
                "case": short,
                "memory": self._shown(memory),
                "others": [self._shown(other) for other in others],
            }
            for short, (memory, others) in self._cases.items()
        ]
        return to_json({"cases": cases})

    def _shown(self, memory: StoredMemory) -> dict[str, Any]:
        return {"id": self._short[memory.id], **memory_as_json(memory)}

    def read(self, out: FoundRelationsOut) -> list[FoundRelation]:
        """The relations between a case's memory and another of its memories, the surest for
        each two."""
        found: dict[frozenset[UUID], FoundRelation] = {}
        for item in out.relations:
            case = self._cases.get(item.case)
            source, target = self._memories.get(item.source), self._memories.get(item.target)
            if case is None or source is None or target is None or item.kind == "none":
                continue
            ends = frozenset((source, target))
            memory, others = case
            surer = ends not in found or found[ends].confidence < item.confidence
            if len(ends) == 2 and ends - {one.id for one in others} == {memory.id} and surer:
                reason = clean(item.reason, MAX_REASON)
                found[ends] = FoundRelation(item.kind, source, target, item.confidence, reason)
        return list(found.values())


class PairPrompt:
    """Pairs of records that may be one person."""

    name, answer = "judge", PairsOut

    def __init__(self, pairs: Sequence[tuple[int, tuple[Record, Record]]]) -> None:
        self._pairs = {f"c{number}": pair for number, pair in enumerate(pairs, 1)}

    def as_json(self) -> str:
        """The pairs as the model sees them."""
        cases = [
            {"case": short, "first": record_as_json(first), "second": record_as_json(second)}
            for short, (_key, (first, second)) in self._pairs.items()
        ]
        return to_json({"cases": cases})

    def read(self, out: PairsOut) -> dict[int, tuple[Sameness, str]]:
        """The verdicts with their reasons by the pairs' keys, the first for each; a pair that the
        model left out has none."""
        return {
            self._pairs[item.case][0]: (item.verdict, clean(item.reason, MAX_REASON))
            for item in reversed(out.verdicts)
            if item.case in self._pairs
        }


def record_as_json(record: Record) -> dict[str, Any]:
    """A person as a model sees them, without what is unknown."""
    attributes = {
        key: [clean(value, MAX_VALUE) for value in values[:3]]
        for key, values in list(record.attributes.items())[:MAX_ATTRIBUTES]
    }
    shown = {
        "names": [clean(name, MAX_VALUE) for name in record.names[:MAX_NAMES]],
        "relationship": clean(record.relationship, MAX_VALUE),
        "gender": record.gender,
        "attributes": attributes,
        "facts": list(record.facts[:MAX_FACTS]),
    }
    return {key: value for key, value in shown.items() if value}


class RefinePrompt:
    """Groups of memories: a long one to be split or trimmed, or several to be joined. Whether a
    text loses or adds something is checked by the caller."""

    name, answer = "refine", RewritesOut

    def __init__(self, groups: Sequence[Sequence[StoredMemory]], language: str) -> None:
        numbers = count(1)
        self._groups = [{f"m{next(numbers)}": memory for memory in group} for group in groups]
        self._language = language

    def as_json(self) -> str:
        """The groups as the model sees them."""
        groups = [
            [{"id": short, **memory_as_json(memory)} for short, memory in group.items()]
            for group in self._groups
        ]
        return to_json({"language": self._language, "groups": groups})

    def read(self, out: RewritesOut) -> list[Rewrite]:
        """The rewrites of one group each, of which a long memory gets shorter; each memory in the
        first that names it."""
        found: list[Rewrite] = []
        taken: set[str] = set()
        for item in out.rewrites:
            group = next((one for one in self._groups if not one.keys().isdisjoint(item.ids)), {})
            ids = [short for short in dict.fromkeys(item.ids) if short in group]
            texts = tuple(dict.fromkeys(text for said in item.texts if (text := _content(said))))
            if len(group) > 1:
                fits = len(ids) > 1 and len(texts) == 1
            else:
                longest = max((len(memory.content) for memory in group.values()), default=0)
                fits = 1 <= len(texts) <= MAX_PIECES and all(len(t) < longest for t in texts)
            if fits and taken.isdisjoint(ids):
                taken.update(ids)
                members = tuple(group[short].id for short in ids)
                found.append(Rewrite(members, texts, clean(item.reason, MAX_REASON)))
        return found


class ReviewPrompt:
    """Proposals to say in one memory what several say."""

    name, answer = "review", ReviewsOut

    def __init__(
        self, proposals: Sequence[tuple[Rewrite, Sequence[StoredMemory]]], language: str
    ) -> None:
        self._proposals = {f"r{number}": both for number, both in enumerate(proposals, 1)}
        self._language = language

    def as_json(self) -> str:
        """The proposals as the model sees them."""
        proposals = [
            {
                "proposal": short,
                "memories": [memory_as_json(memory) for memory in members],
                "content": rewrite.texts[0],
            }
            for short, (rewrite, members) in self._proposals.items()
        ]
        return to_json({"language": self._language, "proposals": proposals})

    def read(self, out: ReviewsOut) -> list[bool]:
        """Whether each proposal is accepted, in their order: not where it has no review, or one
        that refuses it."""
        accepted = {one.proposal for one in out.reviews if one.accepted}
        refused = {one.proposal for one in out.reviews if not one.accepted}
        return [short in accepted - refused for short in self._proposals]


def _content(text: str) -> str:
    """``text`` as the content of a memory; empty when it would have to be cut."""
    whole = clean(text, MAX_CONTENT + 1)
    return whole if whole == clean(whole, MAX_CONTENT) else ""


class WhoPrompt:
    """A message of which it is unsure whom it means, and the people whom it may mean."""

    name, answer = "who", WhoOut

    def __init__(self, request: WhoRequest) -> None:
        self._request = request
        self._people = {f"p{number}": pk for number, (pk, _) in enumerate(request.people, 1)}

    def as_json(self) -> str:
        """What is asked about, as the model sees it."""
        people = [
            {"id": short, "about": clean(line, MAX_LINE)}
            for short, (_, line) in zip(self._people, self._request.people, strict=True)
        ]
        turns = [self._turn(turn) for turn in self._request.turns]
        message = masked(self._request.message)[:MAX_MESSAGE]
        return to_json({"people": people, "turns": turns, "message": message})

    def _turn(self, turn: ShownTurn) -> dict[str, str | bool]:
        shown: dict[str, str | bool] = {"role": turn.role, "text": masked(turn.text)[:MAX_TURN]}
        if turn.at:
            shown["at"] = f"{turn.at.astimezone(self._request.zone):%Y-%m-%d %H:%M}"
        if turn.earlier:
            shown["another_conversation"] = True
        return shown

    def read(self, out: WhoOut) -> list[MeantPeople]:
        """Whom the model says, each person once. Raises OutputError for an answer that names only
        people who were not shown."""
        found = dict[str, MeantPeople]()
        for item in out.meant:
            shown = [one for one in dict.fromkeys(item.ids) if one in self._people]
            if fresh := [one for one in shown if one not in found]:
                words = item.words if item.words in self._request.message else ""
                people = tuple(self._people[one] for one in fresh)
                found |= dict.fromkeys(fresh, MeantPeople(people, words, item.confidence))
        if not found and any(item.ids for item in out.meant):
            raise OutputError(Reason("answer_unusable", errors=["unknown_id"]))
        return list(dict.fromkeys(found.values()))
