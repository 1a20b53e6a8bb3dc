"""The numbers of MIRA's formula for the importance of a memory, and their sources.

    raw = (value + hub + entity hub + mention + newness) × recency × temporal × trail-off
    importance = sigmoid(raw − 2), and exactly 0 once the trail-off is 0

Ages are activity days (days on which the end user wrote something), so that memories do not age
during a vacation; only the time until an event or an expiry is counted in calendar days.
``memories/jobs/rescore.sql`` is the formula; a property test keeps it equal to Python.

Decisions for points on which MIRA is silent or contradicts itself:

- **hub past 10 links**, and **mention**: the shapes and numbers of MIRA's own published
  source (taylorsatula/mira-OSS, ``lt_memory/scoring_formula.sql``).
- **entity hub**: MIRA adds up how many links each entity has, so the entity that is in every
  memory (the user's own town) counts most. Here an entity counts by how well it connects: not
  at all if one memory or every memory mentions it, and most half-way between on a
  logarithmic scale, as words of middle frequency are the most significant (H. P. Luhn, The
  Automatic Creation of Literature Abstracts, 1958). The sum is limited to the value of ten
  inbound links.
- **newness**: its formula (0.033 a day: 60 days to 0) and its remark (a grace period
  of 15 days) disagree; the formula is followed.
- **an event in the past** neither raises nor lowers the importance.
- **expired**: sigmoid(0 − 2) would leave 0.119; after the trail-off nothing is left.
- **inbound links**: all stated edges except those of ``NO_HUB``.
"""

from dataclasses import dataclass

VALUE_WEIGHT = 0.8
BASELINE_ACCESS_RATE = 0.02  # one access in 50 activity days
LEAST_AGE = 7  # activity days: the first accesses of a new memory are not yet a rate
MOMENTUM = 0.95  # what an activity day without access leaves of past accesses
RECENCY_DECAY = 0.015  # half after 67 activity days
NEWNESS, NEWNESS_DECAY = 2.0, 0.033
CENTRE = 2.0  # raw score of importance 0.5

HUB_LINEAR, HUB_WEIGHT = 10, 0.04
HUB_BEYOND, HUB_DAMPING = 0.02, 0.05  # the hub term stays below 0.8
MENTION_LINEAR, MENTION_WEIGHT, MENTION_BEYOND = 5, 0.08, 0.1
ENTITY_LIMIT = 0.4  # one perfectly connecting entity gives half of it

# Inbound edges that do not count: being replaced is no merit, a conflict has no direction, and
# the entity hub already counts shared names.
NO_HUB = ["supersedes", "conflicts", "shares_entity:%"]

# Calendar days until the event, up to and including -> multiplier; 0 is today.
TEMPORAL = ((1, 2.0), (7, 1.5), (14, 1.2))
TRAILOFF_DAYS = 5.0


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a memory's importance. ``by_formula`` is their result, in 0..1;
    ``importance`` is the value in force: ``fixed`` if that is not None."""

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
