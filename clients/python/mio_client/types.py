"""What the API takes and answers with. Written by ``python -m tools client_types --write``."""

from datetime import datetime
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")


class Page(TypedDict, Generic[T]):
    count: int
    next: str | None
    results: list[T]


class App(TypedDict):
    name: str
    time_zone: str
    days_in: str


class ArchiveForm(TypedDict):
    why: NotRequired[str]
    archived: bool


BlankEnum = Literal[""]


class BookCandidate(TypedDict):
    id: str
    name: str


class BookCounts(TypedDict):
    entries: int
    new: int
    changed: int
    same: int
    undecided: int
    skipped: int
    relations: int
    memories: int
    unreadable: int


OutcomeEnum = Literal["new", "changed", "same", "undecided", "skipped"]


class BookEntry(TypedDict):
    number: int
    name: str
    outcome: OutcomeEnum
    contact: str | None
    why: str
    candidates: list[BookCandidate]


class BookForm(TypedDict):
    content: str
    dry_run: NotRequired[bool]
    choices: NotRequired[dict[str, str]]


FormatEnum = Literal["vcard", "google-csv"]


class BookImport(TypedDict):
    format: FormatEnum
    counts: BookCounts
    unreadable: list[str]
    entries: list[BookEntry]
    dry_run: bool
    change_id: str | None


class Cadence(TypedDict):
    usual_days: int
    silent_days: int
    quiet: bool


class CalendarAddress(TypedDict):
    url: str


CalendarEnum = Literal["solar", "lunar"]


class CalendarState(TypedDict):
    active: bool


class Change(TypedDict):
    id: str
    verb: str
    actor: str
    why: str
    subjects: list[str]
    created_at: str
    undone_at: str | None
    undone_by: str


class ChangedRow(TypedDict):
    model: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class ChangeDetail(TypedDict):
    id: str
    verb: str
    actor: str
    why: str
    subjects: list[str]
    created_at: str
    undone_at: str | None
    undone_by: str
    rows: list[ChangedRow]


ChangePage = Page[Change]


class Step(TypedDict):
    key: str
    value: str
    since: str
    until: str | None
    memory: str


class Changed(TypedDict):
    person: str | None
    steps: list[Step]


GenderEnum = Literal["female", "male"]


class TimelineEntry(TypedDict):
    text: str
    at: str
    sources: list[str]


class ChangedContact(TypedDict):
    id: str
    name: str
    aliases: list[str]
    relationship: str
    gender: GenderEnum | BlankEnum
    attributes: dict[str, str | list[str]]
    attribute_sources: dict[str, list[dict[str, Any]]]
    personality: str
    timeline: list[TimelineEntry]
    references: list[str]
    memory_ids: list[str]
    memory_count: int
    first_mentioned_at: str
    last_mentioned_at: str
    mention_count: int
    archived_at: str | None
    card: str
    created_at: str
    updated_at: str
    merged_from: list[str]
    change_id: str | None


class ChangedDate(TypedDict):
    id: str
    contact: str | None
    name: str | None
    kind: str
    calendar: CalendarEnum
    year: int | None
    month: int
    day: int
    leap_month: bool
    text: str
    next_on: str | None
    in_days: int | None
    years: int | None
    sources: list[str]
    change_id: str | None


class ChangedFacts(TypedDict):
    results: list[Changed]


class Named(TypedDict):
    id: str
    name: str


MadeByEnum = Literal["extractor", "consolidator", "backfill", "operator"]


class ChangedLink(TypedDict):
    contact: Named
    made_by: MadeByEnum
    confidence: float
    rejected: bool
    created_at: str
    change_id: str | None


MemoryKindEnum = Literal["fact", "profile"]

MemoryTypeEnum = Literal[
    "personal", "preference", "activity", "plan", "health", "professional", "miscellaneous"
]

SubtypeEnum = Literal["friend", "family", "colleague", "partner", "self", "other"]

MemoryStatusEnum = Literal["active", "outdated", "archived"]


class MemoryFact(TypedDict):
    key: str
    value: str
    person: str | None
    valid_from: str | None
    valid_to: str | None
    outdated_at: str | None
    superseded_by: str | None


