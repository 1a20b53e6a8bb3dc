"""How two memories stand to each other, by rules; mostly not at all.

Only what the words of one say outright is believed: that this was because of that, that it is
done for the sake of that, that it is one case of a habit, that it turned out otherwise. Two
memories that merely speak of the same matter are not related.
"""

import re
from collections.abc import Iterator, Sequence

from accounts.reasons import Reason
from memories.fact_conflicts import same_value
from memories.types import FoundRelation, RelationCase, Relationship, StoredMemory
from understanding import segmentation
from understanding.attributes import is_single
from understanding.lexicon import alternation, words
from understanding.lexicon.rules import patterns, rows
from understanding.text import stem

RE = patterns(__file__)
CAUSES = [row["pattern"] for row in rows(__file__, "causes")]
AIMS = [row["pattern"] for row in rows(__file__, "aims")]
R = Relationship
# How sure a rule is; the pipeline leaves out what is below 0.6. By their hits on our own pairs.
SAID = 0.9  # the words of one memory name the other as cause or aim
SAME_SLOT = 0.85  # two values of what has one
OPPOSITE = 0.85
HABIT = 0.8
DISPROVED = 0.8
STOPPED = 0.8

_NEGATION = words("negation", "relations")
NOT = re.compile(
    rf"[{''.join(sorted(word for word in _NEGATION if not word.isascii()))}]"
    rf"|\b(?:{alternation(filter(str.isascii, _NEGATION))})\b|n't\b",
    re.I,
)
# Parts of speech (jieba's) that carry what a Chinese sentence is about.
_CONTENT = ("n", "v", "a", "i", "l", "j", "z", "")
_EMPTY = words("stopwords", "relations")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_SUBJECT = re.compile(
    r"用户的[\u3400-\u9fff]{1,3}|用户|[\u3400-\u9fff]{2}|(?i:the user)'s \w+|(?i:the user)|\w+"
)


# Words in common that make two clauses one matter; a long one tells as much as two.
ENOUGH = 2
FIRST = 2
LONG_HAN, LONG_LATIN = 3, 6
SHARE = 0.5  # of the words of the shorter one
MOSTLY = 0.75  # of the words of a habit, in one case of it
ALIKE = 0.6  # of the words of both: the same thing liked and disliked


def classify(cases: Sequence[RelationCase]) -> list[FoundRelation]:
    """The relations between each case's memory and the others: at most one a pair."""
    found = []
    for case in cases:
        for other in case.others:
            found += [*_between(case.memory, other)][:1]
    return found


def _between(one: StoredMemory, other: StoredMemory) -> Iterator[FoundRelation]:
    """What holds between two memories, the surest first."""
    for a, b in ((one, other), (other, one)):
        yield from _said(a, b)
    yield from _same_slot(one, other)
    if not _same_subject(one, other):
        return
    yield from _opposite(one, other)
    for a, b in ((one, other), (other, one)):
        yield from _disproved(a, b)
        yield from _stopped(a, b)
        yield from _habit(a, b)


def _said(told: StoredMemory, other: StoredMemory) -> Iterator[FoundRelation]:
    """``told`` says outright why: the other memory is the reason, the aim or the outcome."""
    words = _words(other.content)
    if _same_subject(told, other):
        words -= _words(_subject(told.content))
    for pattern in AIMS:
        for match in pattern.finditer(told.content):
            if _is_about(match["a"], match["e"], words) and RE.wants.search(other.content):
                yield FoundRelation(R.MOTIVATED_BY, told.id, other.id, SAID, Reason("says_aim"))
                return
    for pattern in CAUSES:
        for match in pattern.finditer(told.content):
            cause, effect = match["c"], match["e"]
            if RE.wants.match(cause.strip()):
                continue
            if _is_about(cause, effect, words) and not NOT.search(other.content):
                yield FoundRelation(R.CAUSES, other.id, told.id, SAID, Reason("says_cause"))
                return
            if _is_about(effect, cause, words) and _negated(effect) == _negated(other.content):
                yield FoundRelation(R.CAUSES, told.id, other.id, SAID, Reason("says_outcome"))
                return


def _same_slot(one: StoredMemory, other: StoredMemory) -> Iterator[FoundRelation]:
    for a in one.current:
        for b in other.current:
            if a.over(one.said_at) or b.over(other.said_at):
                continue
            if a.key != b.key or a.person != b.person or not is_single(a.key):
                continue
            if not same_value(a.value, b.value):
                reason = Reason("two_values", attribute=a.key, one=a.value, other=b.value)
                yield FoundRelation(R.CONFLICTS, one.id, other.id, SAME_SLOT, reason)


