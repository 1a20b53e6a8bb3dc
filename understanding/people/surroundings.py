"""The words around a place of a text, as classes."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property

from understanding.document import Document, Token
from understanding.lexicon import word_sets, words
from understanding.names import surname_of
from understanding.segmentation import NAME_FREQUENCY, Word
from understanding.text import is_cjk, is_han

# How far before and behind a place Chinese is cut into words.
_REACH = 12


@cache
def _groups_of(language: str) -> Mapping[str, tuple[str, ...]]:
    """The groups of context_zh or context_en by word."""
    found: dict[str, tuple[str, ...]] = {}
    for name, entries in word_sets(f"context_{language}").items():
        for word in entries:
            found[word] = (*found.get(word, ()), name)
    return found


class Surroundings:
    """Of the places of one text; ``names`` are the Chinese names in question there, ``named``
    where any name is."""

    def __init__(self, document: Document, names: Collection[str], named: Collection[int]) -> None:
        self._reading, self._named = document, named
        self._names = dict.fromkeys(names, float(NAME_FREQUENCY))

    def han(self, start: int, end: int) -> Iterator[str]:
        """What stands around a place in Chinese."""
        before, after = self.before(start), self.after(end)
        classes = _groups_of("zh").get(before.text, ()) if before else ()
        if before is None:
            yield "clause begins"
        elif not classes:
            yield f"tag before: {before.tag[:1] or 'none'}"
        yield f"tag after: {after.tag[:1] or 'none'}" if after else "clause ends"
        if before is None and after is None:
            yield "alone in its clause"
        if before:
            yield from (f"before: {name}" for name in classes)
            if before.text in words("surnames", "single"):
                yield "a surname before"
        if after:
            yield from (f"after: {name}" for name in _groups_of("zh").get(after.text, ()))
            yield from self._goes_on(start, end, after)
        if all(map(is_han, self._reading.norm[start:end])):
            yield from self._word_edges(start, end)

    def before(self, start: int) -> Word | None:
        """The word of Han that ends at ``start``."""
        if start == 0 or not is_han(self._reading.norm[start - 1]):
            return None
        low = max(self._reading.stretch(start - 1, start)[0], start - _REACH)
        return self._reading.cut(low, start, {})[-1]

    def after(self, end: int) -> Word | None:
        """The word of Han that begins at ``end``."""
        if end >= len(self._reading.norm) or not is_han(self._reading.norm[end]):
            return None
        high = min(self._reading.stretch(end, end + 1)[1], end + _REACH)
        return self._reading.cut(end, high, {})[0]

    def _goes_on(self, start: int, end: int, after: Word) -> Iterator[str]:
        norm, classes = self._reading.norm, _groups_of("zh")
        if "given_tail" in classes.get(after.text[0], ()) and surname_of(norm[start:end]):
            yield "a given name may go on"
        if norm.startswith("的", end):
            thing = self.after(end + 1)
            owned = thing is not None and "possessions" in classes.get(thing.text, ())
            yield "a person's thing after" if owned else "some thing after"

    def _word_edges(self, start: int, end: int) -> Iterator[str]:
        """How the place lies to the words of the text, cut without the names and with them."""
        stretch = self._reading.stretch(start, end)
        inside = [
            word for word in self._cut(*stretch, False) if start < word.end > word.start < end
        ]
        left, right = inside[0].start < start, inside[-1].end > end
        if len(inside) == 1 and (left or right):
            yield "inside a word"
        elif left:
            yield "a word crosses its beginning"
        if len(inside) > 1 and right:
            yield "a word crosses its end"
        edges = {edge for word in self._cut(*stretch, True) for edge in (word.start, word.end)}
        if not {start, end} <= edges:
            yield "no word among names"
        if end - start == 1:
            yield "one character"

    @cached_property
    def _cuts(self) -> dict[tuple[int, int, bool], list[Word]]:
        return {}

    def _cut(self, low: int, high: int, named: bool) -> list[Word]:
        place = (low, high, named)
        if place not in self._cuts:
            self._cuts[place] = self._reading.cut(low, high, self._names if named else {})
        return self._cuts[place]

    def latin(self, start: int, end: int) -> Iterator[str]:
        """What stands around a place in a spaced script."""
        tokens = self._reading.tokens
        inside = [at for at, one in enumerate(tokens) if one.start < end and start < one.end]
        if not inside:
            return
        first, last = inside[0], inside[-1]
        yield self._case(first, tokens[first])
        if tokens[last].possessive:
            yield "possessive"
        before, after = self._reading.before(first), self._reading.after(last)
        if before is None and after is None:
            yield "alone in its clause"
        yield from self._word_before(before)
        if before and self._inverted(first - 1):
            yield "subject of a question"
        yield from self._word_after(after, end)
        left, right = self._reading.norm[start - 1 : start], self._reading.norm[end : end + 1]
        if left in ("-", "_", "#", "/") or right in ("-", "_"):
            yield "glued"
        if left == "@":
            yield "at sign"

    def _case(self, first: int, token: Token) -> str:
        if not self._reading.cased:
            return "no case"
        if not token.capital:
            return "lower case"
        return "capital at the start" if self._reading.starts_sentence(first) else "capital"

    def _word_before(self, before: Token | None) -> Iterator[str]:
        if before is None:
            yield "phrase begins"
            return
        yield from self._neighbour(before, "before")
        if before.possessive:
            yield "possessive before"

    def _inverted(self, at: int) -> bool:
        """Whether an auxiliary at a token opens a question: is …, how did …"""
        tokens = self._reading.tokens
        if "auxiliaries" not in _groups_of("en").get(tokens[at].key, ()):
            return False
        asks = at and "question_words" in _groups_of("en").get(tokens[at - 1].key, ())
        return bool(asks) or self._reading.starts_sentence(at)

    def _word_after(self, after: Token | None, end: int) -> Iterator[str]:
        if after is None:
            rest = self._reading.norm[end : end + 2].strip()
            if rest and is_cjk(rest[0]):
                yield "Chinese after"
            return
        yield from self._neighbour(after, "after")
        given = after.key in words("given_names")
        if given:
            yield "given name after"
        if not given and after.key not in words("english_words") and after.start not in self._named:
            yield "rare word after"
        if after.key.endswith("ed") and len(after.key) > 4:
            yield "past tense after"

    def _neighbour(self, token: Token, where: str) -> Iterator[str]:
        classes = _groups_of("en").get(token.key, ())
        yield from (f"{where}: {name}" for name in classes)
        if token.capital and self._reading.cased and "capital_neighbours" not in classes:
            yield f"capital {where}"
        if token.key.isdigit():
            yield f"number {where}"
