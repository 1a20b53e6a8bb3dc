"""The smaller questions to a model: which memories are related, which records are one person, how
memories are reworded, whom a message means. Answers about an id that was not shown are left out."""

from collections.abc import Sequence
from itertools import count
from typing import Any
from uuid import UUID

from accounts.reasons import Reason
from memories.providers.errors import OutputError
from memories.providers.openai import schemas
from memories.providers.openai.consolidation import MAX_REASON, memory_as_json
from memories.providers.openai.extraction import MAX_CONTENT, MAX_VALUE
from memories.providers.openai.schemas import Question, numbered
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


def relations(cases: Sequence[RelationCase]) -> Question[list[FoundRelation]]:
    """Returns a Question: how each case's memory is related to its others. It is read as the
    relation of the highest confidence for each pair."""
    by_id = numbered("c", cases)
    shown = {one.id for memory, others in cases for one in (memory, *others)}
    memories = numbered("m", sorted(shown))
    short = {pk: number for number, pk in memories.items()}

    def as_json(memory: StoredMemory) -> dict[str, Any]:
        return {"id": short[memory.id], **memory_as_json(memory)}

    def read(out: schemas.FoundRelationsOut) -> list[FoundRelation]:
        by_pair: dict[frozenset[UUID], FoundRelation] = {}
        for item in out.relations:
            case = by_id.get(item.case)
            source, target = memories.get(item.source), memories.get(item.target)
            if case is None or source is None or target is None or item.kind == "none":
                continue
            ends = frozenset((source, target))
            memory, others = case
            is_surer = ends not in by_pair or by_pair[ends].confidence < item.confidence
            if len(ends) == 2 and ends - {one.id for one in others} == {memory.id} and is_surer:
                reason = clean(item.reason, MAX_REASON)
                by_pair[ends] = FoundRelation(item.kind, source, target, item.confidence, reason)
        return list(by_pair.values())

    asked = [
        {"case": number, "memory": as_json(memory), "others": [as_json(one) for one in others]}
        for number, (memory, others) in by_id.items()
    ]
    return Question("classify", {"cases": asked}, schemas.FoundRelationsOut, read)


def same_person(
    pairs: Sequence[tuple[int, tuple[Record, Record]]],
) -> Question[dict[int, tuple[Sameness, str]]]:
    """Returns a Question: whether pairs of records are one person. It is read as the first verdict
    and reason by pair key; some may be missing."""
    by_id = numbered("c", pairs)

    def read(out: schemas.PairsOut) -> dict[int, tuple[Sameness, str]]:
        return {
            by_id[item.case][0]: (item.verdict, clean(item.reason, MAX_REASON))
            for item in reversed(out.verdicts)
            if item.case in by_id
        }

    cases = [
        {"case": number, "first": _record_as_json(first), "second": _record_as_json(second)}
        for number, (_key, (first, second)) in by_id.items()
    ]
    return Question("judge", {"cases": cases}, schemas.PairsOut, read)


def _record_as_json(record: Record) -> dict[str, Any]:
    """Returns a person as a model sees them, without empty fields."""
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


def rewrites(groups: Sequence[Sequence[StoredMemory]], language: str) -> Question[list[Rewrite]]:
    """Returns a Question: how a long memory is split or trimmed, or several are joined. It is read
    as rewrites in one group, each memory in the first naming it. The caller checks the texts."""
    numbers = count(1)
    members = [{f"m{next(numbers)}": memory for memory in group} for group in groups]

    def read(out: schemas.RewritesOut) -> list[Rewrite]:
        accepted: list[Rewrite] = []
        taken: set[str] = set()
        for item in out.rewrites:
            group = next((one for one in members if not one.keys().isdisjoint(item.ids)), {})
            ids = [short for short in dict.fromkeys(item.ids) if short in group]
            texts = tuple(dict.fromkeys(text for raw in item.texts if (text := _content(raw))))
            if len(group) > 1:
                fits = len(ids) > 1 and len(texts) == 1
            else:
                longest = max((len(memory.content) for memory in group.values()), default=0)
                fits = 1 <= len(texts) <= MAX_PIECES and all(len(t) < longest for t in texts)
            if fits and taken.isdisjoint(ids):
                taken.update(ids)
                pks = tuple(group[short].id for short in ids)
                accepted.append(Rewrite(pks, texts, clean(item.reason, MAX_REASON)))
        return accepted

    shown = [
        [{"id": short, **memory_as_json(memory)} for short, memory in group.items()]
        for group in members
    ]
    return Question("refine", {"language": language, "groups": shown}, schemas.RewritesOut, read)


def _content(text: str) -> str:
    """Returns ``text`` as the content of a memory; "" if it would have to be cut."""
    cleaned = clean(text, MAX_CONTENT + 1)
    return cleaned if cleaned == clean(cleaned, MAX_CONTENT) else ""


def reviews(
    proposals: Sequence[tuple[Rewrite, Sequence[StoredMemory]]], language: str
) -> Question[list[bool]]:
    """Returns a Question: which proposals to join memories are accepted. It is read as booleans in
    their order, False for one that is also refused."""
    by_id = numbered("r", proposals)

    def read(out: schemas.ReviewsOut) -> list[bool]:
        accepted = {one.proposal for one in out.reviews if one.accepted}
        refused = {one.proposal for one in out.reviews if not one.accepted}
        return [short in accepted - refused for short in by_id]

    shown = [
        {
            "proposal": short,
            "memories": [memory_as_json(memory) for memory in members],
            "content": rewrite.texts[0],
        }
        for short, (rewrite, members) in by_id.items()
    ]
    return Question("review", {"language": language, "proposals": shown}, schemas.ReviewsOut, read)


def meant_people(request: WhoRequest) -> Question[Sequence[MeantPeople]]:
    """Returns a Question: whom a message refers to. It is read as people, each once; the reader
    raises OutputError for an answer that names only people who were not shown."""
    people = numbered("p", request.people)

    def turn_as_json(turn: ShownTurn) -> dict[str, str | bool]:
        shown: dict[str, str | bool] = {"role": turn.role, "text": masked(turn.text)[:MAX_TURN]}
        if turn.at:
            shown["at"] = f"{turn.at.astimezone(request.zone):%Y-%m-%d %H:%M}"
        return {**shown, "another_conversation": True} if turn.earlier else shown

    def read(out: schemas.WhoOut) -> list[MeantPeople]:
        meant_by_id = dict[str, MeantPeople]()
        for item in out.meant:
            shown = [one for one in dict.fromkeys(item.ids) if one in people]
            if new_ids := [one for one in shown if one not in meant_by_id]:
                words = item.words if item.words in request.message else ""
                meant = tuple(people[one][0] for one in new_ids)
                meant_by_id |= dict.fromkeys(new_ids, MeantPeople(meant, words, item.confidence))
        if not meant_by_id and any(item.ids for item in out.meant):
            raise OutputError(Reason("answer_unusable", errors=["unknown_id"]))
        return list(dict.fromkeys(meant_by_id.values()))

    asked = {
        "people": [
            {"id": short, "about": clean(line, MAX_LINE)} for short, (_, line) in people.items()
        ],
        "turns": [turn_as_json(turn) for turn in request.turns],
        "message": masked(request.message)[:MAX_MESSAGE],
    }
    return Question("who", asked, schemas.WhoOut, read)