class ChangedMemory(TypedDict):
    id: str
    kind: MemoryKindEnum
    content: str
    type: MemoryTypeEnum
    subtype: SubtypeEnum
    status: MemoryStatusEnum
    importance: float
    confidence: float
    speaker: str
    quote: str
    brackets: list[list[int]] | None
    source_message_ids: list[int]
    contacts: list[str]
    people: list[Named]
    facts: list[MemoryFact]
    metadata: dict[str, Any]
    superseded_by: list[str]
    happens_at: str | None
    happens_until: str | None
    expires_at: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str
    access_count: int
    last_accessed_at: str | None
    created_at: str
    updated_at: str
    change_id: str | None


class ChangedRelation(TypedDict):
    id: int
    subject: Named
    kind: str
    object: Named
    sources: list[str]
    created_at: str
    change_id: str | None


class UserCardValue(TypedDict):
    value: str
    sources: list[str]
    since: str | None


class ChangedUserCard(TypedDict):
    card: str
    attributes: dict[str, list[UserCardValue]]
    change_id: str | None


class Contact(TypedDict):
    id: str
    name: str
    aliases: list[str]
    relationship: str
    gender: GenderEnum | BlankEnum
    attributes: dict[str, str | list[str]]
    attribute_sources: dict[str, list[dict[str, Any]]]
    personality: str
    timeline: list[TimelineEntry]
    references: list[str]
    memory_ids: list[str]
    memory_count: int
    first_mentioned_at: str
    last_mentioned_at: str
    mention_count: int
    archived_at: str | None
    card: str
    created_at: str
    updated_at: str


class ContactForm(TypedDict):
    why: NotRequired[str]
    name: str
    aliases: NotRequired[list[str]]
    relationship: NotRequired[str]
    gender: NotRequired[GenderEnum | BlankEnum]
    personality: NotRequired[str]
    attributes: NotRequired[dict[str, str | list[str] | None]]
    namesake: NotRequired[bool]


ContactPage = Page[Contact]


class InjectedMemory(TypedDict):
    relevance: float | None
    said_on: str
    outdated_on: str | None
    id: str
    content: str
    score: float
    reason: str
    ended: list[str]
    speaker: str


ForgettingStateEnum = Literal["hidden", "erased", "cancelled", "not_found", "unclear"]


class Forgetting(TypedDict):
    state: ForgettingStateEnum
    change_id: str | None
    id: str
    memories: int
    contacts: int
    undecided: int
    missing: list[str]
    requested_at: str
    erased_after: str


class InjectedContact(TypedDict):
    id: str
    name: str
    matched_by: str
    matched_text: str
    confidence: float
    card: str


class InjectedDate(TypedDict):
    contact: str | None
    name: str
    kind: str
    on: str
    years: int | None


class Context(TypedDict):
    memories: list[InjectedMemory]
    forgetting: list[Forgetting]
    system_prompt: str
    user_card: str
    contacts: list[InjectedContact]
    dates: list[InjectedDate]
    timing_ms: float
    resolved: str
    searched: str
    timing: dict[str, float]


RoleEnum = Literal["user", "assistant", "system", "tool"]


class Turn(TypedDict):
    role: RoleEnum
    content: str


ResolveEnum = Literal["auto", "fast", "model"]

IncludeEnum = Literal["user", "cards", "linked", "search", "dates"]


class ContextForm(TypedDict):
    message: str
    speaker: NotRequired[str | None]
    session_id: NotRequired[str | None]
    history: NotRequired[list[Turn]]
    limit: NotRequired[int]
    token_budget: NotRequired[int]
    keep_cards: NotRequired[int]
    resolve: NotRequired[ResolveEnum]
    resolve_budget_ms: NotRequired[int]
    include: NotRequired[list[IncludeEnum]]


class CreatedContacts(TypedDict):
    contacts: list[Contact]
    change_id: str


class Date(TypedDict):
    id: str
    contact: str | None
    name: str | None
    kind: str
    calendar: CalendarEnum
    year: int | None
    month: int
    day: int
    leap_month: bool
    text: str
    next_on: str | None
    in_days: int | None
    years: int | None
    sources: list[str]


