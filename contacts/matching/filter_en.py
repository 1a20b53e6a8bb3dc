"""Is a name in Latin letters meant here, or the word that is spelt the same?"""

import re
from collections.abc import Set

from contacts.lexicon import alternation, titles, titles_used, word_sets, words
from contacts.matching.annotation import Reading, Token
from contacts.matching.evidence_en import MONTHS, PLACES, weigh
from contacts.names import name_key
from contacts.roles import roles_of, terms
from contacts.types import Person

_WORDS = word_sets("context_en")
THRESHOLD = 0.3  # of the evidence: a word needs more than nothing
_CELEBRITIES = words("celebrities", "en")
_FAME = re.compile(rf"\b(?:{alternation(words('fame', 'en'))}|season \d)\b")


def judge(
    reading: Reading,
    names: Set[str],
    first: int,
    last: int,
    person: Person,
    surface: str,
    kind: str,
) -> float:
    """A factor for the confidence; 0 when the tokens ``first`` to ``last`` aren't
    ``surface``, a spelling of a name of ``person``. ``names`` are the words of all names that
    may stand in the text."""
    if not _stands_alone(reading, first, last) or _in_phrase(reading, first, last):
        return 0.0
    if not _title_fits(reading, first, person) or _is_saint(reading, first):
        return 0.0
    if _is_counted(reading, first):
        return 0.0
    plural = first == last and reading.tokens[first].key != surface
    if " " in surface:
        return 1.0
    if _extends(reading, names, first, last, person) or _is_celebrity(reading, surface):
        return 0.0
    if kind not in ("name", "alias") and not _likely(reading, first, person, surface, kind):
        return 0.0
    if plural:
        return _judge_plural(reading, first, surface)
    if not _is_word(surface):
        return 1.0
    score = weigh(reading, names, first, surface)
    return min(1.0, 0.65 + 0.15 * score) if score > THRESHOLD else 0.0


def _stands_alone(reading: Reading, first: int, last: int) -> bool:
    """Whether no hyphen, underscore or dot ties the name into a longer word."""
    norm = reading.norm
    start, end = reading.tokens[first].start, reading.tokens[last].end
    left, right = norm[max(0, start - 2) : start], norm[end : end + 2]
    if re.fullmatch(r"[a-z0-9][-_./\\]", left) and left[-1] != "/":
        return False
    tied = re.fullmatch(r"[-_.\\][a-z0-9]", right)
    return not (
        tied
        and not (right[0] == "." and reading.tokens[last].capital and _next_capital(reading, last))
    )


def _next_capital(reading: Reading, last: int) -> bool:
    following = reading.token(last + 1)
    return following is not None and following.capital


def _in_phrase(reading: Reading, first: int, last: int) -> bool:
    tokens = reading.tokens
    for low in range(max(0, first - 3), first + 1):
        for high in range(last, min(len(tokens), last + 3)):
            if high == low:
                continue
            if " ".join(token.key for token in tokens[low : high + 1]) in _WORDS["phrases"]:
                return True
    return False


def _title_fits(reading: Reading, first: int, person: Person) -> bool:
    """Whether a title right before the name, if any, can be the person's."""
    before = reading.before(first) or (
        reading.token(first - 1) if first and reading.gap(first - 1) == ". " else None
    )
    title = titles("en").get(before.key) if before else None
    if before is None or title is None or name_key(person.name).startswith(before.key):
        return True
    if title.gender and person.gender not in ("", title.gender):
        return False
    if "*" in title.kinds:
        return before.key in titles_used("given") or " " in name_key(person.name)
    if before.key == "father" and not before.capital:
        return True
    roles = roles_of(person.relationship)
    return not roles or any(role.kind in title.kinds for role in roles)


def _is_counted(reading: Reading, first: int) -> bool:
    """Whether an article makes a thing of the name: the Oscar, a Rembrandt."""
    before = reading.before(first)
    return before is not None and before.key in ("a", "an", "the")


def _is_saint(reading: Reading, first: int) -> bool:
    """Whether the word before makes a place of the name: St. Louis, San Jose, Port Vila."""
    before = reading.token(first - 1)
    gap = reading.gap(first - 1) if first else ""
    return before is not None and gap in (" ", ". ") and before.key in _WORDS["place_prefixes"]


def _extends(reading: Reading, names: Set[str], first: int, last: int, person: Person) -> bool:
    """Whether capitals around make the name part of another: Ada Lovelace, Grace Church."""
    if not reading.cased:
        return False
    own = set(name_key(person.name).split()) | {
        part for alias in person.aliases for part in name_key(alias).split()
    }
    after = reading.after(last)
    token = reading.tokens[last]
    if after and after.capital and not token.possessive and _joins_name(names, after, own):
        return True
    before = reading.before(first)
    if before is None or not before.capital or before.possessive:
        return False
    if reading.starts_sentence(first - 1) and (
        before.key in words("english_words") or before.key not in words("given_names")
    ):
        return before.key in words("given_names") and before.key not in names
    return _joins_name(names, before, own)


def _joins_name(names: Set[str], other: Token, own: set[str]) -> bool:
    if other.key in own or other.key in _WORDS["capital_neighbours"] or len(other.key) == 1:
        return False
    known = other.key in names or other.key in titles("en") or other.key in terms()
    return not known


def _is_celebrity(reading: Reading, surface: str) -> bool:
    return surface in _CELEBRITIES and bool(_FAME.search(reading.norm))


def _likely(reading: Reading, first: int, person: Person, surface: str, kind: str) -> bool:
    """Whether a derived spelling (pinyin, first name, short form) may pass at all."""
    token = reading.tokens[first]
    if kind == "pinyin" and surface in words("english_words"):
        return False
    if kind == "diminutive":
        if not token.capital and reading.cased:
            return False
        return not _from_elsewhere(reading, first, person)
    return not (kind == "first name" and _from_elsewhere(reading, first, person))


def _from_elsewhere(reading: Reading, first: int, person: Person) -> bool:
    """Liz from accounting isn't one's cousin: "from" names a circle, a relation another."""
    place = re.match(
        r" (?:from|in|at|of) (?:the |my |our )?(accounting|hr|it|finance|legal|sales|marketing|payroll|work|the office|"
        r"office|school|class|church|gym|college|uni|university|high school|next door|downstairs|upstairs|support|reception)",
        reading.norm[reading.tokens[first].end :],
    )
    family = {role.subtype for role in roles_of(person.relationship)} & {"family", "partner"}
    return bool(place and family)


def _judge_plural(reading: Reading, first: int, surface: str) -> float:
    """ "sams birthday": a possessive without its apostrophe, if not a word of its own."""
    token = reading.tokens[first]
    if (
        _is_word(surface)
        or token.key in words("english_words")
        or token.key in words("given_names")
    ):
        return 0.0
    return 0.85 if reading.after(first) else 0.0


def _is_word(surface: str) -> bool:
    return surface in words("english_words") or surface in MONTHS or surface in PLACES
