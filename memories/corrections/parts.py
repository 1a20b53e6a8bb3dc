"""What of a memory belongs to a piece of it, and what several memories have together."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from contacts.normal import normalise
from memories.models import Memory
from memories.providers.offline.text import sentences
from memories.search import concepts
from memories.search.tokens import query_tokens

Facts = Sequence[Mapping[str, Any]]

# A sentence of the quote is a piece's own when it has so much of the piece's words.
QUOTED = 0.5


def facts_of(
    facts: Facts, pieces: Sequence[Memory], about: Mapping[UUID, Collection[UUID]]
) -> Iterator[tuple[Memory, list[dict[str, Any]]]]:
    """Each piece with the facts whose value it holds; a fact about a person only where the
    piece is about them."""
    for piece in pieces:
        text = _plain(piece.content)
        yield (
            piece,
            [
                dict(fact)
                for fact in facts
                if _plain(str(fact["value"])) in text
                and (not fact["person"] or UUID(fact["person"]) in about[piece.id])
            ],
        )


def give_times(whole: Memory, pieces: Sequence[Memory]) -> None:
    """When the whole takes place is when those pieces (unsaved) do that speak of a time, or
    all where none does."""
    timed = [piece for piece in pieces if concepts.has_time(normalise(piece.content))]
    for piece in timed or pieces:
        piece.happens_at = whole.happens_at


def quote_of(quote: str, text: str) -> str:
    """The sentence of ``quote`` that a piece rests on: the one that shares most words with
    it, where that is enough; else nothing."""
    wanted = set(query_tokens(text))
    spans = sentences(quote)
    if len(spans) < 2:
        return quote
    best, shared = "", 0.0
    for sentence in spans:
        words = set(query_tokens(sentence.text))
        share = len(words & wanted) / max(1, min(len(words), len(wanted)))
        if share > shared:
            best, shared = f"{sentence.text}{sentence.end_mark}", share
    # The words as they stand in the message, or none.
    return best if shared >= QUOTED and best in quote else ""


def united_facts(facts: Iterable[Facts]) -> list[dict[str, Any]]:
    """All facts of several memories, the same one once."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for fact in (fact for several in facts for fact in several):
        key = (fact["person"], fact["key"], _plain(str(fact["value"])))
        found.setdefault(key, dict(fact))
    return list(found.values())


def _plain(text: str) -> str:
    return " ".join(normalise(text).split())
