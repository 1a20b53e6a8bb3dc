"""Judges what a sentence does, and whether it states something about a life that is worth a memory:
logistic heads over its vector in the local embedder's space and its surface cues, learned from the
corpus (``python -m tools train sentence_heads``). If a sentence mentions nobody, the same words do
something else more often (ask which phone to buy), so it has heads of its own for what it does and
whether it is worth a memory."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from memories.providers.embeddings import LocalEmbedder
from memories.types import MemoryType
from understanding import learned, lexicon
from understanding.text import is_han

# A number of a vector of length 1 says less than a cue; scaled so much, one penalty fits both.
VECTOR_SCALE = 10.0
# Characters of a sentence that are judged: its beginning shows what it does.
JUDGED = 500

NAMES = ("act", "modality", "type", "keep", "about_user")
# Heads with their own weights for sentences that mention nobody; cues that somebody is mentioned.
OF_NOBODY = ("act", "keep")
_PERSON_CUES = ("other", "kin")

Array = NDArray[np.float64]

# Words this near the beginning open the sentence: "Can you", 帮我, but not "he can you know".
_OPENING = 12


def _contains_any(*signs: str) -> Callable[[str], bool]:
    return lambda text: any(sign in text for sign in signs)


_ITEM = re.compile(r"(?m)^\s*(?:[-*>•]|\d+[.)、])\s*\S")
_ADDRESS = re.compile(r"https?://|www\.|\w@\w")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# Tests whether a text has a mark, in the order of the weights.
_MARKS: Mapping[str, Callable[[str], object]] = {
    "mark_question": _contains_any(*"?？"),
    "mark_exclamation": _contains_any(*"!！"),
    "mark_trailing": _contains_any("...", "…", "。。", "~", "～"),
    "mark_quote": _contains_any(*'"“”「」『』'),
    "mark_colon": _contains_any(*":："),
    "mark_line": _contains_any("\n"),
    "mark_item": _ITEM.search,
    "mark_address": _ADDRESS.search,
    "mark_code": _contains_any(*"{}<>;=`\\"),
    "mark_emoji": lambda text: any(
        "\U0001f300" <= c <= "\U0001faff" or "☀" <= c <= "➿" for c in text
    ),
    "mark_digit": lambda text: any(map(str.isdecimal, text)),
    "mark_year": _YEAR.search,
}


def cue_names() -> tuple[str, ...]:
    """Returns the names of all cues, in the order of the weights."""
    words = lexicon.groups("sentence_cues")
    opening = (f"opens_{name}" for name in words)
    return (*words, *opening, *_MARKS, "length", "short", "han", "lines")


def cues(text: str) -> list[float]:
    """Returns a value in 0..2 for each of :func:`cue_names`."""
    plain = text.lower().replace("’", "'")
    spans = lexicon.finder("sentence_cues")(plain)
    words = lexicon.groups("sentence_cues")
    present = [float(name in spans) for name in words]
    opens = [float(name in spans and spans[name][0][0] <= _OPENING) for name in words]
    marks = [float(bool(has_mark(text))) for has_mark in _MARKS.values()]
    han = sum(map(is_han, text))
    size = len(text.split()) + han / 2  # a Chinese word has about two characters
    shape = [
        min(2.0, math.log1p(size) / 2),
        float(size < 4),
        han / max(1, len(text)),
        min(2.0, math.log1p(text.count("\n"))),
    ]
    return [*present, *opens, *marks, *shape]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Calibrated probabilities for a sentence. ``act`` is over what it does (state, ask, request,
    forget, correct, greet, mood, joke, fiction, paste, suppose); ``modality`` is over fact, plan,
    wish, hearsay and unsure, and ``type`` the likeliest type, of what it states, if it does;
    ``keep``: that it is worth a memory; ``about_user``: that it is about the user."""

    act: Mapping[str, float]
    modality: Mapping[str, float]
    type: MemoryType
    keep: float
    about_user: float


@cache
def _embedder() -> LocalEmbedder:
    return LocalEmbedder()


def features(texts: Sequence[str]) -> Array:
    """Returns one row per text: its scaled vector (as a passage of the local embedder) and cues."""
    beginnings = [text[:JUDGED] for text in texts]
    vectors = _embedder().embed_passages(beginnings)
    return np.hstack([np.asarray(vectors) * VECTOR_SCALE, [cues(text) for text in beginnings]])


def judge(texts: Sequence[str], of_nobody: Sequence[bool]) -> list[Judgement]:
    """Returns a judgement of each text, in their order. ``of_nobody`` marks texts in which nobody
    was found; those with a pronoun or a word for a relative count as mentioning somebody anyway."""
    if not texts:
        return []
    rows, heads = features(texts), learned.model("heads")["heads"]
    act, modality, kind = (heads[name]["classes"] for name in NAMES[:3])
    mentions_nobody = np.asarray(of_nobody) & ~speaks_of_somebody(rows)
    return [
        Judgement(
            act=dict(zip(act, acts.tolist(), strict=True)),
            modality=dict(zip(modality, modalities.tolist(), strict=True)),
            type=MemoryType(kind[int(types.argmax())]),
            keep=float(keep[1]),
            about_user=float(about_user[1]),
        )
        for acts, modalities, types, keep, about_user in zip(
            *(_probabilities(name, rows, mentions_nobody) for name in NAMES), strict=True
        )
    ]


def speaks_of_somebody(rows: Array) -> NDArray[np.bool_]:
    """Returns which rows of features have a pronoun for somebody else or a word for a relative."""
    names = cue_names()
    cues_of_row = rows[:, -len(names) :]
    counts = cues_of_row[:, [names.index(name) for name in _PERSON_CUES]].sum(axis=1)
    return np.asarray(counts > 0)


def _probabilities(name: str, rows: Array, mentions_nobody: NDArray[np.bool_]) -> Array:
    """Returns a head's probabilities, a row per row of features (softmax of the linear scores)."""
    weights, bias = _weights("heads", name)
    scores = rows @ weights + bias
    if name in OF_NOBODY and mentions_nobody.any():
        weights, bias = _weights("heads_of_nobody", name)
        scores[mentions_nobody] = rows[mentions_nobody] @ weights + bias
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Array = exponentials / exponentials.sum(axis=1, keepdims=True)
    return probabilities


@cache
def _weights(heads: str, name: str) -> tuple[Array, Array]:
    """Returns the weights of a head, one column per class, and its bias."""
    head = learned.model("heads")[heads][name]
    return np.asarray(head["weights"]).T, np.asarray(head["bias"])
