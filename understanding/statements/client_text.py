"""What a chat client wrote into a user's message: retrieved and attached text, the instructions
around it, and requests of the client's own.

No client is recognised by its wording. Text is attached if tags enclose it (``<source>…</source>``,
``[notes]…[/notes]``), if marks do so, or if it is under a heading such as ``## References``;
``client_text.toml`` has the names. A message with such a part is built by software, so its
instructions are not the user's either, and if a tag or heading has their question, only that is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from understanding.lexicon.rules import patterns, sets
from understanding.sentences import sentences
from understanding.text import CJK, enclosed, joined_spans, names_role, outside

_Span = tuple[int, int]

_NAMES = patterns(__file__)
_PLAIN = sets(__file__, "sets")["plain"]
# Text that is no speech: code, comments of markup, quoted lines, encoded data and long addresses.
NOT_SPEECH = re.compile(
    r"(?sm)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)|^[ \t]*>[^\n]*|(?<![!-~])[!-~]{200,}"
)
# The ends of a line of signs with words in it.
_RULED = ("--", "==", "***", "~~~~", "__", "<<", ">>")
_LONGEST_NAME = 6  # words
_SHORT_WORD = 2  # letters of a word without meaning: of, in
_MOST_OPEN = 40  # opening marks that may wait for their end at a time
_CHARS_READ = 20_000  # characters of a message that are searched for a request


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece with its tags or marks (``start``, ``end``), and ``inner``, the span between them."""

    start: int
    end: int
    inner: _Span
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """A section; its text ``begins`` after its label. ``is_weak``: a person may write it too."""

    start: int
    begins: int
    kind: str
    is_heading: bool
    is_weak: bool = False


@lru_cache(maxsize=16)  # each reader of a turn asks for it
def client_text(content: str) -> tuple[_Span, ...]:
    """Returns the spans of a user's message that are not theirs, in order, not overlapping."""
    spans = [(0, len(content))] if requests_for_client(content) else _client_spans(content)
    return tuple(spans)


def without_client_text(content: str) -> str:
    """Returns ``content`` without the text of a client; the pieces left become paragraphs."""
    spans = client_text(content)
    if not spans:
        return content
    return "\n\n".join(piece.strip() for piece in outside(content, spans) if piece.strip())


def requests_for_client(content: str) -> bool:
    """Whether a message is a client's own: it asks for a title, tags, a summary or the like of a
    chat, in a certain form, and states nothing about the one who asks."""
    orders, holds_chat = _orders(content[:_CHARS_READ])
    if not _NAMES.form.search(orders) or _NAMES.first_person.search(orders):
        return False
    if any(part.kind == "own" for part in _parts(content)):
        return False  # it contains what the user asks
    of_chat = holds_chat or bool(_NAMES.chat.search(orders))
    return any(_is_request(sentence.text, of_chat) for sentence in sentences(orders))


def instructs_for_client(system: str) -> bool:
    """Whether one sentence of a system prompt asks for a title, summary or the like of a chat."""
    orders, holds_chat = _orders(system[:_CHARS_READ])
    return not _NAMES.first_person.search(orders) and any(
        _is_request(sentence.text, holds_chat) and bool(_NAMES.form.search(sentence.text))
        for sentence in sentences(orders)
    )


def _is_request(sentence: str, holds_chat: bool) -> bool:
    """Whether a sentence asks for a title, a summary or the like of a chat."""
    of_chat = holds_chat or _NAMES.chat.search(sentence)
    return bool(of_chat) and _makes_product(sentence)


def _makes_product(sentence: str) -> bool:
    """Whether a sentence orders a title, a summary or the like to be made."""
    if _NAMES.product.search(sentence):
        return True
    ordered = (
        (_NAMES.makes, _NAMES.made),
        (_NAMES.takes, _NAMES.summed),
        (_NAMES.titles, _NAMES.put),
    )
    return any(
        (order := first.search(sentence)) and then.search(sentence, order.end())
        for first, then in ordered
    )


def _orders(content: str) -> tuple[str, bool]:
    """The words of a message outside of quotations and tags, before a transcript and in the
    paragraph after it, and whether a tag contains a chat."""
    parts = _parts(content)
    text = "".join(outside(content, [(part.start, part.end) for part in parts]))
    text = NOT_SPEECH.sub(" ", text)
    for start, end in reversed(enclosed(text, '“"「', {})):
        text = f"{text[:start]}“”{text[end:]}"
    lines = []
    for line in text.split("\n"):
        if _begins_turn(line):
            last = text.rstrip().rpartition("\n\n")[2]
            lines += [] if any(map(_begins_turn, last.split("\n"))) else [last]
            break
        lines.append(line)
    holds_chat = any(_NAMES.chat.search(_NAMES.parts.sub(" ", part.name)) for part in parts)
    return "\n".join(lines), holds_chat


