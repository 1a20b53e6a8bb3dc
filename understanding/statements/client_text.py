"""What a chat client wrote into a user's message: retrieved and attached text, the instructions
around it, and requests of the client's own.

No client is known by its wording. Text is attached where tags enclose it (``<source>…</source>``,
``[notes]…[/notes]``), where marks say that it begins and ends, and under headings such as
``## References``; which names mean what is in ``client_text.toml``. A message that has such a part is
built by software, so its instructions are not the user's either, and where a tag or heading holds
their question, nothing else is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from understanding.lexicon.rules import patterns, sets
from understanding.sentences import sentences
from understanding.text import CJK, enclosed, joined_spans, names_role

_Span = tuple[int, int]

_NAMES = patterns(__file__)
_PLAIN = sets(__file__, "sets")["plain"]
# What is no speech at all: code, comments of markup, quoted lines, encoded data and long addresses.
NOT_SPEECH = re.compile(
    r"(?sm)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)|^[ \t]*>[^\n]*|(?<![!-~])[!-~]{200,}"
)
# What a line of signs with words in it ends with.
_RULED = ("--", "==", "***", "~~~~", "__", "<<", ">>")
_LONGEST_NAME = 6  # words
_SHORT = 2  # letters of a word that says nothing: of, in
_OPEN = 40  # marks that may wait for their end at a time
_READ = 20_000  # characters of a message that are looked at for what it asks


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece with its own tags or marks (``start``, ``end``) and what stands between (``inner``)."""

    start: int
    end: int
    inner: _Span
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """``is_weak``: a person may write such a label too, unless a client's others stand beside it."""

    start: int
    begins: int
    kind: str
    is_heading: bool
    is_weak: bool = False


def client_text(content: str) -> list[_Span]:
    """What of a user's message is not theirs, in order and apart."""
    if requests_for_client(content):
        return [(0, len(content))]
    return _client_text(content)


def without_client_text(content: str) -> str:
    """``content`` without it. What stood apart stays in paragraphs of its own."""
    at, kept = 0, []
    for start, end in client_text(content):
        kept.append(content[at:start])
        at = end
    if not at:
        return content
    return "\n\n".join(part.strip() for part in [*kept, content[at:]] if part.strip())


def requests_for_client(content: str) -> bool:
    """Whether a message is a client's own: it asks for a title, tags, a summary or the like of a
    chat, in a form, and says nothing of the one who asks."""
    orders, holds_chat = _orders(content[:_READ])
    if not _NAMES.form.search(orders) or _NAMES.first_person.search(orders):
        return False
    if any(part.kind == "own" for part in _parts(content)):
        return False  # what the user asks stands in it
    of_chat = holds_chat or bool(_NAMES.chat.search(orders))
    return any(_is_request(one.text, of_chat) for one in sentences(orders))


def instructs_for_client(system: str) -> bool:
    """The same of a system prompt, which may speak of chats in passing: there one sentence has to
    say all of it."""
    orders, holds_chat = _orders(system[:_READ])
    return not _NAMES.first_person.search(orders) and any(
        _is_request(one.text, holds_chat) and bool(_NAMES.form.search(one.text))
        for one in sentences(orders)
    )


def _is_request(sentence: str, holds_chat: bool) -> bool:
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
    """What a message says before a transcript, in a paragraph behind it, and outside of quotations
    and tags, and whether a tag holds a chat."""
    kept, at = [], 0
    parts = _parts(content)
    for part in parts:
        kept.append(content[at : part.start])
        at = part.end
    text = NOT_SPEECH.sub(" ", "".join([*kept, content[at:]]))
    for start, end in reversed(enclosed(text, '“"「', {})):
        text = f"{text[:start]}“”{text[end:]}"
    lines = []
    for line in text.split("\n"):
        if _speaks(line):
            last = text.rstrip().rpartition("\n\n")[2]
            lines += [] if any(map(_speaks, last.split("\n"))) else [last]
            break
        lines.append(line)
    holds_chat = any(_NAMES.chat.search(_NAMES.parts.sub(" ", part.name)) for part in parts)
    return "\n".join(lines), holds_chat


def _speaks(line: str) -> bool:
    """Whether a line of a transcript begins: ``User: …``."""
    return names_role(line, label=True) and not line.lstrip().startswith("#")


