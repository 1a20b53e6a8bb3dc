"""Memories that say the same, found by their words; rather none than a wrong one.

One memory holds another when all the words of the other stand in it in the same order, and
what stands between them or after only adds a circumstance: where, with whom, since when. The
fuller one stays as it is. Nothing is held across different numbers, dates or names, or anything
that turns a sentence round (not, only, maybe, used to, plans to).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher

from accounts.reasons import Reason
from memories import faithfulness
from memories.types import Overlap, Review, StoredMemory
from understanding import segmentation
from understanding.lexicon import groups, words
from understanding.text import normalise

# The words that open a circumstance, by its kind: two of one kind may contradict each other.
_KIND = {word: kind for kind, entries in groups("circumstances").items() for word in entries}
_COMMA, _STOP = frozenset("，,;；"), frozenset("。.!！")
_END = _COMMA | _STOP
# Said or not, the sentence says the same.
_FREE = words("stopwords", "restatement")
# Words that turn what stands beside them into something else.
_TURNS = words("grammar_en", "turns") | words("grammar_zh", "turns")
_TOKEN = re.compile(
    r"[\u3400-\u9fff]+|[^\W\d_\u3400-\u9fff]+|\d+(?:[.,:/-]\d+)*|['’]s\b|[，,;；。.!！]"
)


@dataclass(frozen=True, slots=True)
class _Word:
    key: str
    start: int
    end: int


def propose(cluster: Sequence[StoredMemory]) -> list[Overlap]:
    """The groups of a cluster that say the same, each by its fullest memory."""
    left = sorted(cluster, key=lambda memory: (-len(memory.content), memory.content, memory.id))
    found: list[Overlap] = []
    while left:
        full, *others = left
        held = [memory for memory in others if _holds(full, memory)]
        if held:
            ids = (full.id, *(memory.id for memory in held))
            found.append(Overlap(ids, full.content, Reason("one_says_all")))
        left = [memory for memory in others if memory not in held]
    return found


def review(proposals: Sequence[tuple[Overlap, Sequence[StoredMemory]]]) -> list[Review]:
    """A second look at each proposal, by its bare words."""
    return [_reviewed(overlap.content, members) for overlap, members in proposals]


def _reviewed(content: str, members: Sequence[StoredMemory]) -> Review:
    said = _bag(content)
    for memory in members:
        if lost := faithfulness.loses(content, memory.content):
            return Review(False, Reason("loses_words", words=sorted(lost)))
        if more := _bag(memory.content) - said:
            return Review(False, Reason("leaves_out", words=sorted(more)))
        if _turns(memory.content) != _turns(content):
            return Review(False, Reason("other_circumstances"))
        if not _in_order(_names_in_order(memory.content), _names_in_order(content)):
            return Review(False, Reason("other_subject"))
    texts = [memory.content for memory in members]
    if new := faithfulness.adds(content, texts) | (said - set().union(*map(_bag, texts))):
        return Review(False, Reason("adds_words", words=sorted(new)))
    return Review(True, Reason("keeps_all"))


def _holds(full: StoredMemory, other: StoredMemory) -> bool:
    """Whether ``full`` says all that ``other`` says, with at most circumstances added."""
    if not _alike(full, other):
        return False
    words, theirs = _words(full.content), _words(other.content)
    added = []
    for step, _, _, low, high in _steps(theirs, words):
        if step not in ("equal", "insert"):
            return False
        if step == "insert":
            added.append((words[low:high], high == len(words)))
    if not added:
        return True
    if _turns(other.content) or faithfulness.negations(other.content):
        return False  # "not in the morning" is less than "not"
    return all(_is_circumstance(run, last) for run, last in added)


def _alike(one: StoredMemory, other: StoredMemory) -> bool:
    """Whether nothing that is seen at once speaks against the two being of one matter."""
    a, b = one.content, other.content
    return (
        faithfulness.numbers(a) == faithfulness.numbers(b)
        and faithfulness.negations(a) == faithfulness.negations(b)
        and _turns(a) == _turns(b)
        and _at_one_time(one.happens_at, other.happens_at)
    )


def _at_one_time(one: datetime | None, other: datetime | None) -> bool:
    """Whether the clocks show the same, wherever they hang: the 12th is the 12th."""
    return not (one and other) or one.replace(tzinfo=None) == other.replace(tzinfo=None)


def _opens(run: Sequence[_Word]) -> str | None:
    """The kind of circumstance that a run of words is, past its comma."""
    return next((_KIND.get(word.key) for word in run if word.key not in _END), None)


def _is_circumstance(run: Sequence[_Word], last: bool) -> bool:
    """Whether words that stand in one sentence and not in the other only add a circumstance.
    At the end, a clause of its own may be any, if a comma marks it off; another sentence is
    another matter."""
    if any(word.key in _TURNS or word.key in _STOP for word in run):
        return False
    if _opens(run):
        return len(run) > 1 or _opens(run) == "manner"
    return last and run[0].key in _COMMA and len(run) > 1


def _words(text: str) -> list[_Word]:
    """The words that count, without the end mark of the text."""
    found: list[_Word] = []
    for match in _TOKEN.finditer(text):
        if "\u3400" <= match.group()[0] <= "\u9fff":
            found += [
                _Word(normalise(word.text), match.start() + word.start, match.start() + word.end)
                for word in segmentation.cut(match.group())
            ]
        else:
            found.append(_Word(normalise(match.group()), *match.span()))
    while found and found[-1].key in _END:
        found.pop()
    return [word for word in found if word.key not in _FREE]


def _steps(
    one: Sequence[_Word], other: Sequence[_Word]
) -> Sequence[tuple[str, int, int, int, int]]:
    keys = [word.key for word in one], [word.key for word in other]
    return SequenceMatcher(None, *keys, autojunk=False).get_opcodes()


def _bag(text: str) -> frozenset[str]:
    return frozenset(word.key for word in _words(text)) - _END


def _turns(text: str) -> frozenset[str]:
    return _bag(text) & _TURNS


def _names_in_order(text: str) -> list[str]:
    names = faithfulness.names(text)
    norm = normalise(text)
    return sorted(names, key=lambda name: (norm.find(name), name))


def _in_order(some: Sequence[str], all_: Sequence[str]) -> bool:
    rest = iter(all_)
    return all(name in rest for name in some)
