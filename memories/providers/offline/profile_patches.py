"""What new memories change in a contact's profile."""

import re
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from memories.fact_conflicts import FORMER, HISTORY, same_value, told_key
from memories.types import (
    AttributeValue,
    ProfilePatch,
    ProfileRequest,
    StoredMemory,
    TimelineEvent,
)
from understanding.attributes import is_single
from understanding.text import letters

_EVENT = re.compile(
    r"搬|入职|离职|辞职|跳槽|升职|升了|转正|毕业|结婚|领证|订婚|求婚|离婚|分手|恋爱|表白|怀孕|生了|生下|出生|手术|住院|出院|去世|退休|考上|考|买了|旅游|旅行|出差|签售|回国|出国|认识|见面|聚会|演唱会|比赛|马拉松|获奖|开业|开店|"
    r"\b(?:moved?|moving|joined|started|starts|quit|left|promoted|hired|graduated|married|engaged|divorced|broke up|born|gave birth|surgery|hospital|died|retired|bought|travel\w*|trip|flew|met|won|passed|wedding|launched|opened|visited|ran|finished)\b",
    re.I,
)


def consolidate(request: ProfileRequest) -> ProfilePatch:
    """The patch: attributes and dated events. A personality is not read from them."""
    memories = sorted(request.memories, key=lambda memory: memory.said_at)
    attributes, replaces = _attributes(request, memories)
    return ProfilePatch(attributes=attributes, replaces=replaces, timeline=_timeline(memories))


def _attributes(
    request: ProfileRequest, memories: Iterable[StoredMemory]
) -> tuple[dict[str, tuple[AttributeValue, ...]], frozenset[str]]:
    values: dict[str, list[AttributeValue]] = {}
    replaces: set[str] = set()
    for memory in memories:
        for fact in memory.current:
            if fact.person != request.person.id or told_key(fact, memory.said_at) != fact.key:
                continue
            value = AttributeValue(fact.value, (memory.id,), _since(memory))
            held = values.setdefault(fact.key, [])
            if is_single(fact.key):
                _put_single(request, values, replaces, fact.key, value, memory.said_at)
            else:
                _put_many(held, value)
            if fact.key in FORMER:
                _end_current(request, values, replaces, FORMER[fact.key], value, memory.said_at)
    kept = {key: tuple(held) for key, held in values.items() if held or key in replaces}
    return kept, frozenset(replaces)


def _put_single(
    request: ProfileRequest,
    values: dict[str, list[AttributeValue]],
    replaces: set[str],
    key: str,
    value: AttributeValue,
    told: datetime,
) -> None:
    """The value told last is current, in whatever order the memories arrive; the other moves
    to history where there is one."""
    held = values[key] or list(request.profile.attributes.get(key, ()))
    current = held[0] if held else None
    replaces.add(key)
    if current is None:
        values[key] = [value]
        return
    if same_value(current.value, value.value):
        fuller = max(current.value, value.value, key=len)
        values[key] = [
            AttributeValue(fuller, _union(current.sources, value.sources), current.since)
        ]
        return
    late = current.since is not None and told < current.since
    values[key] = [current] if late else [value]
    _put_history(request, values, key, value if late else current)


def _since(memory: StoredMemory) -> datetime:
    """From when a value of ``memory`` is known to hold: its own date, at the latest the telling."""
    at = memory.happens_at
    return memory.said_at if at is None else min(at, memory.said_at)


def _put_history(
    request: ProfileRequest,
    values: dict[str, list[AttributeValue]],
    key: str,
    old: AttributeValue,
) -> None:
    past = HISTORY.get(key)
    if past is not None:
        known = (*request.profile.attributes.get(past, ()), *values.get(past, ()))
        if not any(same_value(other.value, old.value) for other in known):
            values.setdefault(past, []).append(old)


def _end_current(
    request: ProfileRequest,
    values: dict[str, list[AttributeValue]],
    replaces: set[str],
    key: str,
    left: AttributeValue,
    told: datetime,
) -> None:
    """What somebody has left (former_company) is current no more, unless taken up since."""
    held = values.get(key) or (
        [] if key in replaces else list(request.profile.attributes.get(key, ()))
    )
    if not held or not same_value(held[0].value, left.value):
        return
    since = held[0].since
    if since is None or told >= since:
        values[key] = []
        replaces.add(key)


def _put_many(held: list[AttributeValue], value: AttributeValue) -> None:
    for number, other in enumerate(held):
        if letters(other.value) == letters(value.value):
            held[number] = AttributeValue(
                other.value, _union(other.sources, value.sources), other.since
            )
            return
    held.append(value)


def _union(left: tuple[UUID, ...], right: tuple[UUID, ...]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys((*left, *right)))


def _timeline(memories: Iterable[StoredMemory]) -> tuple[TimelineEvent, ...]:
    """What happened of weight on a day, or in a month, that was said, in order of happening."""
    events = [
        TimelineEvent(memory.content, _when(at, memory.happens_until), (memory.id,))
        for memory in memories
        if (at := memory.happens_at) is not None and _EVENT.search(memory.content)
    ]
    return tuple(sorted(events, key=lambda event: event.at))


def _when(at: datetime, until: datetime | None) -> str:
    """As precise as it was said: a day, a month or a year."""
    if until is None or until.date() == at.date():
        return at.strftime("%Y-%m-%d")
    return at.strftime("%Y-%m" if (until - at).days < 31 else "%Y")
