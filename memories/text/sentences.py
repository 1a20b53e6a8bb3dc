"""Sentences and clauses, with where they stand."""

import re
from dataclasses import dataclass

_SENTENCE_END = re.compile(
    r"[。！？!?；;…\n]+[”\"」』）)]*|(?<=[a-z0-9\u4e00-\u9fff)\]\"”])\.+(?=\s|$)|(?<=[A-Z]{2})\.(?=\s[A-Z])|\s*(?:——|--)\s*"
)
_CLAUSE_END = re.compile(r"[，,、：:](?!\d)")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|e\.g|i\.e)$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of one turn, at ``start`` in its content; ``end_mark`` is what closed them."""

    text: str
    start: int
    end_mark: str = ""


def sentences(content: str) -> list[Sentence]:
    """The sentences of ``content`` with their offsets, end marks kept apart."""
    found: list[Sentence] = []
    start = 0
    for match in _SENTENCE_END.finditer(content):
        if match.group().startswith(".") and _ABBREVIATION.search(content[start : match.start()]):
            continue
        _append(found, content, start, match.start(), match.group())
        start = match.end()
    _append(found, content, start, len(content), "")
    return found


def _append(found: list[Sentence], content: str, start: int, end: int, mark: str) -> None:
    piece = content[start:end]
    text = piece.strip()
    if text:
        found.append(Sentence(text, start + len(piece) - len(piece.lstrip()), mark.strip()))


def clauses(sentence: Sentence) -> list[Sentence]:
    """The comma-separated parts of a sentence."""
    found: list[Sentence] = []
    start = 0
    for match in _CLAUSE_END.finditer(sentence.text):
        _append(found, sentence.text, start, match.start(), match.group())
        start = match.end()
    _append(found, sentence.text, start, len(sentence.text), sentence.end_mark)
    return [Sentence(part.text, part.start + sentence.start, part.end_mark) for part in found]
