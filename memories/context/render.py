"""What is injected, and the text of it: a fenced block for a system prompt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from contacts.cards import date_said
from memories.context.request import ContextRequest
from understanding.dates.important_dates import date_text
from understanding.lexicon.rules import content
from understanding.statements.fence import CLOSE, OPEN, WORDS
from understanding.statements.secrets import masked
from understanding.statements.wordings import attributed
from understanding.text import defused, estimate_tokens, names_role, one_line

MAX_DATES, MAX_NAME = 5, 60
MAX_MISSING, MAX_WORD = 5, 40  # things asked to forget that are named
MAX_LINE = 300  # graphemes of one memory in the prompt
STAYING = 80  # tokens of the card of somebody who is only still talked about
MOST_ENDED, MAX_ENDED = 4, 80  # facts of it that are no longer true, and graphemes of each

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
    """``score`` and ``relevance``, how likely it has to do with the message where that is known,
    are in 0..1; ``reason`` says in words why the memory is there. ``outdated_on``: since then it is
    history, no longer true; ``ended`` is what of it is. ``speaker`` said it, where it is a quote."""

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
    """An important date of somebody (None, without a name: the user) that is near; ``years`` since
    the first, if that is known."""

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
    """What is injected: a note on what it is, and sections. ``memories`` and ``dates`` found room in
    it; ``lines`` are the ids of those memories that have a line of their own. ``str`` gives the text,
    "" where nothing is to be said."""

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
    """The fenced block without secrets within the budget of the ``request``, with up to its limit of
    memories; they are the best first. ``notices`` stand before all else; ``dates`` are as seen ``today``. The user's ``own_card`` has at
    most half of the budget."""
    words = WORDS[language]
    apart = ("forgotten", "not_found", "unclear", "dates", "user")
    fixed = [text for key, text in words.items() if key not in apart]
    left = request.token_budget - estimate_tokens("\n".join([OPEN, *fixed, *notices, CLOSE]))
    own, cost = _fitting(own_card, left // 2 - estimate_tokens(words["user"]) - 1)
    left -= cost + estimate_tokens(words["user"]) + 1 if own else 0
    meant, talked_of, cost = _cards(contacts, left)
    left -= cost
    coming = {near: _near(near, today, language) for near in dates[:MAX_DATES]}
    if (cost := estimate_tokens("\n".join([words["dates"], *coming.values()]))) > left:
        coming = {}
    left -= cost if coming else 0
    on_cards = "\n".join(meant + talked_of)
    kept: list[InjectedMemory] = []
    lines: dict[UUID, str] = {}
    for memory in memories:
        text = one_line(memory.content, MAX_LINE)
        line = _line(memory, text, language)
        cost = estimate_tokens(line) + 1
        if len(kept) == request.limit or cost > left:
            continue
        kept.append(memory)
        if memory.outdated_on or memory.ended or text not in on_cards:
            lines[memory.id] = line
            left -= cost
    sections = (
        Section("", tuple(notices)),
        Section(words["user"], tuple(own.splitlines())),
        Section(words["people"], tuple(meant)),
        Section(words["talk"], tuple(talked_of)),
        Section(words["dates"], tuple(coming.values())),
        Section(words["memories"], tuple(lines.values())),
    )
    filled = _masked(words["note"], [section for section in sections if section.entries])
    return Block(words["note"], filled, tuple(kept), frozenset(lines), tuple(coming))


def _cards(contacts: Sequence[InjectedContact], budget: int) -> tuple[list[str], list[str], int]:
    """The cards of those meant and of those still talked of, and what they cost."""
    meant: list[str] = []
    talked_of: list[str] = []
    left = budget
    for place, contact in enumerate(contacts):
        stays = contact.matched_by == "conversation"
        # The people still to come keep their share, so that a long card crowds nobody out.
        share = left // (len(contacts) - place)
        card, cost = _fitting(contact.card, min(share, STAYING) if stays else share)
        if card:
            (talked_of if stays else meant).append(card)
            left -= cost
    return meant, talked_of, budget - left


def _masked(note: str, sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections without secrets. What is a secret may depend on the line before, so that they
    are read as one text; a mask changes no line break."""
    rows = iter(masked(str(Block(note, tuple(sections)))).split("\n")[2:])

    def taken(text: str) -> str:
        return "\n".join(next(rows) for _ in text.split("\n"))

    return tuple(
        Section(one.heading and taken(one.heading), tuple(map(taken, one.entries)))
        for one in sections
    )


def _line(memory: InjectedMemory, text: str, language: str) -> str:
    said = attributed(text, memory.speaker, language) if memory.speaker else text
    line = f"- [{memory.said_on}] {said}"
    if memory.outdated_on:
        line += WORDS[language]["outdated"].format(memory.outdated_on[:7])
    elif memory.ended:
        gone = "; ".join(one_line(each, MAX_ENDED) for each in memory.ended[:MOST_ENDED])
        line += WORDS[language]["ended"].format(gone)
    return line


def _near(near: InjectedDate, today: date, language: str) -> str:
    words = _TEXTS[language]
    ahead = (near.on - today).days
    when = words[("today", "tomorrow")[ahead]] if ahead < 2 else words["in_days"].format(ahead)
    name = one_line(near.name, MAX_NAME)
    return words["near"].format(
        name=(f"“{name}”" if names_role(name) else name) or words["user"],
        on=date_text(near.on, today, language),
        when=when,
        what=date_said(near.kind, near.years, language),
    )


def not_found(missing: Iterable[str], language: str) -> str:
    """The notice that nothing was found for what a user asked to forget."""
    quoted = [f"“{one_line(word, MAX_WORD)}”" for word in missing][:MAX_MISSING]
    what = (", " if language == "en" else "、").join(quoted) or _TEXTS[language]["something"]
    return WORDS[language]["not_found"].format(what)


def _fitting(card: str, budget: int) -> tuple[str, int]:
    """The first lines of a stored card, made harmless, that cost at most ``budget`` tokens, and their cost."""
    lines, cost = [], 0
    for stored in card.splitlines():
        line = defused(stored)
        more = estimate_tokens(line) + 1
        if cost + more > budget:
            break
        lines.append(line)
        cost += more
    return "\n".join(lines), cost
