"""Compares texts by their particulars: numbers, dates and names, whose loss or invention makes a
memory wrong, and negations, which reverse it."""

from collections.abc import Iterable
from itertools import chain

import regex

from understanding import entities
from understanding.lexicon import finder, words
from understanding.statements.wordings import negations
from understanding.text import normalise

# 一 alone is an article (一只猫) and part of many words.
_NUMBER = regex.compile(
    r"\d+(?:[.,:/-]\d+)*"
    r"|[零〇两二三四五六七八九十百千万亿半几][零〇一二三四五六七八九十百千万亿]*|一[百千万十]"
)
# A word ends where Chinese begins: Chinese has no spaces around Latin words.
_LETTERS = r"(?:(?!\p{Han})[\p{L}\p{M}\d])*"
_CAPITALISED = regex.compile(
    rf"(?<!(?!\p{{Han}})[\p{{L}}\d'])\p{{Lu}}{_LETTERS}(?:[-'&]\p{{Lu}}{_LETTERS})*"
)
_LATIN_WORD = regex.compile(rf"(?!\p{{Han}})\p{{L}}{_LETTERS}")


def numbers(text: str) -> frozenset[str]:
    """Returns the numbers, dates and words of time or quantity in a text, without leading zeros."""
    norm = normalise(text)
    numerals = [part.lstrip("0") or "0" for part in _NUMBER.findall(norm)]
    # Months and weekdays are found in lower case too: not everybody capitalises them.
    places = chain(*finder("time_words", "particular")(norm).values())
    return frozenset([*numerals, *(norm[start:end] for start, end in places)])


def names(text: str) -> frozenset[str]:
    """Returns the names in a text, normalised: capitalised words (at the start of a sentence only
    if no common English word), and places, organisations and works that are known or marked."""
    found_names = {normalise(entity.name) for entity in entities.tag(text)}
    for match in _CAPITALISED.finditer(text):
        word = normalise(match.group())
        previous = text[: match.start()].rstrip()[-1:]
        starts_sentence = not previous or not (previous.isalnum() or previous in ",;:'\")")
        if word in words("time_words", "particular"):
            continue
        if not (starts_sentence and word in words("english_words")) and len(word) > 1:
            found_names.add(word)
    return frozenset(found_names)


def loses(text: str, source: str) -> frozenset[str]:
    """Returns the particulars of ``source`` that ``text`` lacks; "negation" if it negates less."""
    lost = (numbers(source) - numbers(text)) | _missing_names(names(source), text)
    return lost | ({"negation"} if negations(text) < negations(source) else set())


def adds(text: str, sources: Iterable[str]) -> frozenset[str]:
    """Returns the particulars of ``text`` that no source has; "negation" if it negates more."""
    sources = list(sources)
    known_numbers = frozenset().union(*map(numbers, sources))
    added = (numbers(text) - known_numbers) | _missing_names(names(text), " ".join(sources))
    negates_more = negations(text) > sum(map(negations, sources))
    return frozenset(added | ({"negation"} if negates_more else set()))


def _missing_names(expected: Iterable[str], text: str) -> frozenset[str]:
    """Returns the names whose words ``text`` lacks, ignoring case and a possessive ending."""
    norm = normalise(text)
    text_words = set(_LATIN_WORD.findall(norm))
    return frozenset(
        name
        for name in expected
        if not (set(parts) <= text_words if (parts := _LATIN_WORD.findall(name)) else name in norm)
    )
