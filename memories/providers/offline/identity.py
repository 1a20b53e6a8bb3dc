"""Who people are: what they are called, what they are to the user, who is the same."""

import re
from itertools import pairwise

from memories.providers.offline import naming
from memories.providers.offline.draft import Draft, Piece
from memories.providers.offline.facts_zh import Value
from memories.providers.offline.lexicons import fold, relations
from memories.providers.offline.meeting import Spot
from memories.providers.offline.names import unlisted_name
from memories.providers.offline.people import Someone
from memories.providers.offline.relation_words import pronoun_gender
from memories.providers.offline.talk import Part
from memories.providers.offline.text import (
    HAN,
    Sentence,
)
from memories.types import (
    Subtype,
    Turn,
)

_SURNAME = re.compile(r"\s[A-Z][a-z]+(?=,|\.|$)")
# Those who call somebody something are not the one who is called it.
_CALLERS = frozenset(
    {"大家", "我们", "同学们", "同事们", "全家", "家里人", "朋友", "朋友们", "别人", "都"}
)
_INTRODUCES = re.compile(
    r"(?:来了|有|认识了?|交了|找了|遇到了?|碰到了?|招了|请了|there's|there is|met|hired|have|got)[一两三]?个?(?:新)?$",
    re.I,
)
_COPULA = re.compile(
    r",\s|\s?(?:就|也|都|其实|现在|其|可|算)?(?:是|就是)(?:位|个)?\s?|\s?(?:is|was|'s|’s|became|is also|is actually|is now)\s|['’]s\s",
    re.I,
)
_COPULA_HEAD = re.compile(r"(?:就|也|都)?是(?:位|个)?\s?")
_WE_ARE = re.compile(
    r"(?:都|曾经?|以前|就|也|其实)*是(?P<w>[\u4e00-\u9fff]{2,5})$|\s(?:and I )?(?:are|were)\s(?P<e>[a-z -]{4,20}?)s?$",
    re.I,
)
_ROLE_OF_NAME = re.compile(
    r"(?P<r>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:是|叫)(?:谁|哪位)|\bwho(?:'s| is) (?:the|your) (?P<e>[\w ]{3,24})"
)
_BARE_ROLE = re.compile(
    r"^(?:my |our |the |our new )?(?P<w>.{2,20}?)(?:\s?(?:update|news|alert|更新|近况))?$", re.I
)


