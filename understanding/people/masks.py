"""The stretches of a text where names are not people: addresses, code, titles of works,
hashtags, exercises, lyrics."""

import re
from collections.abc import Iterator

from understanding.lexicon.rules import patterns

lex = patterns(__file__)


def masked(norm: str) -> bytearray:
    """For each code point of the normalised text, 1 where no one is named."""
    mask = bytearray(len(norm))

    def hide(start: int, end: int) -> None:
        mask[start:end] = b"\x01" * (end - start)

    for pattern in (lex.always, lex.code):
        for match in pattern.finditer(norm):
            hide(*match.span())
    for match in lex.exercise.finditer(norm):
        hide(match.end(), len(norm))
    for start, end in _quoted_stretches(norm):
        hide(start, end)
    if lex.maths.search(norm) and len(lex.maths_numbers.findall(norm)) >= 2:
        hide(0, len(norm))
    return mask


def _quoted_stretches(norm: str) -> Iterator[tuple[int, int]]:
    """What is to be translated, and what is sung or read out."""
    quotes = [match.span() for match in lex.quoted.finditer(norm)]
    asked = lex.translate.search(norm)
    if asked:
        yield from quotes
        colon = re.search(r"[:：]", norm[asked.end() :])
        if colon and not quotes:
            yield asked.end() + colon.end(), len(norm)
    for start, end in quotes:
        if lex.sung.search(norm[max(0, start - 14) : start]):
            yield start, end
