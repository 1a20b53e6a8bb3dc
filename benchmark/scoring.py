"""What a context is worth: counted in facts, people and tokens."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

BUDGET = 1500  # tokens that a context may have

_HAN = re.compile(r"[\u3400-\u9fff]")
_PLAIN = re.compile(r"[a-z0-9]")


def tokens(text: str) -> int:
    """About how many tokens a model reads: a Han character, or four others."""
    han = len(_HAN.findall(text))
    return han + (len(text) - han + 3) // 4


def normalised(text: str) -> str:
    """In one form: NFKC, lower case, one space, dates of months without zeros."""
    text = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return re.sub(r"(?<!\d)0?(\d{1,2})\s*月\s*0?(\d{1,2})", r"\1月\2", text)


def holds(text: str, value: str) -> bool:
    """Whether a normalised text holds a value, where Latin words and numbers are whole."""
    value = normalised(value)
    before = r"(?<![a-z0-9])" if _PLAIN.match(value[:1]) else ""
    after = r"(?![0-9])" if value[-1:].isdigit() else ""
    return re.search(before + re.escape(value) + after, text) is not None


def holds_any(text: str, values: Iterable[str]) -> bool:
    return any(holds(text, value) for value in values)


def share(parts: Sequence[bool]) -> float | None:
    """The share of true ones; None of nothing."""
    return round(sum(parts) / len(parts), 4) if parts else None
