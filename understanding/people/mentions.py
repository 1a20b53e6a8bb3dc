"""Finds the contacts in a text: candidate keys for one index lookup, then mentions from the hits.

:func:`candidate_keys` returns the keys that the text may contain; the index of a user's names
returns their entries; :func:`find_mentions` decides which of these the text refers to: each has a
learned probability, and the longest likely one wins. Nothing here uses a database.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from uuid import UUID

from accounts.reasons import Reason
from understanding.certainty import CLUE, LISTED, MENTION_THRESHOLD, SHARED
from understanding.learned import logistic
from understanding.lexicon import titles, word_sets, words
from understanding.names import is_shared, lookup_keys
from understanding.people import references
from understanding.people.evidence import Evidence, Features, is_beside
from understanding.people.spans import Hit, find_hits
from understanding.same_person import relationships, text_overlap
from understanding.same_person.name_similarity import has_other_full_name
from understanding.text_document import Document, read
from understanding.types import Entry, Mention, Person

# Of a longer text only the beginning and the end are read.
_READ_HEAD, _READ_TAIL = 6000, 2000
_MAX_KEYS = 20000


def entries_of(people: Iterable[Person]) -> list[Entry]:
    """Returns an index of ``people`` in memory: one entry per person and key."""
    return [Entry(key, person) for person in people for key in lookup_keys(person)]


def candidate_keys(text: str | Document) -> frozenset[str]:
    """Returns every name key that ``text`` may contain, at most ``_MAX_KEYS``, in linear time."""
    keys: dict[str, None] = {}
    for _, part in _parts(text):
        keys.update(dict.fromkeys(read(part).spellings))
    return frozenset(islice(keys, _MAX_KEYS))


def keys_in(text: str | Document) -> frozenset[str]:
    """Returns the candidate keys and the keys of the user's own phrases."""
    return candidate_keys(text) | references.keys_in(text)


def _parts(text: str | Document) -> list[tuple[int, str | Document]]:
    """Returns the parts of ``text`` that are read, each with its offset."""
    content = text if isinstance(text, str) else text.text
    if len(content) <= _READ_HEAD + _READ_TAIL:
        return [(0, text)]
    return [(0, content[:_READ_HEAD]), (len(content) - _READ_TAIL, content[-_READ_TAIL:])]


def find_mentions(text: str | Document, entries: Iterable[Entry]) -> list[Mention]:
    """Returns the mentions of the people in ``entries``, by position, with a probability of at
    least ``certainty.MENTION_THRESHOLD``. If several people share the same words, each has less
    confidence. Of a huge text the beginning and the end are read."""
    out: list[Mention] = []
    for offset, document, hits in hits_of(text, list(entries)):
        for mention in mentions(document, hits):
            shifted = replace(mention, start=mention.start + offset, end=mention.end + offset)
            out.append(shifted if offset else mention)
    return out


def find_people(text: str | Document, entries: Sequence[Entry]) -> list[Mention]:
    """Returns the mentions by name, role and the user's own phrases, by position. A phrase replaces
    mentions by role or guess that it overlaps, and is dropped if it overlaps a name or alias."""

    def overlaps(one: Mention, others: Iterable[Mention]) -> bool:
        return any(one.start < other.end and other.start < one.end for other in others)

    named, phrases = find_mentions(text, entries), references.find(text, entries)
    exact = [mention for mention in named if mention.how in ("name", "alias")]
    phrases = [mention for mention in phrases if not overlaps(mention, exact)]
    remaining = [mention for mention in named if not overlaps(mention, phrases)]
    return sorted([*remaining, *phrases], key=lambda mention: mention.start)


def hits_of(
    text: str | Document, entries: Sequence[Entry]
) -> Iterator[tuple[int, Document, list[Hit]]]:
    """Yields each part of ``text`` that is read: its offset, its document and its hits."""
    for offset, part in _parts(text) if entries else ():
        document = read(part)
        yield offset, document, find_hits(document, entries)


def mentions(document: Document, hits: Sequence[Hit]) -> list[Mention]:
    """Returns the mentions among ``hits``, by position, one per person and place. If several people
    are likely at a place, each has less confidence."""
    evidence, weights = Evidence(document, hits), logistic("mention_model")
    scored = []
    for hit in hits:
        features = evidence.of(hit)
        probability = weights.probability(features)
        if hit.kind == "diminutive":
            probability = _of_short_form(document.norm[hit.start : hit.end], features, probability)
        scored.append((hit, probability))
    likely = decide(scored)
    starts = {hit.start for hit in hits}
    out = []
    for (start, end), group in sorted(likely.items()):
        group = [one for one in group if not _in_other_full_name(document, one[0], starts)]
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


