"""Making foreign text safe and short enough to stand in a prompt, a card or a page."""

import regex

# Controls and format characters (bidi overrides among them), but not the joiner and the
# variation selectors that hold an emoji together.
_INVISIBLE = regex.compile(r"(?![\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Co}\p{Cs}]")
_SPACE = regex.compile(r"[\s\p{Z}]+")
_BRACKETS = str.maketrans({"<": "‹", ">": "›", "`": "'"})
# What Markdown or a chat template would read as structure at the start of a line.
_LEADING = regex.compile(r"^[\s#>*+=~|-]+")


def truncate(text: str, limit: int) -> str:
    """``text`` cut to at most ``limit`` grapheme clusters (UAX #29), the last one an ellipsis
    when something was cut. A code point or an emoji sequence is never split."""
    if len(text) <= limit:
        return text
    clusters = regex.findall(r"\X", text)
    if len(clusters) <= limit:
        return text
    return "".join(clusters[: limit - 1]).rstrip() + "…"


def one_line(text: str, limit: int) -> str:
    """``text`` as harmless content of one line: no line breaks, invisible characters, tags,
    code fences or leading markup, so that it can't pose as a heading, a role or a fence."""
    flat = _SPACE.sub(" ", _INVISIBLE.sub(" ", text)).strip()
    return truncate(_LEADING.sub("", flat).translate(_BRACKETS), limit)


_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")


def estimate_tokens(text: str) -> int:
    """About how many model tokens ``text`` is: one a CJK character, one per four others.

    Close enough to keep a budget; the exact number depends on the model's tokeniser.
    """
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 4)
