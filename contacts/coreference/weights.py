"""The numbers of pronoun resolution. The weights of features, with their sources, are the table
pronoun_weights.toml; [D]: tuned on development conversations."""

from collections.abc import Mapping
from typing import Final

from contacts.lexicon import table

_TABLE = table("pronoun_weights")

SCORE: Final[Mapping[str, float]] = _TABLE["score"]
# What each turn back leaves of the weight of recency.
DECAY: Final = 0.8

# Nearer than this, and alike in turn and role, two can't be told apart: all are meant. [D]
TIE: Final = 0.35
# A denied one is meant only when this much speaks for it all the same.
DENIED_AT_LEAST: Final = 2.5
# By how much the best of the last session must lead there.
CLEAR_ACROSS_SESSIONS: Final = 0.25

# A mention this sure is a name; a role word found as less may still point back (医生).
NAME_FROM: Final = 0.8

# What is read at most: turns, and of each its beginning.
HISTORY_TURNS: Final = 12
LAST_SESSION_TURNS: Final = 8
MESSAGE_CHARACTERS: Final = 2000
HISTORY_CHARACTERS: Final = 600
# Words that point to somebody, in one turn.
MOST_STEPS: Final = 100
# How far on either side within a clause words are said of someone; few clauses are so long.
CLUE_REACH: Final = 50

REACH: Final[Mapping[str, int]] = _TABLE["reach"]

CONFIDENCE: Final[Mapping[str, float]] = _TABLE["confidence"]
LESS: Final[Mapping[str, float]] = _TABLE["less"]
# A rival this near makes the choice less sure; a referent this many turns back, too.
RIVAL_WITHIN: Final = 1.0
FAR_FROM: Final = 5

ZERO: Final[Mapping[str, float]] = _TABLE["zero"]
# Enough when the person was the last subject; otherwise one more is needed.
ZERO_FROM: Final = 1.0
ZERO_NOT_SUBJECT: Final = 1.0
# What begins with a noun and is longer is no mere answer.
ANSWER_CHARACTERS: Final = 24
