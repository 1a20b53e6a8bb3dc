"""The attribute values that a clause states of its subject: certain ones, or none."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from understanding.lexicon.rules import Row, patterns
from understanding.segmentation import tagged
from understanding.statements.negation import NOT_EN, NOT_ZH
from understanding.text import simplified

RE = patterns(__file__, NOT_EN=NOT_EN, NOT_ZH=NOT_ZH)


def unsettled(language: str) -> re.Pattern[str]:
    """Words beside which nothing is a fact, in en or zh."""
    return RE.unsettled_zh if language == "zh" else RE.unsettled_en


@dataclass(frozen=True, slots=True)
class Value:
    """One attribute value, where its words stand in the clause, and the row that gave it."""

    key: str
    value: str
    start: int
    end: int
    row: str = ""


def stated(
    text: str,
    rows: Iterable[Row],
    stronger: Mapping[str, frozenset[str]],
    language: str,
    written: Callable[[str, re.Match[str]], str],
) -> list[Value]:
    """What the group v of the rows finds in ``text``, unless unsettled words stand around it, or it
    has been read already under this key or a ``stronger`` one. ``written`` gives a value its usual
    form, or nothing where it is none."""
    found: list[Value] = []
    for row in rows:
        key = row["key"]
        shut = stronger.get(key, frozenset()) | {key}
        for match in row["pattern"].finditer(text):
            start, end = match.span("v")
            if any(v.key in shut and v.start < end and start < v.end for v in found):
                continue
            before = text[: match.start()]
            rest = simplified(f"{before} {match.group('v')} {text[match.end() :]}")
            if unsettled(language).search(rest) or (row.get("direct") and _has_noun(before)):
                continue
            if value := written(key, match):
                found.append(Value(key, value, start, end, row["name"]))
    return found


def _has_noun(text: str) -> bool:
    """Whether a noun or a genitive stands in Chinese words."""
    return any(tag[:1] == "n" or word == "的" for word, tag in tagged(text.strip()))
