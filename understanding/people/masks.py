"""The stretches of a text where names are not people: addresses, code, titles of works, hashtags."""

from understanding.lexicon.rules import patterns

lex = patterns(__file__)


def masked(norm: str) -> bytearray:
    """For each code point of the normalised text, 1 where no one is named."""
    mask = bytearray(len(norm))
    for pattern in (lex.always, lex.code):
        for match in pattern.finditer(norm):
            mask[match.start() : match.end()] = b"\x01" * len(match[0])
    return mask
