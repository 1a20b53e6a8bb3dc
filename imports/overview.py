"""Reads a chat before anything is imported: who wrote how much and when, and what extraction would
cost. It only guesses who the user is."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from accounts.reasons import Reason, Skipped
from imports.dumps import recognised
from imports.formats import whatsapp
from imports.source import Source, parts, storable
from imports.types import NotReadable, Turn
from memories.pipeline import buffer
from understanding.names import name_key
from understanding.text import estimate_tokens

# Characters of a message, as many as the API takes.
MAX_TEXT = 100_000
# Somebody who wrote fewer messages in a group becomes no contact.
LEAST_LINES = 5
MAX_SPEAKERS = 2000
# What each call of a model reads besides messages: instructions, known people and memories.
PROMPT_TOKENS = 4000
EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(slots=True)
class Speaker:
    """Somebody who wrote; ``key`` distinguishes speakers."""

    key: str
    name: str
    aliases: tuple[str, ...] = ()
    messages: int = 0
    last: datetime | None = None
    chats: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Overview:
    """What a chat contains. ``stated`` counts the messages that the file itself assigns to its
    owner or an assistant, ``undated`` those without a time, which are left out. ``day_first`` is
    the order of the dates that was found, None if there is nothing to ask. ``guess`` is the key of
    the likely owner. What can't be read is in ``skipped``."""

    format: str
    messages: int = 0
    stated: int = 0
    undated: int = 0
    tokens: int = 0
    first: datetime | None = None
    last: datetime | None = None
    speakers: dict[str, Speaker] = field(default_factory=dict)
    groups: dict[str, set[str]] = field(default_factory=dict)
    day_first: bool | None = None
    guess: str = ""
    guess_reason: Reason | None = None
    skipped: Skipped = field(default_factory=Skipped)

    @property
    def asks(self) -> bool:
        """Whether somebody has to say which of the speakers is the user."""
        return bool(self.speakers) and not self.stated

    def find(self, name: str) -> Speaker | None:
        """Returns the one speaker with this name, alias or key; None if there is none or several."""
        key = name_key(name)
        namesakes = [
            speaker
            for speaker in self.speakers.values()
            if name == speaker.key
            or key in {name_key(one) for one in (speaker.name, *speaker.aliases)}
        ]
        exact = [speaker for speaker in namesakes if name in (speaker.key, speaker.name)]
        chosen = exact or namesakes
        return chosen[0] if len(chosen) == 1 else None

    def people(self, me: str) -> list[Speaker]:
        """Returns the speakers who become contacts if the speaker with the key ``me`` is the user:
        their name has letters, and they wrote in a chat of two or at least LEAST_LINES messages."""
        return [
            speaker
            for speaker in self.speakers.values()
            if speaker.key != me
            and any(letter.isalpha() for letter in speaker.name)
            and (
                speaker.messages >= LEAST_LINES
                # A chat of two
                or any(self.groups[chat] <= {speaker.key, me} for chat in speaker.chats)
            )
        ]

    def figures(self, me: str) -> dict[str, Any]:
        """Returns the counts of the file, and estimates what a model would read of it. ``left_out``
        are the messages of speakers who become no contact if ``me`` is the user."""
        counted = {me, *(one.key for one in self.people(me))}
        left_out = [one.messages for one in self.speakers.values() if one.key not in counted]
        calls = math.ceil(self.messages / buffer.longest_batch())
        return {
            "format": self.format,
            "messages": self.messages,
            "undated": self.undated,
            "left_out": sum(left_out),
            "unreadable": self.skipped.count,
            "first": self.first,
            "last": self.last,
            "day_first": self.day_first,
            "model_calls": calls,
            "model_tokens": self.tokens + PROMPT_TOKENS * calls,
        }

    def most_first(self) -> list[Speaker]:
        return sorted(self.speakers.values(), key=lambda one: (-one.messages, one.name))


def turns(
    path: Path, zone: tzinfo, day_first: bool | None = None, name: str = ""
) -> Iterator[Turn]:
    """Yields the turns of a file as they are stored: cleaned, with times in ``zone`` if the file
    has none; an undated turn gets the time of the turn before it. Raises NotReadable."""
    form, sources = recognised(parts(path, day_first, name))
    yield from _turns(form, sources, zone)


