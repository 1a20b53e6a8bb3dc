"""What speaks for a person where a name in Latin letters is also a word."""

import re
from collections.abc import Set

from contacts.lexicon import rows, words
from contacts.matching.annotation import Reading, Token
from contacts.text import is_cjk

# Evidence for a person, summed; a word needs more than nothing.
WEIGHTS = {
    "verb after": 2.0,
    "adverb after": 1.2,
    "auxiliary after": 0.5,
    "state after": 2.0,
    "possessive": 1.0,
    "he or she": 0.7,
    "whom": 1.2,
    "called out": 1.2,
    "alone": 1.5,
    "listed beside": 1.0,
    "capital inside a sentence": 1.5,
    "capital at the start": -0.5,
    "capital at the start of a name": 0.5,
    "no capital": -2.5,
    "calendar": -0.9,
    "calendar before": -2.0,
    "place": -0.8,
    "place before": -2.0,
    "place after": -1.0,
    "determiner before": -2.0,
    "word after": -2.0,
    "noun after": -1.0,
    "past tense after": 0.7,
    "Chinese around": 0.8,
}
# Months and places that are names as well.
MONTHS = frozenset(row["name"] for row in rows("months") if row["given"])
PLACES = words("context_en", "places")
_PERSONAL = words("context_en", "personal")
_MONTH_BEFORE = words("context_en", "month_before")
_PLACE_BEFORE = words("context_en", "place_before")
_MOSTLY_NAMES = words("context_en", "mostly_names")
_WORD_AFTER = words("context_en", "word_after")
_STATES = words("context_en", "states")
_BASES = words("context_en", "verb_bases")
_WHEREABOUTS = words("context_en", "whereabouts")
_ADVERBS = words("context_en", "adverbs")
_AUXILIARIES = words("context_en", "auxiliaries")
_DETERMINERS = words("context_en", "determiners")
_BEFORE = words("context_en", "person_before")
_SENT_FROM = words("context_en", "sent_from")
_PLACE_AFTER = words("context_en", "place_after")
_CALENDAR_VERBS = words("context_en", "calendar_verbs")
# Chinese that counts things or says how something is, before a Latin word.
_CHINESE_COUNT = re.compile(r"(?:[个款种版件条台部张份]|很|太|超|最|不|有点|好|真|挺) ?$")
# Before a state that only people are in.
_LINKS = frozenset("is was isnt wasnt seems looks got gets".split())
_AFTER = ((_ADVERBS, "adverb after"), (_AUXILIARIES, "auxiliary after"))


