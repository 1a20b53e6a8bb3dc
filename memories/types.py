"""The types that steps of the pipeline pass to each other, and all that providers see. Every reply
refers back by id, by content key or by the provider's own person ``ref``, never by position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Generic, Literal, TypeVar, get_args
from uuid import UUID, uuid4

from accounts.reasons import Reason
from understanding.types import Person

T = TypeVar("T")


class MemoryType(StrEnum):
    """The seven categories of TiMemory."""

    PERSONAL = "personal"
    PREFERENCE = "preference"
    ACTIVITY = "activity"
    PLAN = "plan"
    HEALTH = "health"
    PROFESSIONAL = "professional"
    MISCELLANEOUS = "miscellaneous"


class Subtype(StrEnum):
    """Whom a memory is about, by their relation to the end user."""

    FRIEND = "friend"
    FAMILY = "family"
    COLLEAGUE = "colleague"
    PARTNER = "partner"
    SELF = "self"
    OTHER = "other"


OF_PEOPLE = (Subtype.FRIEND, Subtype.FAMILY, Subtype.COLLEAGUE, Subtype.PARTNER)


# Prefix of the search tokens of roles (role:mother).
ROLE = "role:"
# The prefix of tokens from the texts around a memory.
AROUND = "<"

# The role of a turn that somebody else than the user wrote: not "user", so that nothing takes
# their words for the user's own.
CONTACT = "contact"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``said_at`` has a time zone; ``role`` is user, assistant, system, tool or
    contact, and ``speaker`` names the contact who wrote it."""

    id: int
    role: str
    content: str
    said_at: datetime
    session_id: str = ""
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """The ``turns`` to extract; ``context`` are earlier ones, only to understand them.
    ``language`` (zh or en) and ``user_names``, which are never a contact, are the end user's.
    ``earlier`` are (session, role) of the messages before. ``memories`` are active ones that the
    turns may be about, for providers that read them."""

    turns: tuple[Turn, ...]
    context: tuple[Turn, ...] = ()
    people: tuple[Person, ...] = ()
    language: str = "en"
    user_names: tuple[str, ...] = ()
    memories: tuple["StoredMemory", ...] = ()
    earlier: frozenset[tuple[str, str]] = frozenset()

    @property
    def chats(self) -> frozenset[str]:
        """The sessions of the user with people and no assistant, in which "you" is one of these."""
        session_roles = {(t.session_id, t.role) for t in self.context + self.turns} | self.earlier
        return frozenset(
            session
            for session, role in session_roles
            if role == CONTACT and (session, "assistant") not in session_roles
        )


@dataclass(frozen=True, slots=True)
class ExtractedPerson:
    """A person mentioned in a batch. ``contact_id`` is set for one of the request's people; a
    ``namesake`` is another person than those known by the name. ``relationship`` is to the end
    user, in their words. ``better_name`` replaces the name of a known person, and ``wrong_aliases``
    turned out not to be theirs."""

    ref: str
    name: str
    contact_id: UUID | None = None
    aliases: tuple[str, ...] = ()
    relationship: str = ""
    gender: str = ""
    namesake: bool = False
    better_name: str = ""
    wrong_aliases: tuple[str, ...] = ()

    def order(self) -> tuple[bool, bool]:
        """Returns a sort key: known people first, namesakes after the person known by the name."""
        return self.contact_id is None, self.namesake


