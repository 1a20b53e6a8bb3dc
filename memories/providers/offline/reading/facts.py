"""The attribute values that a clause states of its subject: a bonus on top of its words."""

import re
from collections.abc import Sequence

from contacts.text import HAN
from memories.providers.offline.reading import facts_en, facts_zh
from memories.providers.offline.reading.circle import Someone
from memories.providers.offline.reading.entity_linking import Spot
from memories.providers.offline.reading.stated_values import Value


def read_values(text: str, spots: Sequence[Spot], subject: Someone | None) -> list[Value]:
    """What ``text`` states of ``subject``: Chinese rows where there are Han characters, English
    ones where Latin words remain. What stands behind the words for somebody else may be theirs,
    and is left out."""
    masked = list(text)
    for spot in spots:
        masked[spot.start : spot.end] = " " * (spot.end - spot.start)
    blank = "".join(masked)
    found: list[Value] = []
    if HAN.search(text):
        found += facts_zh.facts(blank)
    if re.search(r"[A-Za-z]{2}", text) and not found:
        found += facts_en.facts(blank if HAN.search(text) else text)
    if any(value.key in {"family", "pet"} for value in found):
        found = [value for value in found if value.key != "age"]
    others = [spot.start for spot in spots if spot.who not in (None, subject)]
    return [v for v in found if not any(start < max(v.end, 1) for start in others)]