def _client_text(content: str) -> list[_Span]:
    parts = _outermost([*_parts(content), *_fenced(content)], content)
    attached = [part for part in parts if part.kind != "own"]
    sections = list(_sections(content, attached))
    if not _is_template(content, sections):
        sections = [one for one in sections if not one.is_weak]
    named = [section.kind for section in sections]
    own = [part.inner for part in parts if part.kind == "own"]
    if own and (attached or named):
        return _others(own, len(content), attached)
    if not attached and not _is_built(sections):
        return []
    spans = _ends(sections, attached, len(content))
    asked = [span for one, span in zip(sections, spans, strict=True) if one.kind == "own"]
    if asked:
        first = next(kind for kind in named if kind != "orders")
        begins, ends = asked[0] if first == "own" else asked[-1]
        label = next(one for one in sections if one.start == begins)
        return _others([(label.begins, ends)], len(content), attached)
    found = joined_spans([*spans, *((part.start, part.end) for part in attached)])
    left = _others(found, len(content), [])
    if any(content[start:end].strip() for start, end in left):
        return found
    return _others(_asked_unnamed(content, parts, sections), len(content), []) or found


def _asked_unnamed(
    content: str, parts: Sequence[_Part], sections: Sequence[_Section]
) -> list[_Span]:
    """What the user asks where nothing says so and nothing else is left: a task between tags, or
    the last paragraph under a heading; nothing where a client only attached something."""
    if tasks := [part.inner for part in parts if part.kind == "orders"]:
        return tasks
    at = content.rstrip().rfind("\n\n")
    begins = max((part.end for part in parts), default=0)
    under = sections and max(begins, sections[-1].begins) < at
    return [(at, len(content))] if under else [(0, 0)]


def _is_template(content: str, sections: Sequence[_Section]) -> bool:
    """Whether a client put labels around a question: it also says what to answer, or what from."""
    if not any(one.kind == "own" for one in sections):
        return False
    told = any(one.kind == "orders" and not one.is_weak for one in sections)
    introduced = sections[0].is_weak and not content[sections[0].begins :].split("\n", 1)[0].strip()
    before = _named(content[: sections[0].start])
    return told or introduced or any(name["attached"] for name in before)


def _is_built(sections: Sequence[_Section]) -> bool:
    """Whether the labels alone say that a message was put together by a client."""
    kinds = [one.kind for one in sections]
    heads = [one.kind for one in sections if one.is_heading]
    return "attached" in heads or ("attached" in kinds and "own" in kinds)


