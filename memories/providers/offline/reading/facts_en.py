"""What an English clause states about its subject: attribute keys and values in its own words."""

import re
from functools import cache

from memories.providers.offline.reading.facts import Value, stated
from understanding.lexicon import alternation, mapping, rows, rules, words

RE = rules.patterns(__file__)
_STRONGER = rules.sets(__file__, "stronger")
_CALENDAR = alternation(
    row["name"].title() for table in ("months", "weekdays") for row in rows(table)
)


def facts(text: str) -> list[Value]:
    """The attribute values that ``text`` (one English clause) states."""
    return stated(text, _rules(), _STRONGER, "en", _written)


def _written(key: str, match: re.Match[str]) -> str:
    """A value without article or what follows it; nothing where it is only a pointer, or a
    date for a place."""
    value = re.sub(r"^(?:the|a|an)\s(?=[a-z])", "", match.group("v").strip(" ,.'’"))
    value = re.sub(r"\s(?:any ?more|any longer)$", "", value)
    dated = key in {"location", "hometown"} and re.match(rf"(?:{_CALENDAR}|Christmas|I\b)", value)
    return "" if dated or RE.not_value.match(value) else value


@cache
def _rules() -> rules.Rows:
    """The rules with places, nationalities and months filled in."""
    places = alternation(words("places_en", "known"))
    peoples = alternation(mapping("demonyms", "place"))
    months = alternation(row["name"].title() for row in rows("months"))
    return rules.rows(
        __file__, "facts", PLACE=rf"(?:{places})\b", DEMONYM=peoples, MONTH=rf"(?:{months})\b"
    )