def _turns(form: Any, sources: Iterable[Source], zone: tzinfo) -> Iterator[Turn]:
    now = datetime.now(UTC)
    for source in sources:
        last_time_by_chat: dict[str, datetime] = {}
        for turn in form.parse(source):
            at = turn.at or last_time_by_chat.get(turn.chat)
            at = at.replace(tzinfo=zone) if at is not None and at.tzinfo is None else at
            if at is not None and not EARLIEST <= at <= now:
                at = None
            if at is not None:
                last_time_by_chat[turn.chat] = at
            text = storable(turn.text).strip()[:MAX_TEXT]
            if text:
                yield replace(turn, text=text, at=at, speaker=_clean(turn.speaker), key=_clean(turn.who),
                              chat=_clean(turn.chat), aliases=tuple(map(_clean, turn.aliases)))  # fmt: skip


def _clean(text: str) -> str:
    return storable(" ".join(text.split()))


def look(
    path: Path,
    zone: tzinfo,
    day_first: bool | None = None,
    names: Iterable[str] = (),
    name: str = "",
) -> Overview:
    """Reads a file to its end and returns its overview. ``names`` are the known names of the user.
    Raises NotReadable, also if nobody wrote anything in it."""
    form, sources = recognised(parts(path, day_first, name))
    overview = Overview(form.NAME)
    for turn in _turns(form, sources, zone):
        _count(overview, turn)
    overview.skipped = sources[0].skipped
    if not overview.messages:
        raise NotReadable("chat_empty")
    if form.NAME == whatsapp.NAME and day_first is None:
        orders = [whatsapp.day_order(source) for source in sources]
        overview.day_first = next((one.day_first for one in orders if one.in_doubt), None)
    if overview.asks:
        files = [source.name for source in sources]
        overview.guess, overview.guess_reason = _guess(overview, files, names)
    return overview


def _count(overview: Overview, turn: Turn) -> None:
    """Adds a turn to the counts and speakers. Raises NotReadable for too many speakers."""
    if turn.at is None:
        overview.undated += 1
        return
    overview.messages += 1
    overview.tokens += estimate_tokens(turn.text)
    overview.first = min(overview.first or turn.at, turn.at)
    overview.last = max(overview.last or turn.at, turn.at)
    if turn.role:
        overview.stated += 1
        return
    speaker = overview.speakers.get(turn.key)
    if speaker is None:
        if len(overview.speakers) == MAX_SPEAKERS:
            raise NotReadable("chat_crowd", limit=MAX_SPEAKERS)
        speaker = overview.speakers[turn.key] = Speaker(turn.key, turn.speaker)
    speaker.messages += 1
    speaker.last = max(speaker.last or turn.at, turn.at)
    speaker.chats.add(turn.chat)
    turn_names = (turn.speaker, *turn.aliases)
    if not set(turn_names) <= {speaker.name, *speaker.aliases}:
        new_names = [one for one in turn_names if one not in (speaker.name, *speaker.aliases)]
        speaker.aliases = (*speaker.aliases, *new_names)[:10]
    overview.groups.setdefault(turn.chat, set()).add(turn.key)


def _guess(overview: Overview, files: list[str], names: Iterable[str]) -> tuple[str, Reason | None]:
    """Guesses the user's key, with the reason: the speaker with a name of the user; the one who
    writes in every chat; of two, the one whose name is in no file name."""
    user_keys = {name_key(name) for name in names}
    speakers = list(overview.speakers.values())
    with_user_name = [
        s for s in speakers if user_keys & {name_key(one) for one in (s.name, *s.aliases)}
    ]
    if len(with_user_name) == 1:
        return with_user_name[0].key, Reason("guess_known_name")
    in_all_chats = [s for s in speakers if len(s.chats) == len(overview.groups)]
    if len(overview.groups) > 1 and len(in_all_chats) == 1:
        return in_all_chats[0].key, Reason("guess_in_all_chats")
    unnamed = [s for s in speakers if not any(s.name and s.name in name for name in files)]
    if len(speakers) == 2 and len(unnamed) == 1:
        return unnamed[0].key, Reason("guess_not_in_name")
    return "", None
