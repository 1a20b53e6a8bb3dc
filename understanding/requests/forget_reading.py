"""Whether a sentence asks to forget something, and how much: all, what was said last, or what it
names.

Two logistic models over evidence: which classes of words (``forget_cues.txt``) stand in the
sentence, where in their clause, and which before which. The weights are learned from the corpus
and from plain wordings (``python -m tools train forget_model``). Nothing else decides it.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from understanding.learned import Logistic, model, sigmoid
from understanding.lexicon import finder, words
from understanding.segmentation import tagged
from understanding.sentences import sentences
from understanding.statements.own_words import excerpt
from understanding.text import is_han, quotations, simplified

# A sentence that asks with at least this probability is carried out; from UNSURE on the request
# is filed as unclear, and only told of. Read off the cross-validation by author.
ACT, UNSURE = 0.45, 0.25
# From here on words can ask, where a model says that they do.
CAN_ASK = 0.05
# All that is kept is forgotten only where that is this sure; what was said last also where a
# request names something that nobody knows of, and this sure.
EVERYTHING, LAST = 0.5, 0.4

# Without a word of these classes no sentence asks.
_NEEDED = ("erase", "throw", "keep", "unsaid", "exist", "know")
# Two classes in this order and this near are read as a class of their own: don't … keep.
_TOGETHER = {"nokeep": ("not", "keep"), "noerase": ("not", "erase"), "nounsaid": ("not", "unsaid")}
_NEAR = 16
_HAN_WIDTH = 3  # further letters for which a Chinese character counts
_MOST = 8  # places of one class that are looked at
_BEYOND = 60  # letters to a word of another clause
_SOFT = " 吧了啦嘛呀啊哈喔噢"
_CLAUSE = re.compile(r"[,，、:：。！？!?；;…\n.—]|(?<=[\u3400-\u9fff])\s(?=[\u3400-\u9fff])")
# Classes of words that only make the request; the others may name what is meant.
_FRAME = (
    "erase throw keep know not unsaid store yours told last all matter reminder lapse question "
    "polite ba let exist nevermind you i filler"
).split()  # fmt: skip

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """``asks``: the probability that a sentence asks to forget something. ``scope``: of
    everything, last and named, of one that does. ``clause``: the words that ask, ``topic``: what
    they name, each without its place; ``points``: they point at what was said (this, 刚才)."""

    asks: float
    scope: Mapping[str, float]
    clause: str = ""
    topic: str = ""
    points: bool = False

    @property
    def acts(self) -> bool:
        return self.asks >= ACT

    @property
    def means(self) -> str:
        """everything, last, named, or unclear where all may be meant and it is not sure."""
        likeliest = max(self.scope, key=lambda name: self.scope[name])
        if likeliest == "everything" and self.scope[likeliest] < EVERYTHING:
            return "unclear"
        return likeliest


NOTHING = Reading(0.0, {"everything": 0.0, "last": 0.0, "named": 1.0})
# Where a request is made; and what is no keeping though a word of it stands there.
_ASKING = ("erase", "throw", "unsaid", "exist", "nokeep")


def may_ask(content: str) -> bool:
    """Whether a message asks, or may ask, to forget something, and does not take it back. Of a long
    one only what is read of it counts."""
    if not _may_hold_request(content):
        return False
    text = excerpt(content)
    return any(
        read(sentence.whole).asks >= UNSURE and not takes_back(text[sentence.start :])
        for sentence in sentences(text)
    )


def _may_hold_request(text: str) -> bool:
    """Whether a word stands in ``text`` without which nothing asks to forget; most texts have none."""
    plain = simplified(text).lower().replace("’", "'")
    return bool(finder("forget_cues", *_NEEDED)(plain))


def takes_back(text: str) -> bool:
    """Whether what ``text`` asks to forget is taken back at its end: a clause that reconsiders
    (no, wait, 算了), and in it or the next that it is to be kept after all."""
    found, plain = _places(text), _plain(text)
    begins, _ = _clauses(plain)
    clause = partial(bisect_right, begins)
    # Across clauses "no … keep" is no ban on keeping.
    left = _together(plain, found.get("not", ()), found.get("leave", ()))
    bans = [(a, b) for a, b in (*found.get("nokeep", ()), *left) if clause(a) == clause(b)]
    spared = [(a, b) for a, b in found.get("noerase", ()) if clause(a) == clause(b)]
    asks = [*bans, *(p for name in _ASKING[:-1] for p in found.get(name, ()))]
    other = [*asks, *found.get("keep_otherwise", ())]
    kept = [*found.get("keep", ()), *found.get("leave", ())]
    kept = [p for p in kept if not any(p[0] < b and a < p[1] for a, b in other)] + spared
    after = max(kept, default=(0, 0))
    asked_later = any(a >= after[1] for a, _ in asks)
    return not asked_later and any(
        place[0] <= after[0] and clause(after[0]) - clause(place[0]) in (0, 1)
        for place in found.get("reconsider", ())
    )


def can_ask(text: str) -> bool:
    """Whether ``text`` has words that can ask to forget; whether they do is for a model to say."""
    return read(text).asks >= CAN_ASK


@lru_cache(maxsize=1024)
def read(text: str) -> Reading:
    """What one sentence asks, its short quotations not counted."""
    if not _may_hold_request(text):
        return NOTHING
    found = _places(text)
    if not any(name in found for name in _NEEDED) or takes_back(text):
        return NOTHING
    learned = weights()
    evidence = _evidence(found, text)
    asks = sigmoid(_score(learned["asks"], evidence))
    if asks < CAN_ASK:
        return Reading(asks, NOTHING.scope)
    clause, topic = _request(text, found)
    evidence |= _size(topic)
    scores = {name: _score(of, evidence) for name, of in learned["scope"].items()}
    most = max(scores.values())
    grown = {name: math.exp(score - most) for name, score in scores.items()}
    total = sum(grown.values())
    scope = {name: value / total for name, value in grown.items()}
    return Reading(asks, scope, clause, topic, "just_said" in _places(clause))


def evidence_of(text: str) -> tuple[dict[str, float], dict[str, float]]:
    """The evidence on whether ``text`` asks, empty where it can't, and what the scope has besides;
    for training."""
    found = _places(text)
    if not any(name in found for name in _NEEDED):
        return {}, {}
    return _evidence(found, text), _size(_request(text, found)[1])


def weights() -> Mapping[str, Any]:
    """The learned weights."""
    return model("forget_reading")


def _score(learned: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    return Logistic(learned[""], learned).log_odds(evidence)


def _plain(text: str) -> str:
    """``text`` as the lexicon is written, place by place, quotations blanked."""
    for start, end in quotations(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return simplified(text).lower().replace("’", "'") if len(text.lower()) == len(text) else ""


def _places(text: str) -> dict[str, list[Place]]:
    """Where the words of each class stand that has any."""
    plain = _plain(text)
    found = {name: places[:_MOST] for name, places in finder("forget_cues")(plain).items()}
    for name, (first, second) in _TOGETHER.items():
        together = _together(plain, found.get(first, ()), found.get(second, ()))
        if together:
            found[name] = together
    return found


def _together(plain: str, first: Sequence[Place], second: Sequence[Place]) -> list[Place]:
    found = []
    for start, end in first:
        after = next((place for place in second if place[0] >= end), None)
        if after is None:
            continue
        between = plain[end : after[0]]
        if len(between) + _HAN_WIDTH * sum(map(is_han, between)) <= _NEAR:
            found.append((start, after[1]))
    return found


def _clauses(text: str) -> tuple[list[int], list[int]]:
    """Where the clauses of ``text`` begin and end."""
    marks = [match.span() for match in _CLAUSE.finditer(text)]
    return [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(text)]


def _evidence(found: Mapping[str, Sequence[Place]], text: str) -> dict[str, float]:
    """What speaks for and against: a class is there (keep), more than once (keep#), begins the
    sentence (^^keep) or a clause (^keep), ends a clause (keep$), or stands before another in
    one clause (not>keep), right before it (not>>keep) or in an earlier one (last,keep)."""
    plain = _plain(text)
    begins, ends = _clauses(plain)
    made: dict[str, float] = {}
    for name, places in found.items():
        made[name] = 1.0
        if len(places) > 1:
            made[f"{name}#"] = 1.0
        if not plain[: places[0][0]].strip():
            made[f"^^{name}"] = 1.0
        for start, end in places:
            clause = bisect_right(begins, start) - 1
            if not plain[begins[clause] : start].strip():
                made[f"^{name}"] = 1.0
            if not plain[end : ends[clause]].strip(_SOFT):
                made[f"{name}$"] = 1.0
    made |= _pairs(found, begins)
    size = len(plain.split()) + sum(map(is_han, plain)) / 2  # a Chinese word has two characters
    made["length"] = min(2.0, math.log1p(size) / 2)
    made["short"] = float(size < 5)
    made["han"] = sum(map(is_han, plain)) / max(1, len(plain))
    made["quoted"] = float(bool(quotations(text)))
    made["question_mark"] = float("?" in plain or "？" in plain)
    made["digit"] = float(any(map(str.isdecimal, plain)))
    return made


def _pairs(found: Mapping[str, Sequence[Place]], begins: Sequence[int]) -> dict[str, float]:
    made: dict[str, float] = {}
    for first, places in found.items():
        for second, others in found.items():
            for pair in {_pair(place, others, begins) for place in places} - {None}:
                made[f"{first}{pair}{second}"] = 1.0
                if pair == ">>":
                    made[f"{first}>{second}"] = 1.0
    return made


def _pair(place: Place, others: Sequence[Place], begins: Sequence[int]) -> str | None:
    """How the nearest of ``others`` behind a place stands to it."""
    after = next((other for other in others if other[0] >= place[1]), None)
    if after is None:
        return None
    if bisect_right(begins, place[0]) != bisect_right(begins, after[0]):
        return "," if after[0] - place[1] <= _BEYOND else None
    return ">>" if after[0] - place[1] <= 1 else ">"


def _size(topic: str) -> dict[str, float]:
    """How much a request names."""
    count = len(content_words(topic))
    return {"named_none": float(count == 0), "named_one": float(count == 1)}


def _request(text: str, found: Mapping[str, Sequence[Place]]) -> tuple[str, str]:
    """The words that ask, and those that name what is meant: of the clauses that ask; where
    these name nothing, and neither mean all nor somebody by a pronoun, of the nearest one before, else of one behind a colon."""
    begins, ends = _clauses(_plain(text))
    left = list(text)
    for name in _FRAME:
        for start, end in found.get(name, ()):
            left[start:end] = " " * (end - start)
    topics = ["".join(left[a:b]).strip() for a, b in zip(begins, ends, strict=True)]
    asking = sorted(
        {
            bisect_right(begins, start) - 1
            for name in ("erase", "throw", "nokeep", "unsaid", "exist")
            for start, _ in found.get(name, ())
        }
    ) or [0]
    chosen = [n for n in asking if _names_something(topics[n])]
    meant = [*found.get("all", ()), *found.get("third", ())]
    if not chosen and all(bisect_right(begins, start) - 1 not in asking for start, _ in meant):
        told = [n for n in range(1, len(topics)) if text[: begins[n]].rstrip()[-1:] in (":", "：")]
        near = [*range(asking[0] - 1, -1, -1), *(n for n in told if n > asking[-1])]
        chosen = [n for n in near if _names_something(topics[n])][:1]
    clause = " ".join(text[begins[n] : ends[n]].strip() for n in sorted({*asking, *chosen}))
    return clause, " ".join(topics[n] for n in chosen)


def _names_something(topic: str) -> bool:
    return bool(content_words(topic) or topic_keys(topic))


@lru_cache(maxsize=256)
def content_words(topic: str) -> tuple[str, ...]:
    """The words of a topic by which memories can be found."""
    found = [
        word
        for word, flag in tagged(topic)
        if (len(word) > 1 and (flag[0] in "nvaijelxmt" or flag == "eng") and word.strip())
        or (flag[0] == "n" and word not in words("grammar_zh", "vague") and is_han(word[0]))
    ]
    # The tagger takes a particle for the last character of a name that it doesn't know.
    found = [w[:-1] if len(w) > 2 and w[-1] == "的" else w for w in found]
    found = [w for w in found if any(map(str.isalnum, w)) and w.lower() not in _empty()]
    return tuple(dict.fromkeys(found))


def topic_keys(topic: str) -> tuple[str, ...]:
    """The attributes of people that a topic speaks of (my pills: medication)."""
    return tuple(finder("forget_topics")(simplified(topic).lower()))


@cache
def _empty() -> frozenset[str]:
    """Words that name nothing, and verbs that many memories share."""
    shared = words("grammar_en", "shared_verbs") | words("grammar_zh", "shared_verbs")
    empty = words("stopwords", "search", "comparison", "relations")
    return empty | shared | words("forget_cues", *_FRAME)
