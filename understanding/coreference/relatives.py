"""Other people's relatives and colleagues in a text: her mother, 小红的老板."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from understanding.coreference import role_features
from understanding.lexicon import alternation
from understanding.lexicon.rules import patterns
from understanding.roles import terms
from understanding.text import is_han

_OWNS = frozenset(("his", "her", "their"))


@dataclass(frozen=True, slots=True)
class Relative:
    """A role word at [start, end) of a text; ``owner`` is where the words for whose they are
    begin (她 of 她妈妈)."""

    start: int
    end: int
    word: str
    gender: str
    owner: int


def _roles(*, chinese: bool) -> str:
    """Role words as alternatives."""
    return alternation(word for word in terms() if is_han(word[0]) is chinese)


lex = patterns(
    __file__, ROLE_ZH=partial(_roles, chinese=True), ROLE_EN=partial(_roles, chinese=False)
)


def relatives_of(text: str, owners: Sequence[tuple[int, int]]) -> list[Relative]:
    """The relatives and colleagues of those at the spans ``owners``."""
    found = []
    for start, end in owners:
        match = lex.owned.match(text, end)
        if match and (
            match["zh"] or text[end : end + 1] in "'’" or text[start:end].lower() in _OWNS
        ):
            word = match["zh"] or match["en"]
            at = match.start("zh") if match["zh"] else match.start("en")
            found.append(Relative(at, match.end(), word, role_features.gender_of(word), start))
    return found
