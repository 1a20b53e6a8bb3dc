"""How important a memory is: the numbers of MIRA's formula, and what they rest on.

    raw = (value + hub + entity hub + mention + newness) × recency × temporal × trail-off
    importance = sigmoid(raw − 2), and exactly 0 once the trail-off is 0

Ages are activity days (days on which the end user wrote something), so that a vacation makes
nothing old; only what an event or an expiry is away is counted in calendar days.
``memories/jobs/rescore.sql`` is the formula; a property test keeps it equal to Python.

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
NO_HUB = ["supersedes", "conflicts", "shares_entity:%"]

# Calendar days until the event, up to and including -> multiplier; 0 is today.
TEMPORAL = ((1, 2.0), (7, 1.5), (14, 1.2))
TRAILOFF_DAYS = 5.0


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
