"""The named places, organisations, works and people that a text speaks of: pure, no model.

Rules and gazetteers for Chinese and English, made to be sure rather than complete: an entity
joins memories, and a wrong one joins what has nothing to do with each other. What two rules see at
one place is said once.
"""

from collections.abc import Iterator, Mapping

import regex

from understanding.entities import entities_en, entities_zh
from understanding.entities.named import LONGEST, Kind, Named
from understanding.text import HAN, is_cjk

__all__ = ["LONGEST", "Kind", "Named", "tag"]

# What a stretch of text is, when several rules claim it: a quoted title may hold anything, a
# known person's name may be a place's, an organisation is named after places.
_FIRST = (Kind.WORK, Kind.PERSON, Kind.ORGANISATION, Kind.PLACE)


def tag(text: str, people: Mapping[str, str] | None = None) -> tuple[Named, ...]:
    """The named things in ``text``, each once, in the order of their first places.

    ``people`` maps the names that known people are called by to how each is called best.
    """
    found = [*_people(text, people or {})]
    if HAN.search(text):
        found += entities_zh.find(text)
    if any(map(str.isupper, text)):
        found += entities_en.find(text)
    # The longer name first, then by kind.
    found.sort(key=lambda one: (one.start - one.end, _FIRST.index(one.kind), one.start))
    kept: list[Named] = []
    for one in found:
        apart = all(one.end <= other.start or other.end <= one.start for other in kept)
        if len(one.name) <= LONGEST and one.key and apart:
            kept.append(one)
    by_key = {one.key: one for one in sorted(kept, key=lambda one: -one.start)}
    return tuple(sorted(by_key.values(), key=lambda one: one.start))


def _people(text: str, people: Mapping[str, str]) -> Iterator[Named]:
    for written, name in people.items():
        if not written:
            continue
        for match in regex.finditer(regex.escape(written), text):
            before, after = text[: match.start()][-1:], text[match.end() :][:1]
            glued = is_cjk(written[0])
            if glued or not (before.isalnum() or after.isalnum()):
                yield Named(Kind.PERSON, name, *match.span())