DatePage = Page[Date]


class DecideBody(TypedDict):
    redact: NotRequired[list[int]]
    keep: NotRequired[list[int]]
    forget: NotRequired[list[str]]
    keep_people: NotRequired[list[str]]


VerdictEnum = Literal["certain", "likely", "ambiguous"]


class Evidence(TypedDict):
    code: str
    text: str
    weight: float


SuggestionStateEnum = Literal["open", "later", "merged", "different"]


class DecidedSuggestion(TypedDict):
    id: int
    contacts: list[Named]
    verdict: VerdictEnum
    confidence: float
    evidence: list[Evidence]
    state: SuggestionStateEnum
    decided_by: str
    decided_at: str | None
    judgement: str
    judged_reason: str
    judged_by: str
    created_at: str
    change_id: str | None


DecisionEnum = Literal["merge", "different", "later"]


class DecisionForm(TypedDict):
    why: NotRequired[str]
    decision: DecisionEnum
    into: NotRequired[str]


class Delivery(TypedDict):
    id: str
    type: str
    data: dict[str, Any]
    state: str
    attempts: int
    status: int | None
    error: str
    next_at: str
    last_at: str | None
    created_at: str


DeliveryPage = Page[Delivery]

DirectionEnum = Literal["out", "in", "both"]


class MemorySummary(TypedDict):
    id: str
    content: str
    type: MemoryTypeEnum
    status: MemoryStatusEnum
    said_at: str


class Edge(TypedDict):
    id: int
    kind: str
    direction: DirectionEnum
    reason: str
    confidence: float
    hops: int
    weight: float
    via: str
    memory: MemorySummary


class Edges(TypedDict):
    results: list[Edge]


class EndUser(TypedDict):
    id: str
    names: list[str]
    language: str
    time_zone: str
    days_in: str
    learnt_offset: int | None
    last_message_at: str | None
    created_at: str


class Endpoint(TypedDict):
    id: str
    url: str
    types: list[str]
    label: str
    enabled: bool
    disabled_because: str
    failing_since: str | None
    old_secret_until: str | None
    created_at: str


WebhookTypeEnum = Literal[
    "contact.created",
    "contact.updated",
    "contact.merged",
    "contact.unmerged",
    "suggestion.created",
    "memory.created",
    "memory.updated",
    "memory.outdated",
    "memory.forgotten",
    "forgetting.requested",
    "forgetting.erased",
    "user.processed",
    "date.upcoming",
]


class EndpointForm(TypedDict):
    url: str
    types: NotRequired[list[WebhookTypeEnum]]
    label: NotRequired[str]


EndpointPage = Page[Endpoint]


class EndpointWithSecret(TypedDict):
    id: str
    url: str
    types: list[str]
    label: str
    enabled: bool
    disabled_because: str
    failing_since: str | None
    old_secret_until: str | None
    created_at: str
    secret: str


class ErrorDetail(TypedDict):
    code: str
    message: str
    fields: dict[str, list[str]]


class Error(TypedDict):
    error: ErrorDetail


class ForgetForm(TypedDict):
    everything: NotRequired[bool]
    contact: NotRequired[str]
    memory: NotRequired[str]


class UndecidedMessage(TypedDict):
    id: int
    role: RoleEnum
    content: str
    session_id: str
    created_at: str


class UndecidedContact(TypedDict):
    id: str
    name: str
    aliases: list[str]
    relationship: str


class ForgettingDetail(TypedDict):
    state: ForgettingStateEnum
    change_id: str | None
    id: str
    memories: int
    contacts: int
    undecided: int
    missing: list[str]
    requested_at: str
    erased_after: str
    undecided_messages: list[UndecidedMessage]
    undecided_contacts: list[UndecidedContact]


ForgettingPage = Page[Forgetting]


class Forgotten(TypedDict):
    contacts: int
    memories: int
    messages: int
    report: str | None
    unsure: int
    receipt: str | None


class PathStep(TypedDict):
    kind: str
    memory: str


