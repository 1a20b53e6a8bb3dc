"""From hits to mentions: each is as likely as its evidence says, the longest likely one wins."""

from bisect import bisect_left
from collections.abc import Sequence

from accounts.reasons import Reason
from understanding.learned import logistic
from understanding.lexicon import word_sets
from understanding.names import is_shared
from understanding.people.annotation import Reading
from understanding.people.evidence import Evidence, Features, is_beside
from understanding.people.spans import Hit
from understanding.same_person import relationships
from understanding.types import Mention

# The probability from which a hit is a mention. Exact cases are as many from 0.4 to 0.7 on authors
# held out; a higher one trades a seventh of the wrong mentions for a twentieth of the right.
THRESHOLD = 0.5
# Of a short form that the table of names lists, written as a name: the corpus has too few for the
# model to learn that Bill is one. One of several names (Sam: Samuel, Samantha) is less sure.
LISTED, SHARED = 0.6, 0.55


def mentions(reading: Reading, hits: Sequence[Hit]) -> list[Mention]:
    """The mentions that ``hits`` amount to, by position, each person once a place. Where
    several people are likely at one place, each has less confidence."""
    evidence, weights = Evidence(reading, hits), logistic("mention_model")
    scored = []
    for hit in hits:
        features = evidence.of(hit)
        probability = weights.probability(features)
        if hit.kind == "diminutive":
            probability = _of_short_form(reading.norm[hit.start : hit.end], features, probability)
        scored.append((hit, probability))
    likely = decide(scored)
    out = []
    for (start, end), group in sorted(likely.items()):
        first, last = reading.original(start, end)
        text = reading.text[first:last]
        for hit, probability in group:
            reason = hit.reason
            if len(group) > 1 and not (hit.role and hit.role.group):
                reason = Reason("among_several", reason=reason, count=len(group))
                probability /= len(group) ** 0.5
            confidence = round(probability, 3)
            out.append(Mention(hit.person, first, last, text, hit.how, confidence, reason))
    return out


def _of_short_form(short: str, features: Features, probability: float) -> float:
    """The probability that a listed short form means the person: at least LISTED where its capital
    makes it a name and nobody else answers to it better, at most SHARED for one of several names."""
    capital = (
        "name, capital" in features and short not in word_sets("context_en")["capital_neighbours"]
    )
    start = "name, capital at the start" in features and features["part: no word"]
    if (capital or start) and "another fits better" not in features:
        probability = max(probability, LISTED)
    return min(probability, SHARED) if is_shared(short) else probability


def decide(scored: Sequence[tuple[Hit, float]]) -> dict[tuple[int, int], list[tuple[Hit, float]]]:
    """The hits of at least THRESHOLD by place, the longest first; none overlaps a longer
    one, the earlier wins a tie."""
    taken: dict[tuple[int, int], list[tuple[Hit, float]]] = {}
    longest = sorted(scored, key=lambda one: (one[0].start - one[0].end, one[0].start))
    for hit, probability in longest:
        if probability < THRESHOLD:
            continue
        place = (hit.start, hit.end)
        if place not in taken and any(hit.start < end and start < hit.end for start, end in taken):
            continue
        taken.setdefault(place, []).append((hit, probability))
    return taken


def is_gainsaid(text: str, mention: Mention) -> bool:
    """Whether a role beside the name says that someone else of that name is meant: 我同事张伟
    is not the 张伟 who is the user's uncle."""
    known = mention.person.relationship
    if not known:
        return False
    reading = Reading(text)
    start, end = (bisect_left(reading.offsets, at) for at in (mention.start, mention.end))
    beside = [word for word in reading.roles if is_beside(reading, word, start, end)]
    return any(not word.group for word in beside) and not any(
        relationships.may_be_one(reading.norm[word.start : word.end], known) for word in beside
    )
