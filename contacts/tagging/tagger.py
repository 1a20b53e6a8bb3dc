"""Spans of people in a text: names, nicknames, names with a title, and roles.

What is found is a place and a kind; who it is, is for others to say.
"""

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from contacts.lexicon import words
from contacts.roles import groups, terms
from contacts.segmentation import tagged
from contacts.text import is_han, normalise_with_offsets, original_span

Kind = Literal["name", "nickname", "title", "role"]
USER = -1


class PersonSpan(NamedTuple):
    """Somebody is spoken of at [start, end) of a text, in code points; ``probability`` is
    calibrated, of the place and not of the kind."""

    start: int
    end: int
    kind: Kind
    probability: float


def person_spans(text: str, known: Collection[str] = ()) -> list[PersonSpan]:
    """Who is spoken of by name, nickname, title or role, from left to right, none within
    another. ``known`` are names of the user's people, as they would be written."""
    norm, offsets = normalise_with_offsets(text)
    found: list[PersonSpan] = []
    at = 0
    names = {name.casefold() for name in known}
    for word, tag in tagged(norm):
        start, at = at, at + len(word)
        if word in terms() or word in groups():
            kind: Kind = "role"
        elif word in names or word in words("given_names") or (tag == "nr" and is_han(word[0])):
            kind = "name"
        else:
            continue
        begin, end = original_span(offsets, start, at)
        found.append(PersonSpan(begin, end, kind, 0.5))
    return found


def same_person(text: str, spans: Sequence[PersonSpan]) -> list[int]:
    """A group number for each span: spans of one person (我同事张伟, my mate Dave) share one.
    Numbers count from 0 in the order of the text."""
    out: list[int] = []
    for at, span in enumerate(spans):
        before = spans[at - 1] if at else None
        joined = before and {before.kind, span.kind} == {"role", "name"}
        close = joined and before and not text[before.end : span.start].strip(" ,，")
        out.append(out[-1] if close else max(out, default=-1) + 1)
    return out


def owners(text: str, spans: Sequence[PersonSpan]) -> list[int | None]:
    """Whose a role is, for each span: ``USER``, the index of another span (Ryan's girlfriend:
    Ryan), or None where it isn't said and for what is no role."""
    return [
        USER
        if span.kind == "role" and re.search(r"(?i)(?:\bmy |我的?)$", text[: span.start])
        else None
        for span in spans
    ]
