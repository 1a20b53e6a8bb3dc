"""The scoring formula as plain Python, which the statement of ``jobs/rescore.sql`` must equal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memories.scoring import (
    BASELINE_ACCESS_RATE,
    CENTRE,
    ENTITY_LIMIT,
    HUB_BEYOND,
    HUB_DAMPING,
    HUB_LINEAR,
    HUB_WEIGHT,
    LEAST_AGE,
    MENTION_BEYOND,
    MENTION_LINEAR,
    MENTION_WEIGHT,
    MOMENTUM,
    NEWNESS,
    NEWNESS_DECAY,
    RECENCY_DECAY,
    TEMPORAL,
    TRAILOFF_DAYS,
    VALUE_WEIGHT,
    Parts,
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the formula reads of a memory.

    ``age_days`` and ``idle_days`` are activity days since it was learnt and since it was last
    accessed (since learnt, when never). ``entities``: of how many of the user's ``memories``
    each of its entities is spoken. ``event_in_days`` is in whole calendar days, negative for
    the past; ``expired_days`` in calendar days with fractions, negative before expiry.
    ``fixed`` is an importance that holds whatever the formula says.
    """

    access_count: int = 0
    age_days: int = 0
    idle_days: int = 0
    inbound: int = 0
    entities: Sequence[int] = ()
    memories: int = 0
    mention_count: int = 0
    event_in_days: int | None = None
    expired_days: float | None = None
    fixed: float | None = None


def importance(of: Inputs) -> Parts:
    """The importance of a memory with all that it is made of."""
    effective = of.access_count * MOMENTUM**of.idle_days
    rate = effective / max(LEAST_AGE, of.age_days)
    value = math.log(1 + rate / BASELINE_ACCESS_RATE) * VALUE_WEIGHT
    hub_, entity = hub(of.inbound), entity_hub(of.entities, of.memories)
    said, newness = mention(of.mention_count), max(0.0, NEWNESS - of.age_days * NEWNESS_DECAY)
    recency = 1 / (1 + of.idle_days * RECENCY_DECAY)
    lift, left = temporal(of.event_in_days), trailoff(of.expired_days)
    raw = (value + hub_ + entity + said + newness) * recency * lift * left
    by_formula = 1 / (1 + math.exp(CENTRE - raw)) if left > 0 else 0.0
    return Parts(
        effective_access=effective,
        value=value,
        hub=hub_,
        entity_hub=entity,
        mention=said,
        newness=newness,
        recency=recency,
        temporal=lift,
        trailoff=left,
        raw=raw,
        by_formula=by_formula,
        fixed=of.fixed,
        importance=by_formula if of.fixed is None else of.fixed,
    )


def hub(inbound: int) -> float:
    """0.04 a link up to 10 links, then ever less."""
    beyond = max(0, inbound - HUB_LINEAR)
    return min(inbound, HUB_LINEAR) * HUB_WEIGHT + beyond * HUB_BEYOND / (1 + beyond * HUB_DAMPING)


def connection(speaking: int, memories: int) -> float:
    """How well an entity connects that ``speaking`` of all ``memories`` speak of: 0 for one
    or for all, 1 for the square root of all."""
    if speaking <= 1 or speaking >= memories:
        return 0.0
    return 4 * math.log(speaking) * math.log(memories / speaking) / math.log(memories) ** 2


def entity_hub(entities: Sequence[int], memories: int) -> float:
    connected = sum(connection(speaking, memories) for speaking in entities)
    return ENTITY_LIMIT * connected / (1 + connected)


def mention(count: int) -> float:
    """0.08 a mention up to 5, then logarithmically."""
    beyond = max(0, count - MENTION_LINEAR)
    return min(count, MENTION_LINEAR) * MENTION_WEIGHT + MENTION_BEYOND * math.log(1 + beyond)


def temporal(event_in_days: int | None) -> float:
    """What is about to happen matters more; 1.0 for the past and for no event."""
    if event_in_days is None or event_in_days < 0:
        return 1.0
    return next((lift for days, lift in TEMPORAL if event_in_days <= days), 1.0)


def trailoff(expired_days: float | None) -> float:
    """Falls linearly from 1 at expiry to 0 five calendar days later."""
    if expired_days is None:
        return 1.0
    return min(1.0, max(0.0, 1 - expired_days / TRAILOFF_DAYS))
