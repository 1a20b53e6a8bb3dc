"""What the surface of a sentence says of what it does: classes of words, marks and shape."""

import math
import re
from functools import cache

from understanding import lexicon
from understanding.text import is_han

_WORDS = "sentence_cues"
# Words this near the beginning open the sentence: "Can you", 帮我, but not "he can you know".
_OPENING = 12
_MARKS = {
    "mark_question": re.compile(r"[?？]"),
    "mark_exclamation": re.compile(r"[!！]"),
    "mark_trailing": re.compile(r"(?:\.\.\.|…|。。|~|～)"),
    "mark_quote": re.compile(r"[\"“”「」『』]"),
    "mark_colon": re.compile(r"[:：]"),
    "mark_line": re.compile(r"\n"),
    "mark_item": re.compile(r"(?m)^\s*(?:[-*>•]|\d+[.)、])\s*\S"),
    "mark_address": re.compile(r"https?://|www\.|\w@\w"),
    "mark_code": re.compile(r"[{}<>;=`\\]"),
    "mark_emoji": re.compile(r"[\U0001F300-\U0001FAFF☀-➿]"),
    "mark_digit": re.compile(r"\d"),
    "mark_year": re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)"),
}


@cache
def _classes() -> dict[str, re.Pattern[str]]:
    found = {}
    for name, entries in lexicon.groups(_WORDS).items():
        han = [word for word in entries if is_han(word[0]) or not word[0].isalnum()]
        spaced = [word for word in entries if word not in han]
        parts = [lexicon.alternation(han)] if han else []
        if spaced:
            parts.append(rf"(?<![a-z])(?:{lexicon.alternation(spaced)})(?![a-z])")
        found[name] = re.compile("|".join(parts))
    return found


def names() -> tuple[str, ...]:
    """The names of all cues, in the order of the weights."""
    classes = _classes()
    opening = (f"opens_{name}" for name in classes)
    return (*classes, *opening, *_MARKS, "length", "short", "han", "lines")


def cues(text: str) -> list[float]:
    """A value for each of :func:`names`, each in 0..2."""
    plain = text.lower().replace("’", "'")
    found = [pattern.search(plain) for pattern in _classes().values()]
    present = [float(match is not None) for match in found]
    opens = [float(match is not None and match.start() <= _OPENING) for match in found]
    marks = [float(pattern.search(text) is not None) for pattern in _MARKS.values()]
    han = sum(map(is_han, text))
    size = len(text.split()) + han / 2  # a Chinese word has about two characters
    shape = [
        min(2.0, math.log1p(size) / 2),
        float(size < 4),
        han / max(1, len(text)),
        min(2.0, math.log1p(text.count("\n"))),
    ]
    return [*present, *opens, *marks, *shape]
