"""Is a name in Latin letters meant here, or the word that is spelt the same?"""

import re

from contacts.lexicon import alternation, titles, titles_used, words
from contacts.matching.annotation import Reading, Token
from contacts.matching.evidence_en import MONTHS, PLACES, Evidence, Neighbours
from contacts.names import name_key, roles_of
from contacts.roles import terms
from contacts.types import Person

THRESHOLD = 0.3  # of the evidence: a word needs more than nothing
_PHRASES = words("context_en", "phrases")
_PLACE_PREFIXES = words("context_en", "place_prefixes")
_CAPITAL_NEIGHBOURS = words("context_en", "capital_neighbours")
_CELEBRITIES = words("celebrities", "en")
_FAME = re.compile(rf"\b(?:{alternation(words('fame', 'en'))}|season \d)\b")


class Guard:
    """Judges places of Latin names in one text, given all names that may stand in it."""

    def __init__(self, reading: Reading, surfaces: set[str]) -> None:
        self._reading = reading
        self._names = {part for surface in surfaces for part in surface.split(" ")}
        self._words = words("english_words")
        self._given = words("given_names")
        self._beside = Neighbours(reading)
        self._evidence = Evidence(reading, self._names)

    def judge(self, first: int, last: int, person: Person, surface: str, kind: str) -> float:
        """A factor for the confidence; 0 when the tokens ``first`` to ``last`` aren't
        ``surface``, a spelling of a name of ``person``."""
        if not self._stands_alone(first, last) or self._in_phrase(first, last):
            return 0.0
        if not self._title_fits(first, person) or self._is_saint(first):
            return 0.0
        if self._is_counted(first):
            return 0.0
        plural = first == last and self._reading.tokens[first].key != surface
        if " " in surface:
            return 1.0
        if self._extends(first, last, person) or self._is_celebrity(surface):
            return 0.0
        if kind not in ("name", "alias") and not self._likely(first, person, surface, kind):
            return 0.0
        if plural:
            return self._judge_plural(first, surface)
        if not self._is_word(surface):
            return 1.0
        score = self._evidence.score(first, surface)
        return min(1.0, 0.65 + 0.15 * score) if score > THRESHOLD else 0.0

    def _stands_alone(self, first: int, last: int) -> bool:
        """Whether no hyphen, underscore or dot ties the name into a longer word."""
        norm = self._reading.norm
        start, end = self._reading.tokens[first].start, self._reading.tokens[last].end
        left, right = norm[max(0, start - 2) : start], norm[end : end + 2]
        if re.fullmatch(r"[a-z0-9][-_./\\]", left) and left[-1] != "/":
            return False
        tied = re.fullmatch(r"[-_.\\][a-z0-9]", right)
        return not (
            tied
            and not (
                right[0] == "." and self._reading.tokens[last].capital and self._next_capital(last)
            )
        )

    def _next_capital(self, last: int) -> bool:
        following = self._beside.token(last + 1)
        return following is not None and following.capital

    def _in_phrase(self, first: int, last: int) -> bool:
        tokens = self._reading.tokens
        for low in range(max(0, first - 3), first + 1):
            for high in range(last, min(len(tokens), last + 3)):
                if high == low:
                    continue
                if " ".join(token.key for token in tokens[low : high + 1]) in _PHRASES:
                    return True
        return False

    def _title_fits(self, first: int, person: Person) -> bool:
        """Whether a title right before the name, if any, can be the person's."""
        before = self._beside.before(first) or (
            self._beside.token(first - 1) if first and self._beside.gap(first - 1) == ". " else None
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

    def _is_counted(self, first: int) -> bool:
        """Whether an article makes a thing of the name: the Oscar, a Rembrandt."""
        before = self._beside.before(first)
        return before is not None and before.key in ("a", "an", "the")

    def _is_saint(self, first: int) -> bool:
        """Whether the word before makes a place of the name: St. Louis, San Jose, Port Vila."""
        before = self._beside.token(first - 1)
        gap = self._beside.gap(first - 1) if first else ""
        return before is not None and gap in (" ", ". ") and before.key in _PLACE_PREFIXES

    def _extends(self, first: int, last: int, person: Person) -> bool:
        """Whether capitals around make the name part of another: Ada Lovelace, Grace Church."""
        if not self._reading.cased:
            return False
        own = set(name_key(person.name).split()) | {
            part for alias in person.aliases for part in name_key(alias).split()
        }
        after = self._beside.after(last)
        token = self._reading.tokens[last]
        if after and after.capital and not token.possessive and self._joins_name(after, own):
            return True
        before = self._beside.before(first)
        if before is None or not before.capital or before.possessive:
            return False
        if self._beside.starts_sentence(first - 1) and (
            before.key in self._words or before.key not in self._given
        ):
            return before.key in self._given and before.key not in self._names
        return self._joins_name(before, own)

    def _joins_name(self, other: Token, own: set[str]) -> bool:
        if other.key in own or other.key in _CAPITAL_NEIGHBOURS or len(other.key) == 1:
            return False
        known = other.key in self._names or other.key in titles("en") or other.key in terms()
        return not known

    def _is_celebrity(self, surface: str) -> bool:
        return surface in _CELEBRITIES and bool(_FAME.search(self._reading.norm))

    def _likely(self, first: int, person: Person, surface: str, kind: str) -> bool:
        """Whether a derived spelling (pinyin, first name, short form) may pass at all."""
        token = self._reading.tokens[first]
        if kind == "pinyin" and surface in self._words:
            return False
        if kind == "diminutive":
            if not token.capital and self._reading.cased:
                return False
            return not self._from_elsewhere(first, person)
        return not (kind == "first name" and self._from_elsewhere(first, person))

    def _from_elsewhere(self, first: int, person: Person) -> bool:
        """Liz from accounting isn't one's cousin: "from" names a circle, a relation another."""
        place = re.match(
            r" (?:from|in|at|of) (?:the |my |our )?(accounting|hr|it|finance|legal|sales|marketing|payroll|work|the office|"
            r"office|school|class|church|gym|college|uni|university|high school|next door|downstairs|upstairs|support|reception)",
            self._reading.norm[self._reading.tokens[first].end :],
        )
        family = {role.subtype for role in roles_of(person.relationship)} & {"family", "partner"}
        return bool(place and family)

    def _judge_plural(self, first: int, surface: str) -> float:
        """ "sams birthday": a possessive without its apostrophe, if not a word of its own."""
        token = self._reading.tokens[first]
        if self._is_word(surface) or token.key in self._words or token.key in self._given:
            return 0.0
        return 0.85 if self._beside.after(first) else 0.0

    def _is_word(self, surface: str) -> bool:
        return surface in self._words or surface in MONTHS or surface in PLACES
