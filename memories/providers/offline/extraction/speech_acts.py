"""What a sentence does: state something, or ask, order, greet, suppose, joke, gossip."""

from enum import Enum, auto

from contacts.lexicon.rules import patterns
from contacts.text import HAN, simplified
from memories.text.sentences import sentences
from memories.text.small_talk import greets

RE = patterns(__file__)


class Act(Enum):
    """Only STATES and HEDGED may yield memories; the words of MAKES belong to a work to be made."""

    STATES = auto()
    HEDGED = auto()
    ASKS = auto()
    ORDERS = auto()
    MAKES = auto()
    GREETS = auto()
    SUPPOSES = auto()
    GOSSIPS = auto()
    JOKES = auto()
    INJECTS = auto()


def judge(text: str, end_mark: str = "") -> Act:
    """What ``text`` does, the strongest reading first."""
    whole = text + end_mark
    if RE.injects.search(text):
        return Act.INJECTS
    if greets(text):
        return Act.GREETS
    if RE.makes.search(text):
        return Act.MAKES
    if RE.supposes.search(text):
        return Act.SUPPOSES
    if RE.jokes.search(text) or (RE.laughs.search(text) and RE.reports.search(text)):
        return Act.JOKES
    if RE.gossips.search(text):
        return Act.GOSSIPS
    if RE.asks.search(whole):
        return Act.ASKS
    if RE.orders.search(text):
        return Act.ORDERS
    return Act.HEDGED if RE.hedges.search(text) else Act.STATES


def until_override(text: str) -> str:
    """``text`` up to the sentence that orders a model to leave what it was told: that and what
    follows is said for the model's sake."""
    for sentence in sentences(text):
        if RE.overrides.search(simplified(sentence.text)):
            return text[: sentence.start]
    return text


def without_note(text: str) -> str:
    """``text`` without a leading "note down that": what follows is a statement."""
    match = RE.note.match(text)
    return text[match.end() :] if match else text


def laughs(text: str) -> bool:
    """Whether the speaker laughs about what they say."""
    return bool(RE.laughs.search(text))


def reports_plan(text: str) -> bool:
    """Somebody's own grand announcement (told with a laugh, it is a joke)."""
    return bool(RE.plan.search(text)) and (HAN.search(text) is None or len(text) > 3)


def tells_tall_tale(text: str) -> bool:
    """Somebody said to be something by their own account (told with a laugh, it is a joke)."""
    return bool(RE.tall_tale.search(text))


def boasts(text: str, sentence: str) -> bool:
    """An announcement nobody takes at its word: told as somebody's saying, and bound for a
    stage out of reach or met with rolled eyes in the same breath."""
    if not RE.reports.search(sentence):
        return False
    if RE.stages.search(text) and RE.announces.search(text):
        return True
    said = RE.reports.search(text) or RE.announces.search(text)
    return bool(said and RE.eyes_roll.search(sentence))


def is_joke_confession(text: str) -> bool:
    """The speaker says that what went before was a joke."""
    return bool(RE.confesses_joke.search(text))
