"""What a patch makes of a contact's profile, and what is left of it without a source.

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

from memories.fact_conflicts import FORMER, same_value, told_key
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
# What a provider is shown of a profile, and so what one consolidation costs at most.
SHOWN_KEYS = 40
SHOWN_VALUES = 8
SHOWN_EVENTS = 10


def sources(profile: Profile) -> set[UUID]:
    """The memories that a profile rests on."""
    told = [value.sources for value in itertools.chain(*profile.attributes.values())]
    told += [event.sources for event in profile.timeline]
    told += [reference.sources for reference in profile.references]
    return set(profile.personality_sources).union(*told)


def renamed(profile: Profile, names: Mapping[UUID, Collection[UUID]]) -> Profile:
    """``profile`` resting on ``names[source]`` wherever it rested on a source among these."""

    def now(sources: tuple[UUID, ...]) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(pk for one in sources for pk in names.get(one, (one,))))

    changed = _with_pieces(profile, lambda piece: replace(piece, sources=now(piece.sources)))
    return replace(changed, personality_sources=now(profile.personality_sources))


def _with_pieces(profile: Profile, change: Callable[[Any], Any]) -> Profile:
    """``profile`` with each value, event and reference as ``change`` returns it, without those of
    which that is None."""

    def changed(pieces: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(new for piece in pieces if (new := change(piece)) is not None)

    attributes = {key: changed(values) for key, values in profile.attributes.items()}
    return replace(
        profile,
        attributes={key: values for key, values in attributes.items() if values},
        timeline=changed(profile.timeline),
        references=changed(profile.references),
    )


def bounded(profile: Profile) -> Profile:
    """The part of a profile that a provider is shown: the latest of each, so that the cost
    of a consolidation does not grow with what is known."""
    return replace(
        profile,
        attributes={
            key: values[:SHOWN_VALUES]
            for key, values in list(profile.attributes.items())[:SHOWN_KEYS]
        },
        timeline=profile.timeline[-SHOWN_EVENTS:],
    )


def apply(profile: Profile, patch: ProfilePatch) -> Profile:
    """``profile`` with ``patch``: what has ended is gone, unless a person stated it; replaced
    keys take the patch's values, others unite (the same value once, its sources together), events
    are in order of happening, each once."""
    attributes = {
        key: tuple(v for v in values if not v.sources or (key, v.value) not in patch.ended)
        for key, values in profile.attributes.items()
    }
    for key, values in patch.attributes.items():
        held = () if key in patch.replaces else attributes.get(key, ())
        first, second = (values, held) if is_single(key) else (held, values)
        stated = {normalise(v.value) for v in profile.attributes.get(key, ()) if not v.sources}
        # Those that a person stated keep no sources.
        attributes[key] = tuple(
            replace(value, sources=()) if normalise(value.value) in stated else value
            for value in _each_once([*first, *second], lambda value: normalise(value.value))
        )
    told = [*profile.references, *patch.references]
    references = _each_once(told, lambda reference: normalise(reference.text))
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
    """The first piece of each key, with the sources of all of them."""
    united: dict[Hashable, P] = {}
    for piece in pieces:
        same = key(piece)
        if same in united:
            sources = dict.fromkeys([*united[same].sources, *piece.sources])
            united[same] = replace(united[same], sources=tuple(sources))
        else:
            united[same] = piece
    return list(united.values())


def _ordered(events: Sequence[TimelineEvent]) -> tuple[TimelineEvent, ...]:
    """The events by date, each once: one without a date is the same as one of its words with one,
    and stays behind the dated one before it."""
    dates = {normalise(event.text): event.at for event in events if event.at}
    dated = (replace(e, at=e.at or dates.get(normalise(e.text), "")) for e in events)
    united = _each_once(dated, lambda event: (normalise(event.text), event.at))
    # The sort is stable, and an empty date takes the last date seen.
    keyed, last = [], ""
    for event in united:
        last = event.at or last
        keyed.append((last, event))
    return tuple(event for _, event in sorted(keyed, key=lambda pair: pair[0]))


def without(profile: Profile, gone: Collection[UUID]) -> tuple[Profile, frozenset[UUID]]:
    """``profile`` without what rests on the memories ``gone``, and the other memories that
    what was removed rested on too: these have to be read again.

    A value that an operator gave has no sources and stays.
    """
    lost = set(gone)
    again: set[UUID] = set()

    def stays(sources: tuple[UUID, ...]) -> bool:
        if lost.isdisjoint(sources):
            return True
        again.update(sources)
        return False

    left = _with_pieces(profile, lambda piece: piece if stays(piece.sources) else None)
    if not stays(profile.personality_sources):
        left = replace(left, personality="", personality_sources=())
    return left, frozenset(again - lost)


def without_ended(
    profile: Profile, person: UUID, memories: Iterable[StoredMemory]
) -> tuple[Profile, frozenset[UUID]]:
    """A person's ``profile`` without the values that rest on these memories alone and that those
    of their facts told which have ended, and the memories of a personality that spoke of one:
    these have to be read again."""
    told = {
        memory.id: replace(memory, facts=tuple(f for f in memory.facts if f.person == person))
        for memory in memories
    }

    def stays(key: str, value: AttributeValue) -> tuple[UUID, ...]:
        return tuple(
            pk for pk in value.sources if pk not in told or not _ended(told[pk], key, value.value)
        )

    kept = {
        key: tuple(
            replace(value, sources=stays(key, value))
            for value in values
            if not value.sources or stays(key, value)
        )
        for key, values in profile.attributes.items()
    }
    left = replace(profile, attributes={key: values for key, values in kept.items() if values})
    spoken_of = any(
        fact.outdated and (fact.key in TRAITS or letters(fact.value) in letters(left.personality))
        for pk in profile.personality_sources
        if pk in told
        for fact in told[pk].facts
    )
    if not spoken_of:
        return left, frozenset()
    again = frozenset(profile.personality_sources)
    return replace(left, personality="", personality_sources=()), again


def _ended(memory: StoredMemory, key: str, value: str) -> bool:
    """Whether a value of a profile is what a fact of the memory told that has ended, and none
    that stands."""
    alike = [fact for fact in memory.facts if same_value(fact.value, value)]
    over = [fact for fact in alike if fact.outdated or fact.over(memory.said_at)]
    standing = (fact for fact in alike if fact not in over)
    return key not in FORMER and bool(over) and not any(fact.key == key for fact in standing)


def settled(patch: ProfilePatch, person: UUID, memories: Sequence[StoredMemory]) -> ProfilePatch:
    """``patch`` with nothing as current that these memories tell as over, whatever a provider
    made of it: a former job stands as such, and takes no other's place."""
    values: dict[str, tuple[AttributeValue, ...]] = {}
    told = Profile(attributes=patch.attributes)
    sound = without_ended(told, person, memories)[0].attributes
    for key, held in patch.attributes.items():
        if sound.get(key) or not held:
            values[key] = sound.get(key, ())
    for memory in memories:
        for fact in memory.current:
            past = told_key(fact, memory.said_at)
            if fact.person == person and past not in ("", fact.key):
                known = values.get(past, ())
                if not any(same_value(value.value, fact.value) for value in known):
                    value = AttributeValue(fact.value, (memory.id,), fact.valid_from)
                    values[past] = (*known, value)
    return replace(patch, attributes=values, replaces=patch.replaces & values.keys())
