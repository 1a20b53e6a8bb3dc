"""The attribute values that a clause states of its subject, read with the people in it blanked out."""

import re

from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.providers.offline.extraction import facts_en, facts_zh
from memories.providers.offline.extraction.referents import Someone, Spot
from memories.providers.offline.extraction.stated_values import Value
from memories.providers.offline.lexicons import chinese_relation_words, relations


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


NEAR = 24  # characters into what is said within which its own subject stands

_SAID = re.compile(
    r"(?<!会)(?:告诉|听说|[跟和对]我说|说|提到|讲|觉得|认为|透露|抱怨|表示)(?:过|了)?(?:我们|我(?!\S{0,2}[叔伯姨舅姑爸妈哥姐弟妹表堂]))?[，,：:]?\s*(?=\S)"
    r"|\b(?:says?|said|(?:told|tells?) (?:me|us|[A-Z]\w+)|mentions?|mentioned|hears?|heard|means?|meant|thinks?|thought|knows?|knew|believes?|claims?|claimed|found out|announced|reckons?)\s(?:that\s)?(?=\S)",
)
_ANOTHERS = re.compile(r"(?:your|the|an?|some)\s|[A-Z][a-z]")
_RELATIVE = re.compile(r"(?:my|his|her|their|our)\s(\w+)(?:\s(\w+))?", re.I)
_BESIDE = re.compile(r",\s(?:(?:an?|the)\s)?$")


def own_values(
    text: str, spots: list[Spot], subject: Someone | None, values: list[Value]
) -> list[Value]:
    """``values`` without those that ``text`` states of somebody other than ``subject``."""
    said = _SAID.search(text)
    if said and _opens_with_another(text, said.end(), spots, subject):
        values = [value for value in values if value.start < said.end()]
    return [value for value in values if not _beside_another(text, value, spots, subject)]


def _opens_with_another(text: str, start: int, spots: list[Spot], subject: Someone | None) -> bool:
    """Whether what is said from ``start`` on begins with a subject that is not ``subject``."""
    inner = [spot for spot in spots if spot.end > start and spot.start < start + NEAR]
    if any(spot.who is subject and spot.how != "pronoun" for spot in inner):
        return False
    first = next((spot for spot in inner if spot.start <= start + 1), None)
    rest = text[start:]
    if not HAN.search(text):
        relative = _RELATIVE.match(rest)
        if relative:
            return any(normalise(word or "") in relations() for word in relative.groups())
        if first is not None and first.who is subject and not _ANOTHERS.match(rest):
            return False
        return first is not None or (bool(_ANOTHERS.match(rest)) and not rest.startswith("I"))
    owned = re.match(r"(?:[你您他她我咱](?:们|家|的)*)?", rest)
    if owned and rest[owned.end() :].startswith(chinese_relation_words()):
        return True
    if first is not None:
        return first.who is not subject
    return bool(rest) and tagged(rest)[0][1].startswith("nr")


def _beside_another(text: str, value: Value, spots: list[Spot], subject: Someone | None) -> bool:
    """Ben, a nurse: what stands after a person and a comma is said of that person."""
    beside = _BESIDE.search(text[: value.start])
    return beside is not None and any(
        spot.end == beside.start() and spot.who is not None and spot.who is not subject
        for spot in spots
    )
