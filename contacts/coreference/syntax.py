"""Shallow grammar: clauses, quotes and grammatical roles, from word classes and order.

No parser: a role is read off the words between the start of the clause and the span. The
classes of Chinese words are those of jieba's dictionary.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from contacts.lexicon import groups, words
from contacts.lexicon.rules import patterns
from contacts.segmentation import cut
from contacts.text import HAN

Role = Literal["subject", "possessor", "object", "oblique"]

SENTENCE_ENDS = "。！？.!?\n"
STOPS = "，。！？；,.!?; \n"
# A clause this long without punctuation is no clause; its end says what the role is.
_LONGEST_PREFIX = 48
# Stands for a name in a text whose names are blanked out.
NAME = "\ufffc"

# The dictionary calls these nouns or gives them several classes; before a name or a
# predicate they behave as written here (v verb, d adverb, p preposition, c conjunction,
# y particle, r pronoun, n noun, t time, m number).
_CLASS_OVERRIDES: dict[str, str] = {
    word: kind for kind, entries in groups("word_classes_zh").items() for word in entries
}

# Words of the table that the dictionary would cut, with a weight to be found by.
_AS_WORDS = {word: 3000.0 for word in _CLASS_OVERRIDES if len(word) > 1}
_RUNS = re.compile(r"(?P<zh>[\u3400-\u9fff]+)|\ufffc|[A-Za-z'’]+|\S")

lex = patterns(__file__)

# Words that may stand before an English subject without making it an object.
_BEFORE_SUBJECT_EN = words("grammar_en", "before_subject")
_APPOSITION_EN = re.compile(
    rf"(?:\b(?:my|our|your|the|a|an|his|her|their)|{NAME}['’]s?)\s+(?:[\w-]+\s+){{0,3}}$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def words_zh(text: str) -> tuple[tuple[str, str], ...]:
    """``text`` cut into (word, first letter of its class); what is not Chinese is one word
    of class ``x``, a person's name is ``N``."""
    found: list[tuple[str, str]] = []
    for run in _RUNS.finditer(text):
        if not run["zh"]:
            found.append((run.group(), "N" if run.group() == NAME else "x"))
            continue
        for word in cut(run["zh"], _AS_WORDS):
            kind = _CLASS_OVERRIDES.get(word.text) or (
                "N" if word.tag.startswith("nr") else word.tag[:1] or "x"
            )
            found.append((word.text, kind))
    return tuple(found)


class Clauses:
    """The clauses of a text, found once and looked up by position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for match in lex.clause_break.finditer(text):
            if match.end() > self.starts[-1] and match.end() < len(text):
                self.starts.append(match.end())

    def index(self, at: int) -> int:
        """Which clause holds position ``at``."""
        return bisect_right(self.starts, at) - 1

    def span(self, index: int) -> tuple[int, int]:
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return self.starts[index], end

    def role(self, start: int, end: int, names: Sequence[tuple[int, int]] = ()) -> Role:
        """The grammatical role of the noun phrase ``start:end``; ``names`` are the spans of
        people's names in the text, in order."""
        first = self.starts[self.index(start)]
        # Each name makes a character of the prefix, so no more than these can stand in it.
        before = bisect_left(names, (start, start))
        near = names[max(0, before - _LONGEST_PREFIX) : before]
        prefix, at = "", max(first, near[0][0]) if len(near) == _LONGEST_PREFIX else first
        for name_start, name_end in near:
            if at <= name_start and name_end <= start:
                prefix += self.text[at:name_start] + NAME
                at = name_end
        prefix = (prefix + self.text[at:start])[-_LONGEST_PREFIX:]
        after = self.text[end : end + 24]
        if HAN.search(prefix + after[:2]):
            return _role_zh(prefix, after)
        return _role_en(prefix, after)


def _role_zh(prefix: str, after: str) -> Role:
    prefix = prefix[lex.leading_zh.match(prefix).end() :].strip()  # type: ignore[union-attr]
    classes = list(words_zh(prefix))
    while classes and (classes[-1][0] in "、和跟与及" or classes[-1][1] in "yx"):
        word, _ = classes.pop()
        # 我跟X说: with X, not X and I.
        if word in "和跟与" and not any(kind in "nN" for _, kind in classes):
            return "oblique"
        if classes and word in "、和跟与及" and classes[-1][1] == "N":
            classes.pop()
    if not lex.speech_end_zh.search(prefix):
        for _, kind in reversed(classes):
            if kind == "p":
                return "oblique"
            if kind == "v":
                return "object"
    return "possessor" if lex.possessive_zh.match(after) else "subject"


def _role_en(prefix: str, after: str) -> Role:
    if lex.possessive_en.match(after):
        return "possessor"
    while listed := lex.list_before_en.search(prefix):
        prefix = prefix[: listed.start()].rstrip().removesuffix(NAME)
    prefix = prefix.rstrip().removesuffix(NAME) if prefix.endswith(f"{NAME} ") else prefix
    if lex.preposition_en.search(prefix):
        return "oblique"
    words = re.findall(r"[\w']+|" + NAME, _APPOSITION_EN.sub("", prefix))
    plain = [word for word in words if word.lower() not in _BEFORE_SUBJECT_EN]
    return "object" if plain else "subject"
