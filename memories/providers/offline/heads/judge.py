"""What a sentence does, and whether it states something of a life that is worth a memory.

Logistic heads over the sentence's vector and its surface cues (:mod:`cues`), learned from the
corpus (``python -m tools train sentence_heads``). Their weights are for the local embedder's
space, whatever model embeds the memories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memories.providers.embeddings import LocalEmbedder
from memories.providers.offline.heads.cues import cues
from memories.types import MemoryType
from understanding import learned

# A vector of length 1 says less a number than a cue does: so much larger, one penalty fits both.
VECTOR_SCALE = 10.0
# Characters of a sentence that are judged: what it does shows at its beginning.
JUDGED = 500

NAMES = ("act", "modality", "type", "keep", "lasting", "about_user")

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Probabilities, each calibrated. ``act`` is over what a sentence does (state, ask, request,
    forget, correct, greet, mood, joke, fiction, paste, suppose), ``modality`` (fact, plan, wish,
    hearsay, unsure) and ``type`` are of what it states, if it does; ``keep``: it is worth a
    memory; ``lasting``: that holds for longer than weeks; ``about_user``: it is of the user."""

    act: Mapping[str, float]
    modality: Mapping[str, float]
    type: MemoryType
    keep: float
    lasting: float
    about_user: float


@cache
def _embedder() -> LocalEmbedder:
    return LocalEmbedder()


def features(texts: Sequence[str]) -> Array:
    """A row a text: its vector (of the local embedder's passages), scaled, then its cues."""
    read = [text[:JUDGED] for text in texts]
    vectors = _embedder().embed_passages(read)
    return np.hstack([np.asarray(vectors) * VECTOR_SCALE, [cues(text) for text in read]])


def judge(texts: Sequence[str]) -> list[Judgement]:
    """A judgement of each text, in their order. Equal texts are embedded once."""
    if not texts:
        return []
    distinct = list(dict.fromkeys(texts))
    row_of = dict(zip(distinct, features(distinct), strict=True))
    rows = np.array([row_of[text] for text in texts])
    heads = learned.model("heads")["heads"]
    probabilities = {name: _probabilities(head, rows) for name, head in heads.items()}
    return [
        Judgement(
            act=dict(zip(heads["act"]["classes"], acts.tolist(), strict=True)),
            modality=dict(zip(heads["modality"]["classes"], modalities.tolist(), strict=True)),
            type=MemoryType(heads["type"]["classes"][int(types.argmax())]),
            keep=float(keep[1]),
            lasting=float(lasting[1]),
            about_user=float(about_user[1]),
        )
        for acts, modalities, types, keep, lasting, about_user in zip(
            *(probabilities[name] for name in NAMES),
            strict=True,
        )
    ]


def _probabilities(head: Mapping[str, Any], rows: Array) -> Array:
    """A row of probabilities for each row of features (softmax of the linear scores)."""
    scores = rows @ _matrix(id(head), head) + np.asarray(head["bias"])
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Array = grown / grown.sum(axis=1, keepdims=True)
    return found


_MATRICES: dict[int, Array] = {}


def _matrix(key: int, head: Mapping[str, Any]) -> Array:
    """The weights of a head, a column a class; the file is read once, so heads keep their ids."""
    if key not in _MATRICES:
        _MATRICES[key] = np.asarray(head["weights"]).T
    return _MATRICES[key]
