"""The named places, organisations, works and people in a text, found by rules without a model.

Rules and gazetteers for Chinese and English, made for precision, not recall: an entity joins
memories, and a wrong one joins memories that have nothing to do with each other. If two rules match
at one place, one entity is returned."""

from collections.abc import Iterator, Mapping

import regex

from understanding.entities import entities_en, entities_zh
from understanding.entities.named import LONGEST, Kind, Named
from understanding.text import HAN, is_cjk

__all__ = ["LONGEST", "Kind", "Named", "tag"]

# The kind that wins if several rules match: a quoted title may contain anything, a known person's
# name may be a place's, an organisation is named after places.
_PRECEDENCE = (Kind.WORK, Kind.PERSON, Kind.ORGANISATION, Kind.PLACE)


def tag(text: str, people: Mapping[str, str] | None = None) -> tuple[Named, ...]:
    """Returns the entities in ``text``, each once, in the order of their first places.

    ``people`` maps the names of known people to the name by which each is called best."""
    candidates = [*_people(text, people or {})]
    if HAN.search(text):
        candidates += entities_zh.find(text)
    if any(map(str.isupper, text)):
        candidates += entities_en.find(text)
    # The longer name first, then by kind.
    candidates.sort(key=lambda hit: (hit.start - hit.end, _PRECEDENCE.index(hit.kind), hit.start))
    entities: list[Named] = []
    for hit in candidates:
        apart = all(hit.end <= other.start or other.end <= hit.start for other in entities)
        if len(hit.name) <= LONGEST and hit.key and apart:
            entities.append(hit)
    by_key = {hit.key: hit for hit in sorted(entities, key=lambda hit: -hit.start)}
    return tuple(sorted(by_key.values(), key=lambda hit: hit.start))


def _people(text: str, people: Mapping[str, str]) -> Iterator[Named]:
    """Yields the names of known people in a text, as whole words if they are not Chinese."""
    for written, name in people.items():
        if not written:
            continue
        for match in regex.finditer(regex.escape(written), text):
            before, after = text[: match.start()][-1:], text[match.end() :][:1]
            needs_no_space = is_cjk(written[0])
            if needs_no_space or not (before.isalnum() or after.isalnum()):
                yield Named(Kind.PERSON, name, *match.span())
