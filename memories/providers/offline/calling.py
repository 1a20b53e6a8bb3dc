"""What people are called: names and aliases as they come up, and whose they are."""

import re

from contacts.lexicon import words
from contacts.resolution.namesakes import says_another
from contacts.text import HAN
from memories.providers.offline import naming
from memories.providers.offline.draft import Draft, Piece
from memories.providers.offline.facts_zh import Value
from memories.providers.offline.lexicons import relations
from memories.providers.offline.meeting import Spot
from memories.providers.offline.names import unlisted_name
from memories.providers.offline.people import Someone
from memories.providers.offline.relation_words import pronoun_gender
from memories.providers.offline.talk import Part
from memories.types import Subtype, Turn

_SURNAME = re.compile(r"\s[A-Z][a-z]+(?=,|\.|$)")
# Those who call somebody something are not the one who is called it.
_CALLERS = words("grammar_zh", "callers")
_INTRODUCES = re.compile(
    r"(?:来了|有|认识了?|交了|找了|遇到了?|碰到了?|招了|请了|there's|there is|met|hired|have|got)[一两三]?个?(?:新)?$",
    re.I,
)
_ROLE_OF_NAME = re.compile(
    r"(?P<r>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:是|叫)(?:谁|哪位)|\bwho(?:'s| is) (?:the|your) (?P<e>[\w ]{3,24})"
)


class Callings(Part):
    """Gives names and aliases to the people whose they are."""

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
            end = found.name_start + len(found.name)
            another = self.scanner.renewing and says_another(text, found.name_start, end)
            self.book.call(who, found.name, found.formal, another=another)
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
                self.book.call(spot.who, equal.name, equal.formal)
                only = only or len(text) - equal.name_start - len(equal.name) < 4
            surname = _SURNAME.match(text, spot.end) if spot.how == "name" else None
            if surname and not spot.start and " " not in spot.text and spot.text[:1].isupper():
                self.book.call(spot.who, text[: surname.end()], True)
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
        self.book.call(topic, text, True)
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
            self.book.call(who, name, True)
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
            self.book.call(met, text, True)
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
