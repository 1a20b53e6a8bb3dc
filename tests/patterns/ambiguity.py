"""Whether a backtracking engine can be made to try the same text in many ways.

A pattern becomes an automaton whose states are the characters that it asks for. Two ways round
a loop by the same word double with each turn (exponential); a word that one loop can hand to
another at any point has as many ways as places to do so (polynomial). Both are properties of
products of the automaton with itself: Weideman et al., "Analyzing Matching Time Behavior of
Backtracking Regular Expression Matchers by Using Ambiguity of NFA", CIAA 2016.

A third product is that of "any text, then the pattern" (what ``search``, ``sub`` and ``finditer``
try) where the loop may fail: ``<a.*?>`` reads to the end of the text from each of many ``<a``.

What is not seen: conditions (``\\b``, lookarounds; a loop within one is judged on its own) count
as fulfilled, so that a pattern may be thought worse than it is. An atomic group or possessive
repeat, which is never entered again, counts as one character of those that it can begin with.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import product
from operator import or_
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Items = Sequence[tuple[Any, Any]]
# A repeat with a higher limit counts as having none; below it, two rounds stand for many.
_UNBOUNDED = 64
_SEARCHED = 5000
_TYPICAL = "aZ09 _-!.,'\"\n\0中的，。：é'—"
_PROPERTY = re.compile(r"\\([pP])\{([\w=]+)\}|\\X")
_STANDS_FOR = {"Han": "一-龥", "Lu": "A-Z", "Ll": "a-z", "L": "A-Za-zé一-龥", "Latin": "A-Za-zé",
               "Z": " ", "N": "0-9", "Nd": "0-9"}  # fmt: skip
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    c.CATEGORY_DIGIT: str.isdigit,
    c.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    c.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    c.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def blowup(pattern: Any) -> str:
    """ "exponential", "polynomial", or "" for a compiled pattern of ``re`` or ``regex`` that
    needs no more than so many steps a character from one beginning."""
    worst = ""
    for items, flags in _parts(pattern):
        automaton = _Automaton(items, flags)
        if automaton.is_exponential():
            return "exponential"
        if automaton.is_polynomial():
            worst = "polynomial"
    return worst


def searches_in_square(pattern: Any) -> bool:
    """Whether searching a text for the pattern may read to its end from each of many beginnings."""
    items, flags = next(_parts(pattern))
    return any(
        _Search(alternative, flags).is_polynomial() for alternative in _alternatives(list(items))
    )


def _alternatives(items: list[Any]) -> Iterator[list[Any]]:
    """Those of a pattern that begins with alternatives, each alone."""
    op, given = items[0] if items else (None, None)
    if op is c.SUBPATTERN:
        yield from _alternatives([*given[3], *items[1:]])
    elif op is c.BRANCH:
        for branch in given[1]:
            yield from _alternatives([*branch, *items[1:]])
    else:
        yield items


def _parts(pattern: Any) -> Iterator[tuple[Items, int]]:
    """A pattern and what it looks ahead and back at, parsed."""
    source, flags = pattern.pattern, pattern.flags & (re.I | re.M | re.S | re.X)
    if isinstance(source, bytes):
        source = source.decode("latin-1")
    if not isinstance(pattern, re.Pattern):
        source = re.sub(r"\(\?P<\w+>", "(", _PROPERTY.sub(_as_class(source), source))
    tree = parser.parse(source, flags)
    waiting: list[Items] = [tree]
    while waiting:
        items = waiting.pop()
        yield items, tree.state.flags
        waiting += _looks(items)


def _as_class(source: str) -> Callable[[re.Match[str]], str]:
    def written(match: re.Match[str]) -> str:
        chars = _STANDS_FOR.get(match[2] or "L", "\0")
        before = re.sub(r"\\.", "", source[: match.start()])
        inside = before.rfind("[") > before.rfind("]")
        return chars if inside else f"[{'^' if match[1] == 'P' else ''}{chars}]"

    return written


def _looks(items: Items) -> Iterator[Items]:
    for op, given in items:
        if op in (c.ASSERT, c.ASSERT_NOT):
            yield given[1]
        elif op is c.ATOMIC_GROUP:
            yield given
        elif op is c.POSSESSIVE_REPEAT:
            yield given[2]
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT):
            yield from _looks(given[2])
        elif op is c.SUBPATTERN:
            yield from _looks(given[3])
        elif op is c.BRANCH:
            for branch in given[1]:
                yield from _looks(branch)


class _Automaton:
    """``letters`` of a state are a set of sample characters as bits, 0 where it only passes on
    to ``after`` (several are alternatives)."""

    def __init__(self, items: Items, flags: int) -> None:
        self._flags = flags
        chars = set(_TYPICAL) | set(_chars(items))
        chars |= {char.swapcase() for char in chars if char.isascii()}
        self._bits = {char: 1 << place for place, char in enumerate(sorted(chars))}
        self._all = (1 << len(self._bits)) - 1
        self._masks: dict[Any, int] = {}
        self.letters: list[int] = [0]
        self.after: list[list[int]] = [[]]
        self._loops: list[list[int]] = []
        self._entered: dict[int, dict[int, int]] = {}
        self.start = self._sequence(items, 0)

    def _node(self, letters: int, after: list[int]) -> int:
        self.letters.append(letters)
        self.after.append(after)
        return len(self.letters) - 1

    def _sequence(self, items: Items, then: int) -> int:
        for op, given in reversed(items):
            then = self._item(op, given, then)
        return then

    def _item(self, op: Any, given: Any, then: int) -> int:
        if op in (c.MAX_REPEAT, c.MIN_REPEAT):
            least, most, body = given
            return self._repeat(least, most, body, then)
        if op is c.POSSESSIVE_REPEAT:
            return self._once(given[2], then, optional=given[0] == 0)
        if op is c.ATOMIC_GROUP:
            return self._once(given, then)
        if op is c.SUBPATTERN:
            return self._sequence(given[3], then)
        if op is c.BRANCH:
            return self._node(0, [self._sequence(branch, then) for branch in given[1]])
        if op in (c.AT, c.ASSERT, c.ASSERT_NOT, c.GROUPREF, c.GROUPREF_EXISTS, c.FAILURE):
            return then
        return self._node(self._letters(op, given), [then])

    def _repeat(self, least: int, most: Any, body: Items, then: int) -> int:
        if most == c.MAXREPEAT or most >= _UNBOUNDED:
            return self._loop(least, body, then)
        for _ in range(int(most > least)):
            then = self._node(0, [self._sequence(body, then), then])
        for _ in range(min(least, 2)):
            then = self._sequence(body, then)
        return then

    def _loop(self, least: int, body: Items, then: int) -> int:
        hub, loops = self._node(0, []), len(self._loops)
        inside = self._sequence(body, hub)
        # Loops within it belong to it: all of its states lead to each other.
        del self._loops[loops:]
        self._loops.append(self._states(hub))
        self.after[hub] = [inside, then]
        return inside if least else hub

    def _states(self, since: int) -> list[int]:
        """The states made from a node on that ask for a character."""
        return [one for one in range(since, len(self.letters)) if self.letters[one]]

    def _once(self, body: Items, then: int, *, optional: bool = False) -> int:
        """What is matched as a whole and never again otherwise."""
        made, loops = len(self.letters), len(self._loops)
        begin = self._sequence(body, 0)
        letters = reduce(or_, (self.letters[state] for state in self._next(begin)), 0)
        empty = optional or 0 in self._ends(begin)
        for own in (self.letters, self.after):
            del own[made:]
        del self._loops[loops:]
        self._entered.clear()
        node = self._node(letters, [then])
        return self._node(0, [node, then]) if empty else node

    def _letters(self, op: Any, given: Any) -> int:
        key = (op, repr(given))
        if key not in self._masks:
            self._masks[key] = self._mask(op, given)
        return self._masks[key]

    def _mask(self, op: Any, given: Any) -> int:
        if op is c.LITERAL:
            return self._either_case([chr(given)])
        if op is c.NOT_LITERAL:
            return self._all & ~self._either_case([chr(given)])
        if op is c.ANY:
            return self._all if self._flags & re.S.value else self._all & ~self._bits["\n"]
        if op is c.RANGE:
            return self._either_case(
                char for char in self._bits if given[0] <= ord(char) <= given[1]
            )
        if op is c.CATEGORY:
            return sum(bit for char, bit in self._bits.items() if _CATEGORIES[given](char))
        if op is c.IN:
            negated = given[0][0] is c.NEGATE
            mask = reduce(or_, (self._letters(*one) for one in given[negated:]))
            return self._all & ~mask if negated else mask
        raise NotImplementedError(op)

    def _either_case(self, chars: Iterable[str]) -> int:
        mask = 0
        for char in chars:
            mask |= self._bits.get(char, 0)
            if self._flags & re.I.value:
                mask |= self._bits.get(char.swapcase(), 0)
        return mask

    def _ends(self, node: int) -> set[int]:
        """The states and the end (0) that are reached without a character."""
        found, waiting = set(), [node]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                if not self.letters[one]:
                    waiting += self.after[one]
        return found

    def _next(self, node: int) -> dict[int, int]:
        """The states that ask for the next character, each with how many ways lead to it."""
        if node not in self._entered:
            ways: dict[int, int] = defaultdict(int)
            self._enter(node, ways, frozenset())
            self._entered[node] = dict(ways)
        return self._entered[node]

    def _enter(self, node: int, ways: dict[int, int], passed: frozenset[int]) -> None:
        if self.letters[node]:
            ways[node] += 1
        elif node not in passed:  # the engine doesn't go round a loop for nothing
            onward = passed | {node} if len(self.after[node]) > 1 else passed
            for after in self.after[node]:
                self._enter(after, ways, onward)

    def _step(self, state: int) -> dict[int, int]:
        return self._next(self.after[state][0])

    def is_exponential(self) -> bool:
        """Whether one word leads round a loop in two ways."""
        for cycle in self._loops:
            inside = set(cycle)
            split: set[tuple[int, int]] = set()
            for state in cycle:
                split |= self._pairs(state, state, inside)
                if any(ways > 1 for after, ways in self._step(state).items() if after in inside):
                    return True
            seen, waiting = set(split), list(split)
            while waiting:
                one, other = waiting.pop()
                if one == other:
                    return True
                fresh = self._pairs(one, other, inside, same=True) - seen
                seen |= fresh
                waiting += fresh
        return False

    def _pairs(
        self, one: int, other: int, inside: set[int], same: bool = False
    ) -> set[tuple[int, int]]:
        """Where a common character leads from both; ``same`` places only where they differed."""
        letters = self.letters
        return {
            (min(a, b), max(a, b))
            for a in self._step(one)
            if a in inside
            for b in self._step(other)
            if b in inside and letters[a] & letters[b] and (same or a != b)
        }

    def is_polynomial(self) -> bool:
        """Whether one loop can hand a word to a later one at any of its rounds."""
        for first in self._loops:
            reached = self._reach(first)
            for second in self._loops:
                if first is not second and second[0] in reached and self._can_hand(first, second):
                    return True
        return False

    def _can_hand(self, first: list[int], second: list[int]) -> bool:
        """Whether one loop can hand a word to another at any of its rounds."""
        letters, bounds = self.letters, (set(first), set(second))
        return any(
            letters[p] & letters[q] and self._hands_on(p, q, *bounds)
            for p, q in product(first, second)
        )

    def _reach(self, loop: list[int]) -> set[int]:
        seen, waiting = set(loop), list(loop)
        while waiting:
            fresh = self._step(waiting.pop()).keys() - seen
            seen |= fresh
            waiting += fresh
        return seen

    def _hands_on(self, p: int, q: int, first: set[int], second: set[int]) -> bool:
        """Whether a word leads from ``p`` to itself, from there to ``q``, and from ``q`` to itself."""
        seen, waiting = {(p, p, q)}, [(p, p, q)]
        while waiting and len(seen) < _SEARCHED:
            x, y, z = waiting.pop()
            fresh = set(self._together(x, y, z, first, second)) - seen
            if (p, q, q) in fresh:
                return True
            seen |= fresh
            waiting += fresh
        return False

    def _together(
        self, x: int, y: int, z: int, first: set[int], second: set[int]
    ) -> Iterator[tuple[int, int, int]]:
        """Where a common character leads from all three."""
        letters = self.letters
        for a, d in product(self._step(x).keys() & first, self._step(z).keys() & second):
            if common := letters[a] & letters[d]:
                yield from ((a, b, d) for b in self._step(y) if common & letters[b])


class _Search(_Automaton):
    """A pattern with a loop before it that passes any text. Its loops may be entered wherever the
    look behind at its beginning allows."""

    def __init__(self, items: Items, flags: int) -> None:
        self._may_fail: set[int] = set()
        super().__init__(items, flags)
        refused = self._refused_before(items)
        hub = self._node(0, [])
        before = self._node(self._all & ~refused, [self._node(0, [hub, self.start])])
        others = [self._node(refused, [hub])] if refused else []
        self.after[hub] = self._any = [before, *others]

    def _item(self, op: Any, given: Any, then: int) -> int:
        at_end = op is c.AT and given in (c.AT_END, c.AT_END_STRING)
        if at_end or op in (c.ASSERT, c.GROUPREF):
            passed = self._node(0, [then])
            if not at_end or then:
                self._may_fail.add(passed)
            else:  # a loop that takes every character always comes to the end
                self._ends_text = passed
            return passed
        if op is c.AT and given in (c.AT_BEGINNING, c.AT_BEGINNING_STRING):
            return then if self._flags & re.M.value else self._node(self._all + 1, [then])
        return super()._item(op, given, then)

    _ends_text = -1

    def _refused_before(self, items: Items) -> int:
        """The characters behind which the pattern can't begin."""
        refused = 0
        for op, given in items:
            if op is c.AT and given is c.AT_BEGINNING:
                refused |= self._all & ~self._bits["\n"]
            elif op is c.AT and given is c.AT_BOUNDARY:
                refused |= self._same_side()
            elif op in (c.ASSERT, c.ASSERT_NOT):
                direction, (one, *more) = given[0], given[1]
                if direction < 0 and not more and one[0] in (c.LITERAL, c.NOT_LITERAL, c.IN):
                    letters = self._letters(*one)
                    refused |= self._all & ~letters if op is c.ASSERT else letters
            elif op is not c.AT:
                break
        return refused

    def _same_side(self) -> int:
        """The characters between which and the pattern's first there is no boundary of a word."""
        word = self._letters(c.CATEGORY, c.CATEGORY_WORD)
        first = reduce(or_, (self.letters[one] for one in self._next(self.start)), 0)
        if first & ~word == 0:
            return word
        return 0 if first & word else self._all & ~word

    def is_polynomial(self) -> bool:
        return any(
            all(map(self._fails, loop)) and self._can_hand(self._any, loop) for loop in self._loops
        )

    def _fails(self, state: int) -> bool:
        """Whether nothing that always holds leads from a state of a loop to the pattern's end."""
        line = self._all if self._flags & re.S.value else self._all & ~self._bits["\n"]
        takes_all = self.letters[state] & line == line
        seen, waiting = set[int](), list(self.after[state])
        while waiting:
            node = waiting.pop()
            if node == 0:
                return False
            if node not in seen | self._may_fail and not self.letters[node]:
                seen.add(node)
                if node != self._ends_text or takes_all:
                    waiting += self.after[node]
        return True


def _chars(items: Any) -> Iterator[str]:
    """The characters that a pattern speaks of, and those beside its ranges."""
    if isinstance(items, tuple) and len(items) == 2 and items[0] in (c.LITERAL, c.NOT_LITERAL):
        yield chr(items[1])
    elif isinstance(items, tuple) and len(items) == 2 and items[0] is c.RANGE:
        low, high = items[1]
        yield from (chr(max(0, low - 1)), chr(low), chr(high), chr(min(0x10FFFF, high + 1)))
    elif isinstance(items, tuple | list | parser.SubPattern):
        for one in items:
            yield from _chars(one)
