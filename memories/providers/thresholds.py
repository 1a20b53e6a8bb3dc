"""What the cosines of each embedding model mean: from which on two texts are near, or are the same.

A threshold on a cosine holds only for the model on whose vectors it was read off. All of them stand
here, but the weights of relevance, which were learnt (``search/relevance.json``)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cosines of one model, by what is decided on them."""

    # Shown to the provider as what a new memory may repeat or contradict.
    comparable: float
    # Two memories may be joined: compared word by word, proposed and reviewed.
    near_duplicate: float
    # Two memories may be related, with what else speaks for it added to their cosine.
    related: float
    shared_person: float
    shared_entity: float
    same_talk: float
    # The extraction bench: a stored memory says what a gold one says; makes a forbidden claim.
    bench_found: float
    bench_forbidden: float


# near_duplicate: of invented pairs, those that say the same lie at 0.93 to 1.0, those that differ
# in a number, a name or a "not" at 0.92 to 1.0, other matters of one person at 0.78 to 0.93.
# related: what shares nothing lies near 0.75, cause and effect (a lost job, a low mood) hardly
# higher. bench_…: the formats of the gold sets fix them.
_E5_SMALL = Calibration(
    comparable=0.85,
    near_duplicate=0.9,
    related=0.84,
    shared_person=0.03,
    shared_entity=0.03,
    same_talk=0.02,
    bench_found=0.88,
    bench_forbidden=0.92,
)
# For any other model, measured on none. Most spread their cosines wider than E5: what only chooses
# what somebody else judges lets more through, what decides by itself stays as strict.
UNCALIBRATED = replace(_E5_SMALL, comparable=0.6, near_duplicate=0.85, related=0.6)
CALIBRATIONS: Mapping[str, Calibration] = {LOCAL_MODEL: _E5_SMALL}


def calibration_of(model: str) -> Calibration:
    """The row of a model, or that of any other."""
    return CALIBRATIONS.get(model, UNCALIBRATED)
