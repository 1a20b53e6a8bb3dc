"""Whether a text says no more, or no less, than others, by its particulars: numbers, dates and names,
whose loss or invention makes a memory wrong, and negations, which turn it round."""

from collections.abc import Iterable

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
    """The numbers and dates of a text, as written, width and leading zeros apart."""
    norm = normalise(text)
    found = [part.lstrip("0") or "0" for part in _NUMBER.findall(norm)]
    return frozenset([*found, *_when_or_how_many(norm)])


def _when_or_how_many(norm: str) -> list[str]:
    """Words that say how many or when; months and weekdays are capitalised in English, but not
    always by those who type."""
    return [
        norm[start:end]
        for spans in finder("time_words", "particular")(norm).values()
        for start, end in spans
    ]


def names(text: str) -> frozenset[str]:
    """The names of a text, normalised: capitalised words that are no common English word, and
    the places, organisations and works that are known or marked as such."""
    found = {normalise(one.name) for one in entities.tag(text)}
    for match in _CAPITALISED.finditer(text):
        word = normalise(match.group())
        before = text[: match.start()].rstrip()[-1:]
        begins = not before or not (before.isalnum() or before in ",;:'\")")
        if word in words("time_words", "particular"):
            continue
        if not (begins and word in words("english_words")) and len(word) > 1:
            found.add(word)
    return frozenset(found)


def loses(text: str, source: str) -> frozenset[str]:
    """The particulars of ``source`` that ``text`` has not."""
    gone = (numbers(source) - numbers(text)) | _unsaid(names(source), text)
    return gone | ({"negation"} if negations(text) < negations(source) else set())


def adds(text: str, sources: Iterable[str]) -> frozenset[str]:
    """The particulars of ``text`` that none of ``sources`` has."""
    sources = list(sources)
    known = frozenset().union(*map(numbers, sources))
    new = (numbers(text) - known) | _unsaid(names(text), " ".join(sources))
    more = negations(text) > sum(map(negations, sources))
    return frozenset(new | ({"negation"} if more else set()))


def _unsaid(wanted: Iterable[str], text: str) -> frozenset[str]:
    """The names that ``text`` does not hold, whatever their case and ending."""
    norm = normalise(text)
    held = set(_LATIN_WORD.findall(norm))
    return frozenset(
        name
        for name in wanted
        if not (set(parts) <= held if (parts := _LATIN_WORD.findall(name)) else name in norm)
    )
