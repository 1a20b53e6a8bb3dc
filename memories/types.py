"""What the steps of the pipeline hand to each other, and all that providers see: every reply refers
back by id, by content key or by the provider's own person ``ref``, never by position."""

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
    """Whose fact it is, seen from the end user."""

    FRIEND = "friend"
    FAMILY = "family"
    COLLEAGUE = "colleague"
    PARTNER = "partner"
    SELF = "self"
    OTHER = "other"


# Between a question and the quote that answers it, by language.
ANSWER_DASH = {"zh": "——", "en": " — "}
OF_PEOPLE = (Subtype.FRIEND, Subtype.FAMILY, Subtype.COLLEAGUE, Subtype.PARTNER)


# How search tokens of roles begin: role:mother.
ROLE = "role:"

# The role of a turn that a person of the user's wrote: never "user", so that nothing takes their
# words for the user's own.
CONTACT = "contact"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``said_at`` is aware; ``role`` is user, assistant, system, tool or contact,
    and ``speaker`` names the contact who wrote it."""

    id: int
    role: str
    content: str
    said_at: datetime
    session_id: str = ""
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """``turns`` are to be extracted; ``context`` are earlier ones, only to understand them.
    ``language`` (zh or en) and ``user_names``, which are never a contact, are the end user's.
    ``earlier`` are the sessions and roles of messages before. ``memories`` are some that stand,
    which the turns may speak of, for providers that read them."""

    turns: tuple[Turn, ...]
    context: tuple[Turn, ...] = ()
    people: tuple[Person, ...] = ()
    language: str = "en"
    user_names: tuple[str, ...] = ()
    memories: tuple["StoredMemory", ...] = ()
    earlier: frozenset[tuple[str, str]] = frozenset()

    @property
    def chats(self) -> frozenset[str]:
        """The sessions in which the user talks with people and no assistant: "you" is one of them."""
        spoken = {(t.session_id, t.role) for t in self.context + self.turns} | self.earlier
        return frozenset(
            session
            for session, role in spoken
            if role == CONTACT and (session, "assistant") not in spoken
        )


@dataclass(frozen=True, slots=True)
class ExtractedPerson:
    """A person met in a batch. ``contact_id`` is set for one of the request's people; a ``namesake``
    is another than those of this name. ``relationship`` is to the end user, in their words. Of a
    known one ``better_name`` takes the place of the name, and ``wrong_aliases`` are no names of
    theirs after all."""

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
        """Known people first, and whoever else bears a name after the one who is known by it."""
        return self.contact_id is None, self.namesake


@dataclass(frozen=True, slots=True)
class SamePerson:
    """Two known people (refs) who are one; ``quote`` states it of both names, "" where it follows."""

    one: str
    other: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One attribute value. ``person`` is an ExtractedPerson.ref, or empty for the end user. It holds
    from and to when its memory does, unless it says otherwise."""

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
    ``content`` is ``quote`` but for the text between the offsets of ``brackets``.

    ``people`` are refs of those it is about, empty for the end user. ``turn_ids`` are the messages
    it rests on and ``quote`` the words in one of them, claimed by ``speaker``. Times are aware:
    ``happens_until`` is the beginning of the last day where all that is known is a longer time (in
    August), ``expires_at`` when it stops to matter. ``confidence`` is in 0..1; hearsay is below 0.6.
    ``link_confidence`` is that people (refs) are meant, where that is in doubt."""

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
    """Something told earlier that the user asked to forget.

    ``words`` are the distinctive words of the topic and ``keys`` the attributes it speaks of (吃药:
    medication); with neither, everything about the person is meant. Of ``turn_ids`` nothing is to
    be kept; ``or_turn_ids`` are meant where nothing else is found; ``asked_in`` is the turn that
    asks (0: not known). ``everything``: all that is kept of the user until then. ``unclear``: what
    is meant, or whether anything is, can't be told, so nothing is forgotten."""

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
    """``retracted_turn_ids`` are turns (of the batch or its context) whose statements the user took
    back. ``user_names`` are names by which they introduced themself; ``same`` are known people who
    are one."""

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
    """A fact of a stored memory; ``person`` is a contact id, None for the end user. It held until
    ``valid_to`` (None: it still does); ``outdated``: something told later contradicts it."""

    key: str
    value: str
    person: UUID | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    outdated: bool = False

    def over(self, at: datetime) -> bool:
        """Whether it was over by ``at``: of when it was told, a former job."""
        return self.valid_to is not None and self.valid_to <= at


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way in; ``key`` is its content hash. Its ``people`` and the persons of its
    facts are contact ids, provisional ones for people not known yet."""

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
        """This draft as a provider sees it."""
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
        """The facts that still stand."""
        return tuple(fact for fact in self.facts if not fact.outdated)


class Verdict(StrEnum):
    """How a new memory stands to those already there (TiMemory's consolidation rules)."""

    NEW = "new"  # no conflict: store it
    DUPLICATE = "duplicate"  # says nothing new: keep the existing one
    SUPERSEDES = "supersedes"  # direct conflict or temporal update: the old become outdated
    CONFLICTS = "conflicts"  # both can't be so, or the old may be over: both stay, for review
    COMPLEMENTS = "complements"  # same matter, more detail: both stay, linked


@dataclass(frozen=True, slots=True)
class ConflictCase:
    """A new memory (``key`` is its content hash) beside the existing ones most like it."""

    key: str
    new: StoredMemory
    existing: tuple[StoredMemory, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """``targets`` are ids among the case's existing memories. ``ended`` are the facts of a target
    that the new memory contradicts: with them alone, the rest of it stays. ``remains`` is what
    stays true of a target, in words, where not all of it is over."""

    verdict: Verdict
    targets: tuple[UUID, ...] = ()
    reason: Reason | str = ""
    ended: Mapping[UUID, tuple[StoredFact, ...]] = field(default_factory=dict)
    remains: Mapping[UUID, str] = field(default_factory=dict)


# By the case's key: one for each verdict, none where the new memory stands by itself.
Resolutions = Mapping[str, Sequence[Resolution]]


@dataclass(frozen=True, slots=True)
class AttributeValue:
    value: str
    sources: tuple[UUID, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """``at`` is when it happened, as precise as known: 2024, 2024-05 or 2024-05-17."""

    text: str
    at: str = ""
    sources: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A phrase by which the user may mean a contact."""

    text: str
    sources: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a contact: of each key the current value first, events in order."""

    attributes: Mapping[str, tuple[AttributeValue, ...]] = field(default_factory=dict)
    personality: str = ""
    personality_sources: tuple[UUID, ...] = ()
    timeline: tuple[TimelineEvent, ...] = ()
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """``profile`` is bounded (the latest of each); ``memories`` are only the new ones."""

    person: Person
    profile: Profile
    memories: tuple[StoredMemory, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class ProfilePatch:
    """What the new memories change. A key's values replace those held for that key only
    where ``replaces`` names it; otherwise they are added. ``ended`` are values, each with its key,
    that no longer hold. ``personality`` None: unchanged."""

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
    """A turn before a message: ``at`` is when it was said, where that is known; ``earlier``: in
    another conversation, before this one."""

    role: str
    text: str
    at: datetime | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class WhoRequest:
    """A message of which it is unsure whom it means, with the turns before it and whom it may mean:
    a contact id and a line about each. ``zone`` is that of the user's clock."""

    message: str
    turns: tuple[ShownTurn, ...]
    people: tuple[tuple[UUID, str], ...]
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class MeantPeople:
    """One of the people of a WhoRequest, or those of whom any may be meant, and the words of the
    message that mean them ("": they are left out)."""

    people: tuple[UUID, ...]
    words: str
    confidence: float


class EdgeKind(StrEnum):
    """What one memory can be to another: the source to the target of an edge."""

    SUPERSEDES = "supersedes"  # the newer takes the older's place
    COMPLEMENTS = "complements"  # the source tells more of the same matter
    CONFLICTS = "conflicts"  # both can't be true
    CAUSES = "causes"  # the source brought the target about
    INSTANCE_OF = "instance_of"  # the source is a case of the pattern that the target states
    INVALIDATED_BY = "invalidated_by"  # what the target tells disproves the source
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


# A memory, and others that may have to do with it.
RelationCase = tuple["StoredMemory", Sequence["StoredMemory"]]


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """``source`` and ``target`` are ids of one case, one of them its memory."""

    kind: EdgeKind
    source: UUID
    target: UUID
    confidence: float = 1.0
    reason: Reason | str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A better way to say memories (``ids``): one in several ``texts`` or in fewer words, or several
    that say the same in one."""

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
