"""What speaks for and against a hit: features of classes of words around it and of the hits
beside it, never of single words.
"""

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache

from understanding import segmentation
from understanding.lexicon import Title, finder, rows, titles, word_sets, words
from understanding.lexicon.rules import patterns
from understanding.names import name_key, surname_of
from understanding.people.spans import KINDS, Hit
from understanding.roles import Role, RoleWord, roles_of, terms
from understanding.same_person import relationships
from understanding.segmentation import NAME_FREQUENCY, Word
from understanding.text import is_cjk, is_han, quotations
from understanding.text_document import Document, Token
from understanding.types import Person

# How far before and behind a place Chinese is cut into words.
_REACH = 12


@cache
def _groups_of(language: str) -> Mapping[str, tuple[str, ...]]:
    """The groups of context_zh or context_en by word."""
    found: dict[str, tuple[str, ...]] = {}
    for name, entries in word_sets(f"context_{language}").items():
        for word in entries:
            found[word] = (*found.get(word, ()), name)
    return found


class Surroundings:
    """Of the places of one text; ``names`` are the Chinese names in question there, ``named``
    where any name is."""

    def __init__(self, document: Document, names: Collection[str], named: Collection[int]) -> None:
        self._reading, self._named = document, named
        weights = dict.fromkeys(names, float(NAME_FREQUENCY))
        # The same stretch is asked for by each hit in it.
        self._cut = cache(lambda low, high: document.cut(low, high, {}))
        self._cut_with_names = cache(lambda low, high: document.cut(low, high, weights))

    def han(self, start: int, end: int) -> Iterator[str]:
        """What stands around a place in Chinese."""
        before, after = self.before(start), self.after(end)
        classes = _groups_of("zh").get(before.text, ()) if before else ()
        if before is None:
            yield "clause begins"
        elif not classes:
            yield f"tag before: {before.tag[:1] or 'none'}"
        yield f"tag after: {after.tag[:1] or 'none'}" if after else "clause ends"
        if before is None and after is None:
            yield "alone in its clause"
        if before:
            yield from (f"before: {name}" for name in classes)
            if before.text in words("surnames", "single"):
                yield "a surname before"
        if after:
            yield from (f"after: {name}" for name in _groups_of("zh").get(after.text, ()))
            yield from self._goes_on(start, end, after)
        if all(map(is_han, self._reading.norm[start:end])):
            yield from self._word_edges(start, end)

    def before(self, start: int) -> Word | None:
        """The word of Han that ends at ``start``."""
        if start == 0 or not is_han(self._reading.norm[start - 1]):
            return None
        low = max(self._reading.stretch(start - 1, start)[0], start - _REACH)
        return self._reading.cut(low, start, {})[-1]

    def after(self, end: int) -> Word | None:
        """The word of Han that begins at ``end``."""
        if end >= len(self._reading.norm) or not is_han(self._reading.norm[end]):
            return None
        high = min(self._reading.stretch(end, end + 1)[1], end + _REACH)
        return self._reading.cut(end, high, {})[0]

    def _goes_on(self, start: int, end: int, after: Word) -> Iterator[str]:
        norm, classes = self._reading.norm, _groups_of("zh")
        if "given_tail" in classes.get(after.text[0], ()) and surname_of(norm[start:end]):
            yield "a given name may go on"
        if norm.startswith("的", end):
            thing = self.after(end + 1)
            owned = thing is not None and "possessions" in classes.get(thing.text, ())
            yield "a person's thing after" if owned else "some thing after"

    def _word_edges(self, start: int, end: int) -> Iterator[str]:
        """How the place lies to the words of the text, cut without the names and with them."""
        stretch = self._reading.stretch(start, end)
        inside = [word for word in self._cut(*stretch) if start < word.end > word.start < end]
        left, right = inside[0].start < start, inside[-1].end > end
        if len(inside) == 1 and (left or right):
            yield "inside a word"
        elif left:
            yield "a word crosses its beginning"
        if len(inside) > 1 and right:
            yield "a word crosses its end"
        edges = {edge for word in self._cut_with_names(*stretch) for edge in (word.start, word.end)}
        if not {start, end} <= edges:
            yield "no word among names"
        if end - start == 1:
            yield "one character"

    def latin(self, start: int, end: int) -> Iterator[str]:
        """What stands around a place in a spaced script."""
        tokens = self._reading.tokens
        inside = [at for at, one in enumerate(tokens) if one.start < end and start < one.end]
        if not inside:
            return
        first, last = inside[0], inside[-1]
        yield self._case(first, tokens[first])
        if tokens[last].possessive:
            yield "possessive"
        before, after = self._reading.before(first), self._reading.after(last)
        if before is None and after is None:
            yield "alone in its clause"
        yield from self._word_before(before)
        if before and self._inverted(first - 1):
            yield "subject of a question"
        yield from self._word_after(after, end)
        left, right = self._reading.norm[start - 1 : start], self._reading.norm[end : end + 1]
        if left in ("-", "_", "#", "/") or right in ("-", "_"):
            yield "glued"
        if left == "@":
            yield "at sign"

    def _case(self, first: int, token: Token) -> str:
        if not self._reading.cased:
            return "no case"
        if not token.capital:
            return "lower case"
        return "capital at the start" if self._reading.starts_sentence(first) else "capital"

    def _word_before(self, before: Token | None) -> Iterator[str]:
        if before is None:
            yield "phrase begins"
            return
        yield from self._neighbour(before, "before")
        if before.possessive:
            yield "possessive before"

    def _inverted(self, at: int) -> bool:
        """Whether an auxiliary at a token opens a question: is …, how did …"""
        tokens = self._reading.tokens
        if "auxiliaries" not in _groups_of("en").get(tokens[at].key, ()):
            return False
        asks = at and "question_words" in _groups_of("en").get(tokens[at - 1].key, ())
        return bool(asks) or self._reading.starts_sentence(at)

    def _word_after(self, after: Token | None, end: int) -> Iterator[str]:
        if after is None:
            rest = self._reading.norm[end : end + 2].strip()
            if rest and is_cjk(rest[0]):
                yield "Chinese after"
            return
        yield from self._neighbour(after, "after")
        given = after.key in words("given_names")
        if given:
            yield "given name after"
        if not given and after.key not in words("english_words") and after.start not in self._named:
            yield "rare word after"
        if after.key.endswith("ed") and len(after.key) > 4:
            yield "past tense after"

    def _neighbour(self, token: Token, where: str) -> Iterator[str]:
        classes = _groups_of("en").get(token.key, ())
        yield from (f"{where}: {name}" for name in classes)
        if token.capital and self._reading.cased and "capital_neighbours" not in classes:
            yield f"capital {where}"
        if token.key.isdigit():
            yield f"number {where}"


