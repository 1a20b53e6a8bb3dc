"""How important a memory is: the formula of MIRA, with every component visible.

    raw = (value + hub + entity hub + mention + newness) × recency × temporal × trail-off
    importance = sigmoid(raw − 2), and exactly 0 once the trail-off is 0

Ages are activity days (days on which the end user wrote something), so that a vacation makes
nothing old; only what an event or an expiry is away is counted in calendar days.
``memories.jobs.rescore`` holds the same formula as SQL; a property test keeps the two equal.

Where MIRA is silent or says two things:

- **hub past 10 links**, and **mention**: the shapes and numbers of MIRA's own published
  source (taylorsatula/mira-OSS, ``lt_memory/scoring_formula.sql``).
- **entity hub**: MIRA adds up how many links each entity has, so the entity that is in every
  memory (the user's own town) lifts most. Here an entity counts by how well it connects: not
  at all when one memory or every memory speaks of it, and most half-way between on a
  logarithmic scale, as words of middle frequency tell most about a text (H. P. Luhn, The
  Automatic Creation of Literature Abstracts, 1958). The sum has a limit: as much as ten
  inbound links.
- **newness**: its formula (0.033 a day: 60 days to 0) and its remark (a grace period
  of 15 days) disagree; the formula holds.
- **an event in the past** neither lifts nor lowers.
- **expired**: sigmoid(0 − 2) would leave 0.119; after the trail-off nothing is left.
- **inbound links**: stated edges but those of ``NO_HUB``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

VALUE_WEIGHT = 0.8
BASELINE_ACCESS_RATE = 0.02  # one access in 50 activity days
LEAST_AGE = 7  # activity days: a new memory's first accesses are no rate yet
MOMENTUM = 0.95  # what an activity day without access leaves of past accesses
RECENCY_DECAY = 0.015  # half after 67 activity days
NEWNESS, NEWNESS_DECAY = 2.0, 0.033
CENTRE = 2.0  # raw score of importance 0.5

HUB_LINEAR, HUB_WEIGHT = 10, 0.04
HUB_BEYOND, HUB_DAMPING = 0.02, 0.05  # the whole stays below 0.8
MENTION_LINEAR, MENTION_WEIGHT, MENTION_BEYOND = 5, 0.08, 0.1
ENTITY_LIMIT = 0.4  # one perfectly connecting entity gives half of it

# Inbound edges that make no hub: being replaced is no merit, a conflict has no direction, and
# what a name in common tells is the entity hub.
NO_HUB = ("supersedes", "conflicts", "shares_entity:%")

# Calendar days until the event, up to and including -> multiplier; 0 is today.
TEMPORAL = ((1, 2.0), (7, 1.5), (14, 1.2))
TRAILOFF_DAYS = 5.0


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


@dataclass(frozen=True, slots=True)
class Parts:
    """Each component of a memory's importance. ``by_formula`` is what they come to, in 0..1;
    ``importance`` is what holds: ``fixed`` where there is one."""

    effective_access: float
    value: float
    hub: float
    entity_hub: float
    mention: float
    newness: float
    recency: float
    temporal: float
    trailoff: float
    raw: float
    by_formula: float
    fixed: float | None
    importance: float


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
