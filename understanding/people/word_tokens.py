"""A text as the tokens that are tagged: a Han character, a word of another script, a sign."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from understanding.text import HAN, is_han, normalise

# A Han character; an 's, a word of its own; letters with their marks; digits; else one sign.
_TOKEN = re.compile(
    rf"{HAN.pattern}|['’`]s(?![a-zA-Z])|(?:(?!{HAN.pattern})[^\W\d_]|[\u0300-\u036f])+|\d+|\S"
)


class Token(NamedTuple):
    """[start, end) of a text; ``norm`` is its normal form, ``han`` whether it is Chinese."""

    start: int
    end: int
    norm: str
    han: bool


def tokens(text: str, stems: Collection[str] = ()) -> list[Token]:
    """The tokens of ``text``. A word typed with a glued s is parted where the rest is in
    ``stems`` (dads been living in bendigo)."""
    out: list[Token] = []
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        norm = _norm(found[0])
        if norm[-1:] == "s" and norm[:-1] in stems:
            out.append(Token(start, end - 1, norm[:-1], False))
            out.append(Token(end - 1, end, "s", False))
        else:
            out.append(Token(start, end, norm, is_han(found[0][0])))
    return out


@lru_cache(maxsize=16384)
def _norm(piece: str) -> str:
    return normalise(piece)