class Found(TypedDict):
    id: str
    kind: MemoryKindEnum
    content: str
    type: MemoryTypeEnum
    subtype: SubtypeEnum
    status: MemoryStatusEnum
    importance: float
    confidence: float
    speaker: str
    quote: str
    brackets: list[list[int]] | None
    source_message_ids: list[int]
    contacts: list[str]
    people: list[Named]
    facts: list[MemoryFact]
    metadata: dict[str, Any]
    superseded_by: list[str]
    happens_at: str | None
    happens_until: str | None
    expires_at: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str
    access_count: int
    last_accessed_at: str | None
    created_at: str
    updated_at: str
    score: float
    relevance: float | None
    bm25_rank: int | None
    vector_rank: int | None
    reason: str
    hops: int
    path: list[PathStep]
    in_range: bool | None
    history: bool


IntentEnum = Literal["recall", "explore", "exact", "general"]

JobStateEnum = Literal["queued", "running", "postponed", "done"]


class Job(TypedDict):
    state: JobStateEnum
    retry_after: int | None
    id: str
    created_at: str
    finished_at: str | None
    pending: int
    extracted: int
    consolidated: int
    quarantined: int


LanguageEnum = Literal["en", "zh"]


class Link(TypedDict):
    contact: Named
    made_by: MadeByEnum
    confidence: float
    rejected: bool
    created_at: str


class Links(TypedDict):
    results: list[Link]


class Memory(TypedDict):
    id: str
    kind: MemoryKindEnum
    content: str
    type: MemoryTypeEnum
    subtype: SubtypeEnum
    status: MemoryStatusEnum
    importance: float
    confidence: float
    speaker: str
    quote: str
    brackets: list[list[int]] | None
    source_message_ids: list[int]
    contacts: list[str]
    people: list[Named]
    facts: list[MemoryFact]
    metadata: dict[str, Any]
    superseded_by: list[str]
    happens_at: str | None
    happens_until: str | None
    expires_at: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str
    access_count: int
    last_accessed_at: str | None
    created_at: str
    updated_at: str


MemoryPage = Page[Memory]


class MergeForm(TypedDict):
    why: NotRequired[str]
    into: str


class Message(TypedDict):
    id: int
    client_id: str | None
    role: RoleEnum
    speaker: str | None
    content: str
    session_id: str
    created_at: str
    received_at: str
    metadata: dict[str, Any]


class MessageForm(TypedDict):
    id: NotRequired[str | None]
    role: RoleEnum
    content: str
    speaker: NotRequired[str | None]
    created_at: NotRequired[str | datetime | None]
    session_id: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]


MessagePage = Page[Message]


class MessagesForm(TypedDict):
    messages: list[MessageForm]


class MoveForm(TypedDict):
    from_: str
    why: NotRequired[str]
    to: str


class NewContact(TypedDict):
    name: str
    aliases: NotRequired[list[str]]
    relationship: NotRequired[str]
    gender: NotRequired[GenderEnum | BlankEnum]
    personality: NotRequired[str]
    attributes: NotRequired[dict[str, str | list[str] | None]]
    namesake: NotRequired[bool]


class NewContacts(TypedDict):
    why: NotRequired[str]
    contacts: list[NewContact]


class NewDate(TypedDict):
    why: NotRequired[str]
    calendar: NotRequired[CalendarEnum]
    year: NotRequired[int | None]
    month: int
    day: int
    leap_month: NotRequired[bool]
    contact: NotRequired[str | None]
    kind: str


StatedEdgeEnum = Literal[
    "complements", "conflicts", "causes", "instance_of", "invalidated_by", "motivated_by"
]


class NewEdge(TypedDict):
    why: NotRequired[str]
    target: str
    kind: StatedEdgeEnum


class NewLink(TypedDict):
    why: NotRequired[str]
    contact: str