Features = dict[str, float]

lex = patterns("role_phrases")
_EN = word_sets("context_en")
_OFFICIAL = ("name", "alias", "first name", "given name", "pinyin", "part")
_WHOSE = word_sets("ownership")
_FORMER_BEFORE = re.compile(r"(?:前任?|以前那?个?的?|旧|\b(?:old|former|ex|previous|auld)[ -])$")
_NEAR = 10  # characters: more than between a role word and the name beside it
# Between a name and a role behind it: Dave, my mate.
_OPENING = frozenset(sign + space for sign in ",，（(" for space in ("", " "))
GUESSED = ("sound", "fuzzy", "short", "nick", "diminutive")


class Places:
    """Hits and role words by where they stand, so that what is beside one is found without a look
    at all: a text may hold thousands."""

    def __init__(self, hits: Sequence[Hit], roles: Sequence[RoleWord]) -> None:
        self.at: dict[tuple[int, int], list[Hit]] = defaultdict(list)
        self.official_from: dict[int, list[Hit]] = defaultdict(list)
        self.official_to: dict[int, list[Hit]] = defaultdict(list)
        self._roles: dict[int, list[RoleWord]] = defaultdict(list)
        for hit in hits:
            self.at[hit.start, hit.end].append(hit)
            if hit.kind in _OFFICIAL:
                self.official_from[hit.start].append(hit)
                self.official_to[hit.end].append(hit)
        for word in roles:
            for edge in {word.end, word.outer}:
                self._roles[edge].append(word)
        self._official = Counter(hit.person.id for hit in hits if hit.kind in _OFFICIAL)
        self._longest = max((hit.end - hit.start for hit in hits), default=0)

    @cached_property
    def covered(self) -> set[tuple[int, int]]:
        """The places within a longer one."""
        found, reach = set(), 0
        for start, end in sorted(self.at, key=lambda place: (place[0], -place[1])):
            if end <= reach:
                found.add((start, end))
            reach = max(reach, end)
        return found

    def named_elsewhere(self, hit: Hit) -> bool:
        """Whether somebody else is called by a name of theirs anywhere but over ``hit``."""
        others = self._official.total() - self._official[hit.person.id]
        over = sum(
            one.person.id != hit.person.id and one.end > hit.start
            for start in range(hit.start - self._longest, hit.end)
            for one in self.official_from.get(start, ())
        )
        return others > over

    def roles_near(self, hit: Hit) -> Iterable[RoleWord]:
        """The role words that end or begin near ``hit``, each once."""
        edges = (*range(hit.start - _NEAR, hit.start + 1), *range(hit.end, hit.end + _NEAR))
        found = (word for edge in edges for word in self._roles.get(edge, ()))
        return {id(word): word for word in found}.values()


