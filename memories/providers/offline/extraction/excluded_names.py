"""Names that are nobody the user knows: pets, celebrities, characters of stories, machines."""

import re

from contacts.lexicon import words
from contacts.lexicon.rules import patterns, rows
from contacts.text import normalise
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book

RE = patterns(__file__)
_EXCLUDED = rows(__file__, "excluded")
_MACHINES = words("assistants")


def ban_machines(book: Book) -> None:
    """Assistants are nobody's contacts."""
    for name in _MACHINES:
        book.ban(name)


def note_excluded(reading: Reading, text: str) -> list[str]:
    """Note what ``text`` opens, closes or forbids, before it is read. The names in it of the
    user's own pets."""
    found = [(row, match) for row in _EXCLUDED for match in row["pattern"].finditer(text)]
    for _, match in found:
        _ban(reading.book, match["n"])
    if RE.story_ends.search(text):
        reading.in_story = False
    elif RE.story_begins.search(text):
        reading.in_story = True
    own = re.compile(r"我|[Mm]y\b|[Oo]ur\b")
    return [match["n"] for row, match in found if row["kind"] == "pet" and own.match(match.group())]


def pet_in(text: str) -> str:
    """The name of the pet that ``text`` speaks of, or an empty string."""
    pets = (row["pattern"].search(text) for row in _EXCLUDED if row["kind"] == "pet")
    return next((str(match["n"]) for match in pets if match), "")


def _ban(book: Book, name: str) -> None:
    name = re.sub(r"['’]s$", "", name)
    known = book.by_name(name)
    if known is not None and (known.contact_id is not None or known.relationship):
        return
    if normalise(name) not in words("names_zh", "no_stranger"):
        book.ban(name)
