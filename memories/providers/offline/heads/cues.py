"""What the surface of a sentence says of what it does: classes of words, marks and shape."""

import math
import re
from functools import cache

from understanding import lexicon
from understanding.text import is_han

# Words this near the beginning open the sentence: "Can you", 帮我, but not "he can you know".
_OPENING = 12
# What any one of these characters or texts marks.
_SIGNS = {
    "mark_question": "?？",
    "mark_exclamation": "!！",
    "mark_trailing": ("...", "…", "。。", "~", "～"),
    "mark_quote": '"“”「」『』',
    "mark_colon": ":：",
    "mark_line": "\n",
}
_MARKS = {
    "mark_item": re.compile(r"(?m)^\s*(?:[-*>•]|\d+[.)、])\s*\S"),
    "mark_address": re.compile(r"https?://|www\.|\w@\w"),
    "mark_code": re.compile(r"[{}<>;=`\\]"),
    "mark_emoji": re.compile(r"[\U0001F300-\U0001FAFF☀-➿]"),
    "mark_digit": re.compile(r"\d"),
    "mark_year": re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)"),
}


@cache
def _find_words() -> lexicon.GroupFinder:
    return lexicon.GroupFinder("sentence_cues")


def names() -> tuple[str, ...]:
    """The names of all cues, in the order of the weights."""
    words = lexicon.groups("sentence_cues")
    opening = (f"opens_{name}" for name in words)
    return (*words, *opening, *_SIGNS, *_MARKS, "length", "short", "han", "lines")


def cues(text: str) -> list[float]:
    """A value for each of :func:`names`, each in 0..2."""
    plain = text.lower().replace("’", "'")
    spans = _find_words()(plain)
    words = lexicon.groups("sentence_cues")
    present = [float(name in spans) for name in words]
    opens = [float(name in spans and spans[name][0][0] <= _OPENING) for name in words]
    marks = [float(any(sign in text for sign in signs)) for signs in _SIGNS.values()]
    marks += [float(pattern.search(text) is not None) for pattern in _MARKS.values()]
    han = sum(map(is_han, text))
    size = len(text.split()) + han / 2  # a Chinese word has about two characters
    shape = [
        min(2.0, math.log1p(size) / 2),
        float(size < 4),
        han / max(1, len(text)),
        min(2.0, math.log1p(text.count("\n"))),
    ]
    return [*present, *opens, *marks, *shape]
