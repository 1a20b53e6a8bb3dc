"""The fence around injected memory blocks, its fixed words, and where blocks are in a message.

Models and people pass blocks on in copies: escaped for HTML, JSON or Markdown, quoted, wrapped
anew, and cut at either end. So a block is recognised by its tags in any spelling, else by what only
Mio writes: its notes, headings, dated lines and cards."""

import html
import re
from bisect import bisect
from collections.abc import Iterator

from understanding.attributes import CAPTIONS
from understanding.lexicon.rules import content
from understanding.text import joined_spans

OPEN, CLOSE = "<mio-memory>", "</mio-memory>"
WORDS = content(__file__)

_Span = tuple[int, int]

# Characters as HTML, JSON, Markdown and addresses write them; escaped again, each & is &amp;.
_ESCAPED = re.compile(
    r"&(?:amp;){0,9}(?:#\d{1,6}|#x[0-9a-f]{1,6}|[a-z]{2,8});"
    r"|\\{1,4}(?:u[0-9a-f]{4}|[nrt<>\[\]#*_>\"'-])|%[0-9a-f]{2}",
    re.I,
)
_CONTROL = {"n": "\n", "r": "\n", "t": " "}
_BRACKETS = str.maketrans("＜‹〈《［【＞›〉》］】／", "<<<<[[>>>>]]/")
# An opening tag may be cut off: all after it is injected anyway.
_TAG = re.compile(
    r"[<\[({]\s{0,3}(?P<closes>/)?\s{0,3}mio[\W_]{0,3}memory\b(?(closes)(?:[^<>]{0,500}>|[\])}])?)",
    re.I,
)
_LEAST_LETTERS = 14  # of a clause: shorter ones may be anybody's


def _loose_pattern(text: str) -> str:
    """A pattern for a text, however its lines are broken and its quotation marks turned."""
    words = re.findall(r"[a-z']+|[^\W\da-z]", text.lower())
    return r"[\W_]{0,8}".join(re.escape(word).replace("'", ".") for word in words)


def _clause_patterns() -> Iterator[str]:
    """Yields patterns of the clauses of Mio's notes that nobody else would write."""
    for words in WORDS.values():
        for key in ("note", "forgotten", "not_found", "unclear"):
            for clause in re.split(r"[.:,，。：]", words[key]):
                if len(clause) >= (_LEAST_LETTERS if clause.isascii() else _LEAST_LETTERS // 2):
                    yield _loose_pattern(clause)


_HEADINGS = [
    _loose_pattern(words[key].strip("# "))
    for words in WORDS.values()
    for key in ("user", "people", "talk", "memories", "dates")
]
_OURS = re.compile(
    "|".join(
        [
            *_clause_patterns(),
            rf"(?:#|\*\*)[^\w\n]{{0,4}}(?:{'|'.join(_HEADINGS)})",
            r"[-*•·–][ *_]{0,4}\[\d{4}-\d\d-\d\d\]",
            rf"\#\#\#[^\n#]{{1,200}}\s{{1,4}}[*_> ]{{0,4}}(?:{'|'.join(map(re.escape, sorted(CAPTIONS)))})[*_]{{0,3}}\s?[:：]",
        ]
    ),
    re.I,
)
_PARAGRAPH_ENDS = re.compile(r"\n[^\S\n]{0,9}(?=\n)")
_QUOTE_MARKS = re.compile(r"[\s>*|_-]{0,20}\Z")  # what a quoted line may begin with
# A line of a card: a caption with its value, an event, the heading, or the end of a tag.
_CARD_LINE = re.compile(
    r"[ \t>*|_]{0,9}(?:[-•·#]|[^\n:：]{1,40}[:：]|(?:io[\W_]{0,3})?memory>)", re.I
)


def injected(content: str) -> list[_Span]:
    """Returns the spans of memory blocks and copies of parts of them, in order, not overlapping."""
    plain, offsets = _unescaped(content)
    spans = _tagged(plain)
    if _OURS.search(plain):
        spans = joined_spans([*spans, *_untagged(plain, spans)])
    return [(offsets[start], offsets[end]) for start, end in spans]


def _unescaped(content: str) -> tuple[str, list[int] | range]:
    """``content`` with plain characters for escaped ones, and the offset that each came from."""
    if not _ESCAPED.search(content):
        return content.translate(_BRACKETS), range(len(content) + 1)
    parts: list[str] = []
    offsets: list[int] = []
    at = 0
    for match in _ESCAPED.finditer(content):
        char = _character(match.group())
        parts += [content[at : match.start()], char]
        offsets += [*range(at, match.start()), *[match.start()] * len(char)]
        at = match.end()
    plain = "".join([*parts, content[at:]])
    return plain.translate(_BRACKETS), [*offsets, *range(at, len(content) + 1)]


def _character(escaped: str) -> str:
    """The character that an escape sequence stands for."""
    if escaped.startswith("&"):
        while (plain := html.unescape(escaped)) != escaped:  # escaped more than once
            escaped = plain
        return plain
    if escaped.startswith("%"):
        return chr(int(escaped[1:], 16))
    letter = escaped.lstrip("\\")
    return chr(int(letter[1:], 16)) if len(letter) == 5 else _CONTROL.get(letter, letter)


def _tagged(plain: str) -> list[_Span]:
    """The spans between tags, nested or cut off, and of closing tags without an opening one."""
    spans: list[_Span] = []
    depth = start = 0
    for tag in _TAG.finditer(plain):
        if depth == 0:
            start = tag.start()
            if tag["closes"]:
                start = _back_over_cards(plain, start, spans[-1][1] if spans else 0)
        depth = max(0, depth - 1) if tag["closes"] else depth + 1
        if depth == 0:
            spans.append((start, tag.end()))
    return [*spans, (start, len(plain))] if depth else spans


def _untagged(plain: str, tagged: list[_Span]) -> Iterator[_Span]:
    """Yields spans from what only Mio writes to the end of its paragraph, or to a block."""
    end = 0
    for match in _OURS.finditer(plain):
        index = bisect(tagged, (match.start(), len(plain)))
        if match.start() < max(end, tagged[index - 1][1] if index else 0):
            continue
        floor = end
        paragraph = _PARAGRAPH_ENDS.search(plain, match.end())
        end = paragraph.start() if paragraph else len(plain)
        if index < len(tagged):
            end = min(end, tagged[index][0])
        yield _back_over_cards(plain, match.start(), floor), end


def _back_over_cards(plain: str, start: int, floor: int) -> int:
    """The beginning, from ``floor`` on, of the cards that end at ``start``, else ``start``."""
    line = max(floor, plain.rfind("\n", floor, start) + 1)
    if not _QUOTE_MARKS.match(plain[line:start]):
        return start
    while line > floor:
        previous = max(floor, plain.rfind("\n", floor, line - 1) + 1)
        if not _CARD_LINE.match(plain, previous, line):
            break
        start = line = previous
    return start
