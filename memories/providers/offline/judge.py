"""What a sentence does, and whether it states something of a life that is worth a memory: logistic
heads over its vector in the local embedder's space and its surface cues, learned from the corpus
(``python -m tools train sentence_heads``). Where nobody is spoken of, the same words do something
else more often (ask which phone to buy), so heads of their own say what they do and whether they
are worth a memory."""

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

# A vector of length 1 says less a number than a cue does: so much larger, one penalty fits both.
VECTOR_SCALE = 10.0
# Characters of a sentence that are judged: what it does shows at its beginning.
JUDGED = 500

NAMES = ("act", "modality", "type", "keep", "about_user")
# What the heads of sentences that speak of nobody say; the cues of those that speak of somebody.
OF_NOBODY = ("act", "keep")
_SOMEBODY = ("other", "kin")

Array = NDArray[np.float64]

# Words this near the beginning open the sentence: "Can you", 帮我, but not "he can you know".
_OPENING = 12


def _holds(*signs: str) -> Callable[[str], bool]:
    return lambda text: any(sign in text for sign in signs)


_ITEM = re.compile(r"(?m)^\s*(?:[-*>•]|\d+[.)、])\s*\S")
_ADDRESS = re.compile(r"https?://|www\.|\w@\w")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# Whether a text has a mark, in the order of the weights.
_MARKS: Mapping[str, Callable[[str], object]] = {
    "mark_question": _holds(*"?？"),
    "mark_exclamation": _holds(*"!！"),
    "mark_trailing": _holds("...", "…", "。。", "~", "～"),
    "mark_quote": _holds(*'"“”「」『』'),
    "mark_colon": _holds(*":："),
    "mark_line": _holds("\n"),
    "mark_item": _ITEM.search,
    "mark_address": _ADDRESS.search,
    "mark_code": _holds(*"{}<>;=`\\"),
    "mark_emoji": lambda text: any(
        "\U0001f300" <= c <= "\U0001faff" or "☀" <= c <= "➿" for c in text
    ),
    "mark_digit": lambda text: any(map(str.isdecimal, text)),
    "mark_year": _YEAR.search,
}


def cue_names() -> tuple[str, ...]:
    """The names of all cues, in the order of the weights."""
    words = lexicon.groups("sentence_cues")
    opening = (f"opens_{name}" for name in words)
    return (*words, *opening, *_MARKS, "length", "short", "han", "lines")


def cues(text: str) -> list[float]:
    """A value for each of :func:`cue_names`, each in 0..2."""
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
    """Probabilities, each calibrated. ``act`` is over what a sentence does (state, ask, request,
    forget, correct, greet, mood, joke, fiction, paste, suppose), ``modality`` (fact, plan, wish,
    hearsay, unsure) and ``type`` are of what it states, if it does; ``keep``: it is worth a
    memory; ``about_user``: it is of the user."""

    act: Mapping[str, float]
    modality: Mapping[str, float]
    type: MemoryType
    keep: float
    about_user: float


@cache
def _embedder() -> LocalEmbedder:
    return LocalEmbedder()


def features(texts: Sequence[str]) -> Array:
    """A row a text: its vector (of the local embedder's passages), scaled, then its cues."""
    read = [text[:JUDGED] for text in texts]
    vectors = _embedder().embed_passages(read)
    return np.hstack([np.asarray(vectors) * VECTOR_SCALE, [cues(text) for text in read]])


def judge(texts: Sequence[str], of_nobody: Sequence[bool]) -> list[Judgement]:
    """A judgement of each text, in their order; ``of_nobody`` says in which nobody was found who is
    spoken of. One with a pronoun or a word for a relative speaks of somebody all the same."""
    if not texts:
        return []
    rows, heads = features(texts), learned.model("heads")["heads"]
    act, modality, kind = (heads[name]["classes"] for name in NAMES[:3])
    alone = np.asarray(of_nobody) & ~speaks_of_somebody(rows)
    return [
        Judgement(
            act=dict(zip(act, acts.tolist(), strict=True)),
            modality=dict(zip(modality, modalities.tolist(), strict=True)),
            type=MemoryType(kind[int(types.argmax())]),
            keep=float(keep[1]),
            about_user=float(about_user[1]),
        )
        for acts, modalities, types, keep, about_user in zip(
            *(_probabilities(name, rows, alone) for name in NAMES), strict=True
        )
    ]


def speaks_of_somebody(rows: Array) -> NDArray[np.bool_]:
    """Whether each row of features has a pronoun of somebody else or a word for a relative."""
    names = cue_names()
    cues_of_row = rows[:, -len(names) :]
    counts = cues_of_row[:, [names.index(name) for name in _SOMEBODY]].sum(axis=1)
    return np.asarray(counts > 0)


def _probabilities(name: str, rows: Array, alone: NDArray[np.bool_]) -> Array:
    """A row of the head's probabilities for each row of features (softmax of the linear scores)."""
    weights, bias = _weights("heads", name)
    scores = rows @ weights + bias
    if name in OF_NOBODY and alone.any():
        weights, bias = _weights("heads_of_nobody", name)
        scores[alone] = rows[alone] @ weights + bias
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Array = grown / grown.sum(axis=1, keepdims=True)
    return probabilities


@cache
def _weights(heads: str, name: str) -> tuple[Array, Array]:
    """The weights of a head, a column a class, and its bias."""
    head = learned.model("heads")[heads][name]
    return np.asarray(head["weights"]).T, np.asarray(head["bias"])
