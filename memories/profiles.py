"""Applies patches to the profiles of contacts, and removes what has lost its sources.

A new field of a profile also has a place in ``PROFILE_FIELDS`` of corrections/derived.py, a column of
``Contact`` that is in its ``tracked`` (a migration), contacts/merge.py, corrections/forgotten_names.py and
erasure/scrub.py; it is shown by contacts/cards.py with a caption of understanding/languages.toml,
contacts/serializers.py and ``[fields]`` of dashboard/words.toml.
"""

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from memories.fact_conflicts import FORMER, same_value, stated_attribute
from memories.types import (
    AttributeValue,
    Profile,
    ProfilePatch,
    Reference,
    StoredMemory,
    TimelineEvent,
)
from understanding.attributes import TRAITS, is_single
from understanding.people.references import MOST as MOST_REFERENCES
from understanding.text import letters, normalise

P = TypeVar("P", bound=AttributeValue | TimelineEvent | Reference)
# The most that a provider is shown of a profile, which bounds the cost of a consolidation.
SHOWN_KEYS = 40
SHOWN_VALUES = 8
SHOWN_EVENTS = 10


def sources(profile: Profile) -> set[UUID]:
    """Returns the ids of the memories that a profile rests on."""
    source_ids = [value.sources for value in itertools.chain(*profile.attributes.values())]
    source_ids += [event.sources for event in profile.timeline]
    source_ids += [reference.sources for reference in profile.references]
    return set(profile.personality_sources).union(*source_ids)


def renamed(profile: Profile, names: Mapping[UUID, Collection[UUID]]) -> Profile:
    """Returns ``profile`` with each source that is a key of ``names`` replaced by its values."""

    def mapped(sources: tuple[UUID, ...]) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(pk for source in sources for pk in names.get(source, (source,))))

    changed = _with_pieces(profile, lambda piece: replace(piece, sources=mapped(piece.sources)))
    return replace(changed, personality_sources=mapped(profile.personality_sources))


