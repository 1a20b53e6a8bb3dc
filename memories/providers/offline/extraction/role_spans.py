"""Mentions of people by what they are to the user or to one another: my boss, her son, 室友."""

import re
from itertools import pairwise

from contacts.lexicon.rules import patterns
from contacts.roles import is_owner
from contacts.text import HAN
from memories.providers.offline.extraction.name_contexts import (
    OPENING,
    inside_word,
    name_in_apposition,
)
from memories.providers.offline.extraction.name_spans import (
    LATIN_NAME,
    announced_person,
    behind_name,
    chinese_name_at,
    name_beside_role,
)
from memories.providers.offline.extraction.referents import (
    Book,
    Someone,
    Spot,
    add_spot,
    foreseen,
    is_free,
    mark,
    mark_name,
    meet_role,
    name_relative,
    relate_to_user,
    relative_of,
    role_holder,
)
from memories.providers.offline.extraction.relation_words import (
    cuts_word,
    is_specific,
    is_vague,
    role_patterns,
)
from memories.providers.offline.lexicons import relations
from memories.types import Subtype

RE = patterns(__file__)
_PHRASES = patterns("role_phrases")
_TEAM_ZH = r"(?:我|咱)们?(?:组里?|公司|部门|团队|单位|项目组|办公室)(?:里|的)?(?:新来的|那个|的)?"
LEAD = 4  # characters that may lead up to a subject: 昨天, 邻居


def of_a_stranger(text: str, spots: list[Spot]) -> bool:
    """Whether a clause opens with somebody nobody was met in (我朋友老家在湖南, 他的女儿三岁了 when
    nobody was spoken of): what it says is not true of the user."""
    roles = role_patterns()
    start = next((n for n in range(LEAD, 0, -1) if OPENING.fullmatch(text, 0, n)), 0)
    around = RE.around_me.match(text, start)
    if around and any(s.who is not None and 0 <= s.start - around.end() < LEAD for s in spots):
        return True
    if not spots and _is_name_and_role(text, start):
        return True
    match = next(
        (
            m
            for p in (roles.mine_zh, roles.mine_en, RE.anybody)
            if (m := p.match(text, start)) is not None
        ),
        None,
    )
    if match is None and not spots and RE.stranger_en.match(text):
        return True
    if match is None or RE.with_me.match(text, match.end()):
        return False
    if any(spot.who is not None and spot.start <= match.end() for spot in spots):
        return False
    return not any(spot.who is None and spot.start >= match.end() for spot in spots)


def _is_name_and_role(text: str, start: int) -> bool:
    """小美男朋友…: a name, maybe, and what somebody is to its bearer."""
    end = chinese_name_at(text, start, strong=False)
    match = role_patterns().bare_zh.match(text, end) if end is not None else None
    sort = relations()[match.group("word")].subtype if match else None
    return sort in {Subtype.FAMILY, Subtype.PARTNER}


def own_relations(book: Book, text: str, spots: list[Spot]) -> None:
    """My boss, 我老板, 我们组的…: the user's own relations, with the names that may follow."""
    roles = role_patterns()
    for match in roles.mine_zh.finditer(text):
        word = match.group("word")
        if re.search(r"[叫喊称管]$", text[: match.start()]):
            continue
        if re.match(r"们|的[猫狗]", text[match.end() :]) or cuts_word(text, match.end(), word):
            continue
        _role_spot(book, text, spots, match.start(), match.end(), word)
    for match in roles.mine_en.finditer(text):
        _role_spot(book, text, spots, match.start(), match.end(), match.group("word"))
    for match in re.finditer(_TEAM_ZH, text):
        end = name_beside_role(text, match.end())
        latin = LATIN_NAME.match(text, match.end())
        end = latin.end() if latin else end
        if end is not None and not book.is_banned(text[match.end() : end]):
            mark_name(book, text, spots, (match.start(), end), match.end(), "同事")