def _in_other_full_name(document: Document, hit: Hit, named: Collection[int]) -> bool:
    """Whether a word of a Latin name is in the full name of somebody else: the Hartnell of Olive
    Hartnell is not Edith Hartnell. ``named`` are the places where known names begin."""
    tokens, at = document.tokens, document.starts.get(hit.start)
    if at is None or tokens[at].end != hit.end:
        return False
    names, no_names = (hit.person.name, *hit.person.aliases), _no_names()
    for first, second in pairwise(tokens[max(at - 1, 0) : at + 2]):
        beside = second if first is tokens[at] else first
        if not (first.capital and second.capital) or beside.key in no_names or len(beside.key) == 1:
            continue
        is_name = beside.start in named or beside.key not in words("english_words")
        name, gap = document.raw[first.start : second.end], document.raw[first.end : second.start]
        if is_name and gap == " " and has_other_full_name(name, names):
            return True
    return False


@cache
def _no_names() -> frozenset[str]:
    """Returns words that have a capital before or after a name (Monday, Captain)."""
    return words("stopwords") | word_sets("context_en")["capital_neighbours"] | titles("en").keys()


def _of_short_form(short: str, features: Features, probability: float) -> float:
    """Returns the probability that a listed short form refers to the person: at least LISTED if its
    capital marks a name and nobody fits better, at most SHARED if it is short for several names."""
    is_capital = (
        "name, capital" in features and short not in word_sets("context_en")["capital_neighbours"]
    )
    is_at_start = "name, capital at the start" in features and features["part: no word"]
    if (is_capital or is_at_start) and "another fits better" not in features:
        probability = max(probability, LISTED)
    return min(probability, SHARED) if is_shared(short) else probability


def decide(scored: Sequence[tuple[Hit, float]]) -> dict[tuple[int, int], list[tuple[Hit, float]]]:
    """Returns the hits with a probability of at least MENTION_THRESHOLD by place; of places that
    overlap the longest one is kept, or the first of equally long ones."""
    taken: dict[tuple[int, int], list[tuple[Hit, float]]] = {}
    longest = sorted(scored, key=lambda one: (one[0].start - one[0].end, one[0].start))
    for hit, probability in longest:
        if probability < MENTION_THRESHOLD:
            continue
        place = (hit.start, hit.end)
        if place not in taken and any(hit.start < end and start < hit.end for start, end in taken):
            continue
        taken.setdefault(place, []).append((hit, probability))
    return taken


def role_conflicts(text: str, mention: Mention) -> bool:
    """Whether a role beside the name shows that another person of that name is meant: 我同事张伟 (my
    colleague Zhang Wei) is not the 张伟 who is the user's uncle."""
    stated = mention.person.relationship
    if not stated:
        return False
    document = read(text)
    start, end = (bisect_left(document.offsets, at) for at in (mention.start, mention.end))
    beside = [word for word in document.roles if is_beside(document, word, start, end)]
    return any(not word.group for word in beside) and not any(
        relationships.may_be_one(document.norm[word.start : word.end], stated) for word in beside
    )


def without_excluded_namesakes(
    message: str, mentions: Sequence[Mention], cards: Mapping[UUID, str]
) -> list[Mention]:
    """Returns the mentions without namesakes that a clue excludes: if one card alone shares words
    with the message, its person remains, with the confidence of a name that nobody else has."""
    places: dict[tuple[int, int], list[Mention]] = defaultdict(list)
    for mention in mentions:
        if isinstance(mention.reason, Reason) and mention.reason.code == "among_several":
            places[mention.start, mention.end].append(mention)
    out = list(mentions)
    for (start, end), several in places.items():
        other_words = text_overlap.read([f"{message[:start]} {message[end:]}"])
        chosen = _chosen_by_card(other_words, several, cards)
        if chosen is not None and isinstance(chosen.reason, Reason):
            confidence = min(0.99, round(chosen.confidence * len(several) ** 0.5, 3))
            alone = replace(chosen, confidence=confidence, reason=chosen.reason.params["reason"])
            out[out.index(chosen)] = alone
            out = [mention for mention in out if mention not in several]
    return out


def _chosen_by_card(
    message_words: text_overlap.Words, several: Sequence[Mention], cards: Mapping[UUID, str]
) -> Mention | None:
    """Returns the mention whose card alone has enough words of the message, or None."""
    card_words = {
        mention: text_overlap.read(
            [cards[mention.person.id], mention.person.relationship],
            without=(mention.person.name, *mention.person.aliases),
        )
        for mention in several
    }
    weights = {}
    for mention, on_card in card_words.items():
        others = [other for rival, other in card_words.items() if rival is not mention]
        shared = on_card.keys() & message_words.keys()
        own = [word for word in shared if not any(word in other for other in others)]
        weights[mention] = sum(message_words[word] for word in own)
    supported = [mention for mention, weight in weights.items() if weight >= CLUE]
    return supported[0] if len(supported) == 1 and len(several) > 1 else None
