"""From a message to the sentences in it that are the user's own words."""

import re
from dataclasses import dataclass

_INJECTED = re.compile(
    r"(`{3,}|~{3,})?[ \t]*<mio-memory.*?(</mio-memory>[ \t]*(\n?\1)?|\Z)", re.S | re.I
)
_CODE = re.compile(r"```.*?(```|\Z)|~~~.*?(~~~|\Z)", re.S)
_MARKUP = re.compile(r"<!--.*?(-->|\Z)", re.S)
_BRACKETED = re.compile(r"「[^」]*(」|\Z)|【[^】]*】|『[^』]*(』|\Z)")
_QUOTED = re.compile(r"“[^”]{12,}”|\"[^\"]{30,}\"|(?<!\w)‘[^’]{30,}’")
_ROLE = re.compile(
    r"^[ \t#*>]*(system|assistant|user|human|系统|助手|用户)[ \t]*[:：].*$", re.I | re.M
)
_QUOTE_LINE = re.compile(r"^[ \t]*>.*$", re.M)
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


def own_words(content: str) -> str:
    """``content`` with everything that is not the user's own speech blanked out: injected
    memory blocks, code, long quotations, quoted lines, forged role headings. Offsets stay."""
    for pattern in (_INJECTED, _CODE, _MARKUP, _QUOTE_LINE, _ROLE, _BRACKETED, _QUOTED):
        content = pattern.sub(lambda match: " " * len(match.group()), content)
    return content


def quoted_parts(content: str) -> str:
    """The bracketed or quoted passages of ``content``: a pasted text."""
    found = [match.group() for match in _BRACKETED.finditer(content)]
    found += [match.group() for match in _QUOTED.finditer(content)]
    return "\n".join(found)


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
