"""Who is named in a text: candidate keys for one index lookup, then mentions from its hits.

:func:`candidate_keys` says under which keys the text might name someone; the index of a
user's names answers with entries; :func:`find_mentions` decides which of these the text
really means: each is as likely as its evidence says, the longest likely one wins. Nothing here
knows of a database.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from uuid import UUID

from accounts.reasons import Reason
from understanding.certainty import CLUE, LISTED, MEANT, SHARED
from understanding.learned import logistic
from understanding.lexicon import word_sets
from understanding.names import is_shared, lookup_keys
from understanding.people import references
from understanding.people.evidence import Evidence, Features, is_beside
from understanding.people.spans import Hit, find_hits
from understanding.same_person import relationships, text_overlap
from understanding.text_document import Document, read
from understanding.types import Entry, Mention, Person

# A longer text is a document: its beginning and its end are read.
_READ_HEAD, _READ_TAIL = 6000, 2000
_MAX_KEYS = 20000


def entries_of(people: Iterable[Person]) -> list[Entry]:
    """The index of ``people`` in memory: an entry for each of their keys."""
    return [Entry(key, person) for person in people for key in lookup_keys(person)]


def candidate_keys(text: str | Document) -> frozenset[str]:
    """Every key that ``text`` may hold: linear in its length, and capped for huge texts."""
    keys: dict[str, None] = {}
    for _, part in _parts(text):
        keys.update(dict.fromkeys(read(part).spellings))
    return frozenset(islice(keys, _MAX_KEYS))


def keys_in(text: str | Document) -> frozenset[str]:
    """The same, with the keys of the user's own phrases."""
    return candidate_keys(text) | references.keys_in(text)


def _parts(text: str | Document) -> list[tuple[int, str | Document]]:
    """What is read of ``text``, each part with where it begins."""
    whole = text if isinstance(text, str) else text.text
    if len(whole) <= _READ_HEAD + _READ_TAIL:
        return [(0, text)]
    return [(0, whole[:_READ_HEAD]), (len(whole) - _READ_TAIL, whole[-_READ_TAIL:])]


def find_mentions(text: str | Document, entries: Iterable[Entry]) -> list[Mention]:
    """The mentions in ``text`` of the people in ``entries``, by position: who is meant with a
    probability of ``certainty.MEANT`` at least. Where several people answer to the same
    words, each is returned with less confidence. Of a huge text the beginning and the end are
    read."""
    out: list[Mention] = []
    for offset, document, hits in hits_of(text, list(entries)):
        for found in mentions(document, hits):
            shifted = replace(found, start=found.start + offset, end=found.end + offset)
            out.append(shifted if offset else found)
    return out


def find_people(text: str | Document, entries: Sequence[Entry]) -> list[Mention]:
    """By position, the mentions of names, and of the user's own phrases where no name stands in
    them. A phrase takes the place of a role word or guess that stands in it."""

    def overlaps(one: Mention, others: Iterable[Mention]) -> bool:
        return any(one.start < other.end and other.start < one.end for other in others)

    found, phrases = find_mentions(text, entries), references.find(text, entries)
    sure = [mention for mention in found if mention.how in ("name", "alias")]
    phrases = [mention for mention in phrases if not overlaps(mention, sure)]
    rest = [mention for mention in found if not overlaps(mention, phrases)]
    return sorted([*rest, *phrases], key=lambda mention: mention.start)


def hits_of(
    text: str | Document, entries: Sequence[Entry]
) -> Iterator[tuple[int, Document, list[Hit]]]:
    """Each part that is read of ``text``: where it begins, and who may be meant in it."""
    for offset, part in _parts(text) if entries else ():
        document = read(part)
        yield offset, document, find_hits(document, entries)


def mentions(document: Document, hits: Sequence[Hit]) -> list[Mention]:
    """The mentions that ``hits`` amount to, by position, each person once a place. Where
    several people are likely at one place, each has less confidence."""
    evidence, weights = Evidence(document, hits), logistic("mention_model")
    scored = []
    for hit in hits:
        features = evidence.of(hit)
        probability = weights.probability(features)
        if hit.kind == "diminutive":
            probability = _of_short_form(document.norm[hit.start : hit.end], features, probability)
        scored.append((hit, probability))
    likely = decide(scored)
    out = []
    for (start, end), group in sorted(likely.items()):
        first, last = document.original(start, end)
        text = document.text[first:last]
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
    """The hits of at least MEANT by place, the longest first; none overlaps a longer
    one, the earlier wins a tie."""
    taken: dict[tuple[int, int], list[tuple[Hit, float]]] = {}
    longest = sorted(scored, key=lambda one: (one[0].start - one[0].end, one[0].start))
    for hit, probability in longest:
        if probability < MEANT:
            continue
        place = (hit.start, hit.end)
        if place not in taken and any(hit.start < end and start < hit.end for start, end in taken):
            continue
        taken.setdefault(place, []).append((hit, probability))
    return taken


def role_conflicts(text: str, mention: Mention) -> bool:
    """Whether a role beside the name says that someone else of that name is meant: 我同事张伟
    is not the 张伟 who is the user's uncle."""
    known = mention.person.relationship
    if not known:
        return False
    document = read(text)
    start, end = (bisect_left(document.offsets, at) for at in (mention.start, mention.end))
    beside = [word for word in document.roles if is_beside(document, word, start, end)]
    return any(not word.group for word in beside) and not any(
        relationships.may_be_one(document.norm[word.start : word.end], known) for word in beside
    )


def told_apart(
    message: str, mentions: Sequence[Mention], cards: Mapping[UUID, str]
) -> list[Mention]:
    """The mentions, without those of people whom a clue speaks against; who is left is as likely
    as if nobody else had the name."""
    places: dict[tuple[int, int], list[Mention]] = defaultdict(list)
    for mention in mentions:
        if isinstance(mention.reason, Reason) and mention.reason.code == "among_several":
            places[mention.start, mention.end].append(mention)
    out = list(mentions)
    for (start, end), several in places.items():
        other_words = text_overlap.read([f"{message[:start]} {message[end:]}"])
        chosen = _chosen(other_words, several, cards)
        if chosen is not None and isinstance(chosen.reason, Reason):
            sure = min(0.99, round(chosen.confidence * len(several) ** 0.5, 3))
            alone = replace(chosen, confidence=sure, reason=chosen.reason.params["reason"])
            out[out.index(chosen)] = alone
            out = [mention for mention in out if mention not in several]
    return out


def _chosen(
    message_words: text_overlap.Words, several: Sequence[Mention], cards: Mapping[UUID, str]
) -> Mention | None:
    """Whose card alone has words of the message."""
    card_words = {
        mention: text_overlap.read(
            [cards[mention.person.id], mention.person.relationship],
            without=(mention.person.name, *mention.person.aliases),
        )
        for mention in several
    }
    weights = {}
    for mention, words in card_words.items():
        others = [other for each, other in card_words.items() if each is not mention]
        shared = words.keys() & message_words.keys()
        own = [word for word in shared if not any(word in other for other in others)]
        weights[mention] = sum(message_words[word] for word in own)
    telling = [mention for mention, weight in weights.items() if weight >= CLUE]
    return telling[0] if len(telling) == 1 and len(several) > 1 else None
