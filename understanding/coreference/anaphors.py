"""The words of a text that may point back at someone: what they ask of a referent, and where.

Closed classes (pronouns, demonstratives) follow the reference grammars: Huddleston & Pullum,
Cambridge Grammar of the English Language, ch. 5 and 17; 吕叔湘 现代汉语八百词. Whether such a word
means anybody is for the model to say.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from understanding.coreference import role_features
from understanding.coreference.utterance import Turn
from understanding.lexicon import alternation, words
from understanding.lexicon.rules import patterns
from understanding.roles import terms
from understanding.text import is_han, quotations

Form = Literal[
    "personal", "former", "latter", "other", "demonstrative", "definite", "bare", "unspoken"
]
# Each has weights of its own.
Group = Literal["personal", "several", "noun", "unspoken"]

_FEMALE = words("grammar_en", "female_pronouns")
_THIRD_ZH = frozenset("他她佢伊")
_FORMS: tuple[Form, ...] = ("former", "latter", "other", "demonstrative", "definite")


@dataclass(frozen=True, slots=True)
class Anaphor:
    """``gender`` is female, male or empty (either); ``number`` is 1, 2 (exactly two) or 3
    (several); ``they`` marks the English word that may mean one or several. ``word`` is the
    noun of a phrase. An ``unspoken`` one is what a clause leaves out."""

    start: int
    end: int
    text: str
    form: Form
    gender: str = ""
    number: int = 1
    they: bool = False
    word: str = ""
    quoted: bool = False

    @property
    def group(self) -> Group:
        if self.number > 1:
            return "several"
        if self.form == "personal" or self.form == "unspoken":
            return self.form
        return "noun"


def _nouns(*, chinese: bool) -> str:
    """Nouns for people: role words, those of the lexicon, and what one calls somebody known."""
    groups = ("people_zh", "known_zh") if chinese else ("people_en", "known_en")
    roles = {word for word in terms() if is_han(word[0]) is chinese}
    return alternation(roles | words("strangers", *groups))


lex = patterns(
    __file__, NOUN_ZH=partial(_nouns, chinese=True), NOUN_EN=partial(_nouns, chinese=False)
)


def find_anaphors(turn: Turn) -> list[Anaphor]:
    """Pronouns, demonstratives and definite phrases for people, in order, none within another."""
    found = [*_personal_zh(turn), *_personal_en(turn.text), *_phrases(turn)]
    quoted = quotations(turn.text)
    kept: list[Anaphor] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            inside = any(start <= one.start < end for start, end in quoted)
            kept.append(replace(one, quoted=True) if inside else one)
    return kept


def _personal_zh(turn: Turn) -> Iterator[Anaphor]:
    """Pronouns that are words of their own: not those in 吉他, 其他, 他乡."""
    chinese = False
    for word in turn.words:
        chinese = chinese or is_han(word.text[0])
        if word.text[0] in _THIRD_ZH or (word.text == "ta" and chinese):
            match = lex.pronoun_zh.match(turn.text, word.start)
            if match and match.end() >= word.start + len(word.text):
                number = 2 if match["two"] else 3 if match["many"] else 1
                gender = {"她": "female", "他": "male"}.get(word.text[0], "")
                # 他们 may be men and women.
                gender = "" if number > 1 and gender == "male" else gender
                yield Anaphor(*match.span(), match.group(), "personal", gender, number)


def _personal_en(text: str) -> Iterator[Anaphor]:
    for match in lex.personal_en.finditer(text):
        word = match["word"].lower()
        if word.startswith("the"):
            yield Anaphor(*match.span("word"), match["word"], "personal", "", 3, they=True)
        else:
            gender = "female" if word in _FEMALE else "male"
            yield Anaphor(*match.span("word"), match["word"], "personal", gender)


def _phrases(turn: Turn) -> Iterator[Anaphor]:
    edges = {edge for w in turn.words for edge in (w.start, w.start + len(w.text))}
    chinese = any(is_han(word.text[0]) for word in turn.words)
    for pattern in (lex.phrase_zh, lex.phrase_en) if chinese else (lex.phrase_en,):
        for match in pattern.finditer(turn.text):
            groups = match.groupdict()
            form: Form = next((form for form in _FORMS if groups.get(form)), "bare")
            # The 朋友 of 朋友圈 is nobody; 是护士 and 当老师 say what somebody is.
            says_what = lex.copula_zh.search(turn.text, 0, match.start())
            if form == "bare" and (says_what or not {*match.span()} <= edges):
                continue
            noun = (groups.get("noun") or groups.get("bare") or "").strip().lower()
            number = 2 if groups.get("two") else 3 if groups.get("many") else 1
            gender = role_features.noun_gender(noun) or role_features.gender_of(noun)
            yield Anaphor(*match.span(), match.group(), form, gender, number, word=noun)
