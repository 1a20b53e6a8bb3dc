"""Descriptions of people in English: my friend who works at Tencent, the 45-year-old guy."""

import re
from collections.abc import Iterator
from functools import cache

from contacts.lexicon import alternation, mapping, words
from contacts.matching.description_slots import (
    ANY,
    DOING,
    JOB,
    LIKING,
    ORIGIN,
    PLACE,
    SCHOOL,
    WORK,
    heads,
)
from contacts.numerals import MONTH
from contacts.roles import terms
from contacts.types import Constraint, Description

_HEADS = heads("en")
_LABELS = mapping("labels", "attributes", "en")
_DATE = rf"(?:{MONTH}\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}|\d{{4}}-\d{{1,2}}-\d{{1,2}})"
_ADVERB = r"(?:(?:also|now|still|currently|just|really|always|recently|once|actually) )*"

# A clause about someone, and what is asked by it; ``v`` is a phrase that runs on.
_Rows = tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
_ROWS: _Rows = tuple(
    (re.compile(_ADVERB + pattern), attributes)
    for pattern, attributes in (
        (r"(?:is |'s |are |turned |turns |aged |just turned )(?P<v>\d{1,3})(?: years? old)?\b(?! (?:minutes|hours|km|miles))", ("age",)),
        (rf"(?:was |is )?born (?:on |in )?(?P<v>{_DATE})", ("birthday",)),
        (rf"has (?:a |his |her |their )?birthday (?:on )?(?P<v>{_DATE})", ("birthday",)),
        (r"(?:works?|working|worked|employed|interns?|is|'s) (?:as|being) (?:an? |the )?(?P<v>.+)", JOB),
        (r"(?:works?|working|is employed|employed|interns?|is an intern|got a job|has a job|is) (?:at|for|with|over at) (?P<v>.+)", WORK),
        (r"(?:works?|working|is working) in (?P<v>.+)", (*WORK, "job_title")),
        (r"(?:lives?|living|is living|moved|relocated|resides?|stays?|is based|based|is staying|is) (?:over )?(?:in|to|near|at) (?P<v>.+)", PLACE),
        (r"(?:is |'s |comes |came |originally |grew up )*(?:from|in) (?P<v>.+)", (*ORIGIN, "company", "school")),
        (r"(?:studies|studied|goes|went|is studying|studying|graduated) (?:at|to|from) (?P<v>.+)", SCHOOL),
        (r"(?:studies|studied|is studying|majors? in|majored in) (?P<v>.+)", ("major", "education", *LIKING)),
        (r"is allergic to (?P<v>.+)|can'?t eat (?P<w>.+)", ("allergy", "diet", "health")),
        (r"speaks (?P<v>.+)", ("language", "skill")),
        (r"(?:has|have|owns?|keeps?|got|'s got|adopted) (?:an? |the |two |three |his |her |their |some )?(?P<v>.+)", ("pet", "possession", "vehicle", "family")),
        (r"(?:likes?|loves?|enjoys?|is into|is obsessed with|adores?|is crazy about|is a fan of) (?P<v>.+)", LIKING),
        (r"(?:is |'s )(?:an? |the )(?P<v>.+)", (*JOB, "diet", "personality")),
        (r"(?:is |'s )(?P<v>(?:vegan|vegetarian|married|single|divorced|pregnant|engaged|diabetic)\b)", ("diet", "marital_status", "health")),
        (r"(?:fixes|repairs|teaches|sells|makes|builds|writes|plays|collects|runs|drives|coaches|cuts|grows|paints|bakes|does|trains|designs|treats|cleans|grooms|rides|practises|practices|climbs|speaks|cooks|brews|photographs) (?P<v>.+)", DOING),
        (r"(?P<v>(?:hikes|climbs|runs|swims|surfs|skis|paints|cooks|dances|sings|sails|fishes|knits|gardens|bakes|skates)\b)", DOING),
    )
)  # fmt: skip
_ORIGIN_ONLY = (
    re.compile(r"(?:from|at|in|with) (?:(?:a|an|the|my|his|her|our|their) )?(?P<v>.+)"),
    {
        "from": (*ORIGIN, "company", "school"),
        "at": WORK,
        "in": PLACE,
        "with": ("pet", "vehicle", "possession", "family"),
    },
)
_MAX_WORDS = 5
_PAST = re.compile(r"[a-z]{3}ed$")
_PHRASE = re.compile(r"[^\s,.?!;:()\"]+(?: [^\s,.?!;:()\"]+)*")
_COULD = re.compile(r"\b(?:who|whose|that|which|the|my|our|one|someone|somebody|anyone|anybody)\b")
_NOT_JOBS = words("grammar_en", "not_jobs")
_PHRASE_END = words("grammar_en", "phrase_end")
# What follows a bare "the nurse" that means a person: a verb, or the end.
_AFTER_JOB = r"(?:'s (?:name|number|phone|email|birthday|address)|(?= (?:is|was|called|named|again|doing|like|do|say|said|live|work|have|going|been|up)\b)|(?=\s*[?？]|\s*$))"


