"""Splits texts into sentences and clauses, with their positions."""

import re
from dataclasses import dataclass
from functools import lru_cache

from understanding.lexicon import titles_used
from understanding.text import HAN

_SENTENCE_END = re.compile(
    r"[。！？!?；;…\n]+[”\"」』）)]*|(?<=[a-z0-9\u4e00-\u9fff)\]\"”])\.+(?=\s|$)|(?<=[A-Z]{2})\.(?=\s[A-Z])|(?<!\s)\s*(?:——|--)\s*"
)
_MARKS = re.compile(r"[。！？!?；;\n]")
# Longer sentences were pasted, and are cut at the end of a word, so that the time to read a text
# grows only with its length.
LONGEST, LONGEST_CLAUSE = 500, 250
_WORD_ENDS = frozenset(" \t\u3000，,、：:")
_CLAUSE_END = re.compile(r"[，,、：:](?!\d)")
_ABBREVIATIONS = frozenset("St Jr Sr vs etc e.g i.e".split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of one turn, at ``start`` in its content; ``end_mark`` is the sign that ends them."""

    text: str
    start: int
    end_mark: str = ""

    @property
    def whole(self) -> str:
        """The words with the sign that ends them."""
        return self.text + self.end_mark


@lru_cache(maxsize=16)  # each reader of a turn asks for them
def sentences(content: str) -> tuple[Sentence, ...]:
    """Returns the sentences of ``content`` with their offsets, end marks apart; none is longer than
    LONGEST characters."""
    pieces: list[Sentence] = []
    start = 0
    for match in _SENTENCE_END.finditer(content):
        text_before = content[max(start, match.start() - 5) : match.start()]
        word = HAN.sub(" ", text_before).split()[-1:]  # 房东Mr. Papadakis
        before = word[0].strip("(\"'“‘") if word and match.group().startswith(".") else ""
        if before in _ABBREVIATIONS or before.casefold() in titles_used("dotted"):
            continue
        _append(pieces, content, start, match.start(), match.group())
        start = match.end()
    _append(pieces, content, start, len(content), "")
    return tuple(_limited(pieces, LONGEST))


def last_begun(text: str) -> str:
    """Returns what follows the last sign in ``text`` that certainly ends a sentence."""
    return _MARKS.split(text)[-1]


def _append(pieces: list[Sentence], content: str, start: int, end: int, mark: str) -> None:
    piece = content[start:end]
    text = piece.strip()
    if text:
        pieces.append(Sentence(text, start + len(piece) - len(piece.lstrip()), mark.strip()))


def cut(sentence: Sentence, longest: int) -> list[Sentence]:
    """Returns ``sentence`` in pieces of at most ``longest`` characters, cut at the end of a word if
    possible; the last piece has its end mark."""
    pieces: list[Sentence] = []
    text, start = sentence.text, 0
    while len(text) - start > longest:
        end = start + longest
        words = (at for at in range(end, start + longest // 2, -1) if text[at - 1] in _WORD_ENDS)
        end = next(words, end)
        _append(pieces, text, start, end, "")
        start = end
    _append(pieces, text, start, len(text), sentence.end_mark)
    return [Sentence(part.text, part.start + sentence.start, part.end_mark) for part in pieces]


def clauses(sentence: Sentence) -> list[Sentence]:
    """Returns the comma-separated parts of a sentence, none longer than LONGEST_CLAUSE."""
    pieces: list[Sentence] = []
    start = 0
    for match in _CLAUSE_END.finditer(sentence.text):
        _append(pieces, sentence.text, start, match.start(), match.group())
        start = match.end()
    _append(pieces, sentence.text, start, len(sentence.text), sentence.end_mark)
    parts = [Sentence(part.text, part.start + sentence.start, part.end_mark) for part in pieces]
    return _limited(parts, LONGEST_CLAUSE)


def clauses_in(text: str) -> list[Sentence]:
    """Returns the clauses of all sentences of a text."""
    return [clause for sentence in sentences(text) for clause in clauses(sentence)]


def _limited(pieces: list[Sentence], longest: int) -> list[Sentence]:
    """Returns the pieces after cutting those that are too long, which only pastes have."""
    return [
        part for one in pieces for part in (cut(one, longest) if len(one.text) > longest else [one])
    ]
