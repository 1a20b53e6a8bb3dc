"""Text on its way to a model and back."""

import unicodedata

import regex

from contacts.text import truncate

_FENCE = regex.compile(r"<(/?)mio-memory\b[^<>]{0,500}>", regex.IGNORECASE)
# Controls, lone surrogates and bidi overrides; joiners and variation selectors stay.
_INVISIBLE = regex.compile(r"(?![\u200c\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}]")
_SPACE = regex.compile(r"\s+")
_SURROGATE = regex.compile(r"\p{Cs}")
_KEY_JUNK = regex.compile(r"[^\w]+")
_CLUSTER = regex.compile(r"\X")


def without_injected(text: str) -> str:
    """``text`` without ``<mio-memory> … </mio-memory>`` blocks, nested or cut off ones too:
    what Mio put into a conversation never comes back as a memory."""
    kept: list[str] = []
    depth = 0
    start = 0
    for tag in _FENCE.finditer(text):
        if depth == 0:
            kept.append(text[start : tag.start()])
        depth = max(0, depth - 1) if tag.group(1) else depth + 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def clean(text: str, limit: int) -> str:
    """``text`` on one line, without control characters, of at most ``limit`` graphemes."""
    visible = _INVISIBLE.sub("", _SPACE.sub(" ", text))
    return truncate(_SPACE.sub(" ", visible).strip(), limit)


def encodable(text: str) -> str:
    """``text`` with lone surrogates and NUL replaced, which UTF-8 and C strings cannot hold."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", " ")


def middle_cut(text: str, limit: int) -> str:
    """``text`` of at most ``limit`` code points or so, shortened in its middle: a long paste
    keeps its beginning and its end, where the user's own words are. No grapheme is split."""
    if len(text) <= limit:
        return text
    head = _CLUSTER.findall(text[: limit * 2 // 3])
    tail = _CLUSTER.findall(text[-(limit // 3) :])
    return "".join([*head[:-1], " … ", *tail[1:]])


def attribute_key(text: str) -> str:
    """``text`` as an attribute key in lower_snake_case."""
    return _KEY_JUNK.sub("_", unicodedata.normalize("NFKC", text).lower()).strip("_")[:40]


def folded(text: str) -> str:
    """``text`` for comparing names and words."""
    return unicodedata.normalize("NFKC", text).casefold().strip()
