"""An utterance taken apart, and the words in it that may point back at someone: what they ask of a
referent, and where.

Closed classes (pronouns, demonstratives) follow the reference grammars: Huddleston & Pullum,
Cambridge Grammar of the English Language, ch. 5 and 17; 吕叔湘 现代汉语八百词. Whether such a word
means anybody is for the model to say.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Literal
from uuid import UUID

from understanding import roles
from understanding.certainty import NAMED
from understanding.lexicon import alternation, rows, word_sets, words
from understanding.lexicon.rules import patterns
from understanding.roles import terms
from understanding.segmentation import Word, cut
from understanding.text import is_han, quotations, simplified
from understanding.types import Mention, Utterance

# Between whoever has a relative and the word for the relative.
_GENITIVE = re.compile(r"\s?[的嘅]?|家[的嘅]?")
_STOPS = "，。！？；,.!?; \n"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """What is read of an utterance; spans count characters of its text, and ``clauses`` are
    where these begin. ``exact`` are the spans of ``names`` in so many words, not by a role."""

    original: str
    role: str
    text: str
    words: list[Word]
    clauses: list[int]
    names: list[Mention]
    spans: list[Span]
    exact: list[Span]

    def clause(self, at: int) -> int:
        """Which clause holds position ``at``."""
        return bisect_right(self.clauses, at) - 1

    def first_clause(self) -> Span:
        """The span of the first clause, without the marks that end it."""
        end = self.clauses[1] if len(self.clauses) > 1 else len(self.text)
        return 0, len(self.text[:end].rstrip(_STOPS)) or len(self.text)

    def owned_by(self, end: int) -> str:
        """The word for who is of whom the words before a place mean (Ben's boss: boss), or nothing."""
        match = lex.owned.match(self.text, end)
        return (match["zh"] or match["en"]) if match else ""

    def is_of_user(self) -> bool:
        """Whether the subject of the first clause is the user: what the clauses behind it leave out is
        then the user as well, as their topic (Li and Thompson 1981)."""
        return bool(lex.user_subject.match(self.text, 0, self.first_clause()[1]))


def read_turn(utterance: Utterance, limit: int) -> Turn:
    """The first ``limit`` characters of an utterance."""
    text = simplified(utterance.text[:limit])
    named = [m for m in utterance.mentions if m.how != "pronoun" and m.end <= limit]
    exact = {(m.start, m.end) for m in named if m.how != "kinship" and m.confidence >= NAMED}
    # In 房东闵姐 the role word only says who 闵姐 is.
    names = sorted(
        (m for m in named if m.how != "kinship" or not beside(text, (m.start, m.end), exact)),
        key=lambda m: (m.start, m.end),
    )
    spans = sorted({(m.start, m.end) for m in names})
    words, clauses = _words(text), _clauses(text)
    return Turn(utterance.text, utterance.role, text, words, clauses, names, spans, sorted(exact))


def _words(text: str) -> list[Word]:
    """The words of a text in lower case, Chinese ones by the dictionary."""
    found = []
    for run in lex.run.finditer(text):
        if run["zh"]:
            at = run.start()
            found += [replace(w, start=w.start + at, end=w.end + at) for w in cut(run["zh"])]
        else:
            found.append(Word(*run.span(), run.group().lower(), ""))
    return found


def _clauses(text: str) -> list[int]:
    starts = [0]
    for match in lex.clause_break.finditer(text):
        if starts[-1] < match.end() < len(text):
            starts.append(match.end())
    return starts


def inside(span: Span, spans: Iterable[Span]) -> bool:
    """Whether the span overlaps one of the others."""
    return any(start < span[1] and span[0] < end for start, end in spans)


def beside(text: str, span: Span, spans: Iterable[Span]) -> bool:
    """Whether the span stands right beside another, nothing or a space between."""
    return any(
        not text[min(end, span[1]) : max(start, span[0])].strip()
        for start, end in spans
        if end <= span[0] or span[1] <= start
    )


Form = Literal[
    "personal", "former", "latter", "other", "demonstrative", "definite", "bare", "unspoken"
]
Case = Literal["", "whose", "object"]
# Each has weights of its own.
Group = Literal["personal", "several", "noun", "unspoken"]

_FEMALE = words("grammar_en", "female_pronouns")
_THIRD_ZH = frozenset("他她佢伊")
_FORMS: tuple[Form, ...] = ("former", "latter", "other", "demonstrative", "definite")


@dataclass(frozen=True, slots=True)
class Anaphor:
    """``gender`` is female, male or empty (either); ``number`` is 1, 2 (exactly two) or 3
    (several); ``they`` marks the English word that may mean one or several. ``word`` is the
    noun of a phrase. An ``unspoken`` one is what a clause leaves out. ``case`` is whose where it says
    whose something is (her car, 他妈), so that it may mean the subject of its own clause, and object
    where it is the object of its clause (with him, 跟他), so that it does not."""

    start: int
    end: int
    text: str
    form: Form
    gender: str = ""
    number: int = 1
    they: bool = False
    word: str = ""
    quoted: bool = False
    case: Case = ""

    @property
    def group(self) -> Group:
        if self.number > 1:
            return "several"
        if self.form == "personal" or self.form == "unspoken":
            return self.form
        return "noun"


def _roles(*, chinese: bool) -> str:
    """Role words as alternatives."""
    return alternation(word for word in terms() if is_han(word[0]) is chinese)


def _nouns(*, chinese: bool) -> str:
    """Nouns for people: role words, those of the lexicon, and what one calls somebody known."""
    groups = ("people_zh", "known_zh") if chinese else ("people_en", "known_en")
    roles = {word for word in terms() if is_han(word[0]) is chinese}
    return alternation(roles | words("strangers", *groups))


lex = patterns(
    __file__,
    NOUN_ZH=partial(_nouns, chinese=True),
    NOUN_EN=partial(_nouns, chinese=False),
    ROLE_ZH=partial(_roles, chinese=True),
    ROLE_EN=partial(_roles, chinese=False),
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
            if match and match.end() >= word.end:
                number = 2 if match["two"] else 3 if match["many"] else 1
                gender = {"她": "female", "他": "male"}.get(word.text[0], "")
                # 他们 may be men and women.
                gender = "" if number > 1 and gender == "male" else gender
                case = _case_zh(turn, *match.span())
                yield Anaphor(*match.span(), match.group(), "personal", gender, number, case=case)


def _case_zh(turn: Turn, start: int, end: int) -> Case:
    """Whose it says something is where a relative or 的 follows; an object behind a preposition (跟他),
    and at the end of a clause behind a verb (照顾他)."""
    if turn.owned_by(end) or turn.text[end : end + 1] in ("的", "嘅"):
        return "whose"
    before = next((word.tag[:1] for word in turn.words if word.end == start), "")
    is_last = all(word.start != end for word in turn.words)
    same_clause = turn.clause(start - 1) == turn.clause(start)
    return "object" if same_clause and (before == "p" or (before == "v" and is_last)) else ""


def _personal_en(text: str) -> Iterator[Anaphor]:
    for match in lex.personal_en.finditer(text):
        word = match["word"].lower()
        many = word.startswith("the")
        gender = "" if many else "female" if word in _FEMALE else "male"
        is_whose = word in _OWNS and _is_before_noun(text, match.end())
        case: Case = "whose" if is_whose else "object" if word in _OBJECTS else ""
        number = 3 if many else 1
        yield Anaphor(
            *match.span("word"), match["word"], "personal", gender, number, they=many, case=case
        )


def _is_before_noun(text: str, end: int) -> bool:
    """Whether a word that is none of the commonest stands right behind a place (her car, not her to)."""
    word = "".join(takewhile(str.isalpha, text[end + 1 :])).lower()
    return text[end : end + 1] == " " and bool(word) and word not in words("stopwords")


_OWNS = frozenset(("his", "her", "their"))
_OBJECTS = frozenset(("him", "her", "them"))


def _phrases(turn: Turn) -> Iterator[Anaphor]:
    edges = {edge for w in turn.words for edge in (w.start, w.end)}
    chinese = any(is_han(word.text[0]) for word in turn.words)
    for pattern in (lex.phrase_zh, lex.phrase_en) if chinese else (lex.phrase_en,):
        for match in pattern.finditer(turn.text):
            groups = match.groupdict()
            form: Form = next((form for form in _FORMS if groups.get(form)), "bare")
            # The 朋友 of 朋友圈 is nobody; 是护士 and 当老师 say what somebody is.
            says_what = lex.copula_zh.search(turn.text, 0, match.start())
            if form == "bare" and (says_what or not {*match.span()} <= edges):
                continue
            if form == "definite" and _says_which(match):
                continue
            part = "noun" if groups.get("noun") else "bare"
            phrase = roles.with_former(turn.text, *match.span(part)) if groups.get(part) else ""
            noun = phrase.strip().lower()
            number = 2 if groups.get("two") else 3 if groups.get("many") else 1
            gender = roles.noun_gender(noun) or roles.gender_of(noun)
            yield Anaphor(*match.span(), match.group(), form, gender, number, word=noun)


def _says_which(definite: re.Match[str]) -> bool:
    """Whether a definite phrase says by what else somebody is who they are, and so speaks of them for
    the first time: the boiler man, not the poor man."""
    noun = definite.groupdict().get("bare") or ""
    kinds = definite[0].lower().removesuffix(noun.lower()).split()[1:]
    return noun.lower() in _GENERIC and not all(kind in _QUALITIES for kind in kinds)


_GENERIC = frozenset(row["word"] for row in rows("heads") if row["language"] == "en")
_QUALITIES = frozenset().union(
    *(word_sets("ownership")[group] for group in ("en_between", "en_ex", "en_adjectives"))
)


@dataclass(frozen=True, slots=True)
class Relative:
    """A role word at [start, end) of a text; ``owner`` is where the words for whose they are
    begin (她 of 她妈妈)."""

    start: int
    end: int
    word: str
    gender: str
    owner: int


def named_relatives(a: Anaphor, turn: Turn) -> set[UUID]:
    """The people whom ``turn`` calls a relative of the antecedent of ``a``. None of them is the
    antecedent: in "Ruth is his daughter" and "his daughter Ruth", "his" does not mean Ruth."""
    return {
        name.person.id
        for name in turn.names
        if (name.start >= a.end and _GENITIVE.fullmatch(turn.text, a.end, name.start))
        or (name.end <= a.start and lex.copula.fullmatch(turn.text, name.end, a.start))
    }


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
            found.append(Relative(at, match.end(), word, roles.gender_of(word), start))
    return found
