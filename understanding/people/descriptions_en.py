"""Descriptions of people in English: my friend who works at Tencent, the 45-year-old guy."""

import re
from collections.abc import Iterator

from understanding.lexicon import alternation, mapping, word_sets
from understanding.lexicon.rules import patterns, rows
from understanding.numerals import MONTH
from understanding.people.description_slots import attributes, heads, readings_of
from understanding.roles import terms
from understanding.types import Constraint, Description

_HEADS = heads("en")
_LABELS = mapping("labels", "attributes", "en")
_WORDS = word_sets("grammar_en")
_MAX_WORDS = 5
lex = patterns(
    __file__,
    HEADS=lambda: alternation({*filter(str.isascii, terms()), *_HEADS}),
    NOUNS=alternation(_HEADS),
    LABELS=alternation(_LABELS),
    MONTH=MONTH,
)
_CLAUSES = readings_of(rows(__file__, "clauses", MONTH=MONTH))
_PLACES = readings_of(rows(__file__, "places"))


def describe(norm: str, raw: str) -> Iterator[Description]:
    """The descriptions in a normalised text (``raw`` keeps its case); they may overlap."""
    if not lex.could.search(norm):
        return
    for pattern in (
        lex.one_who, lex.someone_who, lex.which_of_mine, lex.which_one, lex.who_asked, lex.one_from,
    ):  # fmt: skip
        for match in pattern.finditer(norm):
            yield from _clause(match, raw)
    for fixed, asked in (
        (lex.aged, ("age",)),
        (lex.birthday, ("birthday",)),
        (lex.before_head, attributes("any")),
    ):
        for match in fixed.finditer(norm):
            yield from _simple(match, asked)
    for match in lex.labelled.finditer(norm):
        yield from _simple(match, tuple(_LABELS[match["label"]].split()))
    for match in lex.job.finditer(norm) if lex.ask.search(norm) else ():
        if match["v"].split()[0] not in _WORDS["not_jobs"]:
            yield from _simple(match, ("job_title",))


def _clause(match: re.Match[str], raw: str) -> Iterator[Description]:
    groups = match.groupdict()
    name = "place" if "place" in groups else "mod"
    clause = groups[name].lstrip()
    if name == "place":
        clause = re.sub(r"^(?:over|back) ", "", clause)
    begin = match.start(name) + len(groups[name]) - len(clause)
    role, gender = _head(groups.get("head") or "")
    clause = re.sub(r"^'s ", "is ", clause)
    for pattern, targets in _PLACES if name == "place" else _CLAUSES:
        found = pattern.match(clause)
        if found is None:
            continue
        group = "v" if found["v"] else "w"
        start = begin + found.start(group)
        value = _phrase(found[group], raw[start:])
        if value:
            yield Description(
                match.start() + len(match[0]) - len(match[0].lstrip(" .?!,")),
                start + len(value), (Constraint(targets[group], value),), role, gender,
            )  # fmt: skip
            return


def _phrase(text: str, raw: str) -> str:
    """The noun phrase that ``text`` begins with: up to a word that ends one, and a name in
    capitals up to its last capital."""
    found = lex.phrase.match(text)
    if found is None:
        return ""
    words = found.group().split(" ")
    end = 0
    typed = raw[: found.end()].split(" ")
    proper = typed[0][:1].isupper()
    for word, given in zip(words[:_MAX_WORDS], typed, strict=False):
        if word in _WORDS["phrase_end"] or word.endswith("n't") or (end and lex.past.search(word)):
            break
        joins = word in ("of", "and", "the", "de", "&")
        if proper and not given[:1].isupper() and not given[:1].isdigit() and not joins:
            break
        end += 1
    while end and words[end - 1] in ("of", "and", "the", "de", "&"):
        end -= 1
    return " ".join(words[:end])


def _simple(match: re.Match[str], asked: tuple[str, ...]) -> Iterator[Description]:
    groups = match.groupdict()
    role, gender = _head(groups.get("head") or "")
    value = groups.get("v") or groups.get("w") or ""
    yield Description(*match.span(), (Constraint(asked, value),), role, gender)


def _head(word: str) -> tuple[str, str]:
    """The role and the gender that a noun for a person states."""
    if word in terms():
        return word, ""
    return "", _HEADS.get(word, "")