@dataclass(frozen=True, slots=True)
class SamePerson:
    """Two known people (refs) who are one; ``quote`` says so with both names, "" if inferred."""

    one: str
    other: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One attribute value. ``person`` is an ExtractedPerson.ref, or empty for the end user. Without
    times of its own it is valid as long as its memory."""

    key: str
    value: str
    person: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """``subject`` is the ``kind`` of ``object``: (ref of 俞慧珍, "mother", ref of 小红)."""

    subject: str
    kind: str
    object: str
    turn_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedMemory:
    """One fact worth keeping, in the third person and in the user's language; or a quote, whose
    ``content`` is ``quote`` except for the text between the offsets of ``brackets``.

    ``people`` are refs of the people it is about, empty for the end user. ``turn_ids`` are the
    messages it rests on and ``quote`` the words in one of them, by ``speaker``. Times have a time
    zone: ``happens_until`` is the beginning of the last day if only a longer time is known (in
    August), ``expires_at`` when it stops mattering. ``confidence`` is in 0..1; hearsay is below
    0.6. ``link_confidence`` is the probability that people (refs) are meant, if in doubt."""

    content: str
    type: MemoryType
    subtype: Subtype
    turn_ids: tuple[int, ...]
    people: tuple[str, ...] = ()
    quote: str = ""
    brackets: tuple[tuple[int, int], ...] | None = None
    speaker: str = "user"
    facts: tuple[Fact, ...] = ()
    happens_at: datetime | None = None
    happens_until: datetime | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float = 1.0
    link_confidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Something stated earlier that the user asked to forget.

    ``words`` are the distinctive words of the topic and ``keys`` its attributes (吃药, taking
    medicine: medication); with neither, everything about the person is meant. Nothing of
    ``turn_ids`` is kept; ``or_turn_ids`` are meant if nothing else is found; ``asked_in`` is the
    turn that asks (0: unknown). ``everything``: all that is stored about the user until then.
    ``unclear``: nothing is forgotten, because it is unknown what is meant, or if anything is."""

    contact_id: UUID | None = None
    words: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    turn_ids: tuple[int, ...] = ()
    asked_in: int = field(default=0, compare=False)
    everything: bool = False
    memory_ids: tuple[UUID, ...] = ()
    or_turn_ids: tuple[int, ...] = ()
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a provider read in a batch. ``retracted_turn_ids`` are turns (of the batch or its
    context) whose statements the user took back. ``user_names`` are names by which users introduced
    themselves; ``same`` are known people who are one."""

    people: tuple[ExtractedPerson, ...] = ()
    memories: tuple[ExtractedMemory, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    retracted_turn_ids: tuple[int, ...] = ()
    forget: tuple[ForgetRequest, ...] = ()
    user_names: tuple[str, ...] = ()
    retracted_memory_ids: tuple[UUID, ...] = ()
    same: tuple[SamePerson, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact of a stored memory; ``person`` is a contact id, None for the end user. It is valid
    until ``valid_to`` (None: no end); ``outdated``: a later statement contradicts it."""

    key: str
    value: str
    person: UUID | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    outdated: bool = False

    @property
    def statement(self) -> tuple[str, str, UUID | None]:
        """What it states, whenever it is valid."""
        return self.key, self.value, self.person

    def over(self, at: datetime) -> bool:
        """Whether it had ended by ``at``, as a former job had when it was stated."""
        return self.valid_to is not None and self.valid_to <= at


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it is stored; ``key`` is its content hash. Its ``people`` and the persons of
    its facts are contact ids, provisional ones for people who are no contacts yet."""

    key: str
    content: str
    said_at: datetime
    extracted: ExtractedMemory
    facts: tuple[StoredFact, ...]
    embedding: list[float]
    tokens: list[str]
    people: frozenset[UUID] = frozenset()
    id: UUID = field(default_factory=uuid4)

    def as_stored(self) -> "StoredMemory":
        """Returns this draft as providers see it."""
        extracted = self.extracted
        return StoredMemory(
            self.id,
            self.content,
            extracted.type,
            self.said_at,
            extracted.happens_at,
            self.facts,
            people=self.people,
            confidence=extracted.confidence,
            happens_until=extracted.happens_until,
            valid_from=extracted.valid_from,
            valid_to=extracted.valid_to,
        )


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory shown to a provider; ``similarity`` is the cosine to the new one."""

    id: UUID
    content: str
    type: MemoryType
    said_at: datetime
    happens_at: datetime | None = None
    facts: tuple[StoredFact, ...] = ()
    similarity: float = 0.0
    people: frozenset[UUID] = frozenset()
    confidence: float = 1.0
    happens_until: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def current(self) -> tuple[StoredFact, ...]:
        """The facts that are not outdated."""
        return tuple(fact for fact in self.facts if not fact.outdated)


class Verdict(StrEnum):
    """How a new memory is related to stored ones (TiMemory's consolidation rules)."""

    NEW = "new"  # no conflict: store it
    DUPLICATE = "duplicate"  # says nothing new: keep the existing one
    SUPERSEDES = "supersedes"  # direct conflict or temporal update: the old become outdated
    CONFLICTS = "conflicts"  # both can't be true, or the old may be over: both stay, for review
    COMPLEMENTS = "complements"  # same matter, more detail: both stay, linked


