"""What is known of spans of people in a text: which kind of name one is, and what speaks for two
of them being one person. Features are named numbers, for logistic regressions."""

import re
from collections.abc import Sequence
from typing import Protocol

from understanding.lexicon import words
from understanding.people.span_evidence import latin_class
from understanding.people.word_tokens import tokens
from understanding.roles import roles_of
from understanding.text import is_han, normalise

# What may stand between two words for one person: my mate, Dave; 我妹叫家慧; Eilidh, my son's girlfriend.
_NAMING = re.compile(
    r"(?i)(?:'s |is |was )?(?:called|named|name is|name's|goes by|aka|is|was)(?: called| named)?"
    r"|(?:他|她|人家)?的?(?:名字)?(?:叫做?|名叫|就?是|小名|大名|外号)"
)
_APART = re.compile(
    r"(?i)\b(?:and|or|n|with|from|to|vs|not|than|like)\b|[&+/和跟与同及或给对把]|不是|还有"
)
_OWNING = re.compile(r"(?i)['’]?s?$|的$")


class Placed(Protocol):
    """A span of a text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...


def kind_features(text: str, start: int, end: int) -> dict[str, float]:
    """Of a name at [start, end): what tells a plain name from a nickname and one with a title."""
    toks = tokens(text[start:end])
    norms = [t.norm for t in toks]
    out = {f"tokens={min(len(toks), 4)}": 1.0, f"han={sum(t.han for t in toks) > 0}": 1.0}
    titles, roles = words("people_words", "address"), words("people_words", "kin")
    whole = "".join(norms)
    if toks[0].han:
        out[f"first={_sign(norms[0])}"] = 1.0
        out[f"last={norms[-1]}"] = 1.0
        out["surname first"] = float(norms[0] in words("surnames"))
        tail = next((whole[at:] for at in range(1, len(whole)) if whole[at:] in titles), "")
        out["title behind"] = float(bool(tail))
        out["long title behind"] = float(len(tail) > 1)
    else:
        out["title before"] = float(norms[0] in titles)
        out["title behind"] = float(len(toks) > 1 and norms[-1] in titles)
        out[f"class={latin_class(norms[0])}"] = 1.0
        out[f"last class={latin_class(norms[-1])}"] = 1.0
        out[f"ending={norms[-1][-1]}"] = 1.0
        out["short"] = float(len(norms[0]) < 4)
    out["doubled"] = float(len(norms) == 2 and norms[0] == norms[1])
    out["kin within"] = float(any(norm in roles for norm in norms))
    return {name: value for name, value in out.items() if value}


def _sign(char: str) -> str:
    """The signs that make a name of address of what follows; others are alike."""
    return char if char in "阿小老大肥细" else "other"


def pair_features(text: str, spans: Sequence[Placed], one: int, other: int) -> dict[str, float]:
    """What speaks for spans ``one`` and, further on, ``other`` being one person, and against."""
    a, b = spans[one], spans[other]
    between = text[a.end : b.start]
    first, second = normalise(text[a.start : a.end]), normalise(text[b.start : b.end])
    kinds = "+".join("role" if span.kind == "role" else "name" for span in (a, b))
    gap = between.strip()
    near = other == one + 1
    out = {kinds: 1.0, f"{kinds} same": float(first == second)}
    out[f"{kinds} part"] = float(first != second and (first in second or second in first))
    if near:
        out[f"{kinds} {_gap(gap)}"] = 1.0
        # Words that one is addressed by (佩芬学姐) aren't those of another's (佩芬老公).
        addressed = second in words("people_words", "address")
        out[f"{kinds} {_gap(gap)} addressed"] = float(b.kind == "role" and addressed)
        if _gap(gap) == "words" and len(gap) < 25:
            out[f"{kinds} naming"] = float(bool(_NAMING.search(gap)))
            out[f"{kinds} ends naming"] = float(bool(_NAMING.search(gap[-8:])))
            out[f"{kinds} own"] = float(bool(re.search(r"(?i)\b(?:my|our)$|[我咱俺]们?的?$", gap)))
            out[f"{kinds} close"] = float(len(gap) < 12)
        out[f"{kinds} apart"] = float(bool(_APART.search(between)))
        out[f"{kinds} owning"] = float(bool(gap) and bool(_OWNING.match(gap)))
    else:
        out[f"{kinds} far"] = 1.0
    genders = {r.gender for r in (*roles_of(first), *roles_of(second))} - {""}
    out["two genders"] = float(a.kind == b.kind == "role" and len(genders) > 1)
    out["han"] = float(is_han(text[a.start]))
    return {name: value for name, value in out.items() if value}


def _gap(gap: str) -> str:
    if not gap:
        return "beside"
    if gap in ",，(（-–—:：":
        return "comma"
    if gap in ("'s", "’s", "的", "s"):
        return "genitive"
    return "words" if any(map(str.isalpha, gap)) else "sign"
