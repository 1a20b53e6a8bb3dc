"""Who is named in a text: candidate keys for one index lookup, then mentions from its hits.

:func:`candidate_keys` says under which keys the text might name someone; the index of a
user's names answers with entries; :func:`find_mentions` decides which of these the text
really means. Nothing here knows of a database.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from understanding.names import lookup_keys
from understanding.people import disambiguation
from understanding.people.annotation import Reading
from understanding.people.spans import Hit, find_hits
from understanding.people.spellings import Spelling, spellings
from understanding.types import Entry, Mention, Person

# A longer text is a document: its beginning and its end are read.
_READ_HEAD, _READ_TAIL = 6000, 2000
_MESSAGE = 1000
_MAX_KEYS = 20000


def entries_of(people: Iterable[Person]) -> list[Entry]:
    """The index of ``people`` in memory: an entry for each of their keys."""
    return [Entry(key, person) for person in people for key in lookup_keys(person)]


def candidate_keys(text: str) -> frozenset[str]:
    """Every key that ``text`` may hold: linear in its length, and capped for huge texts."""
    keys: dict[str, None] = {}
    for _, part in _parts(text):
        keys.update(dict.fromkeys(_read(part)[1]))
    return frozenset(islice(keys, _MAX_KEYS))


def _parts(text: str) -> list[tuple[int, str]]:
    """What is read of ``text``, each part with where it begins."""
    if len(text) <= _READ_HEAD + _READ_TAIL:
        return [(0, text)]
    return [(0, text[:_READ_HEAD]), (len(text) - _READ_TAIL, text[-_READ_TAIL:])]


def _read(part: str) -> tuple[Reading, Mapping[str, Sequence[Spelling]]]:
    """A part of a text and its spellings by key."""
    return _read_message(part) if len(part) <= _MESSAGE else _spelt(part)


@lru_cache(maxsize=32)  # asked for its keys first, then for who of the people found is meant
def _read_message(part: str) -> tuple[Reading, Mapping[str, Sequence[Spelling]]]:
    return _spelt(part)


def _spelt(part: str) -> tuple[Reading, Mapping[str, Sequence[Spelling]]]:
    reading = Reading(part)
    found: dict[str, list[Spelling]] = defaultdict(list)
    for spelling in spellings(reading):
        found[spelling.key].append(spelling)
    return reading, found


def find_mentions(text: str, entries: Iterable[Entry]) -> list[Mention]:
    """The mentions in ``text`` of the people in ``entries``, by position: who is meant with a
    probability of ``disambiguation.THRESHOLD`` at least. Where several people answer to the same
    words, each is returned with less confidence. Of a huge text the beginning and the end are
    read."""
    out: list[Mention] = []
    for offset, reading, hits in hits_of(text, list(entries)):
        for found in disambiguation.mentions(reading, hits):
            shifted = replace(found, start=found.start + offset, end=found.end + offset)
            out.append(shifted if offset else found)
    return out


def hits_of(text: str, entries: Sequence[Entry]) -> Iterator[tuple[int, Reading, list[Hit]]]:
    """Each part that is read of ``text``: where it begins, and who may be meant in it."""
    for offset, part in _parts(text) if entries else ():
        reading, places = _read(part)
        yield offset, reading, find_hits(reading, places, entries)