def _role_spot(book: Book, text: str, spots: list[Spot], start: int, end: int, word: str) -> None:
    """My <word>, with the name that may follow it."""
    named = name_in_apposition(text, end)
    if named is not None:
        if book.is_banned(text[named[0] : named[1]]):
            return
        mark_name(book, text, spots, (start, named[1]), named[0], word)
        return
    known = role_holder(book, word, text)
    named_next = re.match(r"\s?(?:叫|名字|的名字|姓|'s name)", text[end:])
    anyone = is_vague(word) and not named_next and RE.circle.search(word)
    if known is None and anyone and not is_specific(text, end):
        return
    mark(spots, text, (start, end), known or meet_role(book, word), "role", known is None)


def owned_relations(book: Book, text: str, spots: list[Spot]) -> None:
    """Her son, 小沈的男朋友, 他妹妹, my friend Ben's sister Ivy: a relation right after
    somebody else's spot, which may be another's owner in turn (我妈的朋友的儿子)."""
    owners = sorted(spots, key=lambda spot: spot.start)
    for owner in owners:
        if owner.who is None or owner.how == "user" or owner not in spots:
            continue
        owned = _owned_by(book, text, owner, spots)
        if owned is not None:
            inside = (s for s in spots if s.start >= owned.start and s.end <= owned.end)
            for spot in list(inside):
                spots.remove(spot)
            if add_spot(spots, owned):
                owners.append(owned)
            else:
                spots.append(owner)


def _owned_by(book: Book, text: str, owner: Spot, spots: list[Spot]) -> Spot | None:
    """The relation of ``owner``'s that follows it, with the name that may follow that."""
    if owner.who is None:
        return None
    roles = role_patterns()
    tail = text[owner.end :]
    lead = RE.to_owned.match(tail)
    start = owner.end + (lead.end() if lead else 0)
    possessive = (
        re.fullmatch(r"(?:her|his)", owner.text, re.I)
        or HAN.search(owner.text[-1])
        or re.match(r"['’]s|\s?的", tail)
        or (lead and lead.group().strip() and HAN.match(tail))
    )
    if not possessive:
        return None
    match = roles.bare_zh.match(text, start) or roles.bare_en.match(text, start)
    household = re.match(r"们?家的?(?=(.)\1)", tail)
    if match is None and household is not None:
        child = name_in_apposition(text, owner.end + household.end())
        if child is not None and not book.is_banned(text[child[0] : child[1]]):
            name = text[child[0] : child[1]]
            owned = book.by_name(name) or relative_of(book, owner.who, "孩子")
            owned.give_name(name)
            return Spot(owner.start, child[1], owned, "owned", text[owner.start : child[1]])
    if match is None or (owner.end == start and not HAN.search(text[start])):
        return None
    word, end = match.group("word"), match.end()
    if cuts_word(text, end, word):
        return None
    named = next(
        ((s.start, s.end) for s in spots if s.start == end and s.how == "name"),
        name_in_apposition(text, end),
    )
    owned = relative_of(book, owner.who, word)
    if named is not None and not book.is_banned(text[named[0] : named[1]]):
        name_relative(book, owned, text[named[0] : named[1]])
        owned = book.by_name(text[named[0] : named[1]]) or owned
        end = named[1]
    new = not owned.named
    return Spot(owner.start, end, owned, "owned", text[owner.start : end], new)


def bare_relations(book: Book, text: str, spots: list[Spot], topic: Someone | None) -> None:
    """妈, 老公, 室友 without a possessor: the speaker's own when the word allows that."""
    for match in role_patterns().bare_zh.finditer(text):
        word = match.group("word")
        free = is_free(spots, match.start(), match.end())
        if free and not cuts_word(text, match.end(), word):
            _bare_chinese(book, text, spots, topic, match)
    _bare_english(book, text, spots)


