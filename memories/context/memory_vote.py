"""Lets memories vote on who is meant: a person described without a name (the one who teaches kids
the cello) is found by what is known about them, in any wording.

The contacts that the hits of a search are about are candidates. A logistic regression gives the
probability that the message refers to each, by how the hits support them against others, and by
whether it is about somebody at all. Weights and their source: ``vote_model.json``. Like relevance
they belong to one embedding model; with another there is no vote.
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

#: How many of the best hits count as the top.
TOP = 3
# How many of the supporting memories the reason quotes, and how much of each.
TOLD, GRAPHEMES = 2, 80
# Values if no memory supports anybody else; hits are seldom less near or less likely.
LEAST_COSINE, LEAST_LIKELY = 0.75, 0.001
_odds = partial(log_odds, least=LEAST_LIKELY)
# Words of two closed classes: demonstratives and relative pronouns, and pronouns of the third
# person.
_POINTS = regex.compile(r"\b(?:who|whom|whose|that|those|one)\b|[那嗰]")
_THIRD = regex.compile(r"\b(?:he|she|his|hers?|him|they|them|their)\b|[他她佢]")


@dataclass(frozen=True, slots=True)
class Voted:
    """The mention, and the contact as the index of names returns it."""

    mention: Mention
    known: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Support:
    """A hit about a candidate, with its place among the hits and what the search found of it."""

    place: int
    hit: Hit
    relevance: Relevance
    cosine: float


def vote(message: str, hits: Sequence[Hit], vectors: Sequence[Sequence[float]]) -> Voted | None:
    """Returns the contact to whom a message most likely refers by the ``hits`` of its search (with
    their people), None if that is too unlikely. ``vectors`` are those of the message's parts."""
    text = normalise(message)
    if _THIRD.search(text) and not _POINTS.search(text):  # coreference resolves pronouns
        return None
    learned = logistic("vote_model")
    chance = {pk: learned.probability(one) for pk, one in features(message, hits, vectors).items()}
    best = max(chance, key=lambda pk: chance[pk], default=None)
    if best is None or chance[best] < model("vote_model")["threshold"]:
        return None
    support = sorted(_support_by_contact(hits)[best], key=lambda one: -one.relevance.likely)[:TOLD]
    said = [clean(one.hit.memory.content, GRAPHEMES) for one in support]
    known = next(one for one in support[0].hit.people if one["id"] == str(best))
    reason = Reason("by_memories", clauses=said)
    return Voted(Mention(person_of(known), 0, 0, said[0], "semantic", chance[best], reason), known)


def features(
    message: str, hits: Sequence[Hit], vectors: Sequence[Sequence[float]]
) -> dict[UUID, dict[str, float]]:
    """Returns the features of each contact that the hits are about; empty if the relevance of the
    hits is not known."""
    support = _support_by_contact(hits)
    if not support or not vectors:
        return {}
    text = normalise(message)
    shape = {
        "points": float(bool(_POINTS.search(text))),
        "third": float(bool(_THIRD.search(text))),
        "of_others": max(map(of_others, vectors)),
    }
    of_nobody = max((r.likely for h in hits if not h.people and (r := h.relevance)), default=0.0)
    total = sum(hit.relevance.likely for hit in hits if hit.relevance) or 1.0
    likely = {pk: max(one.relevance.likely for one in found) for pk, found in support.items()}
    cosine = {pk: max(one.cosine for one in found) for pk, found in support.items()}
    return {
        pk: {
            **shape,
            "likely": _odds(likely[pk]),
            "lead": _odds(likely[pk]) - _odds(_best_of_others(likely, pk, 0.0)),
            "lead_of_nobody": _odds(likely[pk]) - _odds(of_nobody),
            "share": sum(one.relevance.likely for one in found) / total,
            "cosine": cosine[pk],
            "cosine_lead": cosine[pk] - _best_of_others(cosine, pk, LEAST_COSINE),
            "words": max(one.relevance.words for one in found),
            "score": max(one.hit.score for one in found),
            "place": math.log1p(found[0].place),
            "top": float(sum(one.place < TOP for one in found)),
        }
        for pk, found in support.items()
    }


def of_others(vector: Sequence[float]) -> float:
    """Returns the log odds that a message with this vector is about somebody else."""
    head = model("vote_model")["of_others"]
    return float(np.asarray(head["weights"]) @ np.asarray(vector)) + float(head["bias"])


def _support_by_contact(hits: Sequence[Hit]) -> dict[UUID, list[_Support]]:
    """Returns the hits about each contact, the best first."""
    by_contact: dict[UUID, list[_Support]] = defaultdict(list)
    for place, hit in enumerate(hits):
        if hit.relevance and hit.relevance.cosine is not None:
            for known in hit.people:
                support = _Support(place, hit, hit.relevance, hit.relevance.cosine)
                by_contact[UUID(known["id"])].append(support)
    return by_contact


def _best_of_others(best: Mapping[UUID, float], pk: UUID, least: float) -> float:
    """Returns the best value of anybody except ``pk``, ``least`` if there is nobody else."""
    return max((value for other, value in best.items() if other != pk), default=least)