class Identities(Part):
    """Learns who people are: their names, aliases, relations, genders."""

    def name(
        self, text: str, spots: list[Spot], subject: Someone | None, turn: Turn, first: bool
    ) -> bool:
        """Names and aliases stated in the clause go to the person they belong to. True when
        the clause does nothing but name somebody."""
        only = False
        for found in naming.namings(text):
            if self.book.is_banned(found.name) or re.search(
                r"[猫狗]|(?:店|公司|书|歌|项目|剧|队)(?:名|的名字)?$", text[: found.start]
            ):
                continue
            who = self._named_one(text, spots, subject, found)
            if who is None:
                continue
            zero = not found.pronoun and not any(s.who is who for s in spots)
            if zero and who.named and found.plain and found.name != who.name:
                continue
            self._give(who, found.name, found.formal)
            only = only or len(text) - found.name_start - len(found.name) < 4
        only = self._equations(text, spots) or only
        if self._full_name(text):
            return True
        introduced = (s for s in spots if s.new and s.how == "role" and s.who is not None)
        self.at.introduced = next(
            (s.who for s in introduced if _INTRODUCES.search(text[: s.start])), None
        )
        only = self._lone_name(text, spots, turn, first) or only
        self.at.awaiting = next(
            (s.who for s in spots if s.who is not None and not s.who.named), self.at.awaiting
        )
        return only

    def _equations(self, text: str, spots: list[Spot]) -> bool:
        """Nina 就是沈佳; Nina Holt, of a known Nina."""
        only = False
        for spot in list(spots):
            if spot.who is None or spot.how not in {"name", "role", "owned"}:
                continue
            equal = naming.equation(text, spot.end)
            known_word = equal is not None and equal.name in relations()
            if equal is not None and not known_word and not self.book.is_banned(equal.name):
                self._give(spot.who, equal.name, equal.formal)
                only = only or len(text) - equal.name_start - len(equal.name) < 4
            surname = _SURNAME.match(text, spot.end) if spot.how == "name" else None
            if surname and not spot.start and " " not in spot.text and spot.text[:1].isupper():
                self._give(spot.who, text[: surname.end()], True)
                only = only or surname.end() == len(text)
        return only

    def _full_name(self, text: str) -> bool:
        """沈子佳, right after 子佳: the full name of whom the talk is about."""
        topic = self.at.topic
        if topic is None or not topic.named or len(text) != 3 or text == topic.name:
            return False
        if not text.endswith(topic.name):
            return False
        if not unlisted_name(text) and naming.bare_name(text) is None:
            return False
        self._give(topic, text, True)
        return True

    def _lone_name(self, text: str, spots: list[Spot], turn: Turn, first: bool) -> bool:
        """A clause that is nothing but a name answers who somebody is."""
        if any(s.who is not None and s.how != "name" for s in spots):
            return False
        name = naming.bare_name(text)
        if name is None or self.book.is_banned(name):
            return False
        who = self._unnamed_one(first)
        known = self.book.by_name(name)
        if who is not None and (known is None or not known.relationship):
            self._give(who, name, True)
            return True
        if who is None and known is not None:
            self._answers_role(known, turn)
        return False

    def names_introduced(self, text: str) -> bool:
        """Somebody new is named right after being introduced: 来了个实习生，子佳，…"""
        met = self.at.introduced
        if met is None or not (unlisted_name(text) or text in {met.name, *met.aliases}):
            return False
        if met.named and text not in {met.name, *met.aliases} and not text.endswith(met.name):
            return False
        if not self.book.is_banned(text):
            self._give(met, text, True)
            self.at.topic = met
        return True

    def _answers_role(self, person: Someone, turn: Turn) -> None:
        """ "Who is the product manager?" answered with a name gives that person the job."""
        match = _ROLE_OF_NAME.search(self.at.asked)
        if match is None:
            return
        role = (match.group("r") or match.group("e")).strip()
        chinese = HAN.search(role) is not None
        person.social = person.social or (
            Subtype.COLLEAGUE
            if re.search(r"经理|组长|主管|负责人|manager|lead|boss", role, re.I)
            else None
        )
        text = f"{person.name}是{role}" if chinese else f"{person.name} is the {role}"
        spot = Spot(0, len(person.name), person, "name", person.name)
        piece = Piece(text, [spot], [Value("job_title", role, 0, 0)], True)
        self.drafts.append(Draft(turn, person, [piece], quote=person.name))

    def _unnamed_one(self, first: bool) -> Someone | None:
        """Who a name standing alone belongs to: the one whose name was asked for, or somebody
        just spoken of without one."""
        topic = self.at.topic
        if self.at.identified is not None:
            return self.at.identified
        if self.at.asked_name:
            for who in (topic, self.at.awaiting):
                if who is not None and not who.named:
                    return who
        if self.at.asked and first:
            return None
        who = self.at.awaiting
        return who if who is not None and not who.named and who in self.book.recent[:3] else None

    def identifies(self, text: str, spots: list[Spot], turn: Turn) -> bool:
        """An answer that only says what the person asked about is: 大学同学, 男朋友."""
        topic = self.at.topic
        word = re.sub(
            r"^(?:就?是|我们的?|我的?|以前的|a |an |my |just )+|(?:啊|呀|嘛|吧)$",
            "",
            text.strip(),
            flags=re.I,
        )
        if topic is None or (word not in relations() and fold(word) not in relations()):
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
        relation = relations().get(fold(word).replace("-", " ")) or relations().get(word)
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
                self._give(kept, named, True)
        left.who = kept
        right.who = kept

    def _named_one(
        self, text: str, spots: list[Spot], subject: Someone | None, found: naming.Naming
    ) -> Someone | None:
        role = self.scanner.role_before(text, found.start)
        if role is not None and not any(s.end == found.start for s in spots):
            return role
        baby = self._newborn(found, subject)
        if baby is not None:
            return baby
        spoken = re.search(r"(他|她)$", text[: found.start])
        if spoken and not spots and self.book.latest(pronoun_gender(spoken.group(1))) is None:
            return self.book.meet(found.name, named=True)
        if (
            found.pronoun
            and not any(s.who is not None for s in spots)
            and self.book.latest(pronoun_gender(found.pronoun)) is None
        ):
            return self.book.meet(found.name, named=True)
        before = [
            s for s in spots if s.end <= found.name_start and s.how != "user" and s.who is not None
        ]
        if found.pronoun and HAN.search(found.pronoun):
            return (
                self.scanner.refer(pronoun_gender(found.pronoun), [])
                if not before
                else before[-1].who
            )
        if before:
            return before[-1].who
        if (
            any(s.how == "user" and s.end <= found.start + 1 and s.start < 3 for s in spots)
            and found.formal
        ):
            return None
        if subject is not None and found.name in {subject.name, *subject.aliases}:
            return self.at.topic
        if subject is None and found.sort in _CALLERS:
            return self.at.topic
        return subject

    def _newborn(self, found: naming.Naming, subject: Someone | None) -> Someone | None:
        """After a birth a pet name is the baby's."""
        if (
            subject is None
            or found.sort not in {"小名", "乳名", "叫", ""}
            or (not subject.named and subject.relation is None)
        ):
            return None
        told = " ".join(d.text() for d in self.drafts[-4:] if d.subject is subject)
        if not re.search(r"生了|生下|出生|\bgave birth\b|had (?:a|the|her|their) baby", told):
            return None
        word = (
            "女儿"
            if re.search(r"女孩|女儿|闺女|千金|girl", told)
            else "儿子"
            if re.search(r"男孩|儿子|boy", told)
            else "孩子"
        )
        return self.scanner.owned(subject, word)

    def _give(self, who: Someone, name: str, formal: bool) -> None:
        other = self.book.by_name(name)
        if other is not None and other is not who:
            self.book.merge(who, other)
        if not who.named:
            if formal or not HAN.search(name) or who.relation is None:
                who.give_name(name)
            else:
                who.add_alias(name)
                if who.owner is not None or who.relation is None:
                    who.give_name(name)
        elif (
            formal and HAN.search(name) and not (HAN.search(who.name) and len(who.name) > len(name))
        ) or (formal and " " in name):
            before = who.name
            who.name = name
            who.add_alias(before)
            if name in who.aliases:
                who.aliases.remove(name)
        else:
            who.add_alias(name)

    def learn_gender(self, spots: list[Spot]) -> None:
        for spot in spots:
            if spot.how == "pronoun" and spot.who is not None and not spot.who.gender:
                spot.who.gender = pronoun_gender(spot.text)