def _begins_turn(line: str) -> bool:
    """Whether a line begins a turn of a transcript: ``User: …``."""
    return names_role(line, label=True) and not line.lstrip().startswith("#")


def _client_spans(content: str) -> list[_Span]:
    """The spans that are not the user's, in a message that is not all a client's."""
    parts = _outermost([*_parts(content), *_fenced(content)], content)
    attached = [part for part in parts if part.kind != "own"]
    sections = list(_sections(content, attached))
    if not _is_template(content, sections):
        sections = [section for section in sections if not section.is_weak]
    kinds = [section.kind for section in sections]
    own = [part.inner for part in parts if part.kind == "own"]
    if own and (attached or kinds):
        return _outside(own, len(content), attached)
    if not attached and not _is_built(sections):
        return []
    spans = _spans_of(sections, attached, len(content))
    asked = [span for section, span in zip(sections, spans, strict=True) if section.kind == "own"]
    if asked:
        first = next(kind for kind in kinds if kind != "orders")
        begins, ends = asked[0] if first == "own" else asked[-1]
        label = next(section for section in sections if section.start == begins)
        return _outside([(label.begins, ends)], len(content), attached)
    foreign = joined_spans([*spans, *((part.start, part.end) for part in attached)])
    remaining = _outside(foreign, len(content), [])
    if any(content[start:end].strip() for start, end in remaining):
        return foreign
    return _outside(_unnamed_question(content, parts, sections), len(content), []) or foreign


def _unnamed_question(
    content: str, parts: Sequence[_Part], sections: Sequence[_Section]
) -> list[_Span]:
    """What the user asks if no label names it and nothing else is left: a task between tags, or the
    last paragraph under a heading; an empty span if a client only attached something."""
    if tasks := [part.inner for part in parts if part.kind == "orders"]:
        return tasks
    at = content.rstrip().rfind("\n\n")
    begins = max((part.end for part in parts), default=0)
    under = sections and max(begins, sections[-1].begins) < at
    return [(at, len(content))] if under else [(0, 0)]


def _is_template(content: str, sections: Sequence[_Section]) -> bool:
    """Whether a client labelled a question: it also states what to answer, or from what."""
    if not any(section.kind == "own" for section in sections):
        return False
    has_orders = any(section.kind == "orders" and not section.is_weak for section in sections)
    introduced = sections[0].is_weak and not content[sections[0].begins :].split("\n", 1)[0].strip()
    kinds_before = _kind_words(content[: sections[0].start])
    return has_orders or introduced or any(match["attached"] for match in kinds_before)


def _is_built(sections: Sequence[_Section]) -> bool:
    """Whether the labels alone show that a message was put together by a client."""
    kinds = [section.kind for section in sections]
    heading_kinds = [section.kind for section in sections if section.is_heading]
    return "attached" in heading_kinds or ("attached" in kinds and "own" in kinds)


def _parts(content: str) -> list[_Part]:
    """The parts that tags and marks enclose, none within another of its kind."""
    parts: list[_Part] = []
    tags: list[re.Match[str]] = []
    marks: list[tuple[re.Match[str], set[str]]] = []
    waiting: dict[str, int] = {}
    for token in _NAMES.token.finditer(content):
        name = token["tag"]
        if name is None:
            if token["rule"] and not token["rule"].rstrip().endswith(_RULED):
                continue
            if opened := _opened(token, marks):
                parts.append(
                    _Part(opened.start(), token.end(), (opened.end(), token.start()), "attached")
                )
        elif not token["close"]:
            tags.append(token)
            waiting[name] = waiting.get(name, 0) + 1
        elif waiting.get(name):
            while True:
                opener = tags.pop()
                waiting[opener["tag"]] -= 1
                if opener["tag"] == name:
                    break
            kind = _kind_of_tag(name)
            parts.append(
                _Part(opener.start(), token.end(), (opener.end(), token.start()), kind, name)
            )
    return _outermost(parts, content)


def _fenced(content: str) -> Iterator[_Part]:
    """Yields the fenced files and attachments, then the attached notes."""
    last_end = 0
    marks = [*_NAMES.fenced.finditer(content), *_NAMES.file.finditer(content)]
    for mark in sorted(marks, key=lambda one: one.start("fence")):
        if mark.re is _NAMES.file:
            attached = any(PurePath(word).suffix[1:2].isalpha() for word in mark["name"].split())
        else:
            attached = _kind_of_label(mark["name"].strip(" .:：")) == "attached"
        if mark.start() < last_end or not attached:
            continue
        end = re.compile(rf"^[^\S\n]*{re.escape(mark['fence'])}[^\S\n]*$", re.M).search(
            content, content.find("\n", mark.end()) + 1 or len(content)
        )
        last_end = end.end() if end else len(content)
        yield _Part(mark.start(), last_end, (mark.end(), last_end), "attached")
    for note in _NAMES.note.finditer(content):
        if _kind_of_label(note["name"]) == "attached":
            yield _Part(*note.span(), note.span(), "attached")


