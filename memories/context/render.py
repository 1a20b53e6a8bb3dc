"""Renders what is injected as text: a fenced block for a system prompt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from contacts.cards import describe_date
from memories.context.request import ContextRequest
from understanding.dates.important_dates import date_text
from understanding.languages import wording
from understanding.lexicon.rules import content
from understanding.statements.fence import CLOSE, OPEN, WORDS
from understanding.statements.secrets import masked
from understanding.statements.wordings import attributed
from understanding.text import defused, estimate_tokens, names_role, one_line

MAX_DATES, MAX_NAME = 5, 60
MAX_MISSING, MAX_WORD = 5, 40  # things asked to forget that a notice names
MAX_LINE = 300  # graphemes of one memory in the prompt
STAYING = 80  # tokens of the card of a person who is only talked about before
MOST_ENDED, MAX_ENDED = 4, 80  # facts of a memory that are no longer true, and graphemes of each

_TEXTS = content(__file__)


@dataclass(frozen=True, slots=True)
class InjectedContact:
    id: UUID
    name: str
    matched_by: str
    matched_text: str
    confidence: float
    card: str


@dataclass(frozen=True, slots=True)
class InjectedMemory:
    """``score`` and ``relevance``, the probability that the message is about it if known, are in
    0..1; ``reason`` says in words why the memory is there. ``outdated_on``: since then it is no
    longer true; ``ended`` are its facts that are not. ``speaker`` said it, if it is a quote."""

    id: UUID
    content: str
    score: float
    reason: str
    said_on: str
    outdated_on: str | None = None
    relevance: float | None = None
    ended: tuple[str, ...] = ()
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class InjectedDate:
    """An important date that is near, of a contact (None, without a name: the user); ``years``
    since the first, if that is known."""

    contact: UUID | None
    name: str
    kind: str
    on: date
    years: int | None


@dataclass(frozen=True, slots=True)
class Section:
    """Entries below a heading ("" for notices, which have none): a card each, or a line."""

    heading: str
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """What is injected: a note on what it is, and sections. ``memories`` and ``dates`` are those
    that fit; ``lines`` are the ids of the memories that have a line of their own. ``str`` gives the
    text, "" if there is nothing to say."""

    note: str
    sections: tuple[Section, ...]
    memories: tuple[InjectedMemory, ...] = ()
    lines: frozenset[UUID] = frozenset()
    dates: tuple[InjectedDate, ...] = ()

    def __str__(self) -> str:
        if not self.sections:
            return ""
        shown = (row for one in self.sections for row in (one.heading, *one.entries) if row)
        return "\n".join([OPEN, self.note, *shown, CLOSE])


def render(
    language: str,
    request: ContextRequest,
    contacts: Sequence[InjectedContact],
    memories: Sequence[InjectedMemory],
    *,
    notices: Sequence[str] = (),
    dates: Sequence[InjectedDate] = (),
    today: date = date.min,
    own_card: str = "",
) -> Block:
    """Returns the fenced block without secrets, within the budget of the ``request`` and with at
    most its limit of ``memories``, which come best first. ``notices`` precede all else; ``dates``
    are worded as of ``today``. The user's ``own_card`` gets at most half of the budget."""
    words = WORDS[language]
    optional = ("forgotten", "not_found", "unclear", "dates", "user")
    fixed = [text for key, text in words.items() if key not in optional]
    left = request.token_budget - estimate_tokens("\n".join([OPEN, *fixed, *notices, CLOSE]))
    own_lines, cost = _fitting(own_card, left // 2 - estimate_tokens(words["user"]) - 1)
    left -= cost + estimate_tokens(words["user"]) + 1 if own_lines else 0
    meant_cards, talk_cards, cost = _cards(contacts, left)
    left -= cost
    date_lines = {near: _date_line(near, today, language) for near in dates[:MAX_DATES]}
    if (cost := estimate_tokens("\n".join([words["dates"], *date_lines.values()]))) > left:
        date_lines = {}
    left -= cost if date_lines else 0
    on_cards = "\n".join(meant_cards + talk_cards)
    shown_memories: list[InjectedMemory] = []
    lines: dict[UUID, str] = {}
    for memory in memories:
        text = one_line(memory.content, MAX_LINE)
        line = _memory_line(memory, text, language)
        cost = estimate_tokens(line) + 1
        if len(shown_memories) == request.limit or cost > left:
            continue
        shown_memories.append(memory)
        if memory.outdated_on or memory.ended or text not in on_cards:
            lines[memory.id] = line
            left -= cost
    sections = (
        Section("", tuple(notices)),
        Section(words["user"], tuple(own_lines.splitlines())),
        Section(words["people"], tuple(meant_cards)),
        Section(words["talk"], tuple(talk_cards)),
        Section(words["dates"], tuple(date_lines.values())),
        Section(words["memories"], tuple(lines.values())),
    )
    filled = _masked(words["note"], [section for section in sections if section.entries])
    return Block(words["note"], filled, tuple(shown_memories), frozenset(lines), tuple(date_lines))


def _cards(contacts: Sequence[InjectedContact], budget: int) -> tuple[list[str], list[str], int]:
    """Returns the cards of people meant, those of people still talked about, and their tokens."""
    meant_cards: list[str] = []
    talk_cards: list[str] = []
    left = budget
    for place, contact in enumerate(contacts):
        stays = contact.matched_by == "conversation"
        # The people still to come keep their share, so that a long card crowds nobody out.
        share = left // (len(contacts) - place)
        card, cost = _fitting(contact.card, min(share, STAYING) if stays else share)
        if card:
            (talk_cards if stays else meant_cards).append(card)
            left -= cost
    return meant_cards, talk_cards, budget - left


def _masked(note: str, sections: Sequence[Section]) -> tuple[Section, ...]:
    """Returns the sections without secrets. They are masked as one text, since what is a secret may
    depend on the line before; a mask changes no line break."""
    rows = iter(masked(str(Block(note, tuple(sections)))).split("\n")[2:])

    def next_rows(text: str) -> str:
        return "\n".join(next(rows) for _ in text.split("\n"))

    return tuple(
        Section(one.heading and next_rows(one.heading), tuple(map(next_rows, one.entries)))
        for one in sections
    )


def _memory_line(memory: InjectedMemory, text: str, language: str) -> str:
    quotation = attributed(text, memory.speaker, language) if memory.speaker else text
    line = f"- [{memory.said_on}] {quotation}"
    if memory.outdated_on:
        line += WORDS[language]["outdated"].format(memory.outdated_on[:7])
    elif memory.ended:
        gone = "; ".join(one_line(each, MAX_ENDED) for each in memory.ended[:MOST_ENDED])
        line += WORDS[language]["ended"].format(gone)
    return line


def _date_line(near: InjectedDate, today: date, language: str) -> str:
    words = _TEXTS[language]
    ahead = (near.on - today).days
    when = words[("today", "tomorrow")[ahead]] if ahead < 2 else words["in_days"].format(ahead)
    name = one_line(near.name, MAX_NAME)
    return words["near"].format(
        name=(f"“{name}”" if names_role(name) else name) or words["user"],
        on=date_text(near.on, today, language),
        when=when,
        what=describe_date(near.kind, near.years, language),
    )


def not_found(missing: Iterable[str], language: str) -> str:
    """Returns the notice that nothing was found for what a user asked to forget."""
    quoted = [f"“{one_line(word, MAX_WORD)}”" for word in missing][:MAX_MISSING]
    what = wording(language)["comma"].join(quoted) or _TEXTS[language]["something"]
    return WORDS[language]["not_found"].format(what)


def _fitting(card: str, budget: int) -> tuple[str, int]:
    """Returns the first lines of a stored card that fit, made harmless, and their tokens."""
    lines, cost = [], 0
    for stored in card.splitlines():
        line = defused(stored)
        more = estimate_tokens(line) + 1
        if cost + more > budget:
            break
        lines.append(line)
        cost += more
    return "\n".join(lines), cost
