"""A batch of turns in, people, memories and relations out."""

import re
from collections.abc import Iterable
from itertools import pairwise
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memories.providers.offline import corrections, facts_en, facts_zh, naming, render
from memories.providers.offline.acts import Act, is_joke_confession, judge, laughs, reports_plan, without_note
from memories.providers.offline.classify import memory_type, worth_keeping
from memories.providers.offline.dates import DateHit, find_dates, write_dates
from memories.providers.offline.draft import Draft, Piece
from memories.providers.offline.facts_zh import Value
from memories.providers.offline.frames import Frames
from memories.providers.offline.lexicons import fold, relations
from memories.providers.offline.mentions import Scanner, Spot, pronoun_gender, relationship_label
from memories.providers.offline.names import tagged
from memories.providers.offline.people import Book, Someone
from memories.providers.offline.secrets import holds_secret
from memories.providers.offline.text import HAN, Sentence, clauses, is_chinese, own_words, sentences
from memories.types import (
    ExtractedMemory,
    ExtractedRelation,
    Extraction,
    ExtractionRequest,
    Fact,
    MemoryType,
    Subtype,
    Turn,
)

SESSION_GAP = timedelta(hours=6)
HEDGED = 0.5
_YES = re.compile(r"^(?:对+|是+的?|没错|嗯+|恩|是啊|对啊|对呀|对的|yes|yeah|yep|yup|right|exactly|correct|indeed|that's right)(?=$|[，,。!！\s.呀啊哈])", re.I)
_WHO_ASKS = re.compile(r"谁|什么|哪|怎么|几|多少|为什么|吗.*吗|\b(?:what|who|where|when|how|why|which)\b", re.I)
_ABOUT_YOU = re.compile(r"你|您|\byou\b|\byour\b", re.I)
_ASKS_NAME = re.compile(r"叫什么|名字|怎么称呼|尊姓|是谁|\bname\b|called|who is|who's", re.I)
_SUBJECT_LEAD = re.compile(
    r"^[\s“\"]*(?:(?:今天|昨天|昨晚|明天|刚才?|刚刚|最近|现在|上周|下周|周末|后来|以前|之前|当时|其实|而且|不过|但是?|所以|因为|然后|结果|还有|另外|原来|反正|毕竟|听说|好像|可能|也许|看来|居然|竟然|终于|已经|今年|去年|明年|五一|国庆|春节|过年|以后|平时|一直|虽然|就是|"
    r"today|yesterday|tonight|tomorrow|now|also|and|but|so|because|then|well|oh|yes|yeah|no|actually|turns out|apparently|luckily|finally|plus|anyway|still|once|honestly|last \w+|this \w+|next \w+|on \w+day|breaking news|new boss update|update|btw)[，,:：]?\s?)*$",
    re.I,
)
_WITH = re.compile(r"(?:^|[今昨明天晚早午刚又也想要还才约六日])(?:跟|和|与|陪|给|约|帮|替|找|见|送|请|带|去看|去接|收到|对|问|叫|为)了?\s?(?:我家|我的)?(?:[A-Z]\w+ ?的 ?)?$")
_INTRODUCES = re.compile(r"(?:来了|有|认识了?|交了|找了|遇到了?|碰到了?|招了|请了|there's|there is|met|hired|have|got)[一两三]?个?(?:新)?$", re.I)
_COPULA = re.compile(r",\s|\s?(?:就|也|都|其实|现在|其|可|算)?(?:是|就是)(?:位|个)?\s?|\s?(?:is|was|'s|’s|became|is also|is actually|is now)\s|['’]s\s", re.I)
_COPULA_HEAD = re.compile(r"(?:就|也|都)?是(?:位|个)?\s?")
_SAME_TEAM = re.compile(r"同一?个?组|同部门|同公司|一个公司|茶水间|我们组|工位|same team|my team|our team|coworker|office", re.I)
_AT_WORK = re.compile(r"同事|项目|站会|deadline|测试|报告|上线|部门|茶水间|客户|组里|同组|一个组|review|sync|\boffice\b|\bmeeting\b|\bproject\b|\bteam\b|load test|转正|\bsprint\b|standup|stand-up|值班|顶班", re.I)
_TOGETHER = re.compile(r"吃饭|吃了饭|逛街|爬|看电影|聊天|聚|喝酒|喝茶|唱歌|旅游|旅行|约|玩|打球|散步|视频|video call|dinner|lunch|brunch|hang(?:ing)? out|hung out|movie|coffee|drinks|hike|hiking|trip|party", re.I)
_WH_ZH = re.compile(r"什么|哪里|哪儿|哪家|哪个|哪支|谁|多大|几岁|几号|哪天")
_DATE_WORDS = re.compile(r"^(?:就|是|在|对|嗯|好|那就|定在|改到|应该是|大概)+|(?:吧|呢|啊|哈|见|开始|左右)+$")
SHORT = 8
_REPORTED = re.compile(r"(?:说|表示|告诉我|觉得|提到|讲|抱怨)(?:过|了|，|,)?\s?(?:他|她)?(?:自己)?$")


