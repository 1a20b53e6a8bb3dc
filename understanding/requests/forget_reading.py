"""Whether a sentence asks to forget something, and what: everything, what was said last, or what it
names.

Two logistic models over features: which classes of words (``forget_cues.txt``) are in the sentence,
where in their clause, and in which order. The weights are learned from the corpus and from plain
wordings (``python -m tools train forget_model``). Nothing else decides it.
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

# A request with at least this probability is carried out; from UNSURE on it is filed as unclear and
# only reported. Read off the cross-validation by author.
ACT, UNSURE = 0.45, 0.25
# From here on a sentence can be a request, if a language model says that it is.
CAN_ASK = 0.05
# Thresholds to forget everything; and what was said last, if a request names something unknown.
EVERYTHING, LAST = 0.5, 0.4

# A sentence without a word of these classes does not ask.
_NEEDED = ("erase", "throw", "keep", "unsaid", "exist", "know")
# Two classes in this order, at most _PAIR_WIDTH apart, form a class of their own: don't … keep.
_PAIRED = {"nokeep": ("not", "keep"), "noerase": ("not", "erase"), "nounsaid": ("not", "unsaid")}
_PAIR_WIDTH = 16
_HAN_EXTRA = 3  # letters that a Chinese character counts for besides itself
_MOST_PLACES = 8  # places of one class that are looked at
_CLAUSE_REACH = 60  # letters to a word of another clause
_PARTICLES = " 吧了啦嘛呀啊哈喔噢"
_CLAUSE = re.compile(r"[,，、:：。！？!?；;…\n.—]|(?<=[\u3400-\u9fff])\s(?=[\u3400-\u9fff])")
# Classes of words that only form the request; other words may name what is to be forgotten.
_FRAME = (
    "erase throw keep know not unsaid store yours told last all matter reminder lapse question "
    "polite ba let exist nevermind you i filler"
).split()  # fmt: skip

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """``asks`` is the probability that a sentence asks to forget, ``scope`` those of everything,
    last and named if it does. ``clause`` are the words that ask, ``topic`` those that name what,
    both without positions; ``points`` is whether they refer to what was said (this, 刚才)."""

    asks: float
    scope: Mapping[str, float]
    clause: str = ""
    topic: str = ""
    points: bool = False

    @property
    def acts(self) -> bool:
        return self.asks >= ACT

    @property
    def likely_scope(self) -> str:
        """The most probable scope, or unclear if that is everything and not probable enough."""
        likeliest = max(self.scope, key=lambda name: self.scope[name])
        if likeliest == "everything" and self.scope[likeliest] < EVERYTHING:
            return "unclear"
        return likeliest


NOTHING = Reading(0.0, {"everything": 0.0, "last": 0.0, "named": 1.0})
# The classes of words that make a request.
_ASKING = ("erase", "throw", "unsaid", "exist", "nokeep")


def may_ask(content: str) -> bool:
    """Whether a message asks, or may ask, to forget something and does not take it back. Only the
    excerpt of a long one counts."""
    if not _may_have_request(content):
        return False
    text = excerpt(content)
    return any(
        read(sentence.whole).asks >= UNSURE and not takes_back(text[sentence.start :])
        for sentence in sentences(text)
    )


def _may_have_request(text: str) -> bool:
    """Whether ``text`` has a word that a request needs; most texts have none."""
    plain = simplified(text).lower().replace("’", "'")
    return bool(finder("forget_cues", *_NEEDED)(plain))


def takes_back(text: str) -> bool:
    """Whether a request in ``text`` is taken back at its end: a clause reconsiders (no, wait, 算了),
    and it or the next one says to keep the matter after all."""
    cues, plain = _places(text), _plain(text)
    begins, _ = _clauses(plain)
    clause = partial(bisect_right, begins)
    # Across clauses "no … keep" is no ban on keeping.
    left = _paired_places(plain, cues.get("not", ()), cues.get("leave", ()))
    bans = [(a, b) for a, b in (*cues.get("nokeep", ()), *left) if clause(a) == clause(b)]
    negated = [(a, b) for a, b in cues.get("noerase", ()) if clause(a) == clause(b)]
    asks = [*bans, *(p for name in _ASKING if name != "nokeep" for p in cues.get(name, ()))]
    other = [*asks, *cues.get("keep_otherwise", ())]
    keeps = [*cues.get("keep", ()), *cues.get("leave", ())]
    keeps = [p for p in keeps if not any(p[0] < b and a < p[1] for a, b in other)] + negated
    after = max(keeps, default=(0, 0))
    asked_later = any(a >= after[1] for a, _ in asks)
    return not asked_later and any(
        place[0] <= after[0] and clause(after[0]) - clause(place[0]) in (0, 1)
        for place in cues.get("reconsider", ())
    )


@lru_cache(maxsize=1024)
def read(text: str) -> Reading:
    """Returns what one sentence asks, without its quotations."""
    if not _may_have_request(text):
        return NOTHING
    cues = _places(text)
    if not any(name in cues for name in _NEEDED) or takes_back(text):
        return NOTHING
    learned = weights()
    evidence = _features(cues, text)
    asks = sigmoid(_score(learned["asks"], evidence))
    if asks < CAN_ASK:
        return Reading(asks, NOTHING.scope)
    clause, topic = _request(text, cues)
    evidence |= _topic_size(topic)
    scores = {name: _score(weights_of, evidence) for name, weights_of in learned["scope"].items()}
    highest = max(scores.values())
    exponentials = {name: math.exp(score - highest) for name, score in scores.items()}
    total = sum(exponentials.values())
    scope = {name: value / total for name, value in exponentials.items()}
    return Reading(asks, scope, clause, topic, "just_said" in _places(clause))


def evidence_of(text: str) -> tuple[dict[str, float], dict[str, float]]:
    """Returns the features for whether ``text`` asks, empty if it can't, and more for its scope;
    for training."""
    cues = _places(text)
    if not any(name in cues for name in _NEEDED):
        return {}, {}
    return _features(cues, text), _topic_size(_request(text, cues)[1])


def weights() -> Mapping[str, Any]:
    return model("forget_reading")


def _score(weights_by_feature: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    return Logistic(weights_by_feature[""], weights_by_feature).log_odds(evidence)


def _plain(text: str) -> str:
    """Returns ``text`` as the lexicon is written, each character in its place, quotations blanked;
    "" if lower case changes its length."""
    for start, end in quotations(text):
        text = text[:start] + " " * (end - start) + text[end:]
    return simplified(text).lower().replace("’", "'") if len(text.lower()) == len(text) else ""


def _places(text: str) -> dict[str, list[Place]]:
    """Returns the places of the words of each class that the text has."""
    plain = _plain(text)
    cues = {name: places[:_MOST_PLACES] for name, places in finder("forget_cues")(plain).items()}
    for name, (first, second) in _PAIRED.items():
        pairs = _paired_places(plain, cues.get(first, ()), cues.get(second, ()))
        if pairs:
            cues[name] = pairs
    return cues


def _paired_places(plain: str, first: Sequence[Place], second: Sequence[Place]) -> list[Place]:
    pairs = []
    for start, end in first:
        after = next((place for place in second if place[0] >= end), None)
        if after is None:
            continue
        between = plain[end : after[0]]
        if len(between) + _HAN_EXTRA * sum(map(is_han, between)) <= _PAIR_WIDTH:
            pairs.append((start, after[1]))
    return pairs


def _clauses(text: str) -> tuple[list[int], list[int]]:
    """Returns the starts and the ends of the clauses of ``text``."""
    marks = [match.span() for match in _CLAUSE.finditer(text)]
    return [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(text)]


def _features(cues: Mapping[str, Sequence[Place]], text: str) -> dict[str, float]:
    """Returns the features: a class is present (keep), more than once (keep#), begins the sentence
    (^^keep) or a clause (^keep), ends a clause (keep$), or is before another in one clause
    (not>keep), right before it (not>>keep) or in an earlier one (last,keep)."""
    plain = _plain(text)
    begins, ends = _clauses(plain)
    features: dict[str, float] = {}
    for name, places in cues.items():
        features[name] = 1.0
        if len(places) > 1:
            features[f"{name}#"] = 1.0
        if not plain[: places[0][0]].strip():
            features[f"^^{name}"] = 1.0
        for start, end in places:
            clause = bisect_right(begins, start) - 1
            if not plain[begins[clause] : start].strip():
                features[f"^{name}"] = 1.0
            if not plain[end : ends[clause]].strip(_PARTICLES):
                features[f"{name}$"] = 1.0
    features |= _order_features(cues, begins)
    count = len(plain.split()) + sum(map(is_han, plain)) / 2  # a Chinese word has two characters
    features["length"] = min(2.0, math.log1p(count) / 2)
    features["short"] = float(count < 5)
    features["han"] = sum(map(is_han, plain)) / max(1, len(plain))
    features["quoted"] = float(bool(quotations(text)))
    features["question_mark"] = float("?" in plain or "？" in plain)
    features["digit"] = float(any(map(str.isdecimal, plain)))
    return features


def _order_features(cues: Mapping[str, Sequence[Place]], begins: Sequence[int]) -> dict[str, float]:
    features: dict[str, float] = {}
    for first, places in cues.items():
        for second, second_places in cues.items():
            for pair in {_order_of(place, second_places, begins) for place in places} - {None}:
                features[f"{first}{pair}{second}"] = 1.0
                if pair == ">>":
                    features[f"{first}>{second}"] = 1.0
    return features


def _order_of(place: Place, others: Sequence[Place], begins: Sequence[int]) -> str | None:
    """Returns how the nearest of ``others`` after a place relates to it: ">>", ">", "," or None."""
    after = next((other for other in others if other[0] >= place[1]), None)
    if after is None:
        return None
    if bisect_right(begins, place[0]) != bisect_right(begins, after[0]):
        return "," if after[0] - place[1] <= _CLAUSE_REACH else None
    return ">>" if after[0] - place[1] <= 1 else ">"


def _topic_size(topic: str) -> dict[str, float]:
    """Returns features of how much a request names."""
    count = len(content_words(topic))
    return {"named_none": float(count == 0), "named_one": float(count == 1)}


def _request(text: str, cues: Mapping[str, Sequence[Place]]) -> tuple[str, str]:
    """Returns the words that ask and the words that name what is to be forgotten: those of the
    asking clauses; if these name nothing, those of the nearest clause before, else of one after a
    colon. If they mean all, or a person by a pronoun, only of matters listed right before (Kim's
    debts, that shop too, 你都忘了吧)."""
    begins, ends = _clauses(_plain(text))
    remaining = list(text)
    for name in _FRAME:
        for start, end in cues.get(name, ()):
            remaining[start:end] = " " * (end - start)
    topics = ["".join(remaining[a:b]).strip() for a, b in zip(begins, ends, strict=True)]
    asking = sorted(
        {bisect_right(begins, start) - 1 for name in _ASKING for start, _ in cues.get(name, ())}
    ) or [0]
    chosen = [n for n in asking if _names_something(topics[n])]
    broad = [*cues.get("all", ()), *cues.get("third", ())]
    if not chosen and any(bisect_right(begins, start) - 1 in asking for start, _ in broad):
        matters = {bisect_right(begins, start) - 1 for start, _ in cues.get("matter", ())}
        for n in range(asking[0] - 1, -1, -1):
            if n not in matters or not _names_something(topics[n]):
                break
            chosen.insert(0, n)
    elif not chosen:
        colons = [
            n for n in range(1, len(topics)) if text[: begins[n]].rstrip()[-1:] in (":", "：")
        ]
        near = [*range(asking[0] - 1, -1, -1), *(n for n in colons if n > asking[-1])]
        chosen = [n for n in near if _names_something(topics[n])][:1]
    clause = " ".join(text[begins[n] : ends[n]].strip() for n in sorted({*asking, *chosen}))
    return clause, " ".join(topics[n] for n in chosen)


def _names_something(topic: str) -> bool:
    return bool(content_words(topic) or topic_keys(topic))


@lru_cache(maxsize=256)
def content_words(topic: str) -> tuple[str, ...]:
    """Returns the words of a topic by which memories can be found."""
    content = [
        word
        for word, flag in tagged(topic)
        if (len(word) > 1 and (flag[0] in "nvaijelxmt" or flag == "eng") and word.strip())
        or (flag[0] == "n" and word not in words("grammar_zh", "vague") and is_han(word[0]))
    ]
    # The tagger includes a particle as the last character of a name that it doesn't know.
    content = [w[:-1] if len(w) > 2 and w[-1] == "的" else w for w in content]
    content = [w for w in content if any(map(str.isalnum, w)) and w.lower() not in _vague_words()]
    return tuple(dict.fromkeys(content))


def means_person(sentence: str, start: int, end: int, names: Sequence[str] = ()) -> bool:
    """Whether a request about the name at [start, end) means the person: its clause says nothing but
    who that is (教我游泳的那个阿砚, Dana from the bank), apart from ``names`` of others."""
    begins, ends = _clauses(sentence)
    clause = bisect_right(begins, start) - 1
    before = blanked(sentence[begins[clause] : start].rstrip(), names)
    after = blanked(sentence[end : ends[clause]], names)
    is_matter = content_words(after) or finder("forget_cues", "matter")(after)
    rest, verbs = after.lower().split(), words("context_en", "auxiliaries", "irregular_verbs")
    is_origin = rest[:1] == ["from"] and not any(w in verbs or w.endswith("ed") for w in rest)
    if is_matter and not is_origin and rest[:1] != ["who"]:
        return False
    says_who = before.endswith(("的", "那个", "这个", "那位", "这位", "嗰个"))
    return says_who or not content_words(before)


def blanked(text: str, words: Sequence[str]) -> str:
    """Returns ``text`` without these words, the longest first."""
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, " ")
    return text


def refers_to_person(clause: str) -> bool:
    """Whether the words that ask refer to somebody whom other words name (her, 这个人)."""
    return bool(finder("forget_cues", "third", "person")(simplified(clause).lower()))


def topic_keys(topic: str) -> tuple[str, ...]:
    """Returns the attributes of people that a topic mentions (my pills: medication)."""
    return tuple(finder("forget_topics")(simplified(topic).lower()))


@cache
def _vague_words() -> frozenset[str]:
    """Words that name nothing, and verbs that many memories share."""
    shared = words("grammar_en", "shared_verbs") | words("grammar_zh", "shared_verbs")
    empty = words("stopwords", "search", "comparison", "relations")
    return empty | shared | words("forget_cues", *_FRAME)
