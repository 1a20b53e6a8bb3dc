"""The named places, organisations, works and people that a text speaks of: pure, no model.

Rules and gazetteers for Chinese and English, made to be sure rather than complete: an entity
joins memories, and a wrong one joins what has nothing to do with each other.
"""

from understanding.entities.named import LONGEST, Kind, Named
from understanding.entities.tagger import tag

__all__ = ["LONGEST", "Kind", "Named", "tag"]