class NewMemory(TypedDict):
    why: NotRequired[str]
    happens_at: NotRequired[str | datetime | None]
    happens_until: NotRequired[str | datetime | None]
    expires_at: NotRequired[str | datetime | None]
    valid_from: NotRequired[str | datetime | None]
    valid_to: NotRequired[str | datetime | None]
    importance: NotRequired[float]
    subtype: NotRequired[SubtypeEnum]
    metadata: NotRequired[dict[str, Any]]
    content: str
    type: NotRequired[MemoryTypeEnum]
    contacts: NotRequired[list[str]]


class NewRelation(TypedDict):
    why: NotRequired[str]
    subject: str
    kind: str
    object: str


class NotTheSameForm(TypedDict):
    why: NotRequired[str]
    other: str


NullEnum = Literal[None]


class PageAddress(TypedDict):
    url: str
    expires_at: str


class PageForm(TypedDict):
    minutes: NotRequired[int]
    language: NotRequired[LanguageEnum]
    name: NotRequired[str]
    color: NotRequired[str]
    origin: NotRequired[str]


class PageState(TypedDict):
    active: bool


class PatchedContactForm(TypedDict):
    why: NotRequired[str]
    name: NotRequired[str]
    aliases: NotRequired[list[str]]
    relationship: NotRequired[str]
    gender: NotRequired[GenderEnum | BlankEnum]
    personality: NotRequired[str]
    attributes: NotRequired[dict[str, str | list[str] | None]]
    namesake: NotRequired[bool]


class PatchedDateEdit(TypedDict):
    why: NotRequired[str]
    calendar: NotRequired[CalendarEnum]
    year: NotRequired[int | None]
    month: NotRequired[int]
    day: NotRequired[int]
    leap_month: NotRequired[bool]


class PatchedEndpointEdit(TypedDict):
    url: NotRequired[str]
    types: NotRequired[list[WebhookTypeEnum]]
    label: NotRequired[str]
    enabled: NotRequired[bool]


class PatchedMemoryEdit(TypedDict):
    why: NotRequired[str]
    happens_at: NotRequired[str | datetime | None]
    happens_until: NotRequired[str | datetime | None]
    expires_at: NotRequired[str | datetime | None]
    valid_from: NotRequired[str | datetime | None]
    valid_to: NotRequired[str | datetime | None]
    importance: NotRequired[float | None]
    subtype: NotRequired[SubtypeEnum]
    metadata: NotRequired[dict[str, Any]]
    content: NotRequired[str]
    type: NotRequired[MemoryTypeEnum]
    status: NotRequired[MemoryStatusEnum]


class PatchedTimeZoneForm(TypedDict):
    time_zone: str


class PatchedUserCardForm(TypedDict):
    why: NotRequired[str]
    attributes: NotRequired[dict[str, str | list[str] | None]]


class PersonDetail(TypedDict):
    id: str
    name: str
    aliases: list[str]
    relationship: str
    gender: GenderEnum | BlankEnum
    attributes: dict[str, str | list[str]]
    attribute_sources: dict[str, list[dict[str, Any]]]
    personality: str
    timeline: list[TimelineEntry]
    references: list[str]
    memory_ids: list[str]
    memory_count: int
    first_mentioned_at: str
    last_mentioned_at: str
    mention_count: int
    archived_at: str | None
    card: str
    created_at: str
    updated_at: str
    merged_from: list[str]
    cadence: Cadence | None


class ProcessForm(TypedDict):
    wait: NotRequired[bool]


class Processed(TypedDict):
    pending: int
    extracted: int
    consolidated: int
    quarantined: int


class Queued(TypedDict):
    pending: int
    job: str


class Received(TypedDict):
    accepted: int
    duplicates: int
    conflicts: list[str]


class Relation(TypedDict):
    id: int
    subject: Named
    kind: str
    object: Named
    sources: list[str]
    created_at: str


RelationPage = Page[Relation]


class ResolveForm(TypedDict):
    why: NotRequired[str]
    key: str
    value: NotRequired[str]
    all: NotRequired[bool]