def _with_pieces(profile: Profile, change: Callable[[Any], Any]) -> Profile:
    """Returns ``profile`` with each value, event and reference replaced by what ``change`` returns
    for it, or removed if that is None."""

    def changed_pieces(pieces: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(new for piece in pieces if (new := change(piece)) is not None)

    attributes = {key: changed_pieces(values) for key, values in profile.attributes.items()}
    return replace(
        profile,
        attributes={key: values for key, values in attributes.items() if values},
        timeline=changed_pieces(profile.timeline),
        references=changed_pieces(profile.references),
    )


def bounded(profile: Profile) -> Profile:
    """Returns the part of a profile that a provider is shown: the latest of each, so that the cost
    of a consolidation does not grow with the profile."""
    return replace(
        profile,
        attributes={
            key: values[:SHOWN_VALUES]
            for key, values in list(profile.attributes.items())[:SHOWN_KEYS]
        },
        timeline=profile.timeline[-SHOWN_EVENTS:],
    )


def apply(profile: Profile, patch: ProfilePatch) -> Profile:
    """Returns ``profile`` with ``patch`` applied. Ended values are removed, unless a person stated
    them; keys to replace get the patch's values, others have both (each value once, with all its
    sources); events are in order of time, each once."""
    attributes = {
        key: tuple(v for v in values if not v.sources or (key, v.value) not in patch.ended)
        for key, values in profile.attributes.items()
    }
    for key, values in patch.attributes.items():
        old_values = () if key in patch.replaces else attributes.get(key, ())
        first, second = (values, old_values) if is_single(key) else (old_values, values)
        stated = {normalise(v.value) for v in profile.attributes.get(key, ()) if not v.sources}
        # A value that a person stated has no sources and gets none.
        attributes[key] = tuple(
            replace(value, sources=()) if normalise(value.value) in stated else value
            for value in _each_once([*first, *second], lambda value: normalise(value.value))
        )
    all_references = [*profile.references, *patch.references]
    references = _each_once(all_references, lambda reference: normalise(reference.text))
    personality, sources = profile.personality, profile.personality_sources
    if patch.personality is not None:
        personality = patch.personality
        sources = tuple(dict.fromkeys([*sources, *patch.personality_sources]))
    return Profile(
        attributes={key: values for key, values in attributes.items() if values},
        personality=personality,
        personality_sources=sources,
        timeline=_ordered([*profile.timeline, *patch.timeline]),
        references=tuple(references[:MOST_REFERENCES]),
    )


def _each_once(pieces: Iterable[P], key: Callable[[P], Hashable]) -> list[P]:
    """Returns the first piece of each key, with the sources of all pieces of that key."""
    united: dict[Hashable, P] = {}
    for piece in pieces:
        piece_key = key(piece)
        if piece_key in united:
            sources = dict.fromkeys([*united[piece_key].sources, *piece.sources])
            united[piece_key] = replace(united[piece_key], sources=tuple(sources))
        else:
            united[piece_key] = piece
    return list(united.values())


def _ordered(events: Sequence[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """Returns the events by date, each once. An event without a date gets that of an event of the
    same words; if there is none, it stays after the dated event before it."""
    dates = {normalise(event.text): event.at for event in events if event.at}
    dated = (replace(e, at=e.at or dates.get(normalise(e.text), "")) for e in events)
    united = _each_once(dated, lambda event: (normalise(event.text), event.at))
    # The sort is stable, and an empty date takes the last date seen.
    events_by_date, last_date = [], ""
    for event in united:
        last_date = event.at or last_date
        events_by_date.append((last_date, event))
    return tuple(event for _, event in sorted(events_by_date, key=lambda pair: pair[0]))


def without(profile: Profile, gone: Collection[UUID]) -> tuple[Profile, frozenset[UUID]]:
    """Returns ``profile`` without what rests on the memories ``gone``, and the other sources of
    what was removed, which have to be read again.

    A value that an operator gave has no sources and stays.
    """
    gone_ids = set(gone)
    to_reread: set[UUID] = set()

    def is_kept(sources: tuple[UUID, ...]) -> bool:
        if gone_ids.isdisjoint(sources):
            return True
        to_reread.update(sources)
        return False

    reduced = _with_pieces(profile, lambda piece: piece if is_kept(piece.sources) else None)
    if not is_kept(profile.personality_sources):
        reduced = replace(reduced, personality="", personality_sources=())
    return reduced, frozenset(to_reread - gone_ids)


def without_ended(
    profile: Profile, person: UUID, memories: Iterable[StoredMemory]
) -> tuple[Profile, frozenset[UUID]]:
    """Returns a person's ``profile`` without the values that only ended facts of ``memories``
    state. If its personality text mentions an outdated fact, that is removed too, and its sources
    are returned to be read again."""
    by_id = {
        memory.id: replace(memory, facts=tuple(f for f in memory.facts if f.person == person))
        for memory in memories
    }

    def valid_sources(key: str, value: AttributeValue) -> tuple[UUID, ...]:
        return tuple(
            pk for pk in value.sources if pk not in by_id or not _ended(by_id[pk], key, value.value)
        )

    valid = {
        key: tuple(
            replace(value, sources=valid_sources(key, value))
            for value in values
            if not value.sources or valid_sources(key, value)
        )
        for key, values in profile.attributes.items()
    }
    left = replace(profile, attributes={key: values for key, values in valid.items() if values})
    mentions_ended = any(
        fact.outdated and (fact.key in TRAITS or letters(fact.value) in letters(left.personality))
        for pk in profile.personality_sources
        if pk in by_id
        for fact in by_id[pk].facts
    )
    if not mentions_ended:
        return left, frozenset()
    to_reread = frozenset(profile.personality_sources)
    return replace(left, personality="", personality_sources=()), to_reread


def _ended(memory: StoredMemory, key: str, value: str) -> bool:
    """Whether a fact of the memory with this value has ended, and no current fact states the value
    for ``key``. Never for the keys of past values."""
    stating = [fact for fact in memory.facts if same_value(fact.value, value)]
    ended = [fact for fact in stating if fact.outdated or fact.over(memory.said_at)]
    current = (fact for fact in stating if fact not in ended)
    return key not in FORMER and bool(ended) and not any(fact.key == key for fact in current)


def without_contradicted_values(
    patch: ProfilePatch, person: UUID, memories: Sequence[StoredMemory]
) -> ProfilePatch:
    """Returns ``patch`` without values as current that ``memories`` state as over, whatever the
    provider answered: a former job is added as such and replaces no other value."""
    values: dict[str, tuple[AttributeValue, ...]] = {}
    patch_profile = Profile(attributes=patch.attributes)
    valid_attributes = without_ended(patch_profile, person, memories)[0].attributes
    for key, patch_values in patch.attributes.items():
        if valid_attributes.get(key) or not patch_values:
            values[key] = valid_attributes.get(key, ())
    for memory in memories:
        for fact in memory.current:
            past_key = stated_attribute(fact, memory.said_at)
            if fact.person == person and past_key not in ("", fact.key):
                past_values = values.get(past_key, ())
                if not any(same_value(value.value, fact.value) for value in past_values):
                    value = AttributeValue(fact.value, (memory.id,), fact.valid_from)
                    values[past_key] = (*past_values, value)
    return replace(patch, attributes=values, replaces=patch.replaces & values.keys())
