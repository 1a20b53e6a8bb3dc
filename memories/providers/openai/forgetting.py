"""What a model says the user asked to forget, taken only where the user's own words ask.

Such a request hides memories at once and later erases them, so a model is not believed
alone: the words it quotes must stand in a user's turn, outside of anything quoted or pasted
there, and be of a kind that can ask.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from memories.providers.openai.schemas import ForgetOut
from memories.types import ExtractedMemory, ExtractedPerson, ForgetRequest, StoredMemory, Turn
from understanding.attributes import attribute_key
from understanding.requests.forget_reading import can_ask, takes_back
from understanding.statements.own_words import own_words, unquoted
from understanding.text import clean, folded

MAX_WORDS = 8
MAX_WORD = 40  # graphemes
MAX_KEYS = 5

# Fewer letters are in too many memories to say which is meant.
_DISTINCT = re.compile(r"[\u3400-\u9fff]{2}|[^\W\d_]{3}|\d{2}")


class ForgetReader:
    """The requests in one answer, and which of its memories they mean.

    ``turns``, ``refs`` and ``memories`` map the short ids of the prompt; ``heard`` is the
    conversation.
    """

    def __init__(
        self,
        turns: Mapping[int, Turn],
        new_turn_ids: Collection[int],
        heard: str,
        refs: Mapping[str, str],
        people: Mapping[str, ExtractedPerson],
        memories: Mapping[str, StoredMemory],
    ) -> None:
        self._turns = turns
        self._new = new_turn_ids
        self._heard = heard
        self._refs = refs
        self._people = people
        self._memories = memories
        self._order = {turn.id: number for number, turn in turns.items()}
        self._dropped: list[frozenset[int]] = []
        self._whole: dict[str, int] = {}

    @property
    def everything(self) -> set[str]:
        """The refs of people about whom everything is to be forgotten."""
        return set(self._whole)

    def read(self, items: Iterable[ForgetOut]) -> tuple[ForgetRequest, ...]:
        """The requests that rest on a new turn of the user and mean something certain."""
        return tuple(found for item in items if (found := self._request(item)))

    def means(self, memory: ExtractedMemory) -> bool:
        """Whether one of the requests read means this memory of the same answer."""
        rests_on = set(memory.turn_ids)
        if any(rests_on <= dropped for dropped in self._dropped):
            return True
        last = max(self._order[turn_id] for turn_id in rests_on)
        return any(last <= self._whole.get(ref, 0) for ref in memory.people)

    def _request(self, out: ForgetOut) -> ForgetRequest | None:
        asked = self._turns.get(out.asked_in)
        if asked is None or asked.id not in self._new or not _asks(asked, out.quote):
            return None
        ref = self._refs.get(out.person)
        if ref is None:  # somebody who was never shown: not to be taken as the user
            return None
        turn_ids = tuple(self._turns[n].id for n in dict.fromkeys(out.turns) if n in self._turns)
        memory_ids = tuple(
            self._memories[short].id
            for short in dict.fromkeys(out.memories)
            if short in self._memories
        )
        words, keys = self._matter(out, bool(memory_ids))
        person = self._people.get(ref)
        contact_id = None
        if person is not None:
            whole = out.everything
            if whole:
                self._whole[ref] = out.asked_in
            if not (whole or words or keys or turn_ids or memory_ids):
                return None
            contact_id = person.contact_id if whole or words or keys else None
            if person.contact_id is None and (words or keys or whole or not memory_ids):
                # Met in this batch: what was kept of them earlier is found by their names.
                words, keys = (person.name, *person.aliases, *words), ()
        if not (contact_id or words or keys or turn_ids or memory_ids):
            return None
        if turn_ids:
            self._dropped.append(frozenset(turn_ids))
        return ForgetRequest(
            contact_id, words, keys[:MAX_KEYS], turn_ids, asked.id, memory_ids=memory_ids
        )

    def _matter(self, out: ForgetOut, is_known: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words and attributes of what is meant; none where all of somebody is, or where the
        model names the memories, which says it exactly."""
        if is_known or (out.everything and self._people.get(self._refs.get(out.person, ""))):
            return (), ()
        keys = dict.fromkeys(key for text in out.keys if (key := attribute_key(text)))
        return self._words(out.words), tuple(keys)

    def _words(self, words: Iterable[str]) -> tuple[str, ...]:
        """Distinctive words that somebody used in the conversation."""
        found = {folded(text): text for word in words if (text := clean(word, MAX_WORD))}
        said = [text for key, text in found.items() if key in self._heard and _DISTINCT.search(key)]
        return tuple(said[:MAX_WORDS])


def _asks(turn: Turn, quote: str) -> bool:
    """Whether the user's turn holds ``quote`` and its own words there can ask."""
    words = quote.strip().strip("\"'“”‘’「」…").strip()
    if turn.role != "user" or not words:
        return False
    start = own_words(turn.content).find(words)
    said = unquoted(turn.content)
    return start >= 0 and can_ask(said[start : start + len(words)]) and not takes_back(said[start:])
