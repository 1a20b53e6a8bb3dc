"""What speaks for a new statement ending, repeating or contradicting an earlier one, as numbers
that are learned from (``tools/training/change_model.py``). Pure: words, clauses, negations,
numbers, time, people and vectors; no sentence, place or brand by name."""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contacts import segmentation
from contacts.lexicon import alternation, word_sets, words
from contacts.text import HAN, normalise, simplified, stem
from memories import faithfulness
from memories.text.negation import negations
from memories.text.sentences import clauses, sentences

Vector = NDArray[np.float32]

_WORD = re.compile(r"[a-z\u00c0-\u024f]+(?:['’][a-z]+)?|\d+(?:[.,:]\d+)*")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_EMPTY = (
    words("stopwords", "search") | words("stopwords", "comparison") | words("stopwords", "restatement")
)  # fmt: skip
_CUES = word_sets("changes")
_IS_CUE = frozenset().union(*_CUES.values())
# Where one statement tells of several matters: punctuation, spaces between Chinese, "and"; a
# clause keeps its adverbs.
_CLAUSE = (
    r"[，,、;；。!！?？]|\.\s|\s(?:and|n|but|while|&|plus|with)\s"
    r"|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])"
)
_CLAUSES = re.compile(_CLAUSE)
_JOINT = re.compile(rf"{_CLAUSE}|(?<=[\u3400-\u9fff])(?:同埋|而且|还|也|和|同)(?=[\u3400-\u9fff])")
# 不 … 了: what was done is done no more.
_NO_MORE = r"(?:不|唔|冇|没有?)[\u3400-\u9fff]{1,4}(?:了|喇|啦)"
_SEVERAL = re.compile(r"\b(?:and|n|both|neither|nor)\b|[还也和同跟、两]")
# Weight of a word by how common it is: logarithms of frequencies brought to about 1 to 4.
_COMMON_LATIN, _RARE_LATIN = 2.0, 3.0
_JIEBA_TOTAL = 6e7
_FAR, _NEAR = 0.82, 0.92  # cosines of multilingual-e5-small: two matters, one matter


@dataclass(frozen=True, slots=True)
class Told:
    """A statement: whom it is about (None among ``people``: the end user), its vector of the
    local model, of length 1."""

    content: str
    said_at: datetime
    people: frozenset[Hashable]
    vector: Vector


def features(new: Told, old: Told) -> dict[str, float]:
    """The evidence on how ``new``, told later, stands to ``old``; each is about 0 to 2."""
    near = float(np.clip((new.vector @ old.vector - _FAR) / (_NEAR - _FAR), 0.0, 2.0))
    found = {
        "near": near,
        "same_person": float(bool(new.people & old.people)),
        "days": math.log1p(max(0.0, (new.said_at - old.said_at).total_seconds() / 86400)) / 3,
        "chinese": float(bool(HAN.search(new.content))),
    }
    found |= _shared_words(new.content, old.content, near)
    found |= _cues(new.content, old.content, near)
    found |= _parts(new.content, old.content)
    return found | _turned(new.content, old.content, near)


def _shared_words(new: str, old: str, near: float) -> dict[str, float]:
    """How much of each the other says, in words that are no cue of a change."""
    mine, theirs = _words(new), _words(old)
    shared = [word for word in mine if word in theirs and word not in _IS_CUE]
    of_old = sum(theirs[word].weight for word in shared) / (_weight(theirs) or 1.0)
    pairs, others = _bigrams(new), _bigrams(old)
    alike = len(pairs & others) / max(1, min(len(pairs), len(others)))
    return {
        "topic_shared": math.log1p(sum(mine[word].weight for word in shared if mine[word].common)),
        "name_shared": math.log1p(
            sum(mine[word].weight for word in shared if not mine[word].common)
        ),
        "of_old": of_old,
        "of_new": sum(mine[word].weight for word in shared) / (_weight(mine) or 1.0),
        "bigrams": alike,
        "near_of_old": near * of_old,
        "near_bigrams": near * alike,
        "old_long": math.log1p(_weight(theirs)) - 2,
        "new_long": math.log1p(_weight(mine)) - 2,
    }


def _cues(new: str, old: str, near: float) -> dict[str, float]:
    """The classes of words of change in each, and those in a clause that speaks of the other."""
    mine, theirs = _classes(new), _classes(old)
    told = mine & {"ends", "changes", "now", "returns"}
    found = {f"new_{name}": float(name in mine) for name in _CUES}
    found |= {f"old_{name}": float(name in theirs) for name in _CUES}
    found |= {
        f"near_{name}": near * (name in mine)
        for name in ("ends", "changes", "now", "returns", "stays", "doubts")
    }
    found |= {
        "no_cue": float(not told),
        "near_no_cue": near * (not told),
        "ends_and_stays": float({"ends", "stays"} <= mine),
        "one_class": float(bool(mine & theirs)),
    }
    for name in ("ends", "changes", "stays", "adds"):
        shares = [
            _common_matter(clause, old) for clause in _clauses(new) if name in _classes(clause)
        ]
        found[f"{name}_shared"] = math.log1p(max(shares, default=0.0))
    return found