def _bare_chinese(
    book: Book, text: str, spots: list[Spot], topic: Someone | None, match: re.Match[str]
) -> None:
    """One Chinese relation word without a possessor."""
    word = match.group("word")
    relation = relations()[word]
    before = text[: match.start()]
    if relation.bare and _before_name(text, spots, match):
        return
    if RE.introduced.search(before) and (relation.bare or relation.subtype is not Subtype.FAMILY):
        who = foreseen(book, word) or (book.by_relation(word) if relation.bare else None)
        new = who is None or not who.turn_ids
        who = who or meet_role(book, word)
        mark(spots, text, match.span(), who, "role", new)
        return
    if re.search(
        r"[的一两个位名些每当做是人姨他她]$|男$|女$|(?:\d|[二三四五])$", before
    ) or inside_word(text, match.start()):
        return
    if (
        topic is not None
        and relation.of_topic
        and topic.relation is not None
        and topic.relation.subtype is Subtype.PARTNER
    ):
        return
    if topic is not None and relation.of_topic and not before.strip():
        who = relative_of(book, topic, word)
        mark(spots, text, match.span(), who, "owned", True)
        return
    turned = match.group().startswith(("前", "新"))
    who = role_holder(book, match.group() if turned else word, text)
    if who is None and (not relation.bare or len(word) < 2):
        return
    if (
        who is None
        and topic is not None
        and relation.subtype is not Subtype.FAMILY
        and not relation.bare
    ):
        return
    starts = not before.strip() or OPENING.search(before) or announced_person(before)
    if not starts:
        return
    new = who is None
    if who is None:
        who = meet_role(book, match.group() if match.group() in relations() else word)
    mark(spots, text, match.span(), who, "role", new)


def _before_name(text: str, spots: list[Spot], match: re.Match[str]) -> bool:
    """Whether a name follows the role word (老板沈总); its bearer is that to the user, unless
    the words before say whose they are."""
    named = next((s for s in spots if s.start == match.end() and s.how == "name"), None)
    if named is None or named.who is None:
        return False
    whole, word = match.group(), match.group("word")
    if not is_role_of_another(text, spots, match.start(), relations()[word].subtype):
        relate_to_user(named.who, whole if whole in relations() else word)
        named.start, named.text = match.start(), text[match.start() : named.end]
    return True


def is_role_of_another(text: str, spots: list[Spot], start: int, sort: Subtype) -> bool:
    """Whether the role word at ``start`` says what somebody is to another, not to the user:
    behind a person, or behind 的 and what may be one (小美的男朋友)."""
    before = text[:start]
    if any(s.who is not None and s.end == start for s in spots) or behind_name(text, start):
        return True
    if not before.endswith("的"):
        return before.endswith(("他", "她", "们"))
    if before.endswith("我的") or _PHRASES.zh_praise.search(before):
        return False
    return sort in {Subtype.FAMILY, Subtype.PARTNER} or is_owner(before[:-1])


def _bare_english(book: Book, text: str, spots: list[Spot]) -> None:
    """来了个 intern; Mom; "the landlord" of whom the user spoke before."""
    for match in role_patterns().bare_en.finditer(text) if HAN.search(text) else ():
        if RE.introduced.search(text[: match.start()]) and is_free(
            spots, match.start(), match.end()
        ):
            who = foreseen(book, match.group("word")) or meet_role(book, match.group("word"))
            mark(spots, text, match.span(), who, "role", True)
    for match in re.finditer(r"\b(?:Mom|Mum|Dad|Grandma|Grandpa|Mommy|Mummy|Daddy)\b", text):
        if is_free(spots, match.start(), match.end()):
            known = book.by_relation(match.group())
            parent = known or meet_role(book, match.group())
            mark(spots, text, match.span(), parent, "role", known is None)
    if HAN.search(text) is None:
        for match in re.finditer(r"\bthe\s(?P<word>\w+)\b", text):
            holder = book.by_relation(match.group("word"))
            if holder is not None and is_free(spots, match.start(), match.end()):
                mark(spots, text, match.span(), holder, "role")


def join_appositions(book: Book, text: str, spots: list[Spot]) -> None:
    """A role right before a name (我老板沈总, my uncle Gus) is one place, one person."""
    for role, name in pairwise(list(spots)):
        if role.how != "role" or name.how != "name" or role.who is None or name.who is None:
            continue
        if text[role.end : name.start].strip() or role not in spots:
            continue
        if role.who is not name.who:
            if role.who.named:
                continue
            relate_to_user(name.who, role.who.word or role.who.relationship)
            book.merge(name.who, _nameless(role.who))
        spots[spots.index(role)] = Spot(
            role.start, name.end, name.who, "name", text[role.start : name.end], name.new
        )
        spots.remove(name)


def _nameless(who: Someone) -> Someone:
    """``who`` without a name of their own, so that a merge leaves no alias behind."""
    who.owner = who.owner or who
    return who