class Evidence:
    """The features of the hits of one text."""

    def __init__(self, document: Document, hits: Sequence[Hit]) -> None:
        self.document, self.hits = document, hits
        names = [
            document.norm[hit.start : hit.end]
            for hit in hits
            if hit.kind not in GUESSED and is_han(document.norm[hit.start])
        ]
        named = {at for hit in hits for at in range(hit.start, hit.end)}
        self._around = Surroundings(document, names, named)
        self._order = {kind: rank for rank, kind in enumerate(KINDS)}
        self._places = Places(hits, document.roles)

    def of(self, hit: Hit) -> Features:
        """The features of ``hit`` by name, each about 0..1."""
        found: Features = {}
        kind = hit.kind if hit.kind != "kinship" else f"kinship {hit.role.whose}"  # type: ignore[union-attr]
        group = "role" if "kinship" in kind or kind == "role phrase" else "name"
        script = "han" if is_cjk(self.document.norm[hit.start]) else "latin"
        found[f"kind: {kind}"] = 1.0
        found[f"{script} {group}"] = 1.0
        if hit.kind == "title":
            found |= dict.fromkeys(self._title(hit), 1.0)
        elif hit.form:
            found[f"form: {hit.form}"] = 1.0
            found[f"form: {hit.form} of a {kind}"] = 1.0
        names = self._role(hit) if group == "role" else self._name(hit, script)
        beside = self._around.han if script == "han" else self._around.latin
        found |= dict.fromkeys(names, 1.0)
        wordy = group == "name" and self._is_word(hit, script)
        for name in beside(hit.start, hit.end):
            found[f"{group}, {name}"] = 1.0
            if wordy:
                found[f"word, {name}"] = 1.0
        found |= dict.fromkeys(self._beside(hit, group), 1.0)
        found |= dict.fromkeys(self._text(hit, group), 1.0)
        if group == "name":
            found |= self._commonness(hit, script)
        return found

    def _commonness(self, hit: Hit, script: str) -> Features:
        surface = self.document.norm[hit.start : hit.end]
        exact = "exact" if hit.kind in ("name", "alias") else "part"
        if script == "han":
            count = math.log1p(segmentation.frequency(surface)) / 10
            tag = segmentation.tag(surface)
            shape = "person" if tag.startswith("nr") else "word" if tag else "no word"
            listed = surface in words("chinese_words")
            return {
                f"{exact} {shape}, frequency": count,
                "listed word": float(listed),
                f"{exact}: no word": float(not self._is_word(hit, script)),
                f"{exact}: full name": float(bool(surname_of(surface))),
                "characters": min(len(surface), 5) / 5,
            }
        return {
            f"{exact}: English word": float(surface in words("english_words")),
            f"{exact}: mostly a name": float(surface in _EN["mostly_names"]),
            f"{exact}: place": float(surface in _EN["places"]),
            f"{exact}: no word": float(not self._is_word(hit, script)),
            f"{exact}: several words": float(" " in surface),
            "letters": min(len(surface), 10) / 10,
        }

    def _is_word(self, hit: Hit, script: str) -> bool:
        """Whether the characters are also a word for something else."""
        surface = self.document.norm[hit.start : hit.end]
        if script == "han":
            tag = segmentation.tag(surface)
            return surface in words("chinese_words") or (bool(tag) and tag[:2] != "nr")
        return surface in words("english_words") or surface in _EN["places"] | _EN["mostly_names"]

    # What the hit is.

    def _title(self, hit: Hit) -> Iterator[str]:
        title = titles("zh" if is_cjk(hit.form[0]) else "en")[hit.form]
        person = hit.person
        if title.gender and person.gender:
            yield "title of the gender" if title.gender == person.gender else "title of another"
        if hit.form in person.relationship:
            yield "title in the relationship"
        fits = _bears(person, title, hit.form)
        yield "title fits" if fits else "title unfit"
        rivals = [one for one in self.hits if one.kind == "title" and one.start == hit.start]
        if not fits and any(_bears(one.person, title, hit.form) for one in rivals):
            yield "another fits better"

    def _name(self, hit: Hit, script: str) -> Iterator[str]:
        role = roles_of(hit.text)
        if role:
            yield f"a role word as {hit.kind}"
            if any(one.level != "common" for one in role):
                yield "a close role word as a name"
        for word in self.document.roles:
            if word.start < hit.end and hit.start < word.end:
                same = word.end == hit.end and word.start <= hit.start
                yield f"a role there: {word.whose if same else 'part'}"
        if script == "latin" and hit.kind == "part":
            last = name_key(hit.text).split(" ")[-1]
            yield "surname" if self.document.norm[hit.start : hit.end] == last else "middle name"
        if (
            hit.kind in ("first name", "diminutive", "short", "fuzzy")
            and hit.text != hit.person.name
        ):
            yield "of an alias"

    def _role(self, hit: Hit) -> Iterator[str]:
        if hit.role is None or hit.mine is None:
            yield from self._role_phrase(hit)
            return
        yield from self._stated(hit.role, hit.mine, hit.person)
        yield from self._rivals(hit, hit.role)
        word = hit.role
        gap = self.document.norm.startswith(" ", word.end)
        named = [one for one in self.hits if one.start == word.end + gap and one.role is None]
        if named:
            same = any(one.person.id == hit.person.id for one in named)
            yield "named behind the role" if same else "another named behind the role"
        elif self._names_stranger(word):
            yield "a name follows the role"
        if word.whose == "other":
            yield "owner agrees" if self._owner_agrees(hit, word) else "owner unknown"

    def _role_phrase(self, hit: Hit) -> Iterator[str]:
        """Of the user's own words for what somebody is, without a role of the tables."""
        several = len(hit.text.split()) > 1
        yield "a phrase of several words" if several else "a phrase of one word"
        if name_key(hit.text) == name_key(hit.person.relationship):
            yield "phrase as stated"
        stated = "former" if lex.former.match(hit.person.relationship.lower()) else "present"
        said = bool(_FORMER_BEFORE.search(self.document.norm[: hit.start][-8:]))
        yield f"{stated}, said to be former: {said}"

    def _stated(self, word: RoleWord, mine: Role, person: Person) -> Iterator[str]:
        """How the role word is to the relationship that the contact has."""
        level = min((role.level for role in word.roles), key=("kin", "unique", "common").index)
        yield f"{word.whose} {level}"
        if word.whose == "generic" and word.owner in _WHOSE["en_generic"]:
            yield "any such one"
        surface, stated = name_key(word.text), name_key(person.relationship)
        if surface == stated:
            yield "role as stated"
        elif surface in map(name_key, (person.name, *person.aliases)):
            yield "role as a name"
        elif stated.endswith(surface):
            yield "role at the end of what is stated"
        if any(role.kind == mine.kind for role in word.roles):
            yield f"same role {word.whose}"
        tags = frozenset[str]().union(*(role.tags for role in word.roles))
        if tags and tags <= mine.tags:
            yield "tags agree"
        elif tags ^ mine.tags:
            yield "tags missing"

    def _rivals(self, hit: Hit, word: RoleWord) -> Iterator[str]:
        """Who else has the role."""
        rivals = [one for one in self.hits if one.role is word and one.person.id != hit.person.id]
        if rivals:
            yield f"several fit a role, group {word.group}"
            if max(map(_specific, rivals)) > _specific(hit):
                yield "another fits better"
        if word.group:
            yield f"group {word.whose}"

    def _owner_agrees(self, hit: Hit, word: RoleWord) -> bool:
        """Whether the role's owner in the text is whom the relationship names as such:
        冠宇妈妈 where 男友的妈妈 is known and 冠宇 is the 男友."""
        owner = name_key(word.owner.removesuffix("'s"))
        stated = name_key(hit.person.relationship)
        if len(owner) > 1 and owner in stated:
            return True
        kinds = {role.kind for role in stated_roles(stated) if role != hit.mine}
        for one in self.hits:
            said = self.document.norm[one.start : one.end] == owner
            if said or word.outer - 1 <= one.end <= word.start:
                names = map(name_key, (one.person.name, *one.person.aliases))
                theirs = {role.kind for role in roles_of(one.person.relationship)}
                if theirs & kinds or any(name and name in stated for name in names):
                    return True
        return False

    def _names_stranger(self, word: RoleWord) -> bool:
        """Whether a name follows that no hit has: 我同事罗昊, my coworker Delia."""
        gap = self.document.norm.startswith(" ", word.end)
        if is_han(word.text[0]):
            after = self._around.after(word.end)
            return after is not None and len(after.text) > 1 and after.tag == "nr"
        index = self.document.starts.get(word.end + 1)
        if index is None or not gap or not self.document.cased:
            return False
        token = self.document.tokens[index]
        return (
            token.capital and token.key not in words("english_words") and token.key not in terms()
        )

    # What else is found there and in the text.

    def _beside(self, hit: Hit, group: str) -> Iterator[str]:
        rank, places, me = self._order, self._places, hit.person.id
        same = [one for one in places.at[hit.start, hit.end] if one.person.id != me]
        if same and group == "name":
            yield "others at the place"
            if min(rank[one.kind] for one in same) < min(rank[hit.kind], rank["first name"] + 1):
                yield "another fits better"
                yield f"a surer one at the place of a {hit.kind}"
        if (hit.start, hit.end) in places.covered:
            yield f"{group} within a longer one of another"
        if places.named_elsewhere(hit):
            yield f"{group}: others named"
        after, before = places.official_from[hit.end], places.official_to[hit.start]
        if any(one.person.id != me for one in (*after, *before)):
            yield f"{group}: others named right beside"
        if group == "name":
            yield from self._roles_beside(hit, same)

    def _roles_beside(self, hit: Hit, same: Sequence[Hit]) -> Iterator[str]:
        for word in self._places.roles_near(hit):
            if not is_beside(self.document, word, hit.start, hit.end):
                continue
            text = self.document.norm[word.start : word.end]
            known = hit.person.relationship
            if _fits(word, hit):
                yield "the role beside fits"
                continue
            if known and not relationships.may_be_one(text, known):
                yield "the role beside conflicts"
            if any(_fits(word, other) for other in same):
                yield "another fits better"

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        return [(low, high) for low, high in quotations(self.document.norm) if high - low > 2]

    @cached_property
    def _talks_of(self) -> Collection[str]:
        return finder("talk")(self.document.norm).keys()

    @cached_property
    def _famous(self) -> bool:
        return bool(finder("fame")(self.document.norm))

    def _text(self, hit: Hit, group: str) -> Iterator[str]:
        around = [(low, high) for low, high in self._quoted if low < hit.start and hit.end < high]
        if around:
            alone = around[0][0] + 1 == hit.start and hit.end == around[0][1] - 1
            yield f"{group} quoted alone" if alone else f"{group} in a quotation"
        surface = self.document.norm[hit.start : hit.end]
        if surface in words("celebrities") and surface not in words("given_names"):
            yield "celebrity"
        for name in self._talks_of:
            yield f"{group}: talk of {name}"
        if self._famous and group == "name":
            yield "talk of fame"


