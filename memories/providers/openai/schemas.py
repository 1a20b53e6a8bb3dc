"""The JSON that a language model answers with, validated where it enters.

Strict in what is asked for (``json_schema_of``), lenient in what is taken: a label out of
the list, a null or a missing detail never costs a batch; a missing list of results does.
"""

import math
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from memories.types import EdgeKind, MemoryType, Sameness, Subtype, Verdict
from understanding.dates.important_dates import LUNAR, SOLAR


def _empty_if_none(value: object) -> object:
    return "" if value is None else value


def _no_items_if_none(value: object) -> object:
    return [] if value is None else value


def _label(known: set[str], otherwise: str) -> BeforeValidator:
    def check(value: object) -> str:
        label = value.strip().lower() if isinstance(value, str) else ""
        return label if label in known else otherwise

    return BeforeValidator(check)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


Share = Annotated[float, AfterValidator(_share)]
Text = Annotated[str, BeforeValidator(_empty_if_none)]
Ids = Annotated[list[str], BeforeValidator(_no_items_if_none)]
Numbers = Annotated[list[int], BeforeValidator(_no_items_if_none)]
Gender = Annotated[Literal["female", "male", ""], _label({"female", "male"}, "")]
Kind = Annotated[MemoryType, _label(set(MemoryType), MemoryType.MISCELLANEOUS)]
Whose = Annotated[Subtype, _label(set(Subtype), Subtype.OTHER)]
Calendar = Annotated[Literal["solar", "lunar", ""], _label({SOLAR, LUNAR}, "")]
Judgement = Annotated[Verdict, _label(set(Verdict), Verdict.NEW)]
Same = Annotated[Sameness, _label(set(Sameness), Sameness.UNSURE)]
# MIRA's edges that are found by meaning.
Relationship = Literal[
    EdgeKind.CONFLICTS,
    EdgeKind.SUPERSEDES,
    EdgeKind.CAUSES,
    EdgeKind.INSTANCE_OF,
    EdgeKind.INVALIDATED_BY,
    EdgeKind.MOTIVATED_BY,
]
Related = Annotated[Relationship | Literal["none"], _label(set(get_args(Relationship)), "none")]


class Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class PersonOut(Wire):
    id: str
    name: Text = ""
    aliases: Ids = []
    relationship: Text = ""
    gender: Gender = ""
    better_name: Text = ""
    wrong_aliases: Ids = []


class FactOut(Wire):
    key: str
    value: Text
    person: Text = ""
    valid_from: str | None = None
    valid_to: str | None = None


class DateOut(Wire):
    kind: str
    person: Text = ""
    calendar: Calendar = "solar"
    year: int | None = None
    month: int
    day: int
    leap_month: bool = False


class MemoryOut(Wire):
    content: Text
    type: Kind = MemoryType.MISCELLANEOUS
    subtype: Whose = Subtype.OTHER
    people: Ids = []
    turns: Numbers
    quote: Text = ""
    facts: Annotated[list[FactOut], BeforeValidator(_no_items_if_none)] = []
    important_dates: Annotated[list[DateOut], BeforeValidator(_no_items_if_none)] = []
    happens_at: str | None = None
    expires_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: Share = 1.0


class RelationOut(Wire):
    subject: str
    kind: Text
    object: str
    turns: Numbers = []


class ForgetOut(Wire):
    asked_in: int
    quote: Text
    person: Text = ""
    everything: bool = False
    words: Ids = []
    keys: Ids = []
    turns: Numbers = []
    memories: Ids = []


class SameOut(Wire):
    people: Ids
    quote: Text = ""


class ExtractionOut(Wire):
    people: list[PersonOut]
    memories: list[MemoryOut]
    relations: Annotated[list[RelationOut], BeforeValidator(_no_items_if_none)] = []
    retracted: Numbers = []
    retracted_memories: Ids = []
    same_people: Annotated[list[SameOut], BeforeValidator(_no_items_if_none)] = []
    forget: Annotated[list[ForgetOut], BeforeValidator(_no_items_if_none)] = []
    user_names: Ids = []


class EndedOut(Wire):
    id: str
    key: Text
    value: Text


class ResolutionOut(Wire):
    case: str
    verdict: Judgement
    targets: Ids = []
    ended: Annotated[list[EndedOut], BeforeValidator(_no_items_if_none)] = []
    remains: Text = ""
    reason: Text = ""


class ResolutionsOut(Wire):
    resolutions: list[ResolutionOut]


class ValueOut(Wire):
    value: Text
    sources: Ids = []
    since: str | None = None


class AttributeOut(Wire):
    key: str
    values: list[ValueOut]


class EventOut(Wire):
    text: Text
    at: Text
    sources: Ids = []


class ReferenceOut(Wire):
    text: Text
    sources: Ids = []


class ProfileOut(Wire):
    id: Text
    attributes: list[AttributeOut]
    ended: Ids = []
    timeline: list[EventOut]
    personality: str | None = None
    personality_sources: Ids = []
    references: Annotated[list[ReferenceOut], BeforeValidator(_no_items_if_none)] = []


class ProfilesOut(Wire):
    people: list[ProfileOut]


class PairOut(Wire):
    case: str
    verdict: Same
    reason: Text = ""


class PairsOut(Wire):
    verdicts: list[PairOut]


class MeantOut(Wire):
    words: Text = ""
    ids: Ids
    confidence: Share = 1.0


class WhoOut(Wire):
    meant: list[MeantOut]


class FoundOut(Wire):
    case: str
    kind: Related
    source: str
    target: str
    confidence: Share = 1.0
    reason: Text = ""


class FoundRelationsOut(Wire):
    relations: list[FoundOut]


class RefinementOut(Wire):
    id: str
    pieces: Ids = []
    trimmed: Text = ""
    reason: Text = ""


class RefinementsOut(Wire):
    refinements: list[RefinementOut]


class OverlapOut(Wire):
    members: Ids
    content: Text
    reason: Text = ""


class OverlapsOut(Wire):
    overlaps: list[OverlapOut]


class ReviewOut(Wire):
    proposal: str
    accepted: bool
    reason: Text = ""


class ReviewsOut(Wire):
    reviews: list[ReviewOut]


@cache
def json_schema_of(model: type[Wire]) -> dict[str, Any]:
    """The schema of ``model`` in the subset that strict structured output takes: every
    property required, none beside them, no titles and no defaults."""
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    strict = {
        key: {name: _strict(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else _strict(value)
        for key, value in node.items()
        if key not in ("title", "default", "description")
    }
    if node.get("type") == "object":
        strict["required"] = list(node.get("properties", ()))
        strict["additionalProperties"] = False
    return strict
