"""The user's own words in a message, without what is injected, quoted, pasted or forged there."""

import re

from understanding.statements.client_text import client_text
from understanding.statements.fence import injected
from understanding.text import enclosed, middle_cut, names_role, quotations

_CODE = re.compile(r"```.*?(```|\Z)|~~~.*?(~~~|\Z)", re.S)
_MARKUP = re.compile(r"<!--.*?(-->|\Z)", re.S)
_BRACKET = re.compile(r"[「【『]")
_PASTE, _PASTED = re.compile(r"[“\"]|(?<!\w)‘"), {"“": 12, '"': 30, "‘": 30}
# Tokens of chat templates, behind which somebody else speaks, and placeholders.
_TOKEN = re.compile(
    r"[<＜][|｜][^<>＜＞|｜\n]{1,40}[|｜][>＞]|</?s>|<</?SYS>>|</?(?:start|end)_of_turn>"
    r"|\[(?:/?(?:INST|SYS)|(?-i:/[A-Z_]+|[A-Z]+_[A-Z_]+))\]",
    re.I,
)
_PLACEHOLDER = re.compile(r"\{[{%][^{}\n]{0,200}[}%]\}")
_LINE = re.compile(r"^.+$", re.M)
# Encoded data and long addresses: no word is so long.
_BLOB = re.compile(r"(?<![!-~])[!-~]{200,}")
_QUOTE_LINE = re.compile(r"^[ \t]*>.*$", re.M)

# Characters that are read of one message: a longer one is a paste, whose beginning and end hold
# the user's own words.
LONGEST = 6000

_Span = tuple[int, int]


def own_words(content: str) -> str:
    """``content`` with everything that is not the user's own speech blanked out: injected
    memory blocks, what a client retrieved or attached, code, encoded data, long quotations, quoted
    lines, forged turns. Offsets stay."""
    content = _blanked(content, injected(content))
    content = _blanked(content, client_text(content))
    for pattern in (_CODE, _MARKUP, _QUOTE_LINE, _BLOB):
        content = _blanked(content, [match.span() for match in pattern.finditer(content)])
    content = _blanked(content, _forged_turns(content))
    content = _blanked(content, _bracketed(content))
    return _blanked(content, enclosed(content, _PASTE, _PASTED))


def excerpt(content: str) -> str:
    """The user's own words as they are read for what they state and ask: of more than LONGEST
    characters, blanks not counted, the beginning and the end."""
    own = own_words(content)
    if len(own) > LONGEST:
        own = re.sub(r"  +", " ", own)
    return middle_cut(own, LONGEST)


def unquoted(content: str) -> str:
    """The user's own words without short quotations either. Offsets stay."""
    own = own_words(content)
    return _blanked(own, quotations(own))


def _bracketed(content: str) -> list[_Span]:
    return enclosed(content, _BRACKET, {}, to_the_end="「『")


def without_injected(content: str) -> str:
    """``content`` without injected blocks and copies of parts of them: what Mio put into a
    conversation never comes back as a memory."""
    parts, at = [], 0
    for start, end in injected(content):
        parts.append(content[at:start])
        at = end
    return "".join([*parts, content[at:]])


def _forged_turns(content: str) -> list[_Span]:
    """Lines that begin with a role and a colon or hold a placeholder, and all behind a token of
    a chat template or behind such a role alone on its line."""
    token = _TOKEN.search(content)
    end = token.start() if token else len(content)
    spans: list[_Span] = []
    for line in _LINE.finditer(content, 0, end):
        if names_role(line.group(), label=True):
            if line.group().rstrip(" \t*_").endswith((":", "：")):
                return [*spans, (line.start(), len(content))]
            spans.append(line.span())
        elif _PLACEHOLDER.search(line.group()):
            spans.append(line.span())
    return [*spans, (end, len(content))]


def _blanked(content: str, spans: list[_Span]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [content[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, content[at:]])


_THE_USER = (
    (re.compile(r"\bthe user['’]s\b", re.I), "my"),
    (re.compile(r"\bthe user\b", re.I), "I"),
    (re.compile("用户"), "我"),
)


def in_first_person(text: str) -> str:
    """``text`` with "the user" as the user would say it: my, I, 我."""
    for pattern, word in _THE_USER:
        text = pattern.sub(word, text)
    return text
