"""Where a personal name stands in a text, by its capital: names in Latin letters."""

import re

from contacts.lexicon import alternation, titles_used, words
from contacts.text import HAN, normalise
from memories.providers.offline.lexicons import english_places, given_names

_TITLES = alternation(word.title() for word in titles_used("reader") if word.isascii())
_LATIN_BEFORE = re.compile(
    rf"(?:\b(?:{alternation(words('names_en', 'before'))})\s|[跟和与给约找陪让问帮送见把对是、，]\s?)$",
    re.I,
)

_LATIN_AFTER = re.compile(
    rf"(?:'s\b|’s\b|'ll\b|'d\b|\s(?:{alternation(words('names_en', 'after'))})\b|\s?[\u4e00-\u9fff]|,|$|\.)"
)

# English words that are given names too: a name only where something else says so.
_WORD_NAMES = words("names_en", "also_names")

_NEVER_NAMES = words("names_en", "never_names")

LATIN_NAME = re.compile(
    rf"(?<![A-Za-z0-9_À-ÿ@./'’-])(?:(?:{_TITLES}|Sir)\.?\s)?[A-ZÀ-Þ][a-zà-ÿ]+(?:[A-Z][a-z]+)?(?:-[A-Z][a-z]+)?(?![A-Za-z0-9_À-ÿ@])"
)

_TITLED = re.compile(rf"(?:{_TITLES})\.?\s")

_PERSON_VERB = re.compile(
    r"\s(?:said|says|told|asked|swears?|swore|is dating|is getting|is my|was my|is our|texted|called me|loves|hates|thinks|thought|wants|gave|bought|moved|lives|works|got|just got|finally|and I)\b|'s\s(?:wife|husband|mom|dad|birthday|wedding|sister|brother|house|place)\b"
)


_CAPITAL_BEFORE = re.compile(r"(?<![\w'’-])(?P<w>[A-ZÀ-Þ][a-zà-ÿ]+)\s$")
_MINE_BEFORE = re.compile(r"\b(?:my|our)\s[\w -]{2,24}\s$", re.I)
_IS_MINE = re.compile(r"\s(?:is|was)\s(?:my|our)\b")
# A street, a firm, a school called after people.
_THING_AFTER = re.compile(rf"\s?(?:{alternation(words('names_en', 'thing_after'))})\b")
# An employer called after people: work at Morgan Stanley.
_WORKPLACE = re.compile(
    r"\b(?:work(?:s|ed|ing)?|job|intern(?:s|ed|ing)?|interview(?:s|ed|ing)?|position|offer|shop(?:s|ped|ping)?|account|bank)\s(?:at|for|with|from)\s$",
    re.I,
)


def _acts(before: str, after: str) -> bool:
    """Whether a capitalised everyday word is used as a name: in the middle of a sentence
    beside words for people, or at its head doing what people do."""
    if re.search(r"[a-z,]\s$", before):
        return (
            bool(_LATIN_BEFORE.search(before))
            or bool(_PERSON_VERB.match(after))
            or bool(re.match(r"\s(?:is|was|has|will)\s\w+", after))
        )
    return bool(_PERSON_VERB.match(after)) or (HAN.search(after[:2]) is not None)


def _is_surname(before: str) -> bool:
    """Whether a given name stands right before: (Morgan) Stanley, (Jack) Daniel's."""
    first = _CAPITAL_BEFORE.search(before)
    return bool(
        first
        and normalise(first["w"]) in given_names()
        and normalise(first["w"]) not in _NEVER_NAMES
    )


def surname_end(text: str, end: int) -> int:
    """Where a full name ends whose given name ends at ``end``; ``end`` without a surname."""
    full = re.match(r"\s(?P<w>[A-Z][a-z]{2,})(?![\w'’-]|\s[A-Z])", text[end:])
    if full is None or is_stop_word(full["w"]) or full["w"] in english_places():
        return end
    return end + full.end()


def latin_names(text: str) -> list[tuple[int, int, bool]]:
    """Capitalised words that may be given names: (start, end, known given name)."""
    found: list[tuple[int, int, bool]] = []
    for match in LATIN_NAME.finditer(text):
        titled = _TITLED.match(match.group())
        word = match.group()[titled.end() :] if titled else match.group()
        folded = normalise(word)
        if folded in _NEVER_NAMES or (titled and len(word) < 2):
            continue
        known = folded in given_names() and folded not in _WORD_NAMES
        place = word in english_places()
        if folded in {"april", "may", "june", "august"} and (
            re.match(r"\s?\d", text[match.end() :])
            or re.search(
                r"\b(?:in|by|since|until|from|of|is|on|this|next|last)\s$", text[: match.start()]
            )
        ):
            continue
        before, after = text[: match.start()], text[match.end() :]
        if _is_surname(before):
            continue
        if not (folded in given_names() and _MINE_BEFORE.search(before)) and _THING_AFTER.match(
            after
        ):
            continue
        if _WORKPLACE.search(before) and re.match(r"\s[A-Z][a-z]", after):
            continue
        clear = bool(_LATIN_AFTER.match(after)) or bool(_LATIN_BEFORE.search(before))
        if (
            titled
            or (known and not place and clear)
            or (folded in given_names() and not place and len(word) > 2 and _acts(before, after))
            or (known and _IS_MINE.match(text, surname_end(text, match.end())))
        ):
            found.append((match.start(), match.end(), True))
        else:
            found.append((match.start(), match.end(), False))
    return found


def is_stop_word(word: str) -> bool:
    """A capitalised word that is never a person here (days, months, machines, Yes, Sorry)."""
    return normalise(word) in _NEVER_NAMES
