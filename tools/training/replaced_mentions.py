"""Sentences of the corpus with other people's names in them, for the tagger to learn from: mention
replacement (Dai and Adel 2020, "An analysis of simple data augmentation for NER"). What tells a
name is then what stands around it and how names are made, not which ones the authors chose."""

import math
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from understanding import segmentation
from understanding.lexicon import rows, words
from understanding.people import span_evidence
from understanding.roles import terms
from understanding.text import is_han, normalise

Span = tuple[int, int, str, str]  # start, end, kind, key
_BEGINS = "小阿老大"


def replaced(text: str, spans: Sequence[Span], draw: random.Random) -> tuple[str, list[Span]]:
    """``text`` with another name or role of the same form for each of its spans, the same words
    by the same; and where they stand."""
    instead: dict[str, str] = {}
    parts: list[str] = []
    moved: list[Span] = []
    at = size = 0
    for start, end, kind, key in spans:
        said = text[start:end]
        if said not in instead:
            instead[said] = _another(said, kind, draw)
        parts += [text[at:start], instead[said]]
        size += start - at
        moved.append((size, size + len(instead[said]), kind, key))
        size += len(instead[said])
        at = end
    return "".join([*parts, text[at:]]), moved


def _another(said: str, kind: str, draw: random.Random) -> str:
    """Another name of the form of ``said``; itself where its form is not known."""
    if kind == "role":
        return _role(said, draw)
    return _chinese(said, kind, draw) if all(map(is_han, said)) else _latin(said, draw)


def _chinese(said: str, kind: str, draw: random.Random) -> str:
    surnames, given = _chinese_names()
    family, own = draw.choice(surnames), draw.choice(given)
    tail = next((said[n:] for n in (1, 2) if said[n:] in words("people_words", "address")), "")
    if tail:
        return family + tail
    if said[0] in _BEGINS and len(said) == 2:
        return draw.choice(_BEGINS) + (own[-1] if said[0] != "老" else family)
    if len(said) == 2 and said[0] == said[1]:
        return own[-1] * 2
    if kind == "name" and len(said) in (2, 3):
        whole = said[0] in words("surnames")
        return family + own[-(len(said) - 1) :] if whole else own[: len(said)]
    return said


def _latin(said: str, draw: random.Random) -> str:
    """Each word that is a given or family name by another, in the same letters."""
    given, families = _latin_names()
    out = []
    for number, word in enumerate(said.split(" ")):
        plain = normalise(word)
        if plain in words("people_words", "address") or not word.isalpha():
            out.append(word)
            continue
        new = draw.choice(families if number else given)
        out.append(new if word.islower() else new.upper() if word.isupper() else new.title())
    return " ".join(out)


def _role(said: str, draw: random.Random) -> str:
    meanings = terms().get(normalise(said))
    if not meanings or (not said.isascii() and not all(map(is_han, said))):
        return said
    level, subtype = meanings[0].level, meanings[0].subtype
    others = _roles().get((said.isascii(), level, subtype), [])
    new = draw.choice(others) if others else said
    return new.title() if said[0].isupper() else new


@cache
def _roles() -> dict[tuple[bool, str, str], list[str]]:
    out: dict[tuple[bool, str, str], list[str]] = {}
    for word, meanings in sorted(terms().items()):
        key = (word.isascii(), meanings[0].level, meanings[0].subtype)
        out.setdefault(key, []).append(word)
    return out


@cache
def _chinese_names() -> tuple[list[str], list[str]]:
    """Surnames as often as names with them stand in jieba's dictionary, some of two characters; and
    given names of two: half of them of the dictionary, half drawn by how many people bear their
    characters (its root, so that rare ones are seen)."""
    named: list[Any] = [
        word
        for word, tag in segmentation.entries()
        if tag.startswith("nr") and len(word) == 3 and word[0] in words("surnames")
    ]
    families = sorted(word[0] for word in named)
    double = sorted(word for word in words("surnames") if len(word) == 2)
    families += double * (len(families) // (25 * len(double)))
    table = rows("given_characters")
    weights = [math.sqrt(float(row["names"])) for row in table]
    drawn = random.Random(0).choices(  # noqa: S311  the same in every run
        [row["character"] for row in table], weights, k=2 * len(named)
    )
    given = sorted(word[1:] for word in named)
    return families, given + ["".join(pair) for pair in zip(drawn[::2], drawn[1::2], strict=True)]


@cache
def _latin_names() -> tuple[list[str], list[str]]:
    """Given names that lists of several countries have, and family names."""
    given = sorted(
        n for n, lists in span_evidence._forenames().items() if lists > 1 and n.isalpha()
    )
    families = sorted(n for n in span_evidence._last_names() if n.isalpha() and n.isascii())
    return given, families
