"""What a description may say of someone: the attributes of each kind of clause, and the nouns
that one may be of."""

import re
from collections.abc import Iterable, Mapping

from understanding.lexicon import rows, table
from understanding.lexicon.rules import Row

# A pattern, and the attributes that the value in each of its groups may stand under.
Readings = tuple[tuple[re.Pattern[str], Mapping[str, tuple[str, ...]]], ...]


def attributes(*slots: str) -> tuple[str, ...]:
    """The attributes of slots (work, liking); any other word is an attribute itself."""
    return tuple(key for slot in slots for key in table("description_slots").get(slot, (slot,)))


def readings_of(found: Iterable[Row]) -> Readings:
    """Patterns whose rows name the slots of a group by its name."""
    return tuple(
        (row["pattern"], {group: attributes(*row[group]) for group in ("v", "w") if group in row})
        for row in found
    )


def heads(language: str) -> dict[str, str]:
    """Nouns that a description may be of when it has no role word, with the gender they imply."""
    return {
        row["word"]: row["gender"]
        for row in rows("heads")
        if row["language"] == language and "described" in row["uses"].split()
    }