def _forms(base: str) -> set[str]:
    """The forms of a regular verb that follow a subject."""
    stem = base[:-1] if base.endswith("e") else base
    third = f"{base[:-1]}ies" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}s"
    if base.endswith(("s", "sh", "ch", "x", "o", "z")):
        third = f"{base}es"
    past = f"{base[:-1]}ied" if third.endswith("ies") else f"{stem}ed"
    double = {f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"}
    return {third, past, f"{stem}ing", *double}


_VERBS = words("context_en", "irregular_verbs").union(*map(_forms, _BASES))


def weigh(reading: Reading, names: Set[str], index: int, surface: str) -> float:
    """The evidence that ``surface``, also a word, means a person at token ``index``;
    ``names`` are the words of all names that may stand in the text."""
    token = reading.tokens[index]
    norm = reading.norm
    score = _case(reading, index, token)
    before, after = reading.before(index), reading.after(index)
    rest = norm[token.end : token.end + 24]
    if token.possessive:
        score += WEIGHTS["possessive"]
    if re.match(r"'s (?:been|going|gone|a|the|not|so|in|on|due|up|down)\b", rest):
        score -= WEIGHTS["possessive"]
    score += _after_score(reading, names, token, after, rest)
    if before:
        score += _before_score(before, surface)
    elif _CHINESE_COUNT.search(norm[max(0, token.start - 4) : token.start]):
        score += WEIGHTS["determiner before"]
    elif re.search(r"[@&/+]\s?$", norm[max(0, token.start - 2) : token.start]):
        score += WEIGHTS["whom"]
    personal = {t.key for t in reading.tokens[index + 1 : index + 16]}
    if personal & _PERSONAL:
        score += WEIGHTS["he or she"]
    if surface in MONTHS:
        score += _map_score(reading, before, after, _MONTH_BEFORE, "calendar")
    elif surface in PLACES:
        score += _map_score(reading, before, after, _PLACE_BEFORE, "place")
    else:
        return score
    # They have a capital everywhere, so it says nothing.
    return score - max(0.0, _case(reading, index, token))


def _case(reading: Reading, index: int, token: Token) -> float:
    if not token.capital and (reading.cased or reading.chinese):
        return WEIGHTS["no capital"]
    if not reading.cased:
        return -0.5
    if reading.starts_sentence(index):
        mostly = token.key in _MOSTLY_NAMES
        return WEIGHTS["capital at the start of a name" if mostly else "capital at the start"]
    return WEIGHTS["capital inside a sentence"]


def _after_score(
    reading: Reading, names: Set[str], token: Token, after: Token | None, rest: str
) -> float:
    starts = reading.starts_sentence(reading.starts[token.start])
    if after is None:
        return _alone_score(token, rest, starts=starts)
    if _verb_follows(reading, after) and not token.possessive:
        return WEIGHTS["verb after"]
    if after.key in ("and", "or") and _pairs(reading, names, after):
        return WEIGHTS["listed beside"]
    if _is_state(reading, after):
        return WEIGHTS["state after"]
    for words_after, reason in _AFTER:
        if after.key in words_after and not token.possessive:
            return WEIGHTS[reason]
    if token.possessive or after.capital:
        return 0.0
    if after.key in _WORD_AFTER:
        return WEIGHTS["word after"] if starts else 0.0
    if after.key.endswith("ed") and len(after.key) > 4:
        return WEIGHTS["past tense after"]
    return WEIGHTS["noun after"]


def _is_state(reading: Reading, after: Token) -> bool:
    """Whether a state that only people are in follows: is mad, was pregnant."""
    state = reading.after(reading.starts[after.start])
    linked = after.key in _LINKS
    return linked and state is not None and state.key in _STATES


def _alone_score(token: Token, rest: str, *, starts: bool) -> float:
    """The score of what follows when no Latin word does."""
    stripped = rest.lstrip()
    if stripped[:1] and is_cjk(stripped[0]):
        return WEIGHTS["Chinese around"]
    if not stripped and token.start == 0:
        return WEIGHTS["alone"]
    if rest[:1] in (",", "!", "?") and starts:
        return WEIGHTS["called out"]
    return WEIGHTS["listed beside"] if stripped[:1] in ("&", "/", "+") else 0.0


def _pairs(reading: Reading, names: Set[str], link: Token) -> bool:
    """Whether someone else is named after "and": Chase and I, Rose and Tom."""
    other = reading.after(reading.starts[link.start])
    if other is None:
        return False
    return other.key in ("i", "me", "my", "his", "her") or (
        other.capital and (other.key in names or other.key in words("given_names"))
    )


def _verb_follows(reading: Reading, after: Token) -> bool:
    """Whether ``after`` is what people do, auxiliaries and adverbs skipped."""
    index = reading.starts[after.start]
    skipped = 0
    while skipped < 3:
        token = reading.tokens[index]
        if token.key in _VERBS or (skipped and token.key in _BASES):
            return True
        if token.key not in _WHEREABOUTS | _ADVERBS | _AUXILIARIES | {
            "not",
            "will",
            "to",
            "been",
        }:
            return False
        index, skipped = index + 1, skipped + 1
        if reading.after(index - 1) is None:
            return False
    return False


def _before_score(before: Token, surface: str) -> float:
    if before.possessive or before.key in _DETERMINERS:
        return WEIGHTS["determiner before"]
    calendar_or_place = surface in MONTHS or surface in PLACES
    if before.key in _BEFORE and not (
        calendar_or_place and before.key in _MONTH_BEFORE | _PLACE_BEFORE
    ):
        return WEIGHTS["whom"]
    return 0.0


def _map_score(
    reading: Reading,
    before: Token | None,
    after: Token | None,
    prepositions: frozenset[str],
    what: str,
) -> float:
    """Months and places are always capital: what counts is what stands beside them."""
    score = WEIGHTS[what]
    if before and before.key in prepositions:
        sender = reading.before(reading.starts[before.start])
        if before.key == "from" and sender and sender.key in _SENT_FROM:
            return score + WEIGHTS["whom"]
        score += WEIGHTS[f"{what} before"]
    if after and after.key in _PLACE_AFTER:
        score += WEIGHTS["place after"]
    if what == "calendar" and after and after.key in _CALENDAR_VERBS:
        score -= WEIGHTS["verb after"]
    if after and after.key.isdigit():
        score += WEIGHTS["calendar before"]
    return score
