"""Memories vote on who is meant: whom a message describes without a name (the one who teaches
kids the cello) is found by what is known of them, in any wording.

The contacts that the hits of a search are about are candidates. A logistic regression says how
likely the message means each, by how the hits speak for them against others, and by whether it
speaks of somebody at all. Weights and their source: ``vote_model.json``. Like relevance they are
of one embedding model; with another nobody is voted for.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import regex

from accounts.reasons import Reason
from contacts.key_index import person_of
from memories.search.recall import Hit
from memories.search.relevance import Relevance
from understanding.learned import log_odds, logistic, model
from understanding.text import clean, normalise
from understanding.types import Mention

#: So many of the best hits count as the top.
TOP = 3
# So many of the memories that spoke are told, each so long.
TOLD, GRAPHEMES = 2, 80
# Where no memory speaks for anybody else; hits are seldom less near or less likely.
LEAST_COSINE, LEAST_LIKELY = 0.75, 0.001
_odds = partial(log_odds, least=LEAST_LIKELY)
# Words of two closed classes: what points at somebody or begins a relative clause, and the third
# person.
_POINTS = regex.compile(r"\b(?:who|whom|whose|that|those|one)\b|[那嗰]")
_THIRD = regex.compile(r"\b(?:he|she|his|hers?|him|they|them|their)\b|[他她佢]")


@dataclass(frozen=True, slots=True)
class Voted:
    """The mention, and the contact as the index of names gives it."""

    mention: Mention
    known: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Speaks:
    """A hit for a candidate: its place among the hits, and what search says of it."""

    place: int
    hit: Hit
    relevance: Relevance
    cosine: float


def meant(message: str, hits: Sequence[Hit], vectors: Sequence[Sequence[float]]) -> Voted | None:
    """Whom the hits of a message's search (with their people) say that it means, None where that
    is too unlikely. ``vectors`` are those of the message's parts."""
    text = normalise(message)
    if _THIRD.search(text) and not _POINTS.search(text):  # whom a pronoun means reference says
        return None
    learned = logistic("vote_model")
    likely = {pk: learned.probability(one) for pk, one in features(message, hits, vectors).items()}
    best = max(likely, key=lambda pk: likely[pk], default=None)
    if best is None or likely[best] < model("vote_model")["threshold"]:
        return None
    spoke = sorted(_speaking(hits)[best], key=lambda one: -one.relevance.likely)[:TOLD]
    said = [clean(one.hit.memory.content, GRAPHEMES) for one in spoke]
    known = next(one for one in spoke[0].hit.people if one["id"] == str(best))
    reason = Reason("by_memories", clauses=said)
    return Voted(Mention(person_of(known), 0, 0, said[0], "semantic", likely[best], reason), known)


def features(
    message: str, hits: Sequence[Hit], vectors: Sequence[Sequence[float]]
) -> dict[UUID, dict[str, float]]:
    """What speaks for each contact that the hits are about; nothing where their relevance is not
    known."""
    speaking = _speaking(hits)
    if not speaking or not vectors:
        return {}
    text = normalise(message)
    shape = {
        "points": float(bool(_POINTS.search(text))),
        "third": float(bool(_THIRD.search(text))),
        "of_others": max(map(of_others, vectors)),
    }
    of_nobody = max((r.likely for h in hits if not h.people and (r := h.relevance)), default=0.0)
    every = sum(hit.relevance.likely for hit in hits if hit.relevance) or 1.0
    likely = {pk: max(one.relevance.likely for one in said) for pk, said in speaking.items()}
    cosine = {pk: max(one.cosine for one in said) for pk, said in speaking.items()}
    return {
        pk: {
            **shape,
            "likely": _odds(likely[pk]),
            "lead": _odds(likely[pk]) - _odds(_of_others(likely, pk, 0.0)),
            "lead_of_nobody": _odds(likely[pk]) - _odds(of_nobody),
            "share": sum(one.relevance.likely for one in said) / every,
            "cosine": cosine[pk],
            "cosine_lead": cosine[pk] - _of_others(cosine, pk, LEAST_COSINE),
            "words": max(one.relevance.words for one in said),
            "score": max(one.hit.score for one in said),
            "place": math.log1p(said[0].place),
            "top": float(sum(one.place < TOP for one in said)),
        }
        for pk, said in speaking.items()
    }


def of_others(vector: Sequence[float]) -> float:
    """The log odds that a message with this vector tells or asks of somebody else."""
    head = model("vote_model")["of_others"]
    return float(np.asarray(head["weights"]) @ np.asarray(vector)) + float(head["bias"])


def _speaking(hits: Sequence[Hit]) -> dict[UUID, list[_Speaks]]:
    """The hits about each contact, the best first."""
    found: dict[UUID, list[_Speaks]] = defaultdict(list)
    for place, hit in enumerate(hits):
        if hit.relevance and hit.relevance.cosine is not None:
            for known in hit.people:
                one = _Speaks(place, hit, hit.relevance, hit.relevance.cosine)
                found[UUID(known["id"])].append(one)
    return found


def _of_others(best: Mapping[UUID, float], pk: UUID, least: float) -> float:
    """The best of anybody but ``pk``."""
    return max((value for other, value in best.items() if other != pk), default=least)
