"""Of several people whom one name may mean: who is meant by the other words of the message, where
only the card of one of them has them (a job, a place, a partner, what they are known to do)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from accounts.reasons import Reason
from understanding.same_person import text_overlap
from understanding.types import Mention

# The weight of words from which they are a clue: one that is not among the commonest.
LEAST = 0.6


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
    telling = [mention for mention, weight in weights.items() if weight >= LEAST]
    return telling[0] if len(telling) == 1 and len(several) > 1 else None
