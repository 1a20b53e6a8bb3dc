"""Merge suggestions of an end user, and the few merges that need no asking."""

from dataclasses import dataclass
from datetime import datetime

from accounts.models import EndUser
from contacts.merge import InvalidMerge
from contacts.resolution import suggestions
from memories.corrections import merge_contacts
from memories.providers.calibration import calibration_of
from memories.providers.factory import embedder

ACTOR = "suggestions"


@dataclass(frozen=True, slots=True)
class Figures:
    """How many contacts were read, pairs compared, suggestions made or kept, withdrawn, and
    pairs merged at once because a memory states that they are one person."""

    contacts: int
    compared: int
    suggested: int
    withdrawn: int
    merged: int


def suggest_merges(end_user: EndUser, since: datetime | None = None) -> Figures:
    """Runs the suggestion job for one end user; see :func:`contacts.resolution.suggestions.suggest`."""
    strangers = calibration_of(embedder().model).strangers
    outcome = suggestions.suggest(end_user, since, strangers)
    merged = 0
    for pair, statement in outcome.explicit:
        survivor, loser = suggestions.survivor_first(end_user, pair)
        try:
            merge_contacts.merge(end_user, loser, survivor, actor=ACTOR, why=statement)
        except InvalidMerge:
            # Merged with another of the same run, changed meanwhile, or parted by an undo.
            continue
        merged += 1
    return Figures(outcome.contacts, outcome.compared, outcome.suggested, outcome.withdrawn, merged)
