"""Sentences and clauses, with where they stand."""

import re
from dataclasses import dataclass

from understanding.text import HAN

_SENTENCE_END = re.compile(
    r"[。！？!?；;…\n]+[”\"」』）)]*|(?<=[a-z0-9\u4e00-\u9fff)\]\"”])\.+(?=\s|$)|(?<=[A-Z]{2})\.(?=\s[A-Z])|(?<!\s)\s*(?:——|--)\s*"
)
_MARKS = re.compile(r"[。！？!?；;\n]")
# Nobody says more in one breath: what is longer was pasted, and is cut where a word ends. So the
# time that reading a text takes grows with its length alone.
LONGEST, LONGEST_CLAUSE = 500, 250
_WORD_ENDS = frozenset(" \t\u3000，,、：:")
_CLAUSE_END = re.compile(r"[，,、：:](?!\d)")
_ABBREVIATIONS = frozenset("Mr Mrs Ms Dr St Prof Jr Sr vs etc e.g i.e".split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of one turn, at ``start`` in its content; ``end_mark`` is what closed them."""

    text: str
    start: int
    end_mark: str = ""

    @property
    def whole(self) -> str:
        """The words with the sign that ends them."""
        return self.text + self.end_mark


def sentences(content: str) -> list[Sentence]:
    """The sentences of ``content`` with their offsets, end marks kept apart; none longer than
    LONGEST characters."""
    found: list[Sentence] = []
    start = 0
    for match in _SENTENCE_END.finditer(content):
        ahead = content[max(start, match.start() - 5) : match.start()]
        word = HAN.sub(" ", ahead).split()[-1:]  # 房东Mr. Papadakis
        if match.group().startswith(".") and word and word[0].strip("(\"'“‘") in _ABBREVIATIONS:
            continue
        _append(found, content, start, match.start(), match.group())
        start = match.end()
    _append(found, content, start, len(content), "")
    return _limited(found, LONGEST)


def last_begun(text: str) -> str:
    """What stands behind the last sign in ``text`` that ends a sentence for sure."""
    return _MARKS.split(text)[-1]


def _append(found: list[Sentence], content: str, start: int, end: int, mark: str) -> None:
    piece = content[start:end]
    text = piece.strip()
    if text:
        found.append(Sentence(text, start + len(piece) - len(piece.lstrip()), mark.strip()))


def cut(sentence: Sentence, longest: int) -> list[Sentence]:
    """``sentence`` in pieces of at most so many characters, ended at a word where one ends; the
    mark that closed it stands behind the last."""
    found: list[Sentence] = []
    text, start = sentence.text, 0
    while len(text) - start > longest:
        end = start + longest
        words = (at for at in range(end, start + longest // 2, -1) if text[at - 1] in _WORD_ENDS)
        end = next(words, end)
        _append(found, text, start, end, "")
        start = end
    _append(found, text, start, len(text), sentence.end_mark)
    return [Sentence(part.text, part.start + sentence.start, part.end_mark) for part in found]


def clauses(sentence: Sentence) -> list[Sentence]:
    """The comma-separated parts of a sentence, none longer than LONGEST_CLAUSE characters."""
    found: list[Sentence] = []
    start = 0
    for match in _CLAUSE_END.finditer(sentence.text):
        _append(found, sentence.text, start, match.start(), match.group())
        start = match.end()
    _append(found, sentence.text, start, len(sentence.text), sentence.end_mark)
    whole = [Sentence(part.text, part.start + sentence.start, part.end_mark) for part in found]
    return _limited(whole, LONGEST_CLAUSE)


def clauses_in(text: str) -> list[Sentence]:
    """Those of all sentences of a text."""
    return [clause for sentence in sentences(text) for clause in clauses(sentence)]


def _limited(found: list[Sentence], longest: int) -> list[Sentence]:
    """The same where none is too long, so that only a paste is read otherwise."""
    return [
        part for one in found for part in (cut(one, longest) if len(one.text) > longest else [one])
    ]
