"""How near two people's vectors are, against how near those of strangers are."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, pstdev

import numpy as np

from contacts.resolution.records import Record
from contacts.types import Strangers

# By language.
Background = Mapping[str, Strangers]
UNKNOWN: Background = {}
# Fewer pairs than this don't make a background of their own.
_ENOUGH = 200
# Each person is compared with those so many places on, up to so many people.
_STRIDES, _SAMPLE = (1, 7, 31), 1000


def nearness(first: Record, second: Record, background: Background) -> float:
    """How many deviations the two are nearer than strangers; 0 without vectors, or when the
    two are described in different languages."""
    strangers = background.get(first.language)
    if first.language != second.language or strangers is None:
        return 0.0
    if first.vector is None or second.vector is None:
        return 0.0
    cosine = float(np.dot(np.asarray(first.vector), np.asarray(second.vector)))
    return (cosine - strangers.mean) / strangers.deviation


def background_of(records: Sequence[Record], default: Background) -> Background:
    """The background of a user's own people by language; the default where they are few."""
    found = dict(default)
    for language in {record.language for record in records} - {""}:
        cosines = list(_cosines([r for r in records if r.language == language]))
        if len(cosines) >= _ENOUGH:
            found[language] = Strangers(fmean(cosines), pstdev(cosines) or 1.0)
    return found


def _cosines(records: Sequence[Record]) -> Iterator[float]:
    vectors = [np.asarray(r.vector) for r in records if r.vector is not None][:_SAMPLE]
    for stride in _STRIDES:
        for one, other in zip(vectors, vectors[stride:], strict=False):
            yield float(np.dot(one, other))
