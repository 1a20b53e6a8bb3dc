"""What speaks for a person where a name in Latin letters is also a word."""

import re
from collections.abc import Mapping, Set

from contacts.lexicon import rows, table, word_sets, words
from contacts.matching.annotation import Reading, Token
from contacts.text import is_cjk

_WORDS = word_sets("context_en")
WEIGHTS: Mapping[str, float] = table("name_evidence")["en"]
# Months and places that are names as well.
MONTHS = frozenset(row["name"] for row in rows("months") if row["given"])
PLACES = _WORDS["places"]
# Chinese that counts things or says how something is, before a Latin word.
_CHINESE_COUNT = re.compile(r"(?:[个款种版件条台部张份]|很|太|超|最|不|有点|好|真|挺) ?$")
# Before a state that only people are in.
_LINKS = frozenset("is was isnt wasnt seems looks got gets".split())
_AFTER = ((_WORDS["adverbs"], "adverb after"), (_WORDS["auxiliaries"], "auxiliary after"))


def _forms(base: str) -> set[str]:
    """The forms of a regular verb that follow a subject."""
    stem = base[:-1] if base.endswith("e") else base
    third = f"{base[:-1]}ies" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}s"
    if base.endswith(("s", "sh", "ch", "x", "o", "z")):
        third = f"{base}es"
    past = f"{base[:-1]}ied" if third.endswith("ies") else f"{stem}ed"
    double = {f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"}
    return {third, past, f"{stem}ing", *double}


_VERBS = _WORDS["irregular_verbs"].union(*map(_forms, _WORDS["verb_bases"]))


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
    if personal & _WORDS["personal"]:
        score += WEIGHTS["he or she"]
    if surface in MONTHS:
        score += _map_score(reading, before, after, _WORDS["month_before"], "calendar")
    elif surface in PLACES:
        score += _map_score(reading, before, after, _WORDS["place_before"], "place")
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
        mostly = token.key in _WORDS["mostly_names"]
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
    if after.key in _WORDS["word_after"]:
        return WEIGHTS["word after"] if starts else 0.0
    if after.key.endswith("ed") and len(after.key) > 4:
        return WEIGHTS["past tense after"]
    return WEIGHTS["noun after"]


def _is_state(reading: Reading, after: Token) -> bool:
    """Whether a state that only people are in follows: is mad, was pregnant."""
    state = reading.after(reading.starts[after.start])
    linked = after.key in _LINKS
    return linked and state is not None and state.key in _WORDS["states"]


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
        if token.key in _VERBS or (skipped and token.key in _WORDS["verb_bases"]):
            return True
        if token.key not in _WORDS["whereabouts"] | _WORDS["adverbs"] | _WORDS["auxiliaries"] | {
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
    if before.possessive or before.key in _WORDS["determiners"]:
        return WEIGHTS["determiner before"]
    calendar_or_place = surface in MONTHS or surface in PLACES
    if before.key in _WORDS["person_before"] and not (
        calendar_or_place and before.key in _WORDS["month_before"] | _WORDS["place_before"]
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
        if before.key == "from" and sender and sender.key in _WORDS["sent_from"]:
            return score + WEIGHTS["whom"]
        score += WEIGHTS[f"{what} before"]
    if after and after.key in _WORDS["place_after"]:
        score += WEIGHTS["place after"]
    if what == "calendar" and after and after.key in _WORDS["calendar_verbs"]:
        score -= WEIGHTS["verb after"]
    if after and after.key.isdigit():
        score += WEIGHTS["calendar before"]
    return score