def _opposite(one: StoredMemory, other: StoredMemory) -> Iterator[FoundRelation]:
    """One likes what the other dislikes, of the same person."""
    liked, disliked = _polarity(one)
    likes, dislikes = _polarity(other)
    for a, b in ((liked, dislikes), (disliked, likes)):
        if any(_same_thing(left, right) for left in a for right in b):
            yield FoundRelation(R.CONFLICTS, one.id, other.id, OPPOSITE, Reason("liked_disliked"))


def _polarity(memory: StoredMemory) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    disliked = [_words(m["o"] or m["p"]) for m in RE.dislikes.finditer(memory.content)]
    rest = RE.dislikes.sub(" ", memory.content)
    liked = [_words(m["o"] or m["p"]) for m in RE.likes.finditer(rest)]
    return liked, disliked


def _same_thing(left: frozenset[str], right: frozenset[str]) -> bool:
    return bool(left and right) and len(left & right) >= ALIKE * len(left | right)


def _disproved(belief: StoredMemory, proof: StoredMemory) -> Iterator[FoundRelation]:
    """One tells what was believed, the later other what turned out."""
    if not RE.believed.search(belief.content) or proof.said_at < belief.said_at:
        return
    if not RE.shown.search(proof.content) or RE.believed.search(proof.content):
        return
    if _negated(belief.content) != _negated(proof.content) and _one_matter(belief, proof):
        yield FoundRelation(R.INVALIDATED_BY, belief.id, proof.id, DISPROVED, Reason("disproved"))


def _stopped(newer: StoredMemory, older: StoredMemory) -> Iterator[FoundRelation]:
    """The later memory says that what the earlier tells as a habit is over."""
    if newer.said_at <= older.said_at or RE.stops.search(older.content):
        return
    if RE.stops.search(newer.content) and RE.habits.search(older.content):
        over, usual = RE.stops.sub(" ", newer.content), RE.habits.sub(" ", older.content)
        who = _words(_subject(newer.content))
        if _same_thing(_words(over) - who, _words(usual) - who):
            yield FoundRelation(R.SUPERSEDES, newer.id, older.id, STOPPED, Reason("over_since"))


def _habit(event: StoredMemory, pattern: StoredMemory) -> Iterator[FoundRelation]:
    """One thing that happened, and the habit that it is a case of."""
    if not RE.habits.search(pattern.content) or RE.habits.search(event.content):
        return
    if RE.stops.search(event.content) or NOT.search(event.content) or NOT.search(pattern.content):
        return
    dated = event.happens_at is not None and event.happens_at <= event.said_at
    if not dated and not RE.happened.search(event.content):
        return
    usual = _words(RE.habits.sub(" ", pattern.content)) - _words(_subject(pattern.content))
    once = _words(RE.happened.sub(" ", event.content)) - _words(_subject(event.content))
    more = [w for w in once - usual if not any(word in w for word in usual)]
    if usual and len(usual & once) >= MOSTLY * len(usual) and len(more) < len(usual):
        yield FoundRelation(R.INSTANCE_OF, event.id, pattern.id, HABIT, Reason("one_of_habit"))


def _is_about(clause: str, rest: str, words: frozenset[str]) -> bool:
    """Whether a memory of these words tells what the clause names, not the rest beside it."""
    own, beside = _words(clause), _words(rest)
    if not rest:  # no comma tells where the aim ends: it is what is named first
        own = frozenset(_in_order(clause)[:FIRST])
    shared, others = own & words, (words & beside) - own
    return (
        _telling(shared) >= ENOUGH
        and len(shared) >= SHARE * len(own)
        and len(others) <= len(shared) / 2
    )


def _telling(words: frozenset[str]) -> int:
    return sum(2 if len(w) >= (LONG_LATIN if w.isascii() else LONG_HAN) else 1 for w in words)


def _one_matter(one: StoredMemory, other: StoredMemory) -> bool:
    left, right = _words(one.content), _words(other.content)
    shared = left & right
    return len(shared) >= 1 and len(shared) >= SHARE * min(len(left), len(right))


def _negated(text: str) -> bool:
    return bool(NOT.search(text))


def _same_subject(one: StoredMemory, other: StoredMemory) -> bool:
    left, right = _subject(one.content), _subject(other.content)
    return bool(left) and left == right


def _subject(text: str) -> str:
    """Whom a statement is about, in its own words: 用户, the user's sister, Marcus."""
    found = _SUBJECT.match(RE.opening.sub("", text))
    return found[0].lower() if found else ""


def _words(text: str) -> frozenset[str]:
    """What a text is about: its content words, English ones as stems."""
    return frozenset(_in_order(text))


def _in_order(text: str) -> list[str]:
    low = text.lower()
    found = [
        stem(word.removesuffix("'s"))
        for word in _WORD.findall(low)
        if word not in _EMPTY and len(word) > 1
    ]
    for run in _HAN_RUN.findall(low):
        found += [
            word.text
            for word in segmentation.cut(run)
            if word.text not in _EMPTY and word.tag[:1] in _CONTENT
        ]
    return found
