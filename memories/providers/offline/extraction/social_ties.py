"""What people are to the user: ties stated or implied, and which two people are one."""

import re
from itertools import pairwise

from contacts.lexicon.rules import patterns
from contacts.text import HAN, normalise
from memories.providers.offline.extraction.draft import Draft
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import (
    Book,
    Someone,
    Spot,
    find_relation,
    relate_to_user,
    renew_holder,
)
from memories.providers.offline.extraction.relation_words import pronoun_gender
from memories.providers.offline.extraction.speech_acts import Act, judge
from memories.providers.offline.lexicons import relations
from memories.text.sentences import Sentence
from memories.types import Subtype, Turn

RE = patterns(__file__)


def identify_topic(reading: Reading, text: str, spots: list[Spot], turn: Turn) -> bool:
    """An answer that only says what the person asked about is: 大学同学, 男朋友."""
    topic = reading.topic
    word = re.sub(
        r"^(?:就?是|我们的?|我的?|以前的|a |an |my |just )+|(?:啊|呀|嘛|吧)$",
        "",
        text.strip(),
        flags=re.I,
    )
    if topic is None or (word not in relations() and normalise(word) not in relations()):
        return False
    if topic.relation is not None and topic.owner is None:
        return False
    for spot in [s for s in spots if s.new and s.who is not None and s.who is not topic]:
        if spot.who in reading.book.people:
            reading.book.people.remove(spot.who)
    relate_to_user(topic, word)
    reading.book.touch(topic, turn.id)
    introduce(reading, turn, topic, Sentence(text, 0))
    reading.identified = topic
    return True


def await_role(reading: Reading, text: str, turn: Turn) -> bool:
    """A clause that is only a role of the user's own (新老板，…; new boss update: …)."""
    match = RE.bare_role.match(text)
    word = match.group("w") if match else ""
    relation = relations().get(normalise(word).replace("-", " ")) or relations().get(word)
    if relation is None or not relation.bare or relation.subtype is Subtype.FAMILY or len(word) < 2:
        return False
    new = turn.id in reading.wanted and word.lower().startswith(("new", "新"))
    who = renew_holder(reading.book, word) if new else reading.book.by_relation(word)
    if who is None:
        return False
    reading.awaiting = who
    reading.book.touch(who)
    return True


def introduce(reading: Reading, turn: Turn, who: Someone | None, sentence: Sentence) -> None:
    """Keep who a newly named person is (沈国栋是用户的老板), once for each person."""
    if who is None or any(draft.introduces is who for draft in reading.drafts):
        return
    reading.drafts.append(Draft(turn, who, [], quote=sentence.text, introduces=who))


def equate(reading: Reading, text: str, spots: list[Spot]) -> list[Spot]:
    """X is my boss, 他是我们组长: the two spots are one person."""
    for left, right in pairwise(list(spots)):
        if left.who is None or right.who is None or left.who is right.who or left.how == "owned":
            continue
        between = text[left.end : right.start]
        contracted = not between.strip() and re.search(r"['’]s$", left.text)
        if between.startswith(",") and not (
            right.how == "role" and right.new and right.text.lower().startswith("my ")
        ):
            continue
        if not (contracted or RE.copula.fullmatch(between)) or (
            right.how == "owned" and right.who.named
        ):
            continue
        _unite(reading.book, left, right)
    for number, spot in enumerate(spots):
        together = (
            RE.we_are.match(text[spot.end :])
            if spot.who is not None and spot.who.owner is None
            else None
        )
        beside = any(s.who is None for s in spots[:number]) or text[spot.end :].lower().startswith(
            " and i "
        )
        if together and beside and spot.who is not None and not spot.who.relationship:
            relate_to_user(spot.who, (together.group("w") or together.group("e") or "").strip())
    first = next((s for s in spots if s.who is not None), None)
    topic = reading.topic
    if (
        first is not None
        and topic is not None
        and first.how in {"role", "name"}
        and first.who is not topic
    ) and (
        RE.copula_head.fullmatch(text[: first.start]) and first.text[:1] in "我咱mM" and first.new
    ):
        _unite(reading.book, Spot(0, 0, topic, "pronoun", ""), first)
    return [s for s in spots if s.who is None or s.who in reading.book.people]