def _parts(content: str) -> list[_Part]:
    """What tags and marks enclose, none within another of its kind."""
    found: list[_Part] = []
    tags: list[re.Match[str]] = []
    marks: list[tuple[re.Match[str], set[str]]] = []
    waiting: dict[str, int] = {}
    for token in _NAMES.token.finditer(content):
        name = token["tag"]
        if name is None:
            if token["rule"] and not token["rule"].rstrip().endswith(_RULED):
                continue
            if opened := _opened(token, marks):
                found.append(
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
            found.append(
                _Part(opener.start(), token.end(), (opener.end(), token.start()), kind, name)
            )
    return _outermost(found, content)


def _fenced(content: str) -> Iterator[_Part]:
    after = 0
    marks = [*_NAMES.fenced.finditer(content), *_NAMES.file.finditer(content)]
    for found in sorted(marks, key=lambda one: one.start("fence")):
        if found.re is _NAMES.file:
            named = any(PurePath(word).suffix[1:2].isalpha() for word in found["name"].split())
        else:
            named = _kind_of_label(found["name"].strip(" .:：")) == "attached"
        if found.start() < after or not named:
            continue
        end = re.compile(rf"^[^\S\n]*{re.escape(found['fence'])}[^\S\n]*$", re.M).search(
            content, content.find("\n", found.end()) + 1 or len(content)
        )
        after = end.end() if end else len(content)
        yield _Part(found.start(), after, (found.end(), after), "attached")
    for note in _NAMES.note.finditer(content):
        if _kind_of_label(note["name"]) == "attached":
            yield _Part(*note.span(), note.span(), "attached")


def _outermost(found: Sequence[_Part], content: str) -> list[_Part]:
    """Parts in order, none within an attached one, without tags that say nothing."""
    text = content.strip()
    begins = content.find(text)
    kept: list[_Part] = []
    for part in sorted(found, key=lambda one: (one.start, -one.end)):
        around = (part.start, part.end) == (begins, begins + len(text))
        holds = around and any(part.start < other.start and other.end < part.end for other in found)
        if part.kind == "plain" or holds:
            continue
        last = kept[-1] if kept else None
        if last and part.end <= last.end:
            if last.kind != "own":
                continue
            if part.kind == "own":
                kept.pop()
        kept.append(part)
    return kept


def _opened(
    token: re.Match[str], marks: list[tuple[re.Match[str], set[str]]]
) -> re.Match[str] | None:
    """The mark that this one closes; None where it is itself one that may be closed."""
    text = next(text for text in token.group("square", "lens", "comment", "rule") if text)
    edges = {edge.lastgroup for edge in _NAMES.edge.finditer(text)}
    closes = text.lstrip().startswith("/") or "ends" in edges
    said = re.findall(r"\w+", _NAMES.edge.sub(" ", text))
    words = {word.lower() for word in said if len(word) > _SHORT or not word.isascii()}
    if not closes:
        marks.append((token, words))
        del marks[:-_OPEN]
        return None
    for place in range(len(marks) - 1, -1, -1):
        opener, named = marks[place]
        begins = any(edge["begins"] for edge in _NAMES.edge.finditer(opener[0]))
        plain = opener.group("square", "lens") != (None, None) and not begins
        if words <= named and (words or not plain):
            del marks[place:]
            return opener
    return None


def _kind_of_tag(name: str) -> str:
    if name.lower() in _PLAIN:
        return "plain"
    named = _named(_NAMES.parts.sub(" ", name))
    return str(named[-1].lastgroup) if named else "attached"


def _named(text: str) -> list[re.Match[str]]:
    """What a text names (own, attached or orders), in order."""
    return list(_NAMES.kind.finditer(text))


def _sections(content: str, attached: Sequence[_Part]) -> Iterator[_Section]:
    """The labels outside of what is attached, with what they name. Those that name nothing known
    are text, except headings before what is attached, under which instructions stand."""
    at = 0
    for label in _NAMES.label.finditer(content):
        while at < len(attached) and attached[at].end <= label.start():
            at += 1
        if at < len(attached) and attached[at].start < label.end():
            continue
        name = label["h"] or label["b"] or label["s"] or label["p"] or ""
        behind = label["told"] if label["heading"] else label["rest"]
        kind = _kind_of_label(name)
        if not kind and label["h"] and attached and label.start() < attached[0].start:
            kind = "orders"
        told = bool(behind and behind.strip())
        is_weak = told and kind != "own" and not label["heading"]
        if not kind and label["p"] and not told and _names_attached_last(name):
            kind, is_weak = "attached", True
        if not kind:
            continue
        begins = label.end() - len(behind) if told and behind else label.end()
        yield _Section(label.start(), begins, kind, bool(label["heading"]), is_weak)


def _names_attached_last(name: str) -> bool:
    """Whether a line before a colon ends with what follows: … on the following context."""
    named = _named(name)
    return bool(named) and (named[-1].lastgroup, named[-1].end()) == ("attached", len(name))


def _kind_of_label(name: str) -> str:
    """What a label names: in Chinese, Japanese and Korean the last word says it, else the first."""
    named = _named(name) if len(name.split()) <= _LONGEST_NAME else []
    last = CJK.search(name) and " " not in name.strip()
    return str(named[-1 if last else 0].lastgroup) if named else ""


def _ends(sections: Sequence[_Section], attached: Sequence[_Part], end: int) -> list[_Span]:
    """How far each section goes: to the next, or to what is attached."""
    starts = sorted([*(one.start for one in sections), *(part.start for part in attached), end])
    spans, at = [], 0
    for section in sections:
        while starts[at] <= section.start:
            at += 1
        spans.append((section.start, starts[at]))
    return spans


def _others(own: Sequence[_Span], length: int, attached: Sequence[_Part]) -> list[_Span]:
    """All but ``own``, and what is attached within it."""
    edges = [0, *(edge for span in own for edge in span), length]
    around = list(zip(edges[::2], edges[1::2], strict=True))
    return joined_spans([*around, *((part.start, part.end) for part in attached)])
