"""Reads an utterance as a turn and finds its anaphors: what each requires of an antecedent, and
where it is.

Closed classes (pronouns, demonstratives) follow the reference grammars: Huddleston & Pullum,
Cambridge Grammar of the English Language, ch. 5 and 17; 吕叔湘 现代汉语八百词. Whether an anaphor refers to
anybody is decided by the model.
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

# Between an owner and the word for their relative.
_GENITIVE = re.compile(r"\s?[的嘅]?|家[的嘅]?")
_STOPS = "，。！？；,.!?; \n"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """The part of an utterance that is read. Spans count characters of ``text``; ``clauses`` are
    the starts of its clauses."""

    original: str
    role: str
    text: str
    words: list[Word]
    clauses: list[int]
    names: list[Mention]
    spans: list[Span]

    def clause(self, at: int) -> int:
        """Returns the index of the clause at position ``at``."""
        return bisect_right(self.clauses, at) - 1

    def first_clause(self) -> Span:
        """Returns the span of the first clause, without the marks that end it."""
        end = self.clauses[1] if len(self.clauses) > 1 else len(self.text)
        return 0, len(self.text[:end].rstrip(_STOPS)) or len(self.text)

    def owned_by(self, end: int) -> str:
        """Returns the role word after an owner that ends at ``end`` (Ben's boss: boss), or ""."""
        match = lex.owned.match(self.text, end)
        return (match["zh"] or match["en"]) if match else ""

    def is_of_user(self) -> bool:
        """Whether the subject of the first clause is the user, who is then also what later clauses
        leave out, as their topic (Li and Thompson 1981)."""
        return bool(lex.user_subject.match(self.text, 0, self.first_clause()[1]))


def read_turn(utterance: Utterance, limit: int) -> Turn:
    """Reads the first ``limit`` characters of an utterance."""
    text = simplified(utterance.text[:limit])
    mentions = [m for m in utterance.mentions if m.how != "pronoun" and m.end <= limit]
    exact = {(m.start, m.end) for m in mentions if m.how != "kinship" and m.confidence >= NAMED}
    # In 房东闵姐 the role word only states who 闵姐 is.
    names = sorted(
        (m for m in mentions if m.how != "kinship" or not beside(text, (m.start, m.end), exact)),
        key=lambda m: (m.start, m.end),
    )
    spans = sorted({(m.start, m.end) for m in names})
    words, clauses = _words(text), _clauses(text)
    return Turn(utterance.text, utterance.role, text, words, clauses, names, spans)


def _words(text: str) -> list[Word]:
    """Returns the words of a text in lower case, Chinese ones by the dictionary."""
    words = []
    for run in lex.run.finditer(text):
        if run["zh"]:
            at = run.start()
            words += [replace(w, start=w.start + at, end=w.end + at) for w in cut(run["zh"])]
        else:
            words.append(Word(*run.span(), run.group().lower(), ""))
    return words


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
    """Whether the span is right beside another, with nothing or a space between."""
    return any(
        not text[min(end, span[1]) : max(start, span[0])].strip()
        for start, end in spans
        if end <= span[0] or span[1] <= start
    )


Form = Literal[
    "personal", "former", "latter", "other", "demonstrative", "definite", "bare", "unspoken"
]
Case = Literal["", "whose", "object"]
# The model has weights for each group.
Group = Literal["personal", "several", "noun", "unspoken"]

_FEMALE = words("grammar_en", "female_pronouns")
_THIRD_ZH = frozenset("他她佢伊")
_FORMS: tuple[Form, ...] = ("former", "latter", "other", "demonstrative", "definite")


@dataclass(frozen=True, slots=True)
class Anaphor:
    """A word or phrase that may refer back to a person. ``gender`` is female, male or empty
    (either); ``number`` is 1, 2 (exactly two) or 3 (several); ``they`` marks the English word for
    one or several. ``word`` is the noun of a phrase. An ``unspoken`` one is a dropped subject.
    ``case`` is "whose" for a possessive (her car, 他妈), which may refer to the subject of its own
    clause, and "object" for the object of its clause (with him, 跟他), which does not."""

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


def _role_pattern(*, chinese: bool) -> str:
    """Returns a pattern of the role words."""
    return alternation(word for word in terms() if is_han(word[0]) is chinese)


def _noun_pattern(*, chinese: bool) -> str:
    """Returns a pattern of nouns for people: roles, strangers, acquaintances."""
    groups = ("people_zh", "known_zh") if chinese else ("people_en", "known_en")
    roles = {word for word in terms() if is_han(word[0]) is chinese}
    return alternation(roles | words("strangers", *groups))


lex = patterns(
    __file__,
    NOUN_ZH=partial(_noun_pattern, chinese=True),
    NOUN_EN=partial(_noun_pattern, chinese=False),
    ROLE_ZH=partial(_role_pattern, chinese=True),
    ROLE_EN=partial(_role_pattern, chinese=False),
)


def find_anaphors(turn: Turn) -> list[Anaphor]:
    """Returns pronouns, demonstratives and definite phrases in order, none overlapping."""
    matches = [*_personal_zh(turn), *_personal_en(turn.text), *_phrases(turn)]
    quoted = quotations(turn.text)
    anaphors: list[Anaphor] = []
    for one in sorted(matches, key=lambda one: (one.start, -one.end)):
        if not anaphors or one.start >= anaphors[-1].end:
            is_quoted = any(start <= one.start < end for start, end in quoted)
            anaphors.append(replace(one, quoted=True) if is_quoted else one)
    return anaphors


def _personal_zh(turn: Turn) -> Iterator[Anaphor]:
    """Yields pronouns that are words of their own: not those in 吉他, 其他, 他乡."""
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
    """Returns "whose" before a relative or 的, "object" after a preposition (跟他) or, at the end of a
    clause, after a verb (照顾他)."""
    if turn.owned_by(end) or turn.text[end : end + 1] in ("的", "嘅"):
        return "whose"
    before = next((word.tag[:1] for word in turn.words if word.end == start), "")
    is_last = all(word.start != end for word in turn.words)
    same_clause = turn.clause(start - 1) == turn.clause(start)
    return "object" if same_clause and (before == "p" or (before == "v" and is_last)) else ""


def _personal_en(text: str) -> Iterator[Anaphor]:
    for match in lex.personal_en.finditer(text):
        word = match["word"].lower()
        is_they = word.startswith("the")
        gender = "" if is_they else "female" if word in _FEMALE else "male"
        near = text[: match.start("word")].lower().split()[-6:]
        verb = near[-1:]
        is_named = bool(verb) and verb[0] in words("people_words", "calls")  # call her Dot
        is_whose = word in _POSSESSIVES and not is_named and _is_before_noun(text, match.end())
        # In "Max is a cousin of hers" she is not Max; in "Max is selling a car of hers" she may be.
        is_predicate = verb == ["of"] and not {"is", "was", "isn't", "wasn't"}.isdisjoint(near)
        is_object = word in _OBJECTS or (is_predicate and not any(w.endswith("ing") for w in near))
        case: Case = "whose" if is_whose else "object" if is_object else ""
        number = 3 if is_they else 1
        yield Anaphor(
            *match.span("word"), match["word"], "personal", gender, number, they=is_they, case=case
        )


def _is_before_noun(text: str, end: int) -> bool:
    """Whether a word that is none of the commonest follows a place (her car, not her to)."""
    word = "".join(takewhile(str.isalpha, text[end + 1 :])).lower()
    return text[end : end + 1] == " " and bool(word) and word not in words("stopwords")


_POSSESSIVES = frozenset(("his", "her", "their"))
_OBJECTS = frozenset(("him", "her", "them"))


def _phrases(turn: Turn) -> Iterator[Anaphor]:
    edges = {edge for w in turn.words for edge in (w.start, w.end)}
    chinese = any(is_han(word.text[0]) for word in turn.words)
    for pattern in (lex.phrase_zh, lex.phrase_en) if chinese else (lex.phrase_en,):
        for match in pattern.finditer(turn.text):
            groups = match.groupdict()
            form: Form = next((form for form in _FORMS if groups.get(form)), "bare")
            # The 朋友 of 朋友圈 is nobody; 是护士 and 当老师 state what somebody is.
            is_predicate = lex.copula_zh.search(turn.text, 0, match.start())
            if form == "bare" and (is_predicate or not {*match.span()} <= edges):
                continue
            if form == "definite" and _identifies(match):
                continue
            part = "noun" if groups.get("noun") else "bare"
            phrase = roles.with_former(turn.text, *match.span(part)) if groups.get(part) else ""
            noun = phrase.strip().lower()
            number = 2 if groups.get("two") else 3 if groups.get("many") else 1
            gender = roles.noun_gender(noun) or roles.gender_of(noun)
            yield Anaphor(*match.span(), match.group(), form, gender, number, word=noun)


def _identifies(definite: re.Match[str]) -> bool:
    """Whether a definite phrase identifies somebody by more than a quality, and so mentions them
    for the first time: the boiler man, not the poor man."""
    noun = definite.groupdict().get("bare") or ""
    kinds = definite[0].lower().removesuffix(noun.lower()).split()[1:]
    return noun.lower() in _GENERIC_NOUNS and not all(kind in _QUALITIES for kind in kinds)


_GENERIC_NOUNS = frozenset(row["word"] for row in rows("heads") if row["language"] == "en")
_QUALITIES = frozenset().union(
    *(word_sets("ownership")[group] for group in ("en_between", "en_ex", "en_adjectives"))
)


@dataclass(frozen=True, slots=True)
class Relative:
    """A role word at [start, end) of a text; ``owner`` is the start of its owner (她 of 她妈妈)."""

    start: int
    end: int
    word: str
    gender: str
    owner: int


def named_relatives(a: Anaphor, turn: Turn) -> set[UUID]:
    """Returns the people whom ``turn`` names right after ``a``, or says to be its noun. None of them
    is its antecedent: in "Ruth is his daughter" and "her mum", "his" and "her" mean others."""
    return {
        name.person.id
        for name in turn.names
        if (name.start >= a.end and _GENITIVE.fullmatch(turn.text, a.end, name.start))
        or (name.end <= a.start and lex.copula.fullmatch(turn.text, name.end, a.start))
    }


def relatives_of(text: str, owners: Sequence[tuple[int, int]]) -> list[Relative]:
    """Returns the relatives and colleagues of the people at the spans ``owners``."""
    relatives = []
    for start, end in owners:
        match = lex.owned.match(text, end)
        if match and (
            match["zh"] or text[end : end + 1] in "'’" or text[start:end].lower() in _POSSESSIVES
        ):
            word = match["zh"] or match["en"]
            at = match.start("zh") if match["zh"] else match.start("en")
            relatives.append(Relative(at, match.end(), word, roles.gender_of(word), start))
    return relatives
