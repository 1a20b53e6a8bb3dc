"""What is injected, and the text of it: a fenced block for a system prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from contacts.cards import date_said
from understanding.dates.important_dates import date_text
from understanding.statements.fence import CLOSE, OPEN, WORDS
from understanding.statements.secrets import masked
from understanding.statements.wordings import attributed
from understanding.text import defused, estimate_tokens, names_role, one_line

MAX_DATES, MAX_NAME = 5, 60
MAX_MISSING, MAX_WORD = 5, 40  # things asked to forget that are named
MAX_LINE = 300  # graphemes of one memory in the prompt
STAYING = 80  # tokens of the card of somebody who is only still talked about
MOST_ENDED, MAX_ENDED = 4, 80  # facts of it that are no longer true, and graphemes of each

_SOMETHING = {"en": "something that was said", "zh": "之前说过的一些内容"}
_NEAR = {
    "en": {
        "near": "- {on} ({when}): {name}, {what}",
        "user": "the user",
        "today": "today",
        "tomorrow": "tomorrow",
        "in_days": "in {} days",
    },
    "zh": {
        "near": "- {on}（{when}）：{name}，{what}",
        "user": "用户",
        "today": "今天",
        "tomorrow": "明天",
        "in_days": "{}天后",
    },
}


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
class Told:
    """What became of a request to forget: something was ``forgotten``, nothing was found for what
    is ``missing`` (None: all was found, empty: it named nothing), or it was ``unclear``."""

    forgotten: bool = False
    missing: tuple[str, ...] | None = None
    unclear: bool = False


NOTHING = Told()


@dataclass(frozen=True, slots=True)
class Block:
    """The text, the memories and dates that found room in it, and which memories have a line."""

    text: str
    kept: tuple[InjectedMemory, ...]
    lines: frozenset[UUID]
    dates: tuple[InjectedDate, ...] = ()


def render(
    language: str,
    contacts: Sequence[InjectedContact],
    memories: Sequence[InjectedMemory],
    limit: int,
    token_budget: int,
    told: Told = NOTHING,
    dates: Sequence[InjectedDate] = (),
    today: date = date.min,
    own_card: str = "",
) -> Block:
    """The fenced block without secrets within the budget, with up to ``limit`` memories; they are the best
    first. ``dates`` are as seen ``today``. The user's ``own_card`` has at most half of the budget."""
    words = WORDS[language]
    said = _said(words, language, told)
    apart = ("forgotten", "not_found", "unclear", "dates", "user")
    fixed = [text for key, text in words.items() if key not in apart]
    left = token_budget - estimate_tokens("\n".join([OPEN, *fixed, *said, CLOSE]))
    cards: dict[bool, list[str]] = {False: [], True: []}
    own, cost = _fitting(own_card, left // 2 - estimate_tokens(words["user"]) - 1)
    left -= cost + estimate_tokens(words["user"]) + 1 if own else 0
    for place, contact in enumerate(contacts):
        stays = contact.matched_by == "conversation"
        # The people still to come keep their share, so that a long card crowds nobody out.
        share = left // (len(contacts) - place)
        card, cost = _fitting(contact.card, min(share, STAYING) if stays else share)
        if card:
            cards[stays].append(card)
            left -= cost
    coming = {near: _near(near, today, language) for near in dates[:MAX_DATES]}
    if (cost := estimate_tokens("\n".join([words["dates"], *coming.values()]))) > left:
        coming = {}
    left -= cost if coming else 0
    on_cards = "\n".join(cards[False] + cards[True])
    kept: list[InjectedMemory] = []
    lines: dict[UUID, str] = {}
    for memory in memories:
        text = one_line(memory.content, MAX_LINE)
        line = _line(memory, text, language)
        cost = estimate_tokens(line) + 1
        if len(kept) == limit or cost > left:
            continue
        kept.append(memory)
        if memory.outdated_on or memory.ended or text not in on_cards:
            lines[memory.id] = line
            left -= cost
    parts = [*said, *([words["user"], own] if own else [])]
    for stays, heading in ((False, "people"), (True, "talk")):
        parts += [words[heading], *cards[stays]] if cards[stays] else []
    parts += [words["dates"], *coming.values()] if coming else []
    parts += [words["memories"], *lines.values()] if lines else []
    text = masked("\n".join([OPEN, words["note"], *parts, CLOSE])) if parts else ""
    return Block(text, tuple(kept), frozenset(lines), tuple(coming))


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
    words = _NEAR[language]
    ahead = (near.on - today).days
    when = words[("today", "tomorrow")[ahead]] if ahead < 2 else words["in_days"].format(ahead)
    name = one_line(near.name, MAX_NAME)
    return words["near"].format(
        name=(f"“{name}”" if names_role(name) else name) or words["user"],
        on=date_text(near.on, today, language),
        when=when,
        what=date_said(near.kind, near.years, language),
    )


def _said(words: Mapping[str, str], language: str, told: Told) -> list[str]:
    said = [words["forgotten"]] if told.forgotten else []
    said += [words["unclear"]] if told.unclear else []
    if told.missing is not None:
        quoted = [f"“{one_line(word, MAX_WORD)}”" for word in told.missing[:MAX_MISSING]]
        what = (", " if language == "en" else "、").join(quoted) or _SOMETHING[language]
        said.append(words["not_found"].format(what))
    return said


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
