"""The values that a clause states, as rules find them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from contacts.lexicon.rules import Row
from memories.providers.offline.reading.polarity import FORMER, Standing


@dataclass(frozen=True, slots=True)
class Value:
    """One attribute value and where its words stand in the clause."""

    key: str
    value: str
    start: int
    end: int


def stated(
    text: str,
    rules: Iterable[Row],
    stronger: Mapping[str, frozenset[str]],
    standing: Callable[[str, str, re.Match[str]], Standing],
    written: Callable[[str, re.Match[str]], str],
) -> list[Value]:
    """What the group v of the rules finds in ``text``, unless it is denied, or its words have
    been read already under this key or a ``stronger`` one. ``written`` gives a value its usual
    form, or nothing where it is none."""
    found: list[Value] = []
    for row in rules:
        key = row["key"]
        for match in row["pattern"].finditer(text):
            stands = standing(key, text, match)
            if stands is Standing.NOT or (stands is Standing.PAST and key not in FORMER):
                continue
            kept = FORMER[key] if stands is Standing.PAST else key
            shut = stronger.get(key, frozenset()) | {key, kept}
            start, end = match.span("v")
            if any(v.key in shut and v.start < end and start < v.end for v in found):
                continue
            if value := written(key, match):
                found.append(Value(kept, value, start, end))
    return found