class SearchForm(TypedDict):
    query: str
    intent: NotRequired[IntentEnum | NullEnum]
    limit: NotRequired[int]
    types: NotRequired[list[MemoryTypeEnum]]
    statuses: NotRequired[list[MemoryStatusEnum]]
    include_outdated: NotRequired[bool]
    contacts: NotRequired[list[str]]
    since: NotRequired[str | datetime | None]
    until: NotRequired[str | datetime | None]
    valid_at: NotRequired[str | datetime | None]
    min_importance: NotRequired[float]
    min_relevance: NotRequired[float]
    metadata: NotRequired[dict[str, Any]]
    hops: NotRequired[int]


class TimeRange(TypedDict):
    since: str | None
    until: str | None
    words: str


class SearchResults(TypedDict):
    results: list[Found]
    intent: str
    range: TimeRange | None


class Session(TypedDict):
    session_id: str
    messages: int
    first_at: str
    last_at: str


SessionPage = Page[Session]


class SplitForm(TypedDict):
    why: NotRequired[str]
    memories: list[str]
    name: str
    relationship: NotRequired[str]


class StatedEdge(TypedDict):
    id: int
    kind: str
    source: str
    target: str
    change_id: str | None


class Suggestion(TypedDict):
    id: int
    contacts: list[Named]
    verdict: VerdictEnum
    confidence: float
    evidence: list[Evidence]
    state: SuggestionStateEnum
    decided_by: str
    decided_at: str | None
    judgement: str
    judged_reason: str
    judged_by: str
    created_at: str


SuggestionPage = Page[Suggestion]


class TakenAway(TypedDict):
    change_id: str


class UndoBody(TypedDict):
    with_later: NotRequired[bool]


class UserCard(TypedDict):
    card: str
    attributes: dict[str, list[UserCardValue]]


UserPage = Page[EndUser]


class Version(TypedDict):
    status: MemoryStatusEnum
    memory_id: str
    content: str
    since: str
    until: str | None
    who: str
    why: str
    change_id: str | None
    source_message_ids: list[int]
    quote: str


class Versions(TypedDict):
    results: list[Version]


class UsersListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]
    q: NotRequired[str]


class AddressBookRetrieveQuery(TypedDict):
    format: NotRequired[Literal["vcard", "google-csv"]]


class ChangedFactsListQuery(TypedDict):
    contact: NotRequired[str]
    limit: NotRequired[int]


class ChangesListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class ContactsListQuery(TypedDict):
    archived: NotRequired[bool]
    cursor: NotRequired[str]
    limit: NotRequired[int]
    q: NotRequired[str]


class DatesListQuery(TypedDict):
    contact: NotRequired[str]
    limit: NotRequired[int]
    within: NotRequired[int]


class DatesDestroyQuery(TypedDict):
    why: NotRequired[str]


class ForgettingListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class MemoriesListQuery(TypedDict):
    contact: NotRequired[str]
    cursor: NotRequired[str]
    kind: NotRequired[Literal["fact", "profile", "all"]]
    limit: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]
    q: NotRequired[str]
    status: NotRequired[Literal["active", "outdated", "archived", "all"]]
    type: NotRequired[
        Literal[
            "personal", "preference", "activity", "plan", "health", "professional", "miscellaneous"
        ]
    ]
    valid_at: NotRequired[str | datetime]


class MemoriesEdgesListQuery(TypedDict):
    hops: NotRequired[int]
    kind: NotRequired[str]
    limit: NotRequired[int]


class MemoriesLinksDestroyQuery(TypedDict):
    why: NotRequired[str]


class MessagesListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]
    role: NotRequired[Literal["user", "assistant", "system", "tool"]]
    session_id: NotRequired[str]


class MessagesDestroyQuery(TypedDict):
    session_id: str


class RelationsListQuery(TypedDict):
    contact: NotRequired[str]
    cursor: NotRequired[str]
    limit: NotRequired[int]


class RelationsDestroyQuery(TypedDict):
    why: NotRequired[str]


class SessionsListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class SuggestionsListQuery(TypedDict):
    contact: NotRequired[str]
    cursor: NotRequired[str]
    limit: NotRequired[int]
    state: NotRequired[Literal["open", "later", "merged", "different", "all"]]


class WebhooksListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]


class WebhooksDeliveriesListQuery(TypedDict):
    cursor: NotRequired[str]
    limit: NotRequired[int]
