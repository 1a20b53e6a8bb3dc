"""The words of a text that point back at someone: what they ask of a referent, and where."""

from dataclasses import dataclass
from typing import Literal

from contacts.coreference import role_features
from contacts.coreference.syntax import Clauses, Role
from contacts.lexicon import words
from contacts.lexicon.rules import patterns
from contacts.text import HAN, quotations

lex = patterns("anaphora")
_SUBJECT = words("grammar_en", "subject_pronouns")
_POSSESSIVE = words("grammar_en", "possessive_pronouns")
_REFLEXIVE = words("grammar_en", "reflexive_pronouns")
_FEMALE = words("grammar_en", "female_pronouns")

Form = Literal[
    "personal", "reflexive", "demonstrative", "former", "latter", "other", "renjia", "role"
]


@dataclass(frozen=True, slots=True)
class Anaphor:
    """``gender`` is female, male or empty (either); ``number`` is 1, 2 (exactly two) or 3
    (several); ``they`` marks the English word that may mean one or several. ``described``:
    it says more of whom it means than its noun does; ``newcomer``: it may well mean someone
    not spoken of before. ``word`` is the noun of a demonstrative or a role word."""

    start: int
    end: int
    text: str
    form: Form
    role: Role
    gender: str = ""
    number: int = 1
    they: bool = False
    described: bool = False
    newcomer: bool = False
    word: str = ""


def find_anaphors(text: str, clauses: Clauses) -> list[Anaphor]:
    """Pronouns and demonstratives of ``text`` in order, those inside titles and slogans
    left out."""
    found = [
        *_personal_zh(text, clauses),
        *_personal_en(text),
        *_demonstratives(text, clauses),
        *_others(text, clauses),
    ]
    closed = [span for span in quotations(text) if not _spoken(text, span[0])]
    kept: list[Anaphor] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if any(start <= one.start < end for start, end in closed):
            continue
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _spoken(text: str, at: int) -> bool:
    """Whether the quote that opens at ``at`` is what a third person said."""
    return bool(lex.speech_before_quote.search(text[:at]))


def _personal_zh(text: str, clauses: Clauses) -> list[Anaphor]:
    found = []
    chinese = bool(HAN.search(text))
    for match in lex.personal_zh.finditer(text):
        start, end = match.span()
        word = match.group()
        if not chinese:
            continue
        role = clauses.role(start, end)
        if match["one"]:
            gender = "female" if word == "她" else "male"
            found.append(Anaphor(start, end, word, "personal", role, gender))
        elif match["ta"]:
            found.append(Anaphor(start, end, word, "personal", role))
        else:
            gender = "female" if word[0] == "她" else ""
            number = 2 if "俩" in word or "两" in word else 3
            found.append(Anaphor(start, end, word, "personal", role, gender, number))
    return found


def _personal_en(text: str) -> list[Anaphor]:
    found = []
    for match in lex.personal_en.finditer(text):
        start, end = match.span()
        word = match.group().lower()
        role: Role = "object"
        if word in _SUBJECT:
            role = "subject"
        elif word in _POSSESSIVE or (word == "her" and not lex.her_object.match(text, end)):
            role = "possessor"
        if word.startswith("the"):
            found.append(Anaphor(start, end, match.group(), "personal", role, "", 3, they=True))
            continue
        gender = "female" if word in _FEMALE else "male"
        form: Form = "reflexive" if word in _REFLEXIVE else "personal"
        found.append(Anaphor(start, end, match.group(), form, role, gender))
    return found


def _demonstratives(text: str, clauses: Clauses) -> list[Anaphor]:
    found = []
    earlier = bool(lex.earlier.search(text))
    for pattern in (lex.demonstrative_zh, lex.demonstrative_en):
        for match in pattern.finditer(text):
            start, end = match.span()
            word = match.group()
            role = clauses.role(start, end)
            groups = match.groupdict()
            if groups["pair"]:
                number = 3 if lex.more_than_two.search(word) else 2
                gender = role_features.noun_gender(word.lower())
                found.append(Anaphor(start, end, word, "demonstrative", role, gender, number))
                continue
            noun = (groups.get("noun") or groups.get("told") or "").strip().lower()
            found.append(
                Anaphor(
                    start,
                    end,
                    word,
                    "demonstrative",
                    role,
                    role_features.noun_gender(noun),
                    described=bool(earlier or groups.get("that") or groups.get("told"))
                    or len(word.split()) > 2,
                    newcomer=bool(lex.newcomer_after.match(text, end)) and not earlier,
                    word=noun,
                )
            )
    return found


def _others(text: str, clauses: Clauses) -> list[Anaphor]:
    found = []
    for match in lex.former_latter.finditer(text):
        form: Form = "former" if match["former"] else "latter"
        role = clauses.role(*match.span())
        found.append(Anaphor(*match.span(), match.group(), form, role))
    for match in lex.other_party.finditer(text):
        role = clauses.role(*match.span())
        found.append(Anaphor(*match.span(), match.group(), "other", role))
    for match in lex.renjia.finditer(text):
        if not lex.renjia_self.match(text, match.start()):
            role = clauses.role(*match.span())
            found.append(Anaphor(*match.span(), match.group(), "renjia", role))
    return found
