"""Who a clause speaks of: names, the user's own relations, other people's, pronouns."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memories.providers.offline.lexicons import (
    chinese_relation_words,
    english_relation_words,
    fold,
    relations,
)
from memories.providers.offline.names import (
    LATIN_NAME,
    announced_person,
    chinese_name_at,
    is_ordinary,
    latin_names,
)
from memories.providers.offline.people import Book, Someone
from memories.providers.offline.text import HAN
from memories.types import Subtype

_MINE_ZH = r"(?:我|咱|俺)(?:们|们家|家|们公司|们组|们部门|们小区|们班|们单位|们团队|们那)?的?(?:那个|这个|那位|这位|一个|一位|有个|有一个|有位|最好的|真正的|最铁的|以前的|现在的|亲|大学的|新来的|未来的?)?"
_TEAM_ZH = r"(?:我|咱)们?(?:组里?|公司|部门|团队|单位|项目组|办公室)(?:里|的)?(?:新来的|那个|的)?"
_ADJECTIVE_EN = r"(?:(?:old|new|best|good|dear|close|older|younger|elder|little|big|twin|former|current|nosy|lovely|awful|ex|college|high[- ]school|childhood|favou?rite|future|late|poor|sweet|amazing|next-door|upstairs|downstairs|lab|work|school|university|exchange|first|second|other|only|long-time|longtime|retired|running|gym)\s){0,3}"
_INTRO_EN = r"(?:\s?,?\s(?:is\s)?(?:called|named|is called|is named)\s|,\s|\s)"
_PRONOUN_ZH = re.compile(r"[他她](?!妈的|们)|(?<![A-Za-z])[Tt][Aa](?![A-Za-z])")
_GROUP_ZH = re.compile(r"(?:他|她)(?:们)")
_PRONOUN_EN = re.compile(r"\b(she|her|hers|herself|he|him|his|himself)(?:'s|'ll|'d)?\b", re.I)
_USER_ZH = re.compile(r"我(?!们|家那|老[板公婆])|本人|俺")
_GROUP_USER = re.compile(r"我们|咱们|咱|\b(?:we|us|our|ours)\b", re.I)
_USER_EN = re.compile(r"\b(?:I['’](?:m|ve|d|ll)|I|me|my|mine|myself|im|ive)\b")
_GUY = re.compile(r"\b(?:this|the|that|a)\s(guy|man|woman|lady|girl|kid|person|dude)\s(who|that)\s((?:\w+\s?){1,5}?)(?=\s(?:under|on|at|near|in|for|is|was|has|ten|only|just|told|said|and|every|next)\b|[,.]|$)", re.I)
_FEMALE_NOUN = frozenset({"woman", "lady", "girl"})


@dataclass(slots=True)
class Spot:
    """A place in a clause that means a person; ``who`` None is the end user. ``how`` is name,
    role, owned (somebody else's relation), pronoun or group; ``new`` when met right here."""

    start: int
    end: int
    who: Someone | None
    how: str
    text: str
    new: bool = False
    after_has: bool = False


@lru_cache(maxsize=1)
def _role_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    zh = "|".join(chinese_relation_words())
    en = "|".join(re.escape(word).replace("\\-", "[- ]") for word in english_relation_words())
    mine_zh = re.compile(rf"(?P<mine>{_MINE_ZH})\s?(?P<word>{zh}|家那位|家那口子|(?:{en})(?![a-z]))", re.I)
    bare_zh = re.compile(rf"(?:前|新|未来)?(?P<word>{zh})")
    mine_en = re.compile(rf"\b(?P<mine>my|our)\s(?P<word>{_ADJECTIVE_EN}(?:{en}))\b(?!'?s\s(?:and|or)\b)(?!-)", re.I)
    bare_en = re.compile(rf"\b(?P<word>{_ADJECTIVE_EN}(?:{en}))\b", re.I)
    return mine_zh, bare_zh, mine_en, bare_en


class Scanner:
    """Finds the people of clauses and writes newly met ones into the book."""

    def __init__(self, book: Book) -> None:
        self.book = book

    def scan(self, text: str, *, chinese: bool, topic: Someone | None) -> list[Spot]:
        """The spots of ``text`` in order, not overlapping. ``topic`` owns bare 孩子, 女朋友
        when it is a person and the words do not say otherwise."""
        spots: list[Spot] = []
        self._own_relations(text, spots)
        self._known_names(text, spots)
        self._guys(text, spots)
        self._new_names(text, spots)
        self._pronouns(text, spots)
        self._owned_relations(text, spots)
        self._bare_relations(text, spots, topic)
        spots.sort(key=lambda spot: spot.start)
        self._join_appositions(text, spots)
        return spots

    def _join_appositions(self, text: str, spots: list[Spot]) -> None:
        """A role right before a name (我老板王总, my uncle Art) is one place, one person."""
        for role, name in pairwise(list(spots)):
            if role.how != "role" or name.how != "name" or role.who is None or name.who is None:
                continue
            if text[role.end : name.start].strip() or role not in spots:
                continue
            if role.who is not name.who:
                if role.who.named:
                    continue
                self.relate(name.who, role.who.word or role.who.relationship)
                self.book.merge(name.who, self._nameless(role.who))
            spots[spots.index(role)] = Spot(role.start, name.end, name.who, "name", text[role.start : name.end], name.new)
            spots.remove(name)

    def _nameless(self, who: Someone) -> Someone:
        """``who`` without a name of their own, so that a merge leaves no alias behind."""
        who.owner = who.owner or who
        return who

    def _free(self, spots: list[Spot], start: int, end: int) -> bool:
        return all(end <= spot.start or start >= spot.end for spot in spots)

    def _add(self, spots: list[Spot], spot: Spot) -> None:
        if self._free(spots, spot.start, spot.end):
            spots.append(spot)

    def _own_relations(self, text: str, spots: list[Spot]) -> None:
        mine_zh, _, mine_en, _ = _role_patterns()
        for match in mine_zh.finditer(text):
            word = match.group("word")
            if re.match(r"们|的[猫狗]", text[match.end() :]) or _cut_word(text, match.end(), word):
                continue
            self._role_spot(text, spots, match.start(), match.end(), word)
        for match in mine_en.finditer(text):
            self._role_spot(text, spots, match.start(), match.end(), match.group("word"))
        for match in re.finditer(_TEAM_ZH, text):
            end = chinese_name_at(text, match.end(), strong=False)
            latin = LATIN_NAME.match(text, match.end())
            end = latin.end() if latin else end
            if end is not None and not self.book.is_banned(text[match.end() : end]):
                who, new = self._named(text[match.end() : end], "同事", None)
                self._add(spots, Spot(match.start(), end, who, "name", text[match.start() : end], new))

    def _role_spot(self, text: str, spots: list[Spot], start: int, end: int, word: str) -> None:
        """My <word>, with the name that may follow it."""
        named = self._name_after(text, end)
        if named is not None:
            if self.book.is_banned(text[named[0] : named[1]]):
                return
            who, new = self._named(text[named[0] : named[1]], word, None)
            self._add(spots, Spot(start, named[1], who, "name", text[start : named[1]], new))
            return
        if _vague(word) and not re.match(r"\s?(?:叫|名字|的名字|姓|'s name)", text[end:]):
            who = self.book.by_relation(word)
            if who is None:
                if re.search(r"friend|朋友|同学|classmate|cousin", word, re.I) and not _specific(text, end):
                    return
                who = self._meet_role(word)
                self._add(spots, Spot(start, end, who, "role", text[start:end], True))
                return
        else:
            who = self.book.by_relation(word)
        new = who is None
        if who is None:
            who = self._meet_role(word)
        self._add(spots, Spot(start, end, who, "role", text[start:end], new))

    def _meet_role(self, word: str) -> Someone:
        relation = relations()[_key(word)]
        family = relation.subtype in {Subtype.FAMILY, Subtype.PARTNER}
        name = relation_name(word)
        who = self.book.meet(name, named=False, word=_key(word))
        who.relationship = relationship_label(word)
        if not family and HAN.search(word) is None:
            who.name = plain_english(word)
        return who

    def _name_after(self, text: str, end: int) -> tuple[int, int] | None:
        """The span of a name in apposition to a relation word that ends at ``end``."""
        gap = re.match(r"\s?[“\"‘']?|\s?[,，]\s?(?=[A-Z])|,?\s(?:is\s)?(?:called|named)\s", text[end:])
        starts = [end + (gap.end() if gap else 0)]
        called = re.match(r",?\s(?:is\s)?(?:called|named)\s", text[end:])
        if called:
            starts = [end + called.end()]
        for start in starts:
            latin = re.compile(LATIN_NAME.pattern).match(text, start)
            if latin:
                from_list = [span for span in latin_names(text) if span[0] == start]
                if from_list and latin.group() not in {"I", "The", "She", "He"}:
                    full = re.match(r"\s[A-Z][a-z]+\b(?!\s[A-Z])", text[latin.end() :])
                    is_surname = full and fold(full.group().strip()) not in {"said", "is"}
                    return start, latin.end() + (full.end() if full and is_surname and len(full.group()) > 3 else 0)
            stop = chinese_name_at(text, start, strong=False)
            if stop is None and text[start : start + 1] == text[start + 1 : start + 2]:
                stop = chinese_name_at(text, start, strong=True)
            if stop is not None and _closes_name(text, start, stop):
                return start, stop
        return None

    def _named(self, name: str, word: str, owner: Someone | None) -> tuple[Someone, bool]:
        """The person called ``name`` who is a ``word``; met now or known already."""
        who = self.book.by_name(name)
        if who is None:
            unnamed = self.book.by_relation(word, owner) if word else None
            if unnamed is not None and not unnamed.named and not _vague(word):
                unnamed.give_name(name)
                return unnamed, True
            who = self.book.meet(name, named=True, word=_key(word) if word else "", owner=owner)
            if word and owner is None:
                who.relationship = relationship_label(word)
            return who, True
        if word and owner is None:
            self.relate(who, word)
        return who, False

    def relate(self, who: Someone, word: str) -> None:
        """``who`` is the user's ``word``, if that says more than is known."""
        relation = relations().get(_key(word))
        if relation is None:
            return
        if who.relation is None or not who.relationship or who.owner is not None:
            who.relation, who.relationship, who.word = relation, relationship_label(word), _key(word)
            who.owner, who.owned_as = None, ""
            who.gender = who.gender or relation.gender

    def role_before(self, text: str, end: int) -> Someone | None:
        """Somebody known by a role word that ends right before ``end`` (老师叫 Helen)."""
        for word in chinese_relation_words():
            if len(word) > 1 and text[:end].rstrip().endswith(word):
                head = text[:end].rstrip()[: -len(word)]
                if head and not _OPENING.search(head):
                    return None
                return self.book.by_relation(word) or self._meet_role(word)
        return None

    def _known_names(self, text: str, spots: list[Spot]) -> None:
        folded = fold(text) if len(fold(text)) == len(text) else text.lower()
        names = [
            (alias, person)
            for person in self.book.people
            for alias in (person.name, *person.aliases)
            if len(alias) > 1 and (person.named or person.contact_id is not None) and _key(alias) not in relations()
        ]
        names.sort(key=lambda pair: (-len(pair[0]), self.book._rank(pair[1])))
        for alias, person in names:
            for match in _alias_pattern(fold(alias)).finditer(folded):
                following = text[match.start() : match.start() + len(alias) + 1]
                if len(alias) == 2 and len(following) == 3 and is_ordinary_phrase(following):
                    continue
                self._add(spots, Spot(match.start(), match.end(), person, "name", text[match.start() : match.end()]))

    def _guys(self, text: str, spots: list[Spot]) -> None:
        for match in _GUY.finditer(text):
            words = f"the {match.group(1).lower()} {match.group(2).lower()} {match.group(3).strip()}"
            if not re.search(r"\b(?:my|our|me|us)\b|\w+s\b", match.group(3)):
                continue
            name = re.sub(r"\b(?:me|us)\b", "me", words)
            who = self.book.by_name(name)
            new = who is None
            if who is None:
                who = self.book.meet(name, named=True)
                who.relationship = name
                who.gender = "female" if match.group(1).lower() in _FEMALE_NOUN else "male"
            self._add(spots, Spot(match.start(), match.end(), who, "name", match.group(), new))

        for match in _GUY_OF_MINE.finditer(text):
            noun = match.group("n").split()[-1].lower()
            known = [p for p in self.book.people if p.name.startswith("the ") and re.search(rf"\b{noun}", p.name)]
            words = match.group()[match.group().index(" ") + 1 :].lower()
            who = known[0] if known else self.book.by_name(words)
            new = who is None
            if who is None:
                who = self.book.meet(words, named=True)
                who.relationship = words
            elif known:
                who.add_alias(words)
            self._add(spots, Spot(match.start(), match.end(), who, "name", match.group(), new))

    def _new_names(self, text: str, spots: list[Spot]) -> None:
        _, bare_zh, _, _ = _role_patterns()
        for match in bare_zh.finditer(text):
            word = match.group("word")
            end = chinese_name_at(text, match.end(), strong=False)
            latin = re.match(r"\s?(?=[A-Z][a-z])", text[match.end() :])
            span = (match.end(), end) if end is not None else None
            if latin:
                start = match.end() + latin.end()
                capital = LATIN_NAME.match(text, start)
                span = (start, capital.end()) if capital and fold(capital.group()) not in {"i"} else span
            if span is None or not self._free(spots, match.start(), span[1]) or len(word) < 2:
                continue
            if not _closes_name(text, *span) or self.book.is_banned(text[span[0] : span[1]]):
                continue
            if re.search(r"[他她们的家]$", text[: match.start()]) and not text[: match.start()].endswith("我们"):
                continue
            who, new = self._named(text[span[0] : span[1]], word, None)
            self._add(spots, Spot(match.start(), span[1], who, "name", text[match.start() : span[1]], new))
        for match in HAN.finditer(text):
            start = match.start()
            if not self._free(spots, start, start + 1):
                continue
            if start and _inside_word(text, start) and not (text[start] in "小阿老" and announced_person(text[:start])):
                continue
            end = chinese_name_at(text, start, strong=False)
            if end is None or not self._free(spots, start, end) or self.book.is_banned(text[start:end]):
                continue
            if not _person_place(text, start, end):
                continue
            who, new = self._named(text[start:end], "", None)
            self._add(spots, Spot(start, end, who, "name", text[start:end], new))
        for start, end, sure in latin_names(text):
            if not sure or not self._free(spots, start, end) or self.book.is_banned(text[start:end]):
                continue
            who, new = self._named(text[start:end], "", None)
            if new:
                who.gender = latin_gender(text[start:end])
            self._add(spots, Spot(start, end, who, "name", text[start:end], new))

    def _pronouns(self, text: str, spots: list[Spot]) -> None:
        for match in _USER_ZH.finditer(text):
            self._add(spots, Spot(match.start(), match.end(), None, "user", match.group()))
        for match in _USER_EN.finditer(text):
            self._add(spots, Spot(match.start(), match.end(), None, "user", match.group()))
        for match in _GROUP_USER.finditer(text):
            self._add(spots, Spot(match.start(), match.end(), None, "user", match.group()))
        spots.sort(key=lambda spot: spot.start)
        for pattern in (_PRONOUN_ZH, _PRONOUN_EN):
            for match in pattern.finditer(text):
                if not self._free(spots, match.start(), match.end()):
                    continue
                gender = pronoun_gender(match.group())
                who = self.refer(gender, [s for s in spots if s.end <= match.start()])
                if who is not None:
                    has = bool(re.match(r"\s(?:just |already |finally |never |also )*(?:been|got|found|gone|had|\w+ed|become|made|taken|given|seen|lost|left|moved)\b", text[match.end() :]))
                    self._add(spots, Spot(match.start(), match.end(), who, "pronoun", match.group(), after_has=has))

    def refer(self, gender: str, before: list[Spot]) -> Someone | None:
        """Whom a pronoun means: somebody earlier in the clause, else the one spoken of last."""
        for spot in before:
            person = spot.who
            if person is not None and spot.how in {"name", "role", "pronoun"}:
                if not gender or person.gender in {"", gender}:
                    return person
        return self.book.latest(gender)

    def _owned_relations(self, text: str, spots: list[Spot]) -> None:
        """Her son, 小红的男朋友, 他妹妹: a relation right after somebody else's spot."""
        _, bare_zh, _, bare_en = _role_patterns()
        for owner in sorted(spots, key=lambda spot: spot.start):
            if owner.who is None or owner.how == "user":
                continue
            tail = text[owner.end :]
            lead = re.match(r"(?:们家|他们家|她们家|们|家|他|她)?的?(?:那个|这个|那位)?\s?|(?:'s|’s)?\s", tail)
            start = owner.end + (lead.end() if lead else 0)
            possessive = re.fullmatch(r"(?:her|his)", owner.text, re.I) or HAN.search(owner.text[-1]) or re.match(r"['’]s", tail)
            if not possessive:
                continue
            match = bare_zh.match(text, start) or bare_en.match(text, start)
            household = re.match(r"们?家的?(?=(.)\1)", tail)
            if match is None and household is not None:
                child = self._name_after(text, owner.end + household.end())
                if child is not None and not self.book.is_banned(text[child[0] : child[1]]):
                    owned = self.book.by_name(text[child[0] : child[1]]) or self.owned(owner.who, "孩子")
                    owned.give_name(text[child[0] : child[1]])
                    spots.remove(owner)
                    self._add(spots, Spot(owner.start, child[1], owned, "owned", text[owner.start : child[1]]))
                    continue
            if match is None or owner.end == start and not HAN.search(text[start]):
                continue
            word = match.group("word")
            end = match.end()
            if _cut_word(text, end, word):
                continue
            named = self._name_after(text, end)
            owned = self.owned(owner.who, word)
            if named is not None and not self.book.is_banned(text[named[0] : named[1]]):
                self._name_owned(owned, text[named[0] : named[1]])
                owned = self.book.by_name(text[named[0] : named[1]]) or owned
                end = named[1]
            if owner.how == "pronoun":
                spots.remove(owner)
                self._add(spots, Spot(owner.start, end, owned, "owned", text[owner.start : end], not owned.named))
            else:
                spots.remove(owner)
                self._add(spots, Spot(owner.start, end, owned, "owned", text[owner.start : end], not owned.named))

    def _name_owned(self, owned: Someone, name: str) -> None:
        known = self.book.by_name(name)
        if known is not None and known is not owned:
            if known.owner is None and not known.relationship:
                known.owner, known.owned_as, known.relation = owned.owner, owned.owned_as, owned.relation
                known.relationship = owned.relationship
            self.book.merge(known, owned)
        else:
            owned.give_name(name)

    def owned(self, owner: Someone, word: str) -> Someone:
        """``owner``'s ``word``: known already or met now."""
        who = self.book.by_relation(word, owner)
        if who is None:
            chinese = HAN.search(word) is not None
            name = f"{owner.name}的{word}" if chinese else f"{owner.name}'s {word}"
            who = self.book.meet(name, named=False, word=_key(word), owner=owner)
            who.owned_as = word
            who.relationship = name
        return who

    def _bare_relations(self, text: str, spots: list[Spot], topic: Someone | None) -> None:
        """妈, 老公, 室友 without a possessor: the speaker's own when the word allows that."""
        _, bare_zh, _, bare_en = _role_patterns()
        for match in bare_zh.finditer(text):
            word = match.group("word")
            relation = relations()[word]
            if not self._free(spots, match.start(), match.end()) or _cut_word(text, match.end(), word):
                continue
            before = text[: match.start()]
            if _INTRODUCED.search(before) and (relation.bare or relation.subtype is not Subtype.FAMILY):
                who = self.book.by_relation(word) if relation.bare else None
                new = who is None
                who = who or self._meet_role(word)
                self._add(spots, Spot(match.start(), match.end(), who, "role", match.group(), new))
                continue
            if re.search(r"[的一两个位名些每当做是人姨他她]$|男$|女$|(?:\d|[二三四五])$", before) or _inside_word(text, match.start()):
                continue
            if topic is not None and relation.kind in _OF_TOPIC and topic.relation is not None and topic.relation.subtype is Subtype.PARTNER:
                continue
            if topic is not None and (relation.kind in _OF_TOPIC) and not before.strip():
                who = self.owned(topic, word)
                self._add(spots, Spot(match.start(), match.end(), who, "owned", match.group(), True))
                continue
            who = self.book.by_relation(match.group() if former(match.group()) else word)
            if who is None and (not relation.bare or len(word) < 2):
                continue
            if who is None and topic is not None and relation.subtype is not Subtype.FAMILY and not relation.bare:
                continue
            starts = not before.strip() or _OPENING.search(before) or announced_person(before)
            if not starts:
                continue
            new = who is None
            if who is None:
                who = self._meet_role(match.group() if match.group() in relations() else word)
            self._add(spots, Spot(match.start(), match.end(), who, "role", match.group(), new))
        for match in re.finditer(r"\b(?:Mom|Mum|Dad|Grandma|Grandpa|Mommy|Mummy|Daddy)\b", text):
            if self._free(spots, match.start(), match.end()):
                who = self.book.by_relation(match.group())
                new = who is None
                who = who or self._meet_role(match.group())
                self._add(spots, Spot(match.start(), match.end(), who, "role", match.group(), new))
        if HAN.search(text) is None:
            for match in re.finditer(r"\bthe\s(?P<word>\w+)\b", text):
                who = self.book.by_relation(match.group("word"))
                if who is not None and self._free(spots, match.start(), match.end()):
                    self._add(spots, Spot(match.start(), match.end(), who, "role", match.group()))


# Whose they are when a person is being talked about and no possessor is said.
_OF_TOPIC = frozenset({"partner", "boyfriend", "girlfriend", "husband", "wife", "son", "daughter", "child"})
_GUY_OF_MINE = re.compile(r"\b(?:my|our)\s(?P<n>[a-z]+(?:[- ][a-z]+)?)\s(?:guy|lady|person|man|woman|girl|gal|dude)\b", re.I)
_INTRODUCED = re.compile(r"(?:来了|认识了?|交了|招了|遇到了?|搬来了?)(?:一?[个位名])?新?$")
_OPENING = re.compile(r"(?:^|[，,。\s])(?:今天|昨天|昨晚|今早|刚才?|刚刚|最近|上周|明天|下周|周[一二三四五六日末]|晚上|早上|周末|对了|哦|啊|嗯|哎|唉|不过|而且|但是?|其实|然后|另外|还有|所以|因为|结果|后来|现在|以后|之前|以前|正好|突然|反正|话说|先|就|我和|好像|告诉|听|约了?|陪|跟|和|给|帮|让|给我|不是|虽然|原来|连|五一|清明|国庆|中秋|春节|过年)\s?$")


def former(word: str) -> bool:
    """Whether a relation word speaks of the past (前同事)."""
    return word.startswith("前")


def _key(word: str) -> str:
    """The lexicon's key of a relation word as written, adjectives and measure words dropped."""
    folded = fold(word).replace("-", " ").strip()
    table = relations()
    if folded in table:
        return folded
    for known in chinese_relation_words():
        if folded.endswith(known):
            return known
    parts = folded.split()
    for index in range(len(parts)):
        tail = " ".join(parts[index:])
        if tail in table:
            return tail
    return folded


def relation_name(word: str) -> str:
    """What to call somebody of whom only the relation is known (妈妈, landlord)."""
    key = _key(word)
    relation = relations()[key]
    if HAN.search(key):
        if relation.kind == "partner":
            return "伴侣"
        plain = {"mother": "妈妈", "father": "爸爸", "parents": "爸妈"}.get(relation.kind)
        if plain:
            return plain
        doubled = {"哥": "哥哥", "姐": "姐姐", "弟": "弟弟", "妹": "妹妹"}
        return doubled.get(key.replace("老", ""), key)
    return plain_english(word)


def plain_english(word: str) -> str:
    """An English relation without opinions on it (nosy neighbor → neighbor)."""
    return re.sub(r"\b(?:nosy|lovely|awful|poor|sweet|amazing|dear|favou?rite|good|great|old|only|other|second|first)\s(?!friend|boss)", "", word.strip().lower())


def relationship_label(word: str) -> str:
    """The relationship in the user's words, in its plain form (我妈 → 母亲, mum → mother)."""
    key = _key(word)
    relation = relations()[key]
    plain = {"mother", "father", "husband", "wife", "boyfriend", "girlfriend", "elder brother", "younger brother", "elder sister", "younger sister", "partner"}
    if HAN.search(key):
        return relation.zh if relation.kind in plain and len(key) <= 3 else key
    if relation.kind in {"mother", "father"}:
        return relation.en
    return plain_english(fold(word)) if relation.subtype is not Subtype.PARTNER else key


def pronoun_gender(pronoun: str) -> str:
    """female for 她/she, male for 他/he, empty otherwise."""
    if pronoun[0] in "她sS" or pronoun.lower().startswith("her"):
        return "female"
    if pronoun[0] == "他" or pronoun.lower().startswith("h"):
        return "male"
    return ""


def latin_gender(name: str) -> str:
    """The usual gender of an English given name, or empty."""
    from memories.providers.offline.lexicons import given_names

    return given_names().get(fold(name.split()[0]), "")


def _vague(word: str) -> bool:
    """A relation that many people have at once (friend, 同事, cousin)."""
    relation = relations()[_key(word)]
    return not relation.bare and relation.subtype is not Subtype.FAMILY and relation.kind not in {"intern", "leader", "boss"}


def _specific(text: str, end: int) -> bool:
    """Whether an unnamed friend is one particular person: something is said of them."""
    return bool(re.match(r"\s?(?:的|是|在|今年|叫|生日|[他她]|最近|住|\s?is\b|'s\b|\s(?:works|lives|has|was)\b)", text[end:]))


@lru_cache(maxsize=2048)
def _alias_pattern(alias: str) -> re.Pattern[str]:
    left = r"(?<![a-z0-9@._-])" if re.match(r"[a-z0-9]", alias) else ""
    right = r"(?![a-z0-9@_]|-[a-z])" if re.search(r"[a-z0-9]$", alias) else ""
    return re.compile(left + re.escape(alias) + right)


def is_ordinary_phrase(text: str) -> bool:
    """Three characters that are a word of their own (小红书, 白露节气)."""
    return is_ordinary(text) and text[:2] not in {"小红"} or text in {"小红书", "小红帽", "小米粥", "小米家"}


def _cut_word(text: str, end: int, word: str) -> bool:
    """Whether ``word`` only begins a longer word (妈的, 姐夫, 老师傅)."""
    tail = text[end : end + 2]
    if word[-1:] and HAN.match(word[-1]):
        return bool(re.match(r"的姐|们|圈|节|级|会$|费|装|奶|系", tail)) or (len(word) == 1 and tail[:1] in set("妈爸哥姐弟妹夫" + "祖姆"))
    return bool(re.match(r"[a-z-]", text[end : end + 1], re.I))


def _inside_word(text: str, start: int) -> bool:
    """Whether a segmenter's word runs across ``start``."""
    from memories.providers.offline.names import tagged

    position = 0
    for word, _ in tagged(text):
        if position == start:
            return False
        if position > start:
            return True
        position += len(word)
    return position > start


def _closes_name(text: str, start: int, end: int) -> bool:
    return not re.match(r"(?:大学|公司|医院|路|街|区|市|省|县|银行|集团|科技|小区|花园|广场)", text[end:])


def _person_place(text: str, start: int, end: int) -> bool:
    """Whether an unannounced Chinese name stands where people stand: at the head of a clause
    before a predicate, or after a word that calls for a person."""
    before, after = text[:start], text[end:]
    if not _closes_name(text, start, end) or re.match(r"(?:演唱会|专辑|的歌|的新歌|主演|新剧|传$|传[，。])", after):
        return False
    if announced_person(before):
        return True
    if not before.strip() or _OPENING.search(before) or re.search(r"[，,、/\s“\"]$", before):
        return not after or bool(re.match(r"[\s，,、。也都又还就才却最很特说问要在是有去来给把被跟和的今昨明上下前刚最已终突居快真超好挺总老常正会想能不没管做当负搬换辞结离怀生得找买卖吃喝送约叫让帮打发回到出过开爱喜讨怕教学读考住养家公工那这她他从对比进入升跳转]|[a-zA-Z]", after))
    return False