def _outermost(parts: Sequence[_Part], content: str) -> list[_Part]:
    """Parts in order, none within an attached one; without plain tags and one around all others."""
    text = content.strip()
    begins = content.find(text)
    outermost: list[_Part] = []
    for part in sorted(parts, key=lambda part: (part.start, -part.end)):
        is_whole = (part.start, part.end) == (begins, begins + len(text))
        wraps = is_whole and any(
            part.start < other.start and other.end < part.end for other in parts
        )
        if part.kind == "plain" or wraps:
            continue
        last = outermost[-1] if outermost else None
        if last and part.end <= last.end:
            if last.kind != "own":
                continue
            if part.kind == "own":
                outermost.pop()
        outermost.append(part)
    return outermost


def _opened(
    token: re.Match[str], marks: list[tuple[re.Match[str], set[str]]]
) -> re.Match[str] | None:
    """The mark that this one closes; None if it may be closed itself, and is added to ``marks``."""
    text = next(text for text in token.group("square", "lens", "comment", "rule") if text)
    edges = {edge.lastgroup for edge in _NAMES.edge.finditer(text)}
    closes = text.lstrip().startswith("/") or "ends" in edges
    all_words = re.findall(r"\w+", _NAMES.edge.sub(" ", text))
    words = {word.lower() for word in all_words if len(word) > _SHORT_WORD or not word.isascii()}
    if not closes:
        marks.append((token, words))
        del marks[:-_MOST_OPEN]
        return None
    for place in range(len(marks) - 1, -1, -1):
        opener, opener_words = marks[place]
        begins = any(edge["begins"] for edge in _NAMES.edge.finditer(opener[0]))
        plain = opener.group("square", "lens") != (None, None) and not begins
        if words <= opener_words and (words or not plain):
            del marks[place:]
            return opener
    return None


def _kind_of_tag(name: str) -> str:
    """The kind of a tag: plain, own, attached or orders."""
    if name.lower() in _PLAIN:
        return "plain"
    matches = _kind_words(_NAMES.parts.sub(" ", name))
    return str(matches[-1].lastgroup) if matches else "attached"


def _kind_words(text: str) -> list[re.Match[str]]:
    """The words of a text that name a kind (own, attached or orders), in order."""
    return list(_NAMES.kind.finditer(text))


def _sections(content: str, attached: Sequence[_Part]) -> Iterator[_Section]:
    """Yields the labels outside of attached parts, with their kinds. A label of no kind is text,
    except headings before the first attached part, which instructions follow."""
    at = 0
    for label in _NAMES.label.finditer(content):
        while at < len(attached) and attached[at].end <= label.start():
            at += 1
        if at < len(attached) and attached[at].start < label.end():
            continue
        name = label["h"] or label["b"] or label["s"] or label["p"] or ""
        text_after = label["told"] if label["heading"] else label["rest"]
        kind = _kind_of_label(name)
        if not kind and label["h"] and attached and label.start() < attached[0].start:
            kind = "orders"
        has_text = bool(text_after and text_after.strip())
        is_weak = has_text and kind != "own" and not label["heading"]
        if not kind and label["p"] and not has_text and _names_attached_last(name):
            kind, is_weak = "attached", True
        if not kind:
            continue
        begins = label.end() - len(text_after) if has_text and text_after else label.end()
        yield _Section(label.start(), begins, kind, bool(label["heading"]), is_weak)


def _names_attached_last(name: str) -> bool:
    """Whether a line before a colon ends with what follows: … on the following context."""
    matches = _kind_words(name)
    return bool(matches) and (matches[-1].lastgroup, matches[-1].end()) == ("attached", len(name))


def _kind_of_label(name: str) -> str:
    """The kind that the last word (Chinese, Japanese, Korean) or the first names; "" if none."""
    matches = _kind_words(name) if len(name.split()) <= _LONGEST_NAME else []
    last = CJK.search(name) and " " not in name.strip()
    return str(matches[-1 if last else 0].lastgroup) if matches else ""


def _spans_of(sections: Sequence[_Section], attached: Sequence[_Part], end: int) -> list[_Span]:
    """The span of each section: to the next one, or to an attached part."""
    starts = sorted([*(one.start for one in sections), *(part.start for part in attached), end])
    spans, at = [], 0
    for section in sections:
        while starts[at] <= section.start:
            at += 1
        spans.append((section.start, starts[at]))
    return spans


def _outside(own: Sequence[_Span], length: int, attached: Sequence[_Part]) -> list[_Span]:
    """The spans of everything except ``own``, and of the ``attached`` parts within it."""
    edges = [0, *(edge for span in own for edge in span), length]
    around = list(zip(edges[::2], edges[1::2], strict=True))
    return joined_spans([*around, *((part.start, part.end) for part in attached)])
