"""What is said for a model's sake, or is no statement at all whatever a classifier thinks of it."""

from collections.abc import Sequence
from itertools import pairwise

from memories.providers.offline.reading.entity_linking import Spot
from understanding.lexicon.rules import patterns
from understanding.sentences import sentences
from understanding.text import simplified

RE = patterns(__file__)


def injects(text: str) -> bool:
    """Whether ``text`` poses as an instruction to a model."""
    return bool(RE.injects.search(text))


def wishes(text: str) -> bool:
    """Whether a sentence asks for something of all answers to come (always in short, 以后都用列表)."""
    return not injects(text) and bool(RE.wishes.search(simplified(text)))


def until_override(text: str) -> str:
    """``text`` up to the sentence that orders a model to leave what it was told: that and what
    follows is said for the model's sake."""
    for sentence in sentences(text):
        if RE.overrides.search(simplified(sentence.text)):
            return text[: sentence.start]
    return text


def makes(text: str) -> bool:
    """Whether ``text`` asks for a work to be made (translate, write): what follows belongs to it."""
    return bool(RE.makes.search(simplified(text)))


def about_listener(question: str, people: Sequence[Spot]) -> bool:
    """Whether a question is about whom it is put to (do you, 你呢), not only about somebody of
    theirs: ``people`` are the places in it that mean others (your wife, 你老婆)."""
    whose = [match.end() for match in RE.you.finditer(question)]
    return any(all(question[at : s.start].strip(" 的") for s in people) for at in whose)


def addresses(text: str) -> bool:
    """Whether ``text`` speaks to whom it is said: you, 你."""
    return bool(RE.you.search(text))


def with_apostrophes(text: str) -> tuple[str, list[int]]:
    """``text`` with the apostrophes that quick typing leaves out of pronouns (shes, theyve), and
    where these stand in it."""
    ends = [match.end() for match in RE.contracted.finditer(text)]
    parts = [text[a:b] for a, b in pairwise([0, *ends, len(text)])]
    return "'".join(parts), [end + number for number, end in enumerate(ends)]
