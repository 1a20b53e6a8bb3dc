"""The JSON of questions to a language model and of its answers, which are validated on entry.

The schema sent is strict (``json_schema_of``), the validation lenient: an unknown label, a null or
a missing detail never costs a batch; a missing list of results does."""

import json
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from memories.types import CLASSIFIED, MemoryType, Relationship, Sameness, Subtype, Verdict
from understanding.dates.important_dates import LUNAR, SOLAR
from understanding.statements.secrets import masked
from understanding.text import encodable

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Question(Generic[R]):
    """A question to a model: the ``name`` of its instructions, the data ``asked`` about with short
    ids, the class of the ``answer``, and the function that reads it."""

    name: str
    asked: Any
    answer: "type[Wire]"
    read: Callable[[Any], R]

    def as_json(self) -> str:
        """Returns ``asked`` as compact JSON that any HTTP client can encode, its secrets masked."""
        shown = _masked(self.asked)
        return encodable(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list | tuple):
        return [_masked(one) for one in value]
    if isinstance(value, dict):
        return {key: _masked(one) for key, one in value.items()}
    return value


def numbered(prefix: str, items: Iterable[T]) -> dict[str, T]:
    """Returns the items by short ids: p1, p2 and so on."""
    return {f"{prefix}{number}": item for number, item in enumerate(items, 1)}


def _label(labels: set[str], default: str) -> BeforeValidator:
    """Returns a validator that replaces a value outside ``labels`` by ``default``."""

    def check(value: object) -> str:
        label = value.strip().lower() if isinstance(value, str) else ""
        return label if label in labels else default

    return BeforeValidator(check)


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


Share = Annotated[float, AfterValidator(_clamped)]
Gender = Annotated[Literal["female", "male", ""], _label({"female", "male"}, "")]
Kind = Annotated[MemoryType, _label(set(MemoryType), MemoryType.MISCELLANEOUS)]
Whose = Annotated[Subtype, _label(set(Subtype), Subtype.OTHER)]
Calendar = Annotated[Literal["solar", "lunar", ""], _label({SOLAR, LUNAR}, "")]
Judgement = Annotated[Verdict, _label(set(Verdict), Verdict.NEW)]
Same = Annotated[Sameness, _label(set(Sameness), Sameness.UNSURE)]
Related = Annotated[Relationship | Literal["none"], _label(set(CLASSIFIED), "none")]


class Wire(BaseModel):
    """An object in an answer. A malformed value becomes its field's default, or a null without one
    an empty text or list; of a list only malformed items are left out. A list that the whole answer
    (``context["answer"]``) requires loses items only with ``context["drop_items"]``, never all."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _replace_malformed(
        cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        try:
            return handler(value)
        except ValidationError:
            field = cls.model_fields[info.field_name or ""]
            context = info.context or {}
            is_needed = field.is_required() and context.get("answer") is cls
            if isinstance(value, list):
                valid_items: list[Any] = []
                for item in value:
                    with suppress(ValidationError):
                        valid_items += handler([item])
                if not is_needed or (valid_items and context.get("drop_items")):
                    return valid_items
            elif not field.is_required():
                return field.get_default()
            elif value is None and field.annotation in (str, list[str], list[int]):
                return handler("" if field.annotation is str else [])
            raise


class PersonOut(Wire):
    id: str
    name: str = ""
    aliases: list[str] = []
    relationship: str = ""
    gender: Gender = ""
    better_name: str = ""
    wrong_aliases: list[str] = []


class FactOut(Wire):
    key: str
    value: str
    person: str = ""
    valid_from: str | None = None
    valid_to: str | None = None


class DateOut(Wire):
    kind: str
    person: str = ""
    calendar: Calendar = "solar"
    year: int | None = None
    month: int
    day: int
    leap_month: bool = False


class MemoryOut(Wire):
    content: str
    type: Kind = MemoryType.MISCELLANEOUS
    subtype: Whose = Subtype.OTHER
    people: list[str] = []
    turns: list[int]
    quote: str = ""
    facts: list[FactOut] = []
    important_dates: list[DateOut] = []
    happens_at: str | None = None
    expires_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: Share = 1.0


class RelationOut(Wire):
    subject: str
    kind: str
    object: str
    turns: list[int] = []


class ForgetOut(Wire):
    asked_in: int
    quote: str
    person: str = ""
    everything: bool = False
    words: list[str] = []
    keys: list[str] = []
    turns: list[int] = []
    memories: list[str] = []


class SameOut(Wire):
    people: list[str]
    quote: str = ""


class ExtractionOut(Wire):
    people: list[PersonOut]
    memories: list[MemoryOut]
    relations: list[RelationOut] = []
    retracted: list[int] = []
    retracted_memories: list[str] = []
    same_people: list[SameOut] = []
    forget: list[ForgetOut] = []
    user_names: list[str] = []


class EndedOut(Wire):
    id: str
    key: str
    value: str


class ResolutionOut(Wire):
    case: str
    verdict: Judgement
    targets: list[str] = []
    ended: list[EndedOut] = []
    remains: str = ""
    reason: str = ""


class ResolutionsOut(Wire):
    resolutions: list[ResolutionOut]


class ValueOut(Wire):
    value: str
    sources: list[str] = []
    since: str | None = None


class AttributeOut(Wire):
    key: str
    values: list[ValueOut]


class EventOut(Wire):
    text: str
    at: str
    sources: list[str] = []


class ReferenceOut(Wire):
    text: str
    sources: list[str] = []


class ProfileOut(Wire):
    id: str
    attributes: list[AttributeOut]
    ended: list[str] = []
    timeline: list[EventOut]
    personality: str | None = None
    personality_sources: list[str] = []
    references: list[ReferenceOut] = []


class ProfilesOut(Wire):
    people: list[ProfileOut]


class PairOut(Wire):
    case: str
    verdict: Same
    reason: str = ""


class PairsOut(Wire):
    verdicts: list[PairOut]


class MeantOut(Wire):
    words: str = ""
    ids: list[str]
    confidence: Share = 1.0


class WhoOut(Wire):
    meant: list[MeantOut]


class FoundOut(Wire):
    case: str
    kind: Related
    source: str
    target: str
    confidence: Share = 1.0
    reason: str = ""


class FoundRelationsOut(Wire):
    relations: list[FoundOut]


class RewriteOut(Wire):
    ids: list[str]
    texts: list[str]
    reason: str = ""


class RewritesOut(Wire):
    rewrites: list[RewriteOut]


class ReviewOut(Wire):
    proposal: str
    accepted: bool
    reason: str = ""


class ReviewsOut(Wire):
    reviews: list[ReviewOut]


@cache
def json_schema_of(model: type[Wire]) -> dict[str, Any]:
    """Returns the schema of ``model`` in the subset that strict structured output takes: every
    property required, no others allowed, no titles and no defaults."""
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