def _common_matter(clause: str, old: str) -> float:
    mine, theirs = _words(clause), _words(old)
    common = sum(
        word.weight
        for text, word in mine.items()
        if text in theirs and word.common and text not in _IS_CUE
    )
    return max(common, len(_bigrams(clause) & _bigrams(old)) * 0.75)


def _parts(new: str, old: str) -> dict[str, float]:
    """Of how many matters each tells, and whether each of the old one's is spoken of again."""
    parts = _matters(old)
    pairs, mine = _bigrams(new), _words(new)
    again = [
        len(_bigrams(part) & pairs)
        + sum(word.common and text in mine for text, word in _words(part).items())
        for part in parts
    ]
    several = len(parts) > 1
    return {
        "parts": min(len(parts), 4) - 1.0,
        "one_part": float(not several),
        "one_part_new": float(len(_matters(new)) == 1),
        "both_many": float(several and len(_matters(new)) > 1),
        "part_untold": float(several and min(again) == 0),
        "parts_told": float(several and min(again) > 0),
        "several": float(bool(_SEVERAL.search(_norm(old)))),
        "old_clauses": min(len(_clauses(old)), 5) / 2,
        "new_clauses": min(len(_clauses(new)), 5) / 2,
    }


def _turned(new: str, old: str, near: float) -> dict[str, float]:
    """Other numbers, another negation."""
    numbers = faithfulness.numbers(_norm(new)), faithfulness.numbers(_norm(old))
    differ = float(all(numbers) and not numbers[0] & numbers[1])
    denied = negations(new) > 0, negations(old) > 0
    return {
        "numbers_shared": float(bool(numbers[0] & numbers[1])),
        "numbers_differ": differ,
        "near_numbers_differ": near * differ,
        "doubted_numbers": differ * ("doubts" in _classes(new)),
        "new_number": float(bool(numbers[0])),
        "old_number": float(bool(numbers[1])),
        "new_negated": float(denied[0]),
        "old_negated": float(denied[1]),
        "negation_differs": float(denied[0] != denied[1]),
    }


@dataclass(frozen=True, slots=True)
class _Said:
    """A word of a text: the rarer the heavier; a name is not ``common``."""

    weight: float
    common: bool


def _weight(said: Mapping[str, _Said]) -> float:
    return sum(word.weight for word in said.values())


@lru_cache(maxsize=4096)
def _norm(text: str) -> str:
    return simplified(normalise(text)).replace("’", "'")


@lru_cache(maxsize=4096)
def _words(text: str) -> Mapping[str, _Said]:
    """The words that tell what a text is about, English ones as stems."""
    norm, found = _norm(text), dict[str, _Said]()
    known = words("english_words")
    for word in _WORD.findall(norm):
        bare = word.removesuffix("'s")
        if bare not in _EMPTY and (len(bare) > 1 or bare.isdigit()):
            common = bare in known or stem(bare) in known
            found[stem(bare)] = _Said(_COMMON_LATIN if common else _RARE_LATIN, common)
    for run in _HAN_RUN.findall(norm):
        for token in segmentation.cut(run):
            if token.text not in _EMPTY:
                frequency = segmentation.frequency(token.text)
                rarity = max(0.5, math.log(_JIEBA_TOTAL / (frequency + 50))) / 4
                common = frequency > 0 and not token.tag.startswith("nr")
                found[token.text] = _Said(rarity, common)
    return found


@lru_cache(maxsize=4096)
def _bigrams(text: str) -> frozenset[str]:
    """Neighbouring Chinese characters: they meet also where two dialects cut words otherwise."""
    runs = _HAN_RUN.findall(_norm(text))
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


def _pattern(entries: frozenset[str]) -> re.Pattern[str]:
    latin, han = (
        alternation(word for word in entries if word.isascii() == is_latin)
        for is_latin in (True, False)
    )
    return re.compile(rf"\b(?:{latin})\b|{han}")


_CUE_PATTERNS = {name: _pattern(entries) for name, entries in _CUES.items()}
_CUE_PATTERNS["ends"] = re.compile(rf"{_CUE_PATTERNS['ends'].pattern}|{_NO_MORE}")


@lru_cache(maxsize=4096)
def _classes(text: str) -> frozenset[str]:
    """The classes of words of change that a text has."""
    norm = _norm(text)
    return frozenset(name for name, pattern in _CUE_PATTERNS.items() if pattern.search(norm))


@lru_cache(maxsize=4096)
def _clauses(text: str) -> Sequence[str]:
    told = (clause.text for sentence in sentences(text) for clause in clauses(sentence))
    parts = (part for clause in told for part in _CLAUSES.split(clause))
    return tuple(part for part in parts if part.strip())


@lru_cache(maxsize=4096)
def _matters(text: str) -> Sequence[str]:
    """The parts of a text that say something of their own; at least one."""
    norm = _norm(text)
    return tuple(part for part in _JOINT.split(norm) if _words(part)) or (norm,)