@lru_cache(maxsize=1024)
def stated_roles(stated: str) -> tuple[Role, ...]:
    """Every role whose word stands in a relationship text."""
    found = (meant for term, meant in terms().items() if len(term) > 1 and term in stated)
    return tuple(itertools.chain.from_iterable(found))


def is_beside(document: Document, word: RoleWord, start: int, end: int) -> bool:
    """Whether a role word stands beside the name at [start, end): 我同事张伟, Dave, my mate."""
    if word.whose == "other":
        return False
    before, after = document.norm[word.end : start], document.norm[end : word.outer]
    if word.end <= start:
        between = before.strip(" ,，")
        return between in ("named", "called") or (not between and len(before) < 3)
    return end <= word.outer and after in _OPENING


@lru_cache(maxsize=4096)
def _kinds(person: Person) -> frozenset[str]:
    """The role classes and professions that a person's relationship and aliases state."""
    stated = (person.relationship, person.name, *person.aliases)
    kinds = {role.kind for text in stated for role in roles_of(text)}
    kinds |= {
        row["kind"] for row in rows("professions") if person.relationship.endswith(row["word"])
    }
    return frozenset(kinds)


def _bears(person: Person, title: Title, word: str) -> bool:
    """Whether ``person`` can be addressed with a title, by gender and by what they are."""
    if title.gender and person.gender not in ("", title.gender):
        return False
    if "*" in title.kinds or word in person.relationship:
        return True
    if "peer" in title.kinds:
        return not any(role.subtype == "family" for role in roles_of(person.relationship))
    return bool(title.kinds & _kinds(person))


def _specific(hit: Hit) -> int:
    """How exactly a relationship says what the role word at ``hit`` does."""
    if hit.role is None or hit.mine is None:
        return 0
    tags = {tag for role in hit.role.roles for tag in role.tags}
    kinds = {role.kind for role in hit.role.roles}
    return 2 * (hit.mine.kind in kinds) + len(hit.mine.tags & tags)


def _fits(word: RoleWord, hit: Hit) -> bool:
    return any(role.fits(mine) for role in word.roles for mine in roles_of(hit.person.relationship))
