"""The facts of one clause, Chinese or English, about its subject."""

import re
from collections.abc import Sequence

from memories.providers.offline.reading import facts_en, facts_zh
from memories.providers.offline.reading.circle import PersonDraft
from memories.providers.offline.reading.entity_linking import Spot
from memories.providers.offline.reading.facts import Value
from memories.providers.offline.reading.subjects import is_users_own, owns_next
from understanding.people.person_tagger import is_own_family
from understanding.text import HAN

# From which confidence on whom a pronoun means is certain.
CERTAIN = 0.9


def _is_told_whose(text: str, spot: Spot) -> bool:
    """Whether a partner or child is named, somebody's who is known, or said to be the user's."""
    who = spot.who
    return who is None or who.named or who.owner is not None or is_users_own(text, spot)


def facts_of(text: str, spots: Sequence[Spot], subject: PersonDraft | None) -> list[Value]:
    """What ``text`` states of ``subject``: Chinese rows where there are Han characters, English
    ones where Latin words remain. Nothing where it speaks of somebody besides, or it isn't certain
    whom a pronoun means."""
    for spot in spots:
        anothers = spot.who is not subject or spot.others
        unsure = spot.how == "pronoun" and spot.confidence < CERTAIN
        if unsure or (anothers and not owns_next(text, spot, spots)):
            return []
        if spot.how == "role" and is_own_family(spot.text) and not _is_told_whose(text, spot):
            return []
    masked = list(text)
    for spot in spots:
        masked[spot.start : spot.end] = " " * (spot.end - spot.start)
    blank = "".join(masked)
    found = facts_zh.facts(blank) if HAN.search(text) else []
    if re.search(r"[A-Za-z]{2}", text) and not found:
        found = facts_en.facts(blank if HAN.search(text) else text)
    if any(value.key in {"family", "pet"} for value in found):
        found = [value for value in found if value.key != "age"]
    # A value in which somebody stood is not theirs alone.
    return [v for v in found if blank[v.start : v.end] == text[v.start : v.end]]
