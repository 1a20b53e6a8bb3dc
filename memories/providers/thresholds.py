"""Thresholds on cosines for each embedding model: above which two texts are similar, or the same.

A threshold is valid only for the model on whose vectors it was measured. All of them are here,
except the weights of relevance, which were learnt (``search/relevance.json``)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class Calibration:
    """Thresholds on the cosines of one model, by the decision that uses them."""

    # A stored memory is shown to the provider as one that a new memory may repeat or contradict.
    comparable: float
    # Two memories may be joined: compared word by word, proposed and reviewed.
    near_duplicate: float
    # Two memories may be related; the next three values are added to their cosine where they apply.
    related: float
    shared_person: float
    shared_entity: float
    same_talk: float


# near_duplicate: invented pairs with the same meaning lie at 0.93 to 1.0, those that differ in a
# number, a name or a "not" at 0.92 to 1.0, other matters of one person at 0.78 to 0.93.
# related: pairs with nothing in common lie near 0.75, cause and effect (a lost job, a low mood)
# hardly higher.
_E5_SMALL = Calibration(
    comparable=0.85,
    near_duplicate=0.9,
    related=0.84,
    shared_person=0.03,
    shared_entity=0.03,
    same_talk=0.02,
)
# For any other model; measured on none. Most spread their cosines wider than E5, so thresholds that
# only select candidates for a judge are lower; those that decide by themselves stay as strict.
UNCALIBRATED = replace(_E5_SMALL, comparable=0.6, near_duplicate=0.85, related=0.6)
CALIBRATIONS: Mapping[str, Calibration] = {LOCAL_MODEL: _E5_SMALL}


def calibration_of(model: str) -> Calibration:
    """Returns the thresholds of a model, or UNCALIBRATED if it was not measured."""
    return CALIBRATIONS.get(model, UNCALIBRATED)