@dataclass(frozen=True, slots=True)
class ConflictCase:
    """A new memory (``key`` is its content hash) and the existing ones most similar to it."""

    key: str
    new: StoredMemory
    existing: tuple[StoredMemory, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A verdict on a case. ``targets`` are ids among its existing memories. ``ended`` are the facts
    of a target that the new memory contradicts: only these end, its rest stays. ``remains`` is the
    text of what stays true of a target, if not all of it is over."""

    verdict: Verdict
    targets: tuple[UUID, ...] = ()
    reason: Reason | str = ""
    ended: Mapping[UUID, tuple[StoredFact, ...]] = field(default_factory=dict)
    remains: Mapping[UUID, str] = field(default_factory=dict)


# By the case's key: one for each verdict, none if the new memory is related to no other.
Resolutions = Mapping[str, Sequence[Resolution]]


@dataclass(frozen=True, slots=True)
class AttributeValue:
    value: str
    sources: tuple[UUID, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event; ``at`` is when it happened, as precise as known: 2024, 2024-05 or 2024-05-17."""

    text: str
    at: str = ""
    sources: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A phrase by which the user may refer to a contact."""

    text: str
    sources: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about a contact: the current value of each key first, events in order."""

    attributes: Mapping[str, tuple[AttributeValue, ...]] = field(default_factory=dict)
    personality: str = ""
    personality_sources: tuple[UUID, ...] = ()
    timeline: tuple[TimelineEvent, ...] = ()
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """A ``profile``, bounded to the latest of each, and the new ``memories`` to consolidate."""

    person: Person
    profile: Profile
    memories: tuple[StoredMemory, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class ProfilePatch:
    """What new memories change in a profile. The values of a key replace its present values only if
    the key is in ``replaces``; otherwise they are added. ``ended`` are (key, value) that are no
    longer true. ``personality`` None: unchanged."""

    attributes: Mapping[str, tuple[AttributeValue, ...]] = field(default_factory=dict)
    replaces: frozenset[str] = frozenset()
    ended: frozenset[tuple[str, str]] = frozenset()
    timeline: tuple[TimelineEvent, ...] = ()
    personality: str | None = None
    personality_sources: tuple[UUID, ...] = ()
    references: tuple[Reference, ...] = ()


class Sameness(StrEnum):
    """Whether two records are one person."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn before a message: ``at`` is when it was said, if that is known; ``earlier``: in the
    conversation before this one."""

    role: str
    text: str
    at: datetime | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class WhoRequest:
    """A message for which it is uncertain whom it refers to, with the turns before it and the
    candidates: a contact id and a line about each. ``zone`` is the user's time zone."""

    message: str
    turns: tuple[ShownTurn, ...]
    people: tuple[tuple[UUID, str], ...]
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class MeantPeople:
    """One of the people of a WhoRequest, or several of whom any may be meant, and the words of the
    message that refer to them ("" if they are dropped)."""

    people: tuple[UUID, ...]
    words: str
    confidence: float


class EdgeKind(StrEnum):
    """How the source of an edge is related to its target."""

    SUPERSEDES = "supersedes"  # the newer replaces the older
    COMPLEMENTS = "complements"  # the source adds detail to the same matter
    CONFLICTS = "conflicts"  # both can't be true
    CAUSES = "causes"  # the source brought the target about
    INSTANCE_OF = "instance_of"  # the source is a case of the pattern that the target states
    INVALIDATED_BY = "invalidated_by"  # what the target states disproves the source
    MOTIVATED_BY = "motivated_by"  # the target is why the source is done or wanted
    WAS_CONTEXT_FOR = "was_context_for"  # the source was used when the target was learnt
    PART_OF = "part_of"  # the source is a piece of the target


# The kinds that a model may find by the meaning of two memories (MIRA's classified edges).
Relationship = Literal[
    EdgeKind.CONFLICTS,
    EdgeKind.SUPERSEDES,
    EdgeKind.CAUSES,
    EdgeKind.INSTANCE_OF,
    EdgeKind.INVALIDATED_BY,
    EdgeKind.MOTIVATED_BY,
]
CLASSIFIED: tuple[EdgeKind, ...] = get_args(Relationship)


# A memory, and others that may be related to it.
RelationCase = tuple["StoredMemory", Sequence["StoredMemory"]]


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relation of two memories; ``source`` and ``target`` are ids of one case, one its memory."""

    kind: EdgeKind
    source: UUID
    target: UUID
    confidence: float = 1.0
    reason: Reason | str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A better wording of memories (``ids``): of one in several ``texts`` or fewer words, or of
    several that say the same in one text."""

    ids: tuple[UUID, ...]
    texts: tuple[str, ...]
    reason: Reason | str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    tokens_in: int
    tokens_out: int
    latency_ms: float

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.latency_ms + other.latency_ms,
        )


NO_USAGE = Usage(0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    value: T
    usage: Usage