@dataclass(slots=True)
class _Context:
    """What the conversation is about at a point of it."""

    topic: Someone | None = None
    asked: str = ""
    said_at: datetime | None = None
    session: str = ""
    asked_name: bool = False
    pasted: str = ""
    making: bool = False
    stale: str = ""
    awaiting: Someone | None = None
    recent_turns: list[int] = field(default_factory=list)


class Reader:
    """Reads turns in order. One instance serves one request."""

    def __init__(self, request: ExtractionRequest, met: Iterable[Someone] = ()) -> None:
        self.request = request
        self.book = Book(request.people, request.user_names)
        self.book.foresee(met)
        self.scanner = Scanner(self.book)
        self.frames = Frames(self.book)
        self.at = _Context()
        self.drafts: list[Draft] = []
        self.retracted: list[int] = []
        self.wanted = {turn.id for turn in request.turns}

    def read(self) -> Extraction:
        for turn in (*self.request.context, *self.request.turns):
            if turn.role == "assistant":
                self._listen(turn)
            elif turn.role == "user":
                self._session(turn)
                self._turn(turn)
                self.at.asked, self.at.asked_name = "", False
        return self._finish()

    def _session(self, turn: Turn) -> None:
        """A new session or a long silence ends topics and stories."""
        before = self.at.said_at
        if before is not None and (turn.session_id != self.at.session or turn.said_at - before > SESSION_GAP):
            self.at.topic, self.at.asked, self.at.pasted, self.at.making, self.at.awaiting = None, "", "", False, None
            self.frames.leave()
        self.at.said_at, self.at.session = turn.said_at, turn.session_id

    def _listen(self, turn: Turn) -> None:
        """What the assistant says only helps to understand the answer to it."""
        text = own_words(turn.content)
        questions = [s.text for s in sentences(text) if s.end_mark[:1] in {"?", "？"}]
        self.at.asked = questions[-1] if questions else ""
        self.at.asked_name = bool(_ASKS_NAME.search(self.at.asked))
        if not self.at.asked:
            return
        spots = self._known_spots(self.at.asked)
        people = [spot.who for spot in spots if spot.who is not None]
        about_user = _ABOUT_YOU.search(self.at.asked)
        if people:
            if not about_user or self.at.asked.index(about_user.group()) > spots[0].start:
                self.at.topic = people[0]
                self.book.touch(people[0])
        elif about_user and not re.search(r"要我|需要|你们|want me|should i|do you want|need a|提醒你", self.at.asked, re.I):
            self.at.topic = None

    def _known_spots(self, text: str) -> list[Spot]:
        """Known people in the assistant's words; nobody is met there."""
        before = list(self.book.people)
        mirrored = re.sub(r"你(?!们好)", "我", text)
        mirrored = re.sub(r"\byour\b", "my", mirrored, flags=re.I)
        spots = self.scanner.scan(mirrored, chinese=is_chinese(text), topic=self.at.topic)
        for person in [p for p in self.book.people if p not in before]:
            self.book.people.remove(person)
        known = set(map(id, before))
        return [spot for spot in spots if spot.who is not None and id(spot.who) in known]

    def _turn(self, turn: Turn) -> None:
        text = own_words(turn.content)
        self.frames.enter(text)
        if not text.strip():
            self.at.pasted = turn.content
            return
        if self.frames.in_story:
            return
        self._confirmation(turn, text)
        self.at.making, self.at.stale = False, ""
        laughing = laughs(text)
        parts = sentences(text)
        gossip = any(judge(s.text, s.end_mark) is Act.GOSSIPS for s in parts)
        for number, sentence in enumerate(parts):
            if self.at.making:
                break
            if self._takes_back(turn, sentence, parts[number + 1 :]):
                continue
            self._sentence(turn, sentence, laughing=laughing, gossip=gossip)

    def _confirmation(self, turn: Turn, text: str) -> None:
        """Yes to a closed question makes what was asked the user's own statement."""
        if _YES.match(text.strip()):
            self.frames.enter(re.sub(r"[吗吧呢]?$", "", self.at.asked))
        yes = _YES.match(text.strip())
        asked = self.at.asked
        if not yes or not asked or _WHO_ASKS.search(asked) or len(asked) > 40:
            return
        statement = re.sub(r"^(?:那|所以|so|and|oh)[，,\s]*", "", asked, flags=re.I)
        if HAN.search(statement):
            if re.search(r"要不要|需要|提醒|要我|可以|能不能|是不是|还是", statement):
                return
            statement = re.sub(r"[吗吧呢呀啊么]+$", "", statement).replace("你", "我")
            self._statement(turn, Sentence(statement, -1), quote=text.strip(), confidence=0.8)

    def _takes_back(self, turn: Turn, sentence: Sentence, rest: list[Sentence]) -> bool:
        """Corrections and retractions; True when the sentence did nothing else."""
        text = sentence.text
        if is_joke_confession(text):
            self._retract_last(turn)
            return True
        forget = corrections.forgotten(text)
        if forget is not None:
            self._forget(turn, forget)
            return True
        replaced = corrections.replacement(text)
        if replaced is not None:
            return self._correct(turn, sentence, replaced)
        if corrections.is_mistake(text):
            about = corrections.about(text)
            if about or not any(corrections.replacement(s.text) for s in rest):
                self._forget(turn, about or "", last=not about and not rest)
            return corrections.only_mistake(text)
        return False

    def _retract_last(self, turn: Turn) -> None:
        earlier = [d for d in self.drafts if d.turn.id != turn.id] or self.drafts
        if earlier:
            last = earlier[-1].turn.id
            for draft in [d for d in self.drafts if d.turn.id == last]:
                self._drop(draft)

    def _drop(self, draft: Draft) -> None:
        if draft in self.drafts:
            self.drafts.remove(draft)
        if draft.turn.id not in self.retracted:
            self.retracted.append(draft.turn.id)

    def _forget(self, turn: Turn, words: str, *, last: bool = False) -> None:
        """Drop what was said about ``words``; with nothing named, what was said last."""
        keys = corrections.keywords(words)
        spots = self._known_spots(words) if words else []
        people = {id(spot.who) for spot in spots}
        hit = False
        for draft in list(self.drafts):
            text = " ".join(piece.text for piece in draft.pieces)
            about = not people or any(id(p) in people for p in draft.people())
            if keys and about and any(key.lower() in text.lower() for key in keys):
                self._drop(draft)
                hit = True
        if not hit and people and not keys:
            for draft in [d for d in self.drafts if any(id(p) in people for p in d.people())]:
                self._drop(draft)
                hit = True
        if not hit and last:
            self._retract_last(turn)
        for name in corrections.forgotten_names(words):
            self.book.ban(name)

    def _correct(self, turn: Turn, sentence: Sentence, change: corrections.Replacement) -> bool:
        """Put the right value where the wrong one stood."""
        for draft in reversed(self.drafts):
            if change.moved and (draft.turn.id == turn.id or not corrections.same_event(draft.text(), sentence.text, turn.id - draft.turn.id)):
                continue
            if corrections.apply(draft, change, turn):
                if draft.turn.id not in self.wanted and draft.turn.id not in self.retracted:
                    self.retracted.append(draft.turn.id)
                self.drafts.remove(draft)
                draft.extra_turns.append(turn.id)
                self.drafts.append(draft)
                subject = draft.subject
                if subject is not None:
                    self.at.topic = subject
                    self.book.touch(subject)
                return change.whole
        if change.moved:
            return False
        if change.old and change.new:
            self.at.stale = change.old
            head = sentence.text[: change.start]
            key = corrections.kind_of(change.new, head)
            text = f"{head}{key}{change.new}"
            self._statement(turn, Sentence(text, sentence.start), quote=sentence.text)
            last = self.drafts[-1] if self.drafts else None
            if key == "在" and last is not None and last.turn.id == turn.id and last.subject is not None and last.pieces and not last.pieces[0].values:
                last.pieces[0].values.append(Value("company", change.new, 0, 0))
            return True
        return False

    def _sentence(self, turn: Turn, sentence: Sentence, *, laughing: bool, gossip: bool) -> None:
        text = without_note(sentence.text)
        shift = sentence.start + len(sentence.text) - len(text)
        sentence = Sentence(text, shift, sentence.end_mark)
        act = judge(text, sentence.end_mark)
        if act is Act.INJECTS or act is Act.GREETS:
            self._salience_only(turn, text) if act is Act.GREETS and len(text) > 4 else None
            return
        if act is Act.MAKES:
            self.at.making = True
            return
        if act is Act.ASKS:
            self._salience_only(turn, text)
            return
        if act in {Act.GOSSIPS, Act.JOKES, Act.SUPPOSES} and len(clauses(sentence)) == 1:
            self._salience_only(turn, text)
            return
        self._statement(turn, sentence, laughing=laughing, gossip=gossip, quote="")

    def _salience_only(self, turn: Turn, text: str) -> None:
        """People in a question or an order are spoken of, though nothing is stated."""
        for clause in clauses(Sentence(text, 0)):
            spots = self.scanner.scan(clause.text, chinese=is_chinese(clause.text), topic=self.at.topic)
            self._note_people(spots, turn)
            subject = next((spot for spot in spots if spot.who is not None), None)
            if subject is not None:
                self.at.topic = subject.who

    def _note_people(self, spots: list[Spot], turn: Turn) -> None:
        for spot in reversed(spots):
            if spot.who is not None:
                self.book.touch(spot.who, turn.id)
                spot.who.spoken = True

    def _statement(
        self,
        turn: Turn,
        sentence: Sentence,
        *,
        laughing: bool = False,
        gossip: bool = False,
        quote: str = "",
        confidence: float = 1.0,
    ) -> None:
        """One sentence: each clause finds its subject; clauses of one subject are joined."""
        current: Draft | None = None
        supposing = False
        for number, clause in enumerate(self._clauses(sentence)):
            text = render.clean(clause.text)
            if not text:
                continue
            act = judge(text, clause.end_mark if clause.end_mark[:1] in {"?", "？"} else "")
            if act in {Act.SUPPOSES, Act.JOKES} or (laughing and re.search(r"[“\"]", text)):
                supposing = True
            spots = self.scanner.scan(text, chinese=is_chinese(text), topic=self.at.topic)
            self._learn_gender(spots)
            if self._identifies(text, spots, turn):
                continue
            spots = self._equate(text, spots)
            subject, explicit = self._subject(text, spots)
            spoken_name = self._name(text, spots, subject, turn, first=sentence.start == 0 and number == 0)
            self._note_people(spots, turn)
            subject = self._alive(subject)
            self._infer_social(text, spots, subject)
            if self.at.stale and text.startswith(self.at.stale):
                continue
            skip = supposing or self._of_the_banned(text) or act not in {Act.STATES, Act.HEDGED}
            skip = skip or (laughing and reports_plan(text) and _REPORTED.search(sentence.text.split(text)[0] or "") is not None)
            skip = skip or (gossip and subject is not None and not re.search(r"亲口|自己.{0,3}说|跟我说|told me|himself|herself", sentence.text))
            if explicit or subject is not None:
                self.at.topic = subject
            if skip or holds_secret(text):
                current = None if skip else current
                continue
            values = self._values(text, spots)
            if spoken_name and not values:
                self._introduce(turn, subject, sentence)
                continue
            if self._refines_date(text, turn):
                continue
            if not explicit and number == 0:
                text, spots, values = self._answered(text, spots, values, clause)
            piece = Piece(text, spots, values, explicit)
            joined = current or self._short_before(turn, subject, explicit)
            if joined is not None and joined.subject is subject and joined.takes(piece):
                joined.pieces.append(piece)
                current = joined
                continue
            current = Draft(turn, subject, [piece], quote=quote or sentence.text, confidence=confidence)
            if act is Act.HEDGED:
                current.confidence = min(current.confidence, HEDGED)
            self.drafts.append(current)

    def _of_the_banned(self, text: str) -> bool:
        """A clause that opens with a pet, a star or somebody in a story."""
        head = fold(text)
        return any(head.startswith(name) for name in self.book.banned if len(name) > 1)

    def _clauses(self, sentence: Sentence) -> list[Sentence]:
        """Clauses, with "6月8号，" style fragments joined to what follows in English."""
        if is_chinese(sentence.text):
            return clauses(sentence)
        parts = re.split(r",\s(?=(?:and|but|so)\s(?:\w+\s)?(?:I|he|she|they|we|her|his|my|it)\b|(?:I|he|she|we|they|my|her|his)(?:'\w+)?\s)|;\s|\s(?=and (?:I|he|she|we|they)(?:'\w+)?\s)", sentence.text)
        found, at = [], 0
        for part in parts:
            at = sentence.text.index(part, at)
            found.append(Sentence(part, sentence.start + at, sentence.end_mark))
            at += len(part)
        return found

    def _alive(self, someone: Someone | None) -> Someone | None:
        """The person that ``someone`` became when two turned out to be one."""
        if someone is None or someone in self.book.people:
            return someone
        return self.book.by_name(someone.name)

    def _learn_gender(self, spots: list[Spot]) -> None:
        for spot in spots:
            if spot.how == "pronoun" and spot.who is not None and not spot.who.gender:
                spot.who.gender = pronoun_gender(spot.text)

    def _subject(self, text: str, spots: list[Spot]) -> tuple[Someone | None, bool]:
        """Whom the clause is about, and whether it says so itself."""
        first = next((s for s in spots if s.how != "group"), None)
        if first is not None:
            before = text[: first.start]
            if _SUBJECT_LEAD.match(before):
                return first.who, True
            if first.who is not None and _WITH.search(before):
                return None, True
            if first.who is not None and _INTRODUCES.search(before):
                return first.who, True
            if first.who is None and self.at.topic is not None and self.at.topic in self.book.people and _has_verb(before):
                return self.at.topic, False
            if first.who is None:
                people = [s for s in spots if s.who is not None]
                return (people[0].who, True) if people and _INTRODUCES.search(text[: people[0].start]) else (None, len(before) < 8)
            if not HAN.search(text) and re.match(r"(?:is|was)\s", text[first.end :].lstrip()):
                return first.who, True
            nominal = re.match(r"[\u4e00-\u9fff]{0,6}的?$", before)
            if nominal and re.match(r"是|：", text[first.end :]) is None and before.endswith(("的", "是")):
                return first.who, True
        return self.at.topic, False

    def _name(self, text: str, spots: list[Spot], subject: Someone | None, turn: Turn, first: bool) -> bool:
        """Names and aliases stated in the clause go to the person they belong to. True when
        the clause does nothing but name somebody."""
        only = False
        for found in naming.namings(text):
            if self.book.is_banned(found.name) or re.search(r"[猫狗]|(?:店|公司|书|歌|项目|剧|队)(?:名|的名字)?$", text[: found.start]):
                continue
            who = self._named_one(text, spots, subject, found)
            if who is None:
                continue
            zero = not found.pronoun and not any(s.who is who for s in spots)
            if zero and who.named and found.plain and found.name != who.name:
                continue
            self._give(who, found.name, found.formal)
            only = only or len(text) - found.name_start - len(found.name) < 4
        for spot in list(spots):
            if spot.who is not None and spot.how in {"name", "role", "owned"}:
                equal = naming.equation(text, spot.end)
                if equal is not None and not self.book.is_banned(equal.name) and equal.name not in relations():
                    self._give(spot.who, equal.name, equal.formal)
                    only = only or len(text) - equal.name_start - len(equal.name) < 4
        name = naming.bare_name(text) if not any(s.who is not None and s.how != "name" for s in spots) else None
        if name is not None and not self.book.is_banned(name):
            who = self._unnamed_one(first)
            if who is not None and (self.book.by_name(name) is None or not self.book.by_name(name).relationship):
                self._give(who, name, True)
                only = True
        self.at.awaiting = next((s.who for s in spots if s.who is not None and not s.who.named), self.at.awaiting)
        return only

    def _unnamed_one(self, first: bool) -> Someone | None:
        """Who a name standing alone belongs to: the one whose name was asked for, or somebody
        just spoken of without one."""
        topic = self.at.topic
        if self.at.asked_name:
            for who in (topic, self.at.awaiting):
                if who is not None and not who.named:
                    return who
        if self.at.asked and first:
            return None
        who = self.at.awaiting
        return who if who is not None and not who.named and who in self.book.recent[:3] else None

    def _identifies(self, text: str, spots: list[Spot], turn: Turn) -> bool:
        """An answer that only says what the person asked about is: 大学同学, 男朋友."""
        topic = self.at.topic
        word = re.sub(r"^(?:就?是|我的?|我们的?|以前的|a |an |my |just )+|(?:啊|呀|嘛|吧)$", "", text.strip(), flags=re.I)
        if topic is None or word not in relations() and fold(word) not in relations():
            return False
        if topic.relation is not None and topic.owner is None:
            return False
        for spot in [s for s in spots if s.new and s.who is not None and s.who is not topic]:
            if spot.who in self.book.people:
                self.book.people.remove(spot.who)
        self.scanner.relate(topic, word)
        self.book.touch(topic, turn.id)
        self._introduce(turn, topic, Sentence(text, 0))
        return True

    def _introduce(self, turn: Turn, who: Someone | None, sentence: Sentence) -> None:
        """Keep who a newly named person is (陈志远是用户的老板), once for each person."""
        if who is None or any(draft.introduces is who for draft in self.drafts):
            return
        self.drafts.append(Draft(turn, who, [], quote=sentence.text, introduces=who))

    def _equate(self, text: str, spots: list[Spot]) -> list[Spot]:
        """X is my boss, 他是我们组长: the two spots are one person."""
        for left, right in pairwise(list(spots)):
            if left.who is None or right.who is None or left.who is right.who or left.how == "owned":
                continue
            between = text[left.end : right.start]
            contracted = not between.strip() and re.search(r"['’]s$", left.text)
            if between.startswith(",") and not (right.how == "role" and right.new and right.text.lower().startswith("my ")):
                continue
            if not (contracted or _COPULA.fullmatch(between)) or right.how == "owned" and right.who.named:
                continue
            self._unite(left, right)
        first = next((s for s in spots if s.who is not None), None)
        topic = self.at.topic
        if first is not None and topic is not None and first.how in {"role", "name"} and first.who is not topic:
            if _COPULA_HEAD.fullmatch(text[: first.start]) and first.text[:1] in "我咱mM" and first.new:
                self._unite(Spot(0, 0, topic, "pronoun", ""), first)
        return [s for s in spots if s.who is None or s.who in self.book.people]

    def _unite(self, left: Spot, right: Spot) -> None:
        kept, other = left.who, right.who
        if kept is None or other is None or kept is other:
            return
        if right.how == "owned":
            kept.owner, kept.owned_as, kept.relation, kept.relationship = other.owner, other.owned_as, other.relation, other.relationship
            self.book.merge(kept, other)
        elif other.contact_id is not None and not right.new and other.named:
            return
        else:
            word = other.word
            named = other.name if other.named else ""
            if word and kept.contact_id is None:
                kept.relation, kept.relationship, kept.word = None, "", ""
                kept.owner, kept.owned_as = None, ""
                self.scanner.relate(kept, other.relationship if other.relationship in relations() else word)
                kept.relationship = other.relationship or kept.relationship
            other.named = False
            other.name = kept.name
            self.book.merge(kept, other)
            if named:
                self._give(kept, named, True)
        left.who = kept
        right.who = kept

    def _infer_social(self, text: str, spots: list[Spot], subject: Someone | None) -> None:
        """Without a stated relation, talk of work makes a colleague, shared leisure a friend."""
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
            elif person.social is None and _TOGETHER.search(text) and any(s.who is None for s in spots) | (subject is None):
                person.social = Subtype.FRIEND

    def _short_before(self, turn: Turn, subject: Someone | None, explicit: bool) -> Draft | None:
        """The last draft of this turn, when it is too short to stand alone."""
        if not self.drafts or explicit:
            return None
        last = self.drafts[-1]
        same = last.turn.id == turn.id and last.subject is subject and bool(last.pieces)
        return last if same and len(last.text()) < SHORT else None

    def _answered(self, text: str, spots: list[Spot], values: list[Value], clause: Sentence) -> tuple[str, list[Spot], list[Value]]:
        """A short answer takes the place of the question word: 学什么专业？大提琴 → 学大提琴专业."""
        asked = re.sub(r"^(?:那|所以|哦|啊|嗯)[，,\s]*", "", self.at.asked)
        wh = _WH_ZH.search(asked)
        if wh is None or len(text) > 10 or values or spots or HAN.search(text) is None or re.search(r"[，,]", asked):
            return text, spots, values
        if re.search(r"什么(?:剧|名字)|怎么|为什么|什么时候", asked) or not _plain_noun(text):
            return text, spots, values
        filled = asked[: wh.start()] + text + asked[wh.end() :]
        filled = re.sub(r"[？?呢呀啊吗]+$", "", re.sub(r"在在", "在", filled))
        filled = re.sub(r"^(?:他|她|你)(?:是|的)?(?=.)", "", filled) if re.match(r"他|她|你", filled) else filled
        return filled, [], self._values(filled, [])

    def _refines_date(self, text: str, turn: Turn) -> bool:
        """A clause that is only a date or time sharpens the plan spoken of last."""
        bare = _DATE_WORDS.sub("", text)
        hits = [hit for hit in find_dates(bare, turn.said_at, True) if hit.at is not None]
        if len(hits) != 1 or len(bare) - (hits[0].end - hits[0].start) > 1 or not self.drafts:
            return False
        for draft in reversed(self.drafts[-3:]):
            if draft.turn.id == turn.id and draft.pieces and draft.pieces[-1].text == text:
                continue
            for piece in draft.pieces:
                old = [h for h in find_dates(piece.text, draft.turn.said_at, True) if h.at is not None]
                if old:
                    corrections.swap(piece, piece.text[old[0].start : old[0].end], _sharper(old[0], hits[0]))
                    draft.extra_turns.append(turn.id)
                    return True
        return False

    def _named_one(self, text: str, spots: list[Spot], subject: Someone | None, found: naming.Naming) -> Someone | None:
        role = self.scanner.role_before(text, found.start)
        if role is not None and not any(s.end == found.start for s in spots):
            return role
        baby = self._newborn(found, subject)
        if baby is not None:
            return baby
        if found.pronoun and not spots and self.book.latest(pronoun_gender(found.pronoun)) is None:
            return self.book.meet(found.name, named=True)
        before = [s for s in spots if s.end <= found.name_start and s.how != "user" and s.who is not None]
        if found.pronoun and HAN.search(found.pronoun):
            return self.scanner.refer(pronoun_gender(found.pronoun), []) if not before else before[-1].who
        if before:
            return before[-1].who
        if any(s.how == "user" and s.end <= found.start + 1 and s.start < 3 for s in spots) and found.formal:
            return None
        return subject

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
        elif formal and HAN.search(name) and not (HAN.search(who.name) and len(who.name) > len(name)) or (formal and " " in name):
            before = who.name
            who.name = name
            who.add_alias(before)
            if name in who.aliases:
                who.aliases.remove(name)
        else:
            who.add_alias(name)

    def _values(self, text: str, spots: list[Spot]) -> list[Value]:
        """Attribute values of a clause, read with the people in it blanked out."""
        masked = list(text)
        for spot in spots:
            if spot.who is None or spot.how in {"name", "role", "owned", "pronoun"}:
                masked[spot.start : spot.end] = " " * (spot.end - spot.start)
        blank = "".join(masked)
        found: list[Value] = []
        if HAN.search(text):
            found += facts_zh.facts(blank)
        if re.search(r"[A-Za-z]{2}", text) and not (HAN.search(text) and found):
            found += facts_en.facts(text if not HAN.search(text) else blank)
        return found

    def _finish(self) -> Extraction:
        memories = [memory for draft in self.drafts if draft.turn.id in self.wanted or draft.extra_turns for memory in self._memory(draft)]
        memories = corrections.current_only(memories)
        memories = list(corrections.without_outgrown(memories))
        used = {ref for memory in memories for ref in memory.people}
        people = [p for p in self.book.people if p.ref in used or self._is_met(p)]
        for person in people:
            self._social(person)
        refs = {p.ref for p in people}
        links = [
            ExtractedRelation(p.ref, p.owned_as, p.owner.ref, tuple(p.turn_ids))
            for p in people
            if p.owner is not None and p.owner.ref in refs and p.owned_as
        ]
        return Extraction(
            people=tuple(p.extracted() for p in people),
            memories=tuple(memories),
            relations=tuple(links),
            retracted_turn_ids=tuple(self.retracted),
        )

    def _is_met(self, person: Someone) -> bool:
        return person.is_contact and bool(set(person.turn_ids) & self.wanted)

    def _social(self, person: Someone) -> None:
        if not person.relationship and person.social is not None:
            person.relationship = {
                Subtype.COLLEAGUE: "同事" if self._zh(person.name) else "colleague",
                Subtype.FRIEND: "朋友" if self._zh(person.name) else "friend",
            }.get(person.social, "")

    def _zh(self, name: str) -> bool:
        return self.request.language == "zh" or HAN.search(name) is not None

    def _memory(self, draft: Draft) -> Iterable[ExtractedMemory]:
        """The memory of a draft, written out; nothing when it is not worth keeping."""
        chinese = self.request.language == "zh" or is_chinese(draft.text())
        if draft.introduces is not None:
            yield from self._introduction(draft, chinese)
            return
        content = draft.content(self.book, chinese)
        if not worth_keeping(draft, content):
            return
        people = [p for p in draft.people() if p in self.book.people]
        contacts = self._linked(people)
        hits = [hit for hit in find_dates(draft.text(), draft.turn.said_at, is_chinese(draft.text())) if hit.at]
        content = write_dates(content, draft.turn.said_at, is_chinese(content))
        when = hits[0] if hits else None
        facts = tuple(self._facts(draft))
        kind = memory_type(draft, facts, when)
        subject = draft.subject or (people[0] if people else None)
        subtype = subject.subtype if subject is not None else Subtype.SELF
        yield ExtractedMemory(
            content=content,
            type=kind,
            subtype=subtype,
            turn_ids=tuple(dict.fromkeys((draft.turn.id, *draft.extra_turns))),
            people=tuple(dict.fromkeys(p.ref for p in contacts)),
            quote=draft.quote,
            facts=facts,
            happens_at=when.at if when else None,
            expires_at=_expiry(kind, hits),
            confidence=draft.confidence,
        )

    def _introduction(self, draft: Draft, chinese: bool) -> Iterable[ExtractedMemory]:
        who = draft.introduces
        if who is None or not who.named or who not in self.book.people or not who.relationship:
            return
        names = [alias for alias in who.aliases if alias not in relations()]
        if chinese:
            also = f"（{'、'.join(names)}）" if names else ""
            owner = "" if who.owner is not None else "用户的"
            content = f"{who.name}{also}是{owner}{who.relationship}"
        else:
            also = f" ({', '.join(names)})" if names else ""
            owner = "" if who.owner is not None else "the user's "
            content = f"{who.name}{also} is {owner}{who.relationship}"
        linked = self._linked([who])
        yield ExtractedMemory(
            content=content,
            type=MemoryType.PERSONAL,
            subtype=who.subtype,
            turn_ids=(draft.turn.id,),
            people=tuple(p.ref for p in linked),
            quote=draft.quote,
        )

    def _newborn(self, found: naming.Naming, subject: Someone | None) -> Someone | None:
        """After a birth a pet name is the baby's."""
        if subject is None or found.sort not in {"小名", "乳名", "叫", ""} or not subject.named and subject.relation is None:
            return None
        told = " ".join(d.text() for d in self.drafts[-4:] if d.subject is subject)
        if not re.search(r"生了|生下|出生|\bgave birth\b|had (?:a|the|her|their) baby", told):
            return None
        word = "女儿" if re.search(r"女孩|女儿|闺女|千金|girl", told) else "儿子" if re.search(r"男孩|儿子|boy", told) else "孩子"
        return self.scanner.owned(subject, word)

    def _linked(self, people: list[Someone]) -> list[Someone]:
        """Unnamed relations of others stand for the one whose they are."""
        linked: list[Someone] = []
        for person in people:
            while not person.is_contact and person.owner is not None:
                person = person.owner
            if person not in linked:
                linked.append(person)
        return linked

    def _facts(self, draft: Draft) -> Iterable[Fact]:
        subject = draft.subject
        ref = subject.ref if subject is not None else ""
        together = [p for p in draft.people() if p.relation is not None and p.relation.subtype is Subtype.PARTNER]
        if subject is not None and not subject.is_contact:
            return
        seen: set[tuple[str, str]] = set()
        for piece in draft.pieces:
            for value in piece.values:
                written = write_dates(value.value, draft.turn.said_at, True) if value.key in {"plan"} else value.value
                if (value.key, written) not in seen:
                    seen.add((value.key, written))
                    if not (subject is None and value.key == "plan"):
                        yield Fact(value.key, written, ref)
                    if value.key == "marital_status" and subject is None and together:
                        yield Fact(value.key, written, together[0].ref)
                        self._engage(together[0], written)


    def _engage(self, partner: Someone, status: str) -> None:
        """A proposal turns a boyfriend into a fiancé."""
        if partner.contact_id is None and re.search(r"订婚|求婚|engaged", status):
            female = partner.gender == "female"
            zh = HAN.search(partner.relationship) is not None
            partner.relationship = ("未婚妻" if female else "未婚夫") if zh else ("fiancée" if female else "fiancé")


