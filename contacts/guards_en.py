"""Is a name in Latin letters meant here, or the word that is spelt the same?"""

import re

from contacts.lexicon import celebrities, titles, words
from contacts.lexicon import english_context as context
from contacts.names import is_cjk, name_key, roles_of
from contacts.reading import Reading, Token
from contacts.roles import terms
from contacts.types import Person

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
THRESHOLD = 0.3
_AFTER = ((context.ADVERBS, "adverb after"), (context.AUXILIARIES, "auxiliary after"))


class Guard:
    """Judges places of Latin names in one text, given all names that may stand in it."""

    def __init__(self, reading: Reading, surfaces: set[str]) -> None:
        self._reading = reading
        self._names = {part for surface in surfaces for part in surface.split(" ")}
        self._words = words("english_words.txt")
        self._given = words("given_names.txt")

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
        score = self._score(first, surface)
        return min(1.0, 0.65 + 0.15 * score) if score > THRESHOLD else 0.0

    def _token(self, index: int) -> Token | None:
        return self._reading.tokens[index] if 0 <= index < len(self._reading.tokens) else None

    def _gap(self, index: int) -> str:
        """What stands between token ``index`` and the next."""
        tokens = self._reading.tokens
        return self._reading.norm[tokens[index].end : tokens[index + 1].start]

    def _before(self, first: int) -> Token | None:
        """The word before in the same phrase: nothing but a space between."""
        if first == 0 or self._gap(first - 1) not in (" ", "'s ", "' ", "-"):
            return None
        return self._token(first - 1)

    def _after(self, last: int) -> Token | None:
        if last + 1 >= len(self._reading.tokens) or self._gap(last) not in (" ", "'s ", "' "):
            return None
        return self._token(last + 1)

    def _starts_sentence(self, first: int) -> bool:
        start = self._reading.tokens[first].start
        left = self._reading.norm[max(0, start - 8) : start].rstrip(" \"'“‘(*_>-")
        return (
            not left
            or left[-1] in ".!?。！？\n:：;；…"
            or self._reading.norm.startswith("\n", start - 1)
        )

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
        following = self._token(last + 1)
        return following is not None and following.capital

    def _in_phrase(self, first: int, last: int) -> bool:
        tokens = self._reading.tokens
        for low in range(max(0, first - 3), first + 1):
            for high in range(last, min(len(tokens), last + 3)):
                if high == low:
                    continue
                if " ".join(token.key for token in tokens[low : high + 1]) in context.PHRASES:
                    return True
        return False

    def _title_fits(self, first: int, person: Person) -> bool:
        """Whether a title right before the name, if any, can be the person's."""
        before = self._before(first) or (
            self._token(first - 1) if first and self._gap(first - 1) == ". " else None
        )
        title = titles.ENGLISH.get(before.key) if before else None
        if before is None or title is None or name_key(person.name).startswith(before.key):
            return True
        if title.gender and person.gender not in ("", title.gender):
            return False
        if "*" in title.kinds:
            return before.key in titles.WITH_GIVEN_NAME or " " in name_key(person.name)
        if before.key == "father" and not before.capital:
            return True
        roles = roles_of(person.relationship)
        return not roles or any(role.kind in title.kinds for role in roles)

    def _is_counted(self, first: int) -> bool:
        """Whether an article makes a thing of the name: the Oscar, a Rembrandt."""
        before = self._before(first)
        return before is not None and before.key in ("a", "an", "the")

    def _is_saint(self, first: int) -> bool:
        """Whether the word before makes a place of the name: St. Louis, San Jose, Port Vila."""
        before = self._token(first - 1)
        gap = self._gap(first - 1) if first else ""
        return before is not None and gap in (" ", ". ") and before.key in context.PLACE_PREFIXES

    def _extends(self, first: int, last: int, person: Person) -> bool:
        """Whether capitals around make the name part of another: Ada Lovelace, Grace Church."""
        if not self._reading.cased:
            return False
        own = set(name_key(person.name).split()) | {
            part for alias in person.aliases for part in name_key(alias).split()
        }
        after = self._after(last)
        token = self._reading.tokens[last]
        if after and after.capital and not token.possessive and self._joins_name(after, own):
            return True
        before = self._before(first)
        if before is None or not before.capital or before.possessive:
            return False
        if self._starts_sentence(first - 1) and (
            before.key in self._words or before.key not in self._given
        ):
            return before.key in self._given and before.key not in self._names
        return self._joins_name(before, own)

    def _joins_name(self, other: Token, own: set[str]) -> bool:
        if other.key in own or other.key in context.CAPITAL_NEIGHBOURS or len(other.key) == 1:
            return False
        known = other.key in self._names or other.key in titles.ENGLISH or other.key in terms()
        return not known

    def _is_celebrity(self, surface: str) -> bool:
        return surface in celebrities.ENGLISH and bool(
            celebrities.ENGLISH_CUES.search(self._reading.norm)
        )

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
        return 0.85 if self._after(first) else 0.0

    def _is_word(self, surface: str) -> bool:
        return surface in self._words or surface in context.MONTHS or surface in context.PLACES

    def _score(self, index: int, surface: str) -> float:
        token = self._reading.tokens[index]
        norm = self._reading.norm
        score = self._case(index, token)
        before, after = self._before(index), self._after(index)
        rest = norm[token.end : token.end + 24]
        if token.possessive:
            score += WEIGHTS["possessive"]
        if re.match(r"'s (?:been|going|gone|a|the|not|so|in|on|due|up|down)\b", rest):
            score -= WEIGHTS["possessive"]
        score += self._after_score(token, after, rest)
        if before:
            score += self._before_score(before, surface)
        elif context.CHINESE_COUNT.search(norm[max(0, token.start - 4) : token.start]):
            score += WEIGHTS["determiner before"]
        elif re.search(r"[@&/+]\s?$", norm[max(0, token.start - 2) : token.start]):
            score += WEIGHTS["whom"]
        personal = {t.key for t in self._reading.tokens[index + 1 : index + 16]}
        if personal & context.PERSONAL:
            score += WEIGHTS["he or she"]
        if surface in context.MONTHS:
            score += self._map_score(before, after, context.MONTH_BEFORE, "calendar")
        elif surface in context.PLACES:
            score += self._map_score(before, after, context.PLACE_BEFORE, "place")
        else:
            return score
        # They have a capital everywhere, so it says nothing.
        return score - max(0.0, self._case(index, token))

    def _case(self, index: int, token: Token) -> float:
        if not token.capital and (self._reading.cased or self._reading.chinese):
            return WEIGHTS["no capital"]
        if not self._reading.cased:
            return -0.5
        if self._starts_sentence(index):
            mostly = token.key in context.MOSTLY_NAMES
            return WEIGHTS["capital at the start of a name" if mostly else "capital at the start"]
        return WEIGHTS["capital inside a sentence"]

    def _after_score(self, token: Token, after: Token | None, rest: str) -> float:
        starts = self._starts_sentence(self._reading.starts[token.start])
        if after is None:
            return self._alone_score(token, rest, starts=starts)
        if self._verb_follows(after) and not token.possessive:
            return WEIGHTS["verb after"]
        if after.key in ("and", "or") and self._pairs(after):
            return WEIGHTS["listed beside"]
        if self._is_state(after):
            return WEIGHTS["state after"]
        for words_after, reason in _AFTER:
            if after.key in words_after and not token.possessive:
                return WEIGHTS[reason]
        if token.possessive or after.capital:
            return 0.0
        if after.key in context.WORD_AFTER:
            return WEIGHTS["word after"] if starts else 0.0
        if after.key.endswith("ed") and len(after.key) > 4:
            return WEIGHTS["past tense after"]
        return WEIGHTS["noun after"]

    def _is_state(self, after: Token) -> bool:
        """Whether a state that only people are in follows: is mad, was pregnant."""
        state = self._after(self._reading.starts[after.start])
        linked = after.key in ("is", "was", "isnt", "wasnt", "seems", "looks", "got", "gets")
        return linked and state is not None and state.key in context.STATES

    def _alone_score(self, token: Token, rest: str, *, starts: bool) -> float:
        """The score of what follows when no Latin word does."""
        stripped = rest.lstrip()
        if stripped[:1] and is_cjk(stripped[0]):
            return WEIGHTS["Chinese around"]
        if not stripped and token.start == 0:
            return WEIGHTS["alone"]
        if rest[:1] in (",", "!", "?") and starts:
            return WEIGHTS["called out"]
        return WEIGHTS["listed beside"] if stripped[:1] in ("&", "/", "+") else 0.0

    def _pairs(self, link: Token) -> bool:
        """Whether someone else is named after "and": Chase and I, Rose and Tom."""
        other = self._after(self._reading.starts[link.start])
        if other is None:
            return False
        return other.key in ("i", "me", "my", "his", "her") or (
            other.capital and (other.key in self._names or other.key in self._given)
        )

    def _verb_follows(self, after: Token) -> bool:
        """Whether ``after`` is what people do, auxiliaries and adverbs skipped."""
        index = self._reading.starts[after.start]
        skipped = 0
        while skipped < 3:
            token = self._reading.tokens[index]
            if token.key in context.VERBS or (skipped and token.key in context.BASES):
                return True
            if token.key not in context.WHEREABOUTS | context.ADVERBS | context.AUXILIARIES | {
                "not",
                "will",
                "to",
                "been",
            }:
                return False
            index, skipped = index + 1, skipped + 1
            if self._after(index - 1) is None:
                return False
        return False

    def _before_score(self, before: Token, surface: str) -> float:
        if before.possessive or before.key in context.DETERMINERS:
            return WEIGHTS["determiner before"]
        calendar_or_place = surface in context.MONTHS or surface in context.PLACES
        if before.key in context.BEFORE and not (
            calendar_or_place and before.key in context.MONTH_BEFORE | context.PLACE_BEFORE
        ):
            return WEIGHTS["whom"]
        return 0.0

    def _map_score(
        self, before: Token | None, after: Token | None, prepositions: frozenset[str], what: str
    ) -> float:
        """Months and places are always capital: what counts is what stands beside them."""
        score = WEIGHTS[what]
        if before and before.key in prepositions:
            sender = self._before(self._reading.starts[before.start])
            if before.key == "from" and sender and sender.key in context.SENT_FROM:
                return score + WEIGHTS["whom"]
            score += WEIGHTS[f"{what} before"]
        if after and after.key in context.PLACE_AFTER:
            score += WEIGHTS["place after"]
        if what == "calendar" and after and after.key in context.CALENDAR_VERBS:
            score -= WEIGHTS["verb after"]
        if after and after.key.isdigit():
            score += WEIGHTS["calendar before"]
        return score
