"""Ties that nobody states outright: engaged, parted, colleagues by their work, friends."""

import re

from contacts.text import HAN, normalise
from memories.providers.offline.acts import Act, judge
from memories.providers.offline.lexicons import relations
from memories.providers.offline.meeting import Spot
from memories.providers.offline.people import Someone, find_relation
from memories.providers.offline.talk import Part
from memories.types import Subtype

_PARTED = re.compile(
    r"(?:我(?:跟|和|与|同|们)|跟我|和我|我俩)\S{0,8}?(?:分手|离婚|掰|分开)了|我(?:被\S{0,6}甩了|单身了|又单身)"
    r"|\b(?:we|I|me and \w+|\w+ and I)\s(?:\w+\s){0,2}?(?:broke up|split up|divorced|parted ways|separated)\b|\b(?:dumped me|left me for)\b",
    re.I,
)
_SAME_TEAM = re.compile(
    r"同一?个?组|同部门|同公司|一个公司|茶水间|我们组|工位|same team|my team|our team|coworker|office",
    re.I,
)
_AT_WORK = re.compile(
    r"同事|项目|站会|deadline|测试|报告|上线|部门|茶水间|客户|组里|同组|一个组|review|sync|\boffice\b|\bmeeting\b|\bproject\b|\bteam\b|转正|\bsprint\b|standup|stand-up|值班|顶班",
    re.I,
)
_TOGETHER = re.compile(
    r"吃饭|吃了饭|逛街|爬|看电影|聊天|聚|喝酒|喝茶|唱歌|旅游|旅行|约|玩|打球|散步|视频|video call|dinner|lunch|brunch|hang(?:ing)? out|hung out|movie|coffee|drinks|hike|hiking|trip|party",
    re.I,
)
_ENGAGED = re.compile(
    r"我被求婚|求婚成功|我们?订婚|(?:改口|改)叫未婚[夫妻]|跟我求婚|向我求婚|答应求婚|\b(?:we|I)(?:['’]re| are| got|['’]ve gotten)? engaged|proposed to (?:me|her|him)\b|my fianc",
    re.I,
)


class Bonds(Part):
    """Learns how people stand to the user from what is told of both."""

    def _betroth(self, text: str, spots: list[Spot]) -> None:
        """The user got engaged: a boyfriend or girlfriend becomes the fiancé or fiancée."""
        about_user = not spots or any(s.who is None for s in spots)
        if not about_user or not _ENGAGED.search(text):
            return
        for word in ("男朋友", "女朋友", "伴侣"):
            partner = self.book.by_relation(word)
            if partner is not None:
                chinese = (
                    HAN.search(partner.relationship) is not None or self.request.language == "zh"
                )
                female = partner.gender == "female"
                word = (
                    ("未婚妻" if female else "未婚夫")
                    if chinese
                    else ("fiancée" if female else "fiancé")
                )
                partner.relationship, partner.relation = word, relations()[normalise(word)]
                partner.word = normalise(word)
                partner.turn_ids += [
                    turn for turn in self.at.turn_ids if turn not in partner.turn_ids
                ]

    def _part(self, text: str, spots: list[Spot]) -> None:
        """The user and a partner of theirs are no longer together."""
        match = _PARTED.search(text)
        if match is None or judge(text) is not Act.STATES:
            return
        near: list[Someone | None] = [s.who for s in spots if s.who] or [self.at.topic]
        partners = [p for p in near if p and p.relation and p.relation.ended_en and not p.owner]
        if not partners:
            held = (self.book.by_relation(word) for word in ("男朋友", "女朋友", "老公", "老婆"))
            partners = [p for p in held if p is not None]
        for partner in partners[:1]:
            relation = partner.relation or relations()["partner"]
            chinese = HAN.search(partner.relationship) or self.request.language == "zh"
            word = relation.ended_zh if chinese else relation.ended_en
            partner.relationship, partner.word = word, normalise(word)
            partner.relation = find_relation(word)
            partner.turn_ids += [t for t in self.at.turn_ids if t not in partner.turn_ids]

    def infer_social(self, text: str, spots: list[Spot], subject: Someone | None) -> None:
        """Without a stated relation, talk of work makes a colleague, shared leisure a friend."""
        self._betroth(text, spots)
        self._part(text, spots)
        people = [s.who for s in spots if s.who is not None and s.who.named]
        if not people and subject is None and self.book.recent:
            people = [self.book.recent[0]] if _SAME_TEAM.search(text) else []
        if subject is not None and subject not in people:
            people.append(subject)
        for person in people:
            if person.relation is not None or person.relationship or person.owner is not None:
                continue
            if _AT_WORK.search(text) and (person.social is None or _SAME_TEAM.search(text)):
                person.social = Subtype.COLLEAGUE
            elif (
                person.social is None
                and _TOGETHER.search(text)
                and any(s.who is None for s in spots) | (subject is None)
            ):
                person.social = Subtype.FRIEND