def _has_verb(before: str) -> bool:
    """Whether the words before a spot hold a verb, which makes the spot its object."""
    if not HAN.search(before):
        return False
    return any(flag[0] == "v" and word not in {"是", "有", "要", "想", "会", "能"} for word, flag in tagged(before)) and len(before.strip()) > 1


def _plain_noun(text: str) -> bool:
    """A bare noun phrase, the kind of answer that fits into the question."""
    flags = [flag for _, flag in tagged(text)]
    return bool(flags) and flags[-1][0] in "nxelmz" and not any(f[0] in "vdpcury" and f != "vn" for f in flags[:-1])


def _sharper(old: DateHit, new: DateHit) -> str:
    """The date that two of them mean together: the day of the first with the time of the
    second when the second names the same weekday or none."""
    if old.at is None or new.at is None:
        return new.text
    whole_day = old.until is not None and old.until - old.at <= timedelta(days=1)
    if whole_day and new.at.weekday() == old.at.weekday():
        clock = new.text[10:]
        return f"{old.at:%Y-%m-%d}{clock}"
    return new.text


def _expiry(kind: MemoryType, hits: list[DateHit]) -> datetime | None:
    ends = [hit.until for hit in hits if hit.until is not None]
    return max(ends) if kind is MemoryType.PLAN and ends else None


def extract(request: ExtractionRequest) -> Extraction:
    """The memories and people in a batch of turns, by rules alone. The batch is read twice:
    names that come out late are known from the first line on."""
    scout = Reader(request)
    scout.read()
    return Reader(request, [person for person in scout.book.people if person.named]).read()


__all__ = ["Reader", "extract", "relationship_label"]