def _unite(book: Book, left: Spot, right: Spot) -> None:
    kept, other = left.who, right.who
    if kept is None or other is None or kept is other:
        return
    if right.how == "owned":
        kept.owner, kept.owned_as, kept.relation, kept.relationship = (
            other.owner,
            other.owned_as,
            other.relation,
            other.relationship,
        )
        book.merge(kept, other)
    elif other.contact_id is not None and not right.new and other.named:
        return
    else:
        word = other.word
        named = other.name if other.named else ""
        if word and kept.contact_id is None:
            kept.relation, kept.relationship, kept.word = None, "", ""
            kept.owner, kept.owned_as = None, ""
            relate_to_user(kept, other.relationship if other.relationship in relations() else word)
            kept.relationship = other.relationship or kept.relationship
        other.named = False
        other.name = kept.name
        book.merge(kept, other)
        if named:
            book.call(kept, named, True)
    left.who = kept
    right.who = kept


def learn_gender(spots: list[Spot]) -> None:
    """A pronoun says the gender of whom it means."""
    for spot in spots:
        if spot.how == "pronoun" and spot.who is not None and not spot.who.gender:
            spot.who.gender = pronoun_gender(spot.text)


def _betroth(reading: Reading, text: str, spots: list[Spot]) -> None:
    """The user got engaged: a boyfriend or girlfriend becomes the fiancé or fiancée."""
    about_user = not spots or any(s.who is None for s in spots)
    if not about_user or not RE.engaged.search(text):
        return
    for word in ("男朋友", "女朋友", "伴侣"):
        partner = reading.book.by_relation(word)
        if partner is not None:
            chinese = (
                HAN.search(partner.relationship) is not None or reading.request.language == "zh"
            )
            female = partner.gender == "female"
            word = (
                ("未婚妻" if female else "未婚夫")
                if chinese
                else ("fiancée" if female else "fiancé")
            )
            partner.relationship, partner.relation = word, relations()[normalise(word)]
            partner.word = normalise(word)
            partner.turn_ids += [turn for turn in reading.turn_ids if turn not in partner.turn_ids]


def _separate(reading: Reading, text: str, spots: list[Spot]) -> None:
    """The user and a partner of theirs are no longer together."""
    match = RE.parted.search(text)
    if match is None or judge(text) is not Act.STATES:
        return
    near: list[Someone | None] = [s.who for s in spots if s.who] or [reading.topic]
    partners = [p for p in near if p and p.relation and p.relation.ended_en and not p.owner]
    if not partners:
        held = (reading.book.by_relation(word) for word in ("男朋友", "女朋友", "老公", "老婆"))
        partners = [p for p in held if p is not None]
    for partner in partners[:1]:
        relation = partner.relation or relations()["partner"]
        chinese = HAN.search(partner.relationship) or reading.request.language == "zh"
        word = relation.ended_zh if chinese else relation.ended_en
        partner.relationship, partner.word = word, normalise(word)
        partner.relation = find_relation(word)
        partner.turn_ids += [t for t in reading.turn_ids if t not in partner.turn_ids]


def infer_social(reading: Reading, text: str, spots: list[Spot], subject: Someone | None) -> None:
    """Without a stated relation, talk of work makes a colleague, shared leisure a friend."""
    _betroth(reading, text, spots)
    _separate(reading, text, spots)
    people = [s.who for s in spots if s.who is not None and s.who.named]
    if not people and subject is None and reading.book.recent:
        people = [reading.book.recent[0]] if RE.same_team.search(text) else []
    if subject is not None and subject not in people:
        people.append(subject)
    for person in people:
        if person.relation is not None or person.relationship or person.owner is not None:
            continue
        if RE.at_work.search(text) and (person.social is None or RE.same_team.search(text)):
            person.social = Subtype.COLLEAGUE
        elif (
            person.social is None
            and RE.together.search(text)
            and any(s.who is None for s in spots) | (subject is None)
        ):
            person.social = Subtype.FRIEND
