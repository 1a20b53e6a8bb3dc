"""Turns new memories into a patch of a contact's profile."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memories.fact_conflicts import FORMER, HISTORY, same_value, stated_attribute
from memories.types import AttributeValue, ProfilePatch, ProfileRequest, StoredMemory, TimelineEvent
from understanding.attributes import is_single
from understanding.text import letters

_EVENT = re.compile(
    r"搬|入职|离职|辞职|跳槽|升职|升了|转正|毕业|结婚|领证|订婚|求婚|离婚|分手|恋爱|表白|怀孕|生了|生下|出生|手术|住院|出院|去世|退休|考上|考|买了|旅游|旅行|出差|签售|回国|出国|认识|见面|聚会|演唱会|比赛|马拉松|获奖|开业|开店|"
    r"\b(?:moved?|moving|joined|started|starts|quit|left|promoted|hired|graduated|married|engaged|divorced|broke up|born|gave birth|surgery|hospital|died|retired|bought|travel\w*|trip|flew|met|won|passed|wedding|launched|opened|visited|ran|finished)\b",
    re.I,
)


def consolidate(request: ProfileRequest) -> ProfilePatch:
    """Returns the patch: attributes and dated events. It never has a personality."""
    memories = sorted(request.memories, key=lambda memory: memory.said_at)
    attributes, replaces = _attributes(request, memories)
    # Important events with a stated day or month.
    events = [
        TimelineEvent(memory.content, _date_text(at, memory.happens_until), (memory.id,))
        for memory in memories
        if (at := memory.happens_at) is not None and _EVENT.search(memory.content)
    ]
    timeline = tuple(sorted(events, key=lambda event: event.at))
    return ProfilePatch(attributes=attributes, replaces=replaces, timeline=timeline)


def _attributes(
    request: ProfileRequest, memories: Iterable[StoredMemory]
) -> tuple[dict[str, tuple[AttributeValue, ...]], frozenset[str]]:
    """Returns new values by key, and the keys whose values in the profile they replace."""
    profile = request.profile.attributes
    values: dict[str, list[AttributeValue]] = {}
    replaces: set[str] = set()
    stated = ((memory, fact) for memory in memories for fact in memory.current)
    for memory, fact in stated:
        key, said_at = fact.key, memory.said_at
        if fact.person != request.person.id or stated_attribute(fact, said_at) != key:
            continue
        since = said_at if memory.happens_at is None else min(memory.happens_at, said_at)
        value = AttributeValue(fact.value, (memory.id,), since)
        so_far = values.setdefault(key, [])
        if is_single(key):
            replaces.add(key)
            current, past = _newer(next(iter(so_far or profile.get(key, ())), None), value, said_at)
            values[key] = [current]
            history = HISTORY.get(key)
            known = (*profile.get(history, ()), *values.get(history, ())) if history else ()
            if past and history and not any(same_value(one.value, past.value) for one in known):
                values.setdefault(history, []).append(past)
        else:
            matches = (n for n, o in enumerate(so_far) if letters(o.value) == letters(value.value))
            at = next(matches, len(so_far))
            old = so_far[at] if at < len(so_far) else value
            so_far[at : at + 1] = [replace(old, sources=_union(old.sources, value.sources))]
        if key in FORMER:  # a company or place that was left is not current, unless joined since
            left = FORMER[key]
            present = values.get(left) or (() if left in replaces else profile.get(left, ()))
            is_left = present and same_value(present[0].value, value.value)
            if is_left and (present[0].since is None or said_at >= present[0].since):
                values[left] = []
                replaces.add(left)
    attributes = {key: tuple(each) for key, each in values.items() if each or key in replaces}
    return attributes, frozenset(replaces)


def _newer(
    current: AttributeValue | None, value: AttributeValue, said_at: datetime
) -> tuple[AttributeValue, AttributeValue | None]:
    """Returns the latest stated value of a single attribute, and the past one if it differs."""
    if current is None:
        return value, None
    if same_value(current.value, value.value):
        fuller = max(current.value, value.value, key=len)
        return AttributeValue(fuller, _union(current.sources, value.sources), current.since), None
    is_older = current.since is not None and said_at < current.since
    return (current, value) if is_older else (value, current)


def _union(left: tuple[UUID, ...], right: tuple[UUID, ...]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys((*left, *right)))


def _date_text(at: datetime, until: datetime | None) -> str:
    if until is None or until.date() == at.date():
        return at.strftime("%Y-%m-%d")
    return at.strftime("%Y-%m" if (until - at).days < 31 else "%Y")
