"""The attribute values of a clause, read with the people in it blanked out."""

import re

from contacts.text import HAN
from memories.providers.offline import facts_en, facts_zh
from memories.providers.offline.facts_zh import Value
from memories.providers.offline.meeting import Spot


def read_values(text: str, spots: list[Spot]) -> list[Value]:
    """Chinese rules where there are Han characters, English ones where Latin words remain."""
    masked = list(text)
    for spot in spots:
        masked[spot.start : spot.end] = " " * (spot.end - spot.start)
    blank = "".join(masked)
    found: list[Value] = []
    if HAN.search(text):
        found += facts_zh.facts(blank)
    if re.search(r"[A-Za-z]{2}", text) and not (HAN.search(text) and found):
        found += [
            value
            for value in facts_en.facts(blank if HAN.search(text) else text)
            if not _beside_somebody(text, value, spots)
        ]
    if any(value.key in {"family", "pet"} for value in found):
        found = [value for value in found if value.key != "age"]
    return found


def _beside_somebody(text: str, value: Value, spots: list[Spot]) -> bool:
    """Work or lunch with a person: no employer's name."""
    return (
        value.key == "company"
        and re.search(r"\b(?:with|for)\s(?:the\s)?$", text[: value.start]) is not None
        and any(spot.start < value.end and value.start < spot.end for spot in spots)
    )
