"""What is said for a model's sake, or is no statement at all whatever a classifier thinks of it."""

from contacts.lexicon.rules import patterns
from contacts.text import simplified
from memories.text.sentences import sentences

RE = patterns(__file__)


def injects(text: str) -> bool:
    """Whether ``text`` poses as an instruction to a model."""
    return bool(RE.injects.search(text))


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


def last_question(text: str) -> str:
    """The last question of ``text``, without its mark; empty where it asks none."""
    asked = [s.text for s in sentences(text) if s.end_mark[:1] in {"?", "？"}]
    return asked[-1] if asked else ""


def about_listener(question: str) -> bool:
    """Whether a question is about whom it is put to: do you, 你呢."""
    return addresses(question)


def addresses(text: str) -> bool:
    """Whether ``text`` speaks to whom it is said: you, 你."""
    return bool(RE.you.search(text))


def confesses_joke(text: str) -> bool:
    """The speaker says that what went before was a joke."""
    return bool(RE.confesses_joke.search(simplified(text)))