@cache
def _heads() -> str:
    return alternation({*filter(str.isascii, terms()), *_HEADS})


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    head = rf"(?P<head>{_heads()})s?"
    owner = r"\b(?:the|that|this|my|our|an?|another|one of my|some|which|which of my|any of my|do i know)"
    adjective = (
        r"(?: (?:old|new|good|close|best|other|young|only|dear|tall|nice|one|male|female|former))*"
    )
    return (
        re.compile(rf"{owner}{adjective} {head},? (?:who|that|which)(?P<mod>'s .+| .+)"),
        re.compile(r"\b(?P<head>someone|somebody|anyone|anybody) (?:who|that)(?P<mod>'s .+| .+)"),
        re.compile(rf"\b(?:which|which one|who) of my (?:[a-z]+ )?{head}(?P<mod> .+)"),
        re.compile(rf"\bwhich (?:[a-z]+ )?{head}(?P<mod> .+)"),
        re.compile(r"(?:^|[.?!,] |\band |\bremember |\bknow |\bremind me )(?P<head>)who(?P<mod>'s .+| .+)(?=\?|$)"),
        re.compile(rf"\b(?:the|that|my|our){adjective} {head}(?P<place>(?: over| back)? (?:from|at|in|with) .+)"),
    )  # fmt: skip


_AGED = re.compile(
    r"\b(?:the|that|my|our)\b(?: [a-z]+)? (?P<v>\d{1,3})[- ]years?[- ]old(?: (?P<head>[a-z]+))?"
)
_BIRTHDAY = re.compile(
    rf"\b(?:who|whose|who's|which friend)(?: has a|'s)? (?:birthday|b-day|bday) (?:is|was|on|falls)(?: on)? (?P<v>{_DATE})"
    rf"|\b(?:who )?was born on (?P<w>{_DATE})"
)
_LABELLED = re.compile(
    rf"(?:\b(?:the|that) (?P<head>{alternation(_HEADS)}) )?\bwhose (?P<label>{alternation(_LABELS)}) (?:is|was) (?:an? |the )?(?P<v>[^\s,?!;]*[^\s,?!;.])"
)
_BEFORE_HEAD = re.compile(
    r"\b(?:my|that|the|our) (?P<v>[a-z][a-z'-]+(?: [a-z][a-z'-]+)?) (?P<head>friend|colleague|coworker|co-worker|classmate|buddy|pal|mate|neighbor|neighbour|roommate|cousin|guy|girl|woman)\b(?!')"
)
_JOB = re.compile(rf"\b(?:the|that) (?P<v>[a-z][a-z-]+(?: [a-z][a-z-]+)??){_AFTER_JOB}")
_ASK = re.compile(
    r"\b(?:who|who's|whose|what|what's|whats|how|how's|where|where's|when|when's|remind|remember|tell me about|which)\b"
)


def describe(norm: str, raw: str) -> Iterator[Description]:
    """The descriptions in a normalised text (``raw`` keeps its case); they may overlap."""
    if not _COULD.search(norm):
        return
    for pattern in _patterns():
        for match in pattern.finditer(norm):
            yield from _clause(match, raw)
    for fixed, attributes in (
        (_AGED, ("age",)),
        (_BIRTHDAY, ("birthday",)),
        (_BEFORE_HEAD, ANY),
    ):
        for match in fixed.finditer(norm):
            yield from _simple(match, attributes)
    for match in _LABELLED.finditer(norm):
        yield from _simple(match, tuple(_LABELS[match["label"]].split()))
    for match in _JOB.finditer(norm) if _ASK.search(norm) else ():
        if match["v"].split()[0] not in _NOT_JOBS:
            yield from _simple(match, JOB)


def _clause(match: re.Match[str], raw: str) -> Iterator[Description]:
    groups = match.groupdict()
    name = "place" if "place" in groups else "mod"
    begin = match.start(name)
    text = groups[name]
    lead = len(text) - len(text.lstrip())
    clause = text.lstrip()
    role, gender = _head(groups.get("head") or "")
    if name == "place":
        clause = re.sub(r"^(?:over|back) ", "", clause)
        lead = len(text) - len(clause)
        rows: _Rows = ((_ORIGIN_ONLY[0], _ORIGIN_ONLY[1][clause.split(" ")[0]]),)
    else:
        clause = re.sub(r"^'s ", "is ", clause)
        rows = _ROWS
    for pattern, attributes in rows:
        found = pattern.match(clause)
        if found is None:
            continue
        group = "v" if found.groupdict().get("v") else "w"
        start = begin + lead + found.start(group)
        value = _phrase(found[group], raw[start:])
        if value:
            end = start + len(value)
            yield Description(
                match.start() + len(match[0]) - len(match[0].lstrip(" .?!,")),
                end, (Constraint(attributes, value),), role, gender,
            )  # fmt: skip
            return


def _phrase(text: str, raw: str) -> str:
    """The noun phrase that ``text`` begins with: up to a word that ends one, and a name in
    capitals up to its last capital."""
    found = _PHRASE.match(text)
    if found is None:
        return ""
    words = found.group().split(" ")
    end = 0
    typed = raw[: found.end()].split(" ")
    proper = typed[0][:1].isupper()
    for word, given in zip(words[:_MAX_WORDS], typed, strict=False):
        if word in _PHRASE_END or word.endswith("n't") or (end and _PAST.search(word)):
            break
        joins = word in ("of", "and", "the", "de", "&")
        if proper and not given[:1].isupper() and not given[:1].isdigit() and not joins:
            break
        end += 1
    while end and words[end - 1] in ("of", "and", "the", "de", "&"):
        end -= 1
    return " ".join(words[:end])


def _simple(match: re.Match[str], attributes: tuple[str, ...]) -> Iterator[Description]:
    groups = match.groupdict()
    role, gender = _head(groups.get("head") or "")
    value = groups.get("v") or groups.get("w") or ""
    yield Description(*match.span(), (Constraint(attributes, value),), role, gender)


def _head(word: str) -> tuple[str, str]:
    """The role and the gender that a noun for a person states."""
    if word in terms():
        return word, ""
    return "", _HEADS.get(word, "")
