"""The user's own words in a message, without text that is injected, quoted, pasted or forged."""

import re
from collections.abc import Iterable

from understanding.statements.client_text import NOT_SPEECH, client_text
from understanding.statements.fence import injected
from understanding.text import enclosed, middle_cut, names_role, outside, quotations

_LONGEST_QUOTED = {"“": 12, '"': 30, "‘": 30}
# Tokens of chat templates, after which somebody else speaks, and placeholders.
_TOKEN = re.compile(
    r"[<＜][|｜][^<>＜＞|｜\n]{1,40}[|｜][>＞]|</?s>|<</?SYS>>|</?(?:start|end)_of_turn>"
    r"|\[(?:/?(?:INST|SYS)|(?-i:/[A-Z_]+|[A-Z]+_[A-Z_]+))\]",
    re.I,
)
_PLACEHOLDER = re.compile(r"\{[{%][^{}\n]{0,200}[}%]\}")

# Characters that are read of one message: a longer one is a paste with own words at both ends.
LONGEST = 6000

_Span = tuple[int, int]


def own_words(content: str) -> str:
    """Returns ``content`` with everything that is not the user's own speech blanked out: injected
    memory blocks, what a client retrieved or attached, code, encoded data, long quotations, quoted
    lines, forged turns. Offsets stay."""
    content = _blanked(content, injected(content))
    content = _blanked(content, client_text(content))
    content = _blanked(content, [match.span() for match in NOT_SPEECH.finditer(content)])
    content = _blanked(content, _forged_turns(content))
    content = _blanked(content, enclosed(content, "「【『", {}, to_the_end="「『"))
    return _blanked(content, enclosed(content, '“"‘', _LONGEST_QUOTED))


def excerpt(content: str) -> str:
    """Returns the user's own words as they are read for statements and questions: the beginning and
    the end of more than LONGEST characters, not counting blanks."""
    own = own_words(content)
    if len(own) > LONGEST:
        own = " ".join(filter(None, own.split(" ")))
    return middle_cut(own, LONGEST)


def unquoted(content: str) -> str:
    """Returns the user's own words, with short quotations blanked out too. Offsets stay."""
    own = own_words(content)
    return _blanked(own, quotations(own))


def without_injected(content: str) -> str:
    """Returns ``content`` without injected blocks and copies of parts of them: what Mio put into a
    conversation never comes back as a memory."""
    return "".join(outside(content, injected(content)))


def _forged_turns(content: str) -> list[_Span]:
    """The spans of lines that begin with a role and a colon or contain a placeholder, and of all
    after a token of a chat template or after such a role alone on its line."""
    token = _TOKEN.search(content)
    end = token.start() if token else len(content)
    spans: list[_Span] = []
    start = 0
    for line in content[:end].split("\n"):
        if names_role(line, label=True):
            if line.rstrip(" \t*_").endswith((":", "：")):
                return [*spans, (start, len(content))]
            spans.append((start, start + len(line)))
        elif _PLACEHOLDER.search(line):
            spans.append((start, start + len(line)))
        start += len(line) + 1
    return [*spans, (end, len(content))]


def _blanked(content: str, spans: Iterable[_Span]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [content[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, content[at:]])


_THE_USER = re.compile(r"\bthe user(?P<s>['’]s)?\b|用户", re.I)


def in_first_person(text: str) -> str:
    """Returns ``text`` with "the user" as the user would say it: my, I, 我."""
    return _THE_USER.sub(lambda it: "我" if it[0] == "用户" else "my" if it["s"] else "I", text)
