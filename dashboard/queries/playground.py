"""What the playground offers to try, and what came of it in the reader's words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models.functions import Left
from django.utils.translation import gettext

from accounts.models import EndUser
from contacts import lookup
from contacts.models import Contact
from dashboard import words
from dashboard.queries.memories import with_people
from memories.context.build import Trace, Way
from memories.context.who import stored_turns
from memories.models import Link, Memory
from memories.providers.errors import OutputError, ProviderError, TransientError
from understanding.text import estimate_tokens, normalise
from understanding.types import Mention

RECENT = 300  # messages in which the latest sessions are looked for
SESSIONS = 6
LAST_LINES = 2
WIDTH = 200  # characters of a line
EXAMPLES = 3

# A question about somebody, and with a pronoun, in the end user's language.
ABOUT = {"zh": "{name}最近怎么样了", "en": "How is {name} doing?"}
PRONOUNS = {
    "zh": {"female": "她最近怎么样了", "male": "他最近怎么样了"},
    "en": {"female": "How is she doing?", "male": "How is he doing?"},
}


@dataclass(frozen=True, slots=True)
class Session:
    """A stored conversation with its last ``lines`` (role, text), oldest first."""

    id: str
    at: datetime
    lines: tuple[tuple[str, str], ...]


def sessions(end_user: EndUser) -> list[Session]:
    """The conversations of the latest messages, the latest first."""
    rows = end_user.messages.order_by("-seq").values_list(
        "session_id", "role", Left("content", WIDTH), "created_at"
    )
    lines_by_session: dict[str, list[tuple[str, str, datetime]]] = {}
    for session, role, text, at in rows[:RECENT]:
        lines_by_session.setdefault(session, []).append((role, text, at))
    return [
        Session(session, lines[0][2], tuple((r, t) for r, t, _at in lines[:LAST_LINES][::-1]))
        for session, lines in list(lines_by_session.items())[:SESSIONS]
    ]


@dataclass(frozen=True, slots=True)
class Example:
    """A message to try, in a stored session or ("") a new one, and what it shows."""

    message: str
    session_id: str
    shows: str


def examples(end_user: EndUser, known: Sequence[Session]) -> list[Example]:
    """Messages about this user's own people: with a pronoun where the latest conversation
    makes clear who is meant, else by name."""
    language = end_user.reads
    people = list(
        Contact.objects.of(end_user)
        .standing()
        .order_by("-last_mentioned_at", "id")
        .only("name", "gender")[: EXAMPLES * 2]
    )
    suggested: list[Example] = []
    for person in people:
        if not suggested and known and person.gender:
            question = PRONOUNS[language][person.gender]
            mentions, *_ = lookup.look_up(end_user, question, _turns_of(end_user, known[0].id))
            names = {mention.person.id: mention.person.name for mention in mentions}
            if len(names) == 1:
                shows = gettext("A pronoun: in the last conversation it means %(name)s.")
                name = {"name": next(iter(names.values()))}
                suggested.append(Example(question, known[0].id, shows % name))
    shows = gettext("A name, in a new conversation.")
    suggested += [
        Example(ABOUT[language].format(name=person.name), "", shows)
        for person in people[: EXAMPLES - len(suggested)]
    ]
    return suggested


def _turns_of(end_user: EndUser, session_id: str) -> lookup.Turns:
    return lambda: stored_turns(end_user, session_id)


@dataclass(frozen=True, slots=True)
class Meant:
    """A mention in words. ``alias``: the person's alias that it was found by, which can be
    taken away; ``rivals``: others whom the same place may mean."""

    mention: Mention
    how: str
    alias: str
    rivals: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that was found, with its people and why it is here. ``doubted``: its links to
    the people of the message, each of which may be wrong."""

    way: Way
    memory: Memory
    reasons: tuple[str, ...]
    doubted: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A trace as the page shows it."""

    trace: Trace
    spans: tuple[tuple[int, int], ...]
    meant: tuple[Meant, ...]
    memories: tuple[Remembered, ...]
    bars: list[dict[str, Any]]
    tokens: int
    statements: int


def answer(end_user: EndUser, trace: Trace) -> Answer:
    """The trace in words; two statements, whatever was found."""
    rows = with_people(Memory.objects.of(end_user)).in_bulk([w.memory.pk for w in trace.ways])
    people = {mention.person.id: mention.person.name for mention in trace.mentions}
    remembered = [
        _remembered(way, rows[way.memory.pk], people) for way in trace.ways if way.memory.pk in rows
    ]
    return Answer(
        trace=trace,
        spans=tuple((m.start, m.end) for m in trace.mentions if m.start < m.end),
        meant=tuple(_meant(mention, trace.mentions) for mention in trace.mentions),
        memories=tuple(one for one in remembered if one.way.kept),
        bars=_bars(trace),
        tokens=estimate_tokens(trace.injection.system_prompt),
        statements=sum(step.statements for step in trace.steps),
    )


def _meant(mention: Mention, others: Iterable[Mention]) -> Meant:
    text = normalise(mention.text)
    return Meant(
        mention,
        words.in_words(words.HOW, mention.how),
        next((alias for alias in mention.person.aliases if normalise(alias) == text), ""),
        tuple(
            other
            for other in others
            if (other.start, other.end) == (mention.start, mention.end)
            and other.person.id != mention.person.id
        ),
    )


def _remembered(way: Way, memory: Memory, people: Mapping[UUID, str]) -> Remembered:
    links = [link for link in memory.links.all() if link.contact_id in people]
    return Remembered(way, memory, tuple(_reasons(way, memory, links, people)), tuple(links))


def _reasons(
    way: Way, memory: Memory, links: Sequence[Link], people: Mapping[UUID, str]
) -> list[str]:
    reasons = []
    if way.found and way.found.names:
        reasons.append(words.reason(way.found.reason))
    elif way.found:
        name = ", ".join(people[link.contact_id] for link in links)
        reasons.append(gettext("linked to %(name)s") % {"name": name})
    if way.hit:
        reasons += map(words.reason, way.hit.reasons)
    if memory.kind == Memory.Kind.PROFILE:
        reasons.append(gettext("a profile, distilled from others"))
    return reasons


def _bars(trace: Trace) -> list[dict[str, Any]]:
    """The steps of the way in words; ``share`` is in 0..100 of the longest."""
    most = max((step.ms for step in trace.steps), default=0.0) or 1.0
    return [
        {"name": words.in_words(words.STEPS, step.name), "ms": step.ms,
         "statements": step.statements, "share": round(100 * step.ms / most, 1)}
        for step in trace.steps
    ]  # fmt: skip


def refusal(error: ProviderError) -> str:
    """What went wrong with a model, for whoever waits for its reply."""
    if isinstance(error, TransientError):
        if error.retry_after:
            text = gettext("The model asks to wait. Try again in %(seconds)d seconds.")
            return text % {"seconds": round(error.retry_after)}
        return gettext("The model could not be reached, was too busy or broke off. Try again.")
    if isinstance(error, OutputError):
        return gettext("The reply ended too early, or was not in the expected form.")
    return gettext("The model refused: the key, the model's name or the message is not accepted.")
