"""Features of a hit: classes of words around it and of hits beside it, never single words."""

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

# Characters before and after a place that are cut into Chinese words.
_CUT_WIDTH = 12


@cache
def _groups_of(language: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the groups of context_zh or context_en by word."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, entries in word_sets(f"context_{language}").items():
        for word in entries:
            groups[word] = (*groups.get(word, ()), name)
    return groups


class Surroundings:
    """Yields features of the text around places. ``names`` are the Chinese names that the hits
    propose, ``named`` the positions that any hit covers."""

    def __init__(self, document: Document, names: Collection[str], named: Collection[int]) -> None:
        self._document, self._named = document, named
        weights = dict.fromkeys(names, float(NAME_FREQUENCY))
        # Cached, since each hit of a stretch needs the same cut.
        self._cut = cache(lambda low, high: document.cut(low, high, {}))
        self._cut_with_names = cache(lambda low, high: document.cut(low, high, weights))

    def han(self, start: int, end: int) -> Iterator[str]:
        """Yields the features of the Chinese text around a place."""
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
            yield from self._continuation(start, end, after)
        if all(map(is_han, self._document.norm[start:end])):
            yield from self._word_edges(start, end)

    def before(self, start: int) -> Word | None:
        """Returns the Chinese word that ends at ``start``, or None."""
        if start == 0 or not is_han(self._document.norm[start - 1]):
            return None
        low = max(self._document.stretch(start - 1, start)[0], start - _CUT_WIDTH)
        return self._document.cut(low, start, {})[-1]

    def after(self, end: int) -> Word | None:
        """Returns the Chinese word that begins at ``end``, or None."""
        if end >= len(self._document.norm) or not is_han(self._document.norm[end]):
            return None
        high = min(self._document.stretch(end, end + 1)[1], end + _CUT_WIDTH)
        return self._document.cut(end, high, {})[0]

    def _continuation(self, start: int, end: int, after: Word) -> Iterator[str]:
        norm, classes = self._document.norm, _groups_of("zh")
        if "given_tail" in classes.get(after.text[0], ()) and surname_of(norm[start:end]):
            yield "a given name may go on"
        if norm.startswith("的", end):
            thing = self.after(end + 1)
            owned = thing is not None and "possessions" in classes.get(thing.text, ())
            yield "a person's thing after" if owned else "some thing after"

    def _word_edges(self, start: int, end: int) -> Iterator[str]:
        """Yields how the place lies in the words of the text, cut without and with the names."""
        stretch = self._document.stretch(start, end)
        inside = [word for word in self._cut(*stretch) if start < word.end > word.start < end]
        crosses_start, crosses_end = inside[0].start < start, inside[-1].end > end
        if len(inside) == 1 and (crosses_start or crosses_end):
            yield "inside a word"
        elif crosses_start:
            yield "a word crosses its beginning"
        if len(inside) > 1 and crosses_end:
            yield "a word crosses its end"
        edges = {edge for word in self._cut_with_names(*stretch) for edge in (word.start, word.end)}
        if not {start, end} <= edges:
            yield "no word among names"
        if end - start == 1:
            yield "one character"

    def latin(self, start: int, end: int) -> Iterator[str]:
        """Yields the features of the text around a place in a script with spaces."""
        tokens = self._document.tokens
        inside = [at for at, one in enumerate(tokens) if one.start < end and start < one.end]
        if not inside:
            return
        first, last = inside[0], inside[-1]
        yield self._case(first, tokens[first])
        if tokens[last].possessive:
            yield "possessive"
        before, after = self._document.before(first), self._document.after(last)
        if before is None and after is None:
            yield "alone in its clause"
        yield from self._word_before(before)
        if before and self._opens_question(first - 1):
            yield "subject of a question"
        yield from self._word_after(after, end)
        left, right = self._document.norm[start - 1 : start], self._document.norm[end : end + 1]
        if left in ("-", "_", "#", "/") or right in ("-", "_"):
            yield "glued"
        if left == "@":
            yield "at sign"

    def _case(self, first: int, token: Token) -> str:
        if not self._document.cased:
            return "no case"
        if not token.capital:
            return "lower case"
        return "capital at the start" if self._document.starts_sentence(first) else "capital"

    def _word_before(self, before: Token | None) -> Iterator[str]:
        if before is None:
            yield "phrase begins"
            return
        yield from self._word_features(before, "before")
        if before.possessive:
            yield "possessive before"

    def _opens_question(self, at: int) -> bool:
        """Whether the token is an auxiliary that opens a question: is …, how did …"""
        tokens = self._document.tokens
        if "auxiliaries" not in _groups_of("en").get(tokens[at].key, ()):
            return False
        asks = at and "question_words" in _groups_of("en").get(tokens[at - 1].key, ())
        return bool(asks) or self._document.starts_sentence(at)

    def _word_after(self, after: Token | None, end: int) -> Iterator[str]:
        if after is None:
            following = self._document.norm[end : end + 2].strip()
            if following and is_cjk(following[0]):
                yield "Chinese after"
            return
        yield from self._word_features(after, "after")
        given = after.key in words("given_names")
        if given:
            yield "given name after"
        if not given and after.key not in words("english_words") and after.start not in self._named:
            yield "rare word after"
        if after.key.endswith("ed") and len(after.key) > 4:
            yield "past tense after"

    def _word_features(self, token: Token, side: str) -> Iterator[str]:
        classes = _groups_of("en").get(token.key, ())
        yield from (f"{side}: {name}" for name in classes)
        if token.capital and self._document.cased and "capital_neighbours" not in classes:
            yield f"capital {side}"
        if token.key.isdigit():
            yield f"number {side}"


Features = dict[str, float]

lex = patterns("role_phrases")
_EN = word_sets("context_en")
_OFFICIAL = ("name", "alias", "first name", "given name", "pinyin", "part")
_OWNERSHIP = word_sets("ownership")
_FORMER_BEFORE = re.compile(r"(?:前任?|以前那?个?的?|旧|\b(?:old|former|ex|previous|auld)[ -])$")
_NEAR = 10  # characters: more than between a role word and the name beside it
# Between a name and a role after it: Dave, my mate.
_APPOSITION = frozenset(sign + space for sign in ",，（(" for space in ("", " "))
GUESSED = ("sound", "fuzzy", "short", "nick", "diminutive")


class Places:
    """Hits and role words by position, to find neighbours without a scan of thousands."""

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
        """The places that are inside a longer one."""
        inside, reach = set(), 0
        for start, end in sorted(self.at, key=lambda place: (place[0], -place[1])):
            if end <= reach:
                inside.add((start, end))
            reach = max(reach, end)
        return inside

    def named_elsewhere(self, hit: Hit) -> bool:
        """Whether an official name of somebody else is a hit that does not overlap ``hit``."""
        others = self._official.total() - self._official[hit.person.id]
        overlapping = sum(
            one.person.id != hit.person.id and one.end > hit.start
            for start in range(hit.start - self._longest, hit.end)
            for one in self.official_from.get(start, ())
        )
        return others > overlapping

    def roles_near(self, hit: Hit) -> Iterable[RoleWord]:
        """Returns the role words with an edge near ``hit``, each once."""
        edges = (*range(hit.start - _NEAR, hit.start + 1), *range(hit.end, hit.end + _NEAR))
        words_near = (word for edge in edges for word in self._roles.get(edge, ()))
        return {id(word): word for word in words_near}.values()


class Evidence:
    """Computes the features of the hits of one text."""

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
        """Returns the features of ``hit`` by name, each about 0..1."""
        features: Features = {}
        kind = hit.kind if hit.kind != "kinship" else f"kinship {hit.role.whose}"  # type: ignore[union-attr]
        group = "role" if "kinship" in kind or kind == "role phrase" else "name"
        script = "han" if is_cjk(self.document.norm[hit.start]) else "latin"
        features[f"kind: {kind}"] = 1.0
        features[f"{script} {group}"] = 1.0
        if hit.kind == "title":
            features |= dict.fromkeys(self._title_features(hit), 1.0)
        elif hit.form:
            features[f"form: {hit.form}"] = 1.0
            features[f"form: {hit.form} of a {kind}"] = 1.0
        names = self._role_features(hit) if group == "role" else self._name_features(hit, script)
        around = self._around.han if script == "han" else self._around.latin
        features |= dict.fromkeys(names, 1.0)
        is_word = group == "name" and self._is_word(hit, script)
        for name in around(hit.start, hit.end):
            features[f"{group}, {name}"] = 1.0
            if is_word:
                features[f"word, {name}"] = 1.0
        features |= dict.fromkeys(self._neighbour_features(hit, group), 1.0)
        features |= dict.fromkeys(self._text_features(hit, group), 1.0)
        if group == "name":
            features |= self._frequency_features(hit, script)
        return features

    def _frequency_features(self, hit: Hit, script: str) -> Features:
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
        """Whether the surface is also a word for something else."""
        surface = self.document.norm[hit.start : hit.end]
        if script == "han":
            tag = segmentation.tag(surface)
            return surface in words("chinese_words") or (bool(tag) and tag[:2] != "nr")
        return surface in words("english_words") or surface in _EN["places"] | _EN["mostly_names"]

    # Features of the hit itself.

    def _title_features(self, hit: Hit) -> Iterator[str]:
        title = titles("zh" if is_cjk(hit.form[0]) else "en")[hit.form]
        person = hit.person
        if title.gender and person.gender:
            yield "title of the gender" if title.gender == person.gender else "title of another"
        if hit.form in person.relationship:
            yield "title in the relationship"
        fits = _fits_title(person, title, hit.form)
        yield "title fits" if fits else "title unfit"
        rivals = [one for one in self.hits if one.kind == "title" and one.start == hit.start]
        if not fits and any(_fits_title(one.person, title, hit.form) for one in rivals):
            yield "another fits better"

    def _name_features(self, hit: Hit, script: str) -> Iterator[str]:
        role = roles_of(hit.text)
        if role:
            yield f"a role word as {hit.kind}"
            if any(one.level != "common" for one in role):
                yield "a close role word as a name"
        for word in self.document.roles:
            if word.start < hit.end and hit.start < word.end:
                same_end = word.end == hit.end and word.start <= hit.start
                yield f"a role there: {word.whose if same_end else 'part'}"
        if script == "latin" and hit.kind == "part":
            last = name_key(hit.text).split(" ")[-1]
            yield "surname" if self.document.norm[hit.start : hit.end] == last else "middle name"
        if (
            hit.kind in ("first name", "diminutive", "short", "fuzzy")
            and hit.text != hit.person.name
        ):
            yield "of an alias"

    def _role_features(self, hit: Hit) -> Iterator[str]:
        if hit.role is None or hit.contact_role is None:
            yield from self._phrase_features(hit)
            return
        yield from self._stated_role_features(hit.role, hit.contact_role, hit.person)
        yield from self._rival_features(hit, hit.role)
        word = hit.role
        gap = self.document.norm.startswith(" ", word.end)
        named = [one for one in self.hits if one.start == word.end + gap and one.role is None]
        if named:
            same = any(one.person.id == hit.person.id for one in named)
            yield "named behind the role" if same else "another named behind the role"
        elif self._precedes_name(word):
            yield "a name follows the role"
        if word.whose == "other":
            yield "owner agrees" if self._owner_agrees(hit, word) else "owner unknown"

    def _phrase_features(self, hit: Hit) -> Iterator[str]:
        """Yields features of the user's own words for a role, which the tables do not have."""
        several = len(hit.text.split()) > 1
        yield "a phrase of several words" if several else "a phrase of one word"
        if name_key(hit.text) == name_key(hit.person.relationship):
            yield "phrase as stated"
        stated = "former" if lex.former.match(hit.person.relationship.lower()) else "present"
        is_former = bool(_FORMER_BEFORE.search(self.document.norm[: hit.start][-8:]))
        yield f"{stated}, said to be former: {is_former}"

    def _stated_role_features(self, word: RoleWord, known: Role, person: Person) -> Iterator[str]:
        """Yields how the role word compares with the relationship of the contact."""
        level = min((role.level for role in word.roles), key=("kin", "unique", "common").index)
        yield f"{word.whose} {level}"
        if word.whose == "generic" and word.owner in _OWNERSHIP["en_generic"]:
            yield "any such one"
        surface, stated = name_key(word.text), name_key(person.relationship)
        if surface == stated:
            yield "role as stated"
        elif surface in map(name_key, (person.name, *person.aliases)):
            yield "role as a name"
        elif stated.endswith(surface):
            yield "role at the end of what is stated"
        if any(role.kind == known.kind for role in word.roles):
            yield f"same role {word.whose}"
        tags = frozenset[str]().union(*(role.tags for role in word.roles))
        if tags and tags <= known.tags:
            yield "tags agree"
        elif tags ^ known.tags:
            yield "tags missing"

    def _rival_features(self, hit: Hit, word: RoleWord) -> Iterator[str]:
        """Yields features of the other people who have the role."""
        rivals = [one for one in self.hits if one.role is word and one.person.id != hit.person.id]
        if rivals:
            yield f"several fit a role, group {word.group}"
            if max(map(_specificity, rivals)) > _specificity(hit):
                yield "another fits better"
        if word.group:
            yield f"group {word.whose}"

    def _owner_agrees(self, hit: Hit, word: RoleWord) -> bool:
        """Whether the role's owner in the text is the owner that the relationship states: 冠宇妈妈 if
        男友的妈妈 is known and 冠宇 is the 男友 (boyfriend)."""
        owner = name_key(word.owner.removesuffix("'s"))
        stated = name_key(hit.person.relationship)
        if len(owner) > 1 and owner in stated:
            return True
        kinds = {role.kind for role in stated_roles(stated) if role != hit.contact_role}
        for one in self.hits:
            is_owner = self.document.norm[one.start : one.end] == owner
            if is_owner or word.outer - 1 <= one.end <= word.start:
                names = map(name_key, (one.person.name, *one.person.aliases))
                roles = {role.kind for role in roles_of(one.person.relationship)}
                if roles & kinds or any(name and name in stated for name in names):
                    return True
        return False

    def _precedes_name(self, word: RoleWord) -> bool:
        """Whether a likely name follows the role word: 我同事罗昊, my coworker Delia."""
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

    # Features of the hits and role words near it, and of the text.

    def _neighbour_features(self, hit: Hit, group: str) -> Iterator[str]:
        rank, places, person_id = self._order, self._places, hit.person.id
        rivals = [one for one in places.at[hit.start, hit.end] if one.person.id != person_id]
        if rivals and group == "name":
            yield "others at the place"
            if min(rank[one.kind] for one in rivals) < min(rank[hit.kind], rank["first name"] + 1):
                yield "another fits better"
                yield f"a surer one at the place of a {hit.kind}"
        if (hit.start, hit.end) in places.covered:
            yield f"{group} within a longer one of another"
        if places.named_elsewhere(hit):
            yield f"{group}: others named"
        after, before = places.official_from[hit.end], places.official_to[hit.start]
        if any(one.person.id != person_id for one in (*after, *before)):
            yield f"{group}: others named right beside"
        if group == "name":
            yield from self._adjacent_role_features(hit, rivals)

    def _adjacent_role_features(self, hit: Hit, rivals: Sequence[Hit]) -> Iterator[str]:
        for word in self._places.roles_near(hit):
            if not is_beside(self.document, word, hit.start, hit.end):
                continue
            text = self.document.norm[word.start : word.end]
            relationship = hit.person.relationship
            if _fits(word, hit):
                yield "the role beside fits"
                continue
            if relationship and not relationships.may_be_one(text, relationship):
                yield "the role beside conflicts"
            if any(_fits(word, other) for other in rivals):
                yield "another fits better"

    @cached_property
    def _quoted(self) -> list[tuple[int, int]]:
        return [(low, high) for low, high in quotations(self.document.norm) if high - low > 2]

    @cached_property
    def _topics(self) -> Collection[str]:
        return finder("talk")(self.document.norm).keys()

    @cached_property
    def _is_of_fame(self) -> bool:
        return bool(finder("fame")(self.document.norm))

    def _text_features(self, hit: Hit, group: str) -> Iterator[str]:
        quotes = [(low, high) for low, high in self._quoted if low < hit.start and hit.end < high]
        if quotes:
            is_alone = quotes[0][0] + 1 == hit.start and hit.end == quotes[0][1] - 1
            yield f"{group} quoted alone" if is_alone else f"{group} in a quotation"
        surface = self.document.norm[hit.start : hit.end]
        if surface in words("celebrities") and surface not in words("given_names"):
            yield "celebrity"
        for name in self._topics:
            yield f"{group}: talk of {name}"
        if self._is_of_fame and group == "name":
            yield "talk of fame"


@lru_cache(maxsize=1024)
def stated_roles(stated: str) -> tuple[Role, ...]:
    """Returns the roles of all role words that a relationship text contains."""
    meanings = (roles for term, roles in terms().items() if len(term) > 1 and term in stated)
    return tuple(itertools.chain.from_iterable(meanings))


def is_beside(document: Document, word: RoleWord, start: int, end: int) -> bool:
    """Whether a role of the user's is beside the name at [start, end): 我同事张伟, Dave, my mate."""
    if word.whose == "other":
        return False
    before, after = document.norm[word.end : start], document.norm[end : word.outer]
    if word.end <= start:
        between = before.strip(" ,，")
        return between in ("named", "called") or (not between and len(before) < 3)
    return end <= word.outer and after in _APPOSITION


@lru_cache(maxsize=4096)
def _known_kinds(person: Person) -> frozenset[str]:
    """Returns the role classes and professions that a person's relationship and names state."""
    stated = (person.relationship, person.name, *person.aliases)
    kinds = {role.kind for text in stated for role in roles_of(text)}
    kinds |= {
        row["kind"] for row in rows("professions") if person.relationship.endswith(row["word"])
    }
    return frozenset(kinds)


def _fits_title(person: Person, title: Title, word: str) -> bool:
    """Whether ``person`` can be addressed with a title, by gender and by role."""
    if title.gender and person.gender not in ("", title.gender):
        return False
    if "*" in title.kinds or word in person.relationship:
        return True
    if "peer" in title.kinds:
        return not any(role.subtype == "family" for role in roles_of(person.relationship))
    return bool(title.kinds & _known_kinds(person))


def _specificity(hit: Hit) -> int:
    """Returns how well a relationship matches the role at ``hit``: 2 for its kind, 1 per tag."""
    if hit.role is None or hit.contact_role is None:
        return 0
    tags = {tag for role in hit.role.roles for tag in role.tags}
    kinds = {role.kind for role in hit.role.roles}
    return 2 * (hit.contact_role.kind in kinds) + len(hit.contact_role.tags & tags)


def _fits(word: RoleWord, hit: Hit) -> bool:
    return any(role.fits(own) for role in word.roles for own in roles_of(hit.person.relationship))
