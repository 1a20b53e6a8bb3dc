"""Who people are: what they are to the user, and who is the same."""

import re
from itertools import pairwise

from contacts.text import normalise
from memories.providers.offline.draft import Draft
from memories.providers.offline.lexicons import relations
from memories.providers.offline.meeting import Spot
from memories.providers.offline.people import Someone
from memories.providers.offline.relation_words import pronoun_gender
from memories.providers.offline.talk import Part
from memories.text.sentences import Sentence
from memories.types import Subtype, Turn

_COPULA = re.compile(
    r",\s|\s?(?:就|也|都|其实|现在|其|可|算)?(?:是|就是)(?:位|个)?\s?|\s?(?:is|was|'s|’s|became|is also|is actually|is now)\s|['’]s\s",
    re.I,
)
_COPULA_HEAD = re.compile(r"(?:就|也|都)?是(?:位|个)?\s?")
_WE_ARE = re.compile(
    r"(?:都|曾经?|以前|就|也|其实)*是(?P<w>[\u4e00-\u9fff]{2,5})$|\s(?:and I )?(?:are|were)\s(?P<e>[a-z -]{4,20}?)s?$",
    re.I,
)
_BARE_ROLE = re.compile(
    r"^(?:my |our |the |our new )?(?P<w>.{2,20}?)(?:\s?(?:update|news|alert|更新|近况))?$", re.I
)


class Identities(Part):
    """Learns who people are: their relations and genders, and which of them are one."""

    def identifies(self, text: str, spots: list[Spot], turn: Turn) -> bool:
        """An answer that only says what the person asked about is: 大学同学, 男朋友."""
        topic = self.at.topic
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
            if spot.who in self.book.people:
                self.book.people.remove(spot.who)
        self.scanner.relate(topic, word)
        self.book.touch(topic, turn.id)
        self.introduce(turn, topic, Sentence(text, 0))
        self.at.identified = topic
        return True

    def announces(self, text: str, turn: Turn) -> bool:
        """A clause that is only a role of the user's own (新老板，…; new boss update: …)."""
        match = _BARE_ROLE.match(text)
        word = match.group("w") if match else ""
        relation = relations().get(normalise(word).replace("-", " ")) or relations().get(word)
        if (
            relation is None
            or not relation.bare
            or relation.subtype is Subtype.FAMILY
            or len(word) < 2
        ):
            return False
        new = turn.id in self.wanted and word.lower().startswith(("new", "新"))
        who = self.scanner.renew(word) if new else self.book.by_relation(word)
        if who is None:
            return False
        self.at.awaiting = who
        self.book.touch(who)
        return True

    def introduce(self, turn: Turn, who: Someone | None, sentence: Sentence) -> None:
        """Keep who a newly named person is (沈国栋是用户的老板), once for each person."""
        if who is None or any(draft.introduces is who for draft in self.drafts):
            return
        self.drafts.append(Draft(turn, who, [], quote=sentence.text, introduces=who))

    def equate(self, text: str, spots: list[Spot]) -> list[Spot]:
        """X is my boss, 他是我们组长: the two spots are one person."""
        for left, right in pairwise(list(spots)):
            if (
                left.who is None
                or right.who is None
                or left.who is right.who
                or left.how == "owned"
            ):
                continue
            between = text[left.end : right.start]
            contracted = not between.strip() and re.search(r"['’]s$", left.text)
            if between.startswith(",") and not (
                right.how == "role" and right.new and right.text.lower().startswith("my ")
            ):
                continue
            if not (contracted or _COPULA.fullmatch(between)) or (
                right.how == "owned" and right.who.named
            ):
                continue
            self._unite(left, right)
        for number, spot in enumerate(spots):
            together = (
                _WE_ARE.match(text[spot.end :])
                if spot.who is not None and spot.who.owner is None
                else None
            )
            beside = any(s.who is None for s in spots[:number]) or text[
                spot.end :
            ].lower().startswith(" and i ")
            if together and beside and spot.who is not None and not spot.who.relationship:
                self.scanner.relate(
                    spot.who, (together.group("w") or together.group("e") or "").strip()
                )
        first = next((s for s in spots if s.who is not None), None)
        topic = self.at.topic
        if (
            first is not None
            and topic is not None
            and first.how in {"role", "name"}
            and first.who is not topic
        ) and (
            _COPULA_HEAD.fullmatch(text[: first.start]) and first.text[:1] in "我咱mM" and first.new
        ):
            self._unite(Spot(0, 0, topic, "pronoun", ""), first)
        return [s for s in spots if s.who is None or s.who in self.book.people]

    def _unite(self, left: Spot, right: Spot) -> None:
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
            self.book.merge(kept, other)
        elif other.contact_id is not None and not right.new and other.named:
            return
        else:
            word = other.word
            named = other.name if other.named else ""
            if word and kept.contact_id is None:
                kept.relation, kept.relationship, kept.word = None, "", ""
                kept.owner, kept.owned_as = None, ""
                self.scanner.relate(
                    kept, other.relationship if other.relationship in relations() else word
                )
                kept.relationship = other.relationship or kept.relationship
            other.named = False
            other.name = kept.name
            self.book.merge(kept, other)
            if named:
                self.book.call(kept, named, True)
        left.who = kept
        right.who = kept

    def learn_gender(self, spots: list[Spot]) -> None:
        for spot in spots:
            if spot.how == "pronoun" and spot.who is not None and not spot.who.gender:
                spot.who.gender = pronoun_gender(spot.text)
