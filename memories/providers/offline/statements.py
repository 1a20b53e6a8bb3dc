"""Sentences into drafts of memories."""

import re
from dataclasses import dataclass

from contacts.text import is_chinese
from memories.dates import find_dates
from memories.providers.offline import facts_zh, render
from memories.providers.offline.acts import (
    Act,
    boasts,
    judge,
    laughs,
    reports_plan,
    tells_tall_tale,
    without_note,
)
from memories.providers.offline.answers import Answers
from memories.providers.offline.bonds import Bonds
from memories.providers.offline.calling import Callings
from memories.providers.offline.corrections import without_false_start
from memories.providers.offline.draft import Draft, Piece
from memories.providers.offline.facts_zh import Value
from memories.providers.offline.hearsay import own_values
from memories.providers.offline.identity import Identities
from memories.providers.offline.meeting import Spot
from memories.providers.offline.people import Someone
from memories.providers.offline.roles import of_a_stranger
from memories.providers.offline.subjects import Subjects
from memories.providers.offline.talk import Part, Talk
from memories.providers.offline.values import read_values
from memories.text.secrets import holds_secret
from memories.text.sentences import Sentence, clauses, sentences
from memories.types import Turn

HEDGED = 0.5
SHORT = 8
_OTHER_SUBJECT = re.compile(
    r"(?:The|This|That|These|Those|It|There|[A-Z][a-z]+(?:\s[A-Z][a-z]+)?['’]s)\s(?:[\w'’-]+\s){0,4}?(?:is|was|are|were|has|had|will|can|\w+ed)\b"
)
_MOVES = re.compile(
    r"^(?:又|就|已经)?(?:改到|改成|改为|改在|推迟到|延期到|提前到|挪到|推到)|\b(?:moved|pushed|rescheduled|postponed) (?:it )?(?:to|till|until)\b",
    re.I,
)
_ENGLISH_SPLIT = re.compile(
    r",\s(?=(?:and|but|so)\s(?:\w+\s)?(?:I|he|she|they|we|her|his|my|it)\b|(?:I|he|she|we|they)(?:'\w+)?\s"
    r"|(?:my|her|his)\s\w+(?:\s\w+)?\s(?:is|was|has|are|were|went|needs|said|\w+ed)\b)"
    r"|;\s|(?<=\w\s\w\w\w\s\w\w\w\w)\s(?=and (?:I|he|she|we|they)(?:'\w+)?\s)"
)
_REPORTED = re.compile(
    r"(?:说|表示|告诉我|觉得|提到|讲|抱怨)(?:过|了|，|,)?\s?(?:他|她)?(?:自己)?$"
)


# 不是老何, it's not Ben: whom a statement does not mean tells nothing of anybody.
_IS_NOT = re.compile(
    r"(?:(?:并|可|也)?不(?:是|叫)|(?:it['’]?s |it is |it was |and |but )?not )(?P<who>[^，,。\s]+)$",
    re.I,
)
_FIRST_HAND = re.compile(r"亲口|自己.{0,3}说|跟我说|told me|himself|herself")


@dataclass(slots=True)
class _Flow:
    """A sentence being read: what it is part of, and the draft that it is building."""

    turn: Turn
    sentence: Sentence
    laughing: bool
    gossip: bool
    quote: str
    confidence: float
    current: Draft | None = None
    supposing: bool = False


class Statements(Part):
    """Turns sentences into drafts of memories, clause by clause."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(talk)
        self.callings = Callings(talk)
        self.identities = Identities(talk)
        self.bonds = Bonds(talk)
        self.subjects = Subjects(talk)
        self.answers = Answers(talk)

    def sentence(self, turn: Turn, sentence: Sentence, *, laughing: bool, gossip: bool) -> None:
        text = without_note(sentence.text)
        shift = sentence.start + len(sentence.text) - len(text)
        said, text = text, without_false_start(text)
        sentence = Sentence(text, shift, sentence.end_mark)
        act = judge(text, sentence.end_mark)
        if act is Act.INJECTS or act is Act.GREETS:
            self.subjects.salience_only(turn, text) if act is Act.GREETS and len(text) > 4 else None
            return
        if act is Act.MAKES:
            self.at.making = True
            return
        if act is Act.ASKS:
            self.subjects.salience_only(turn, text)
            return
        if act in {Act.GOSSIPS, Act.JOKES, Act.SUPPOSES} and len(clauses(sentence)) == 1:
            self.subjects.salience_only(turn, text)
            return
        self.statement(turn, sentence, laughing=laughing, gossip=gossip, quote=said)

    def statement(
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
        flow = _Flow(turn, sentence, laughing, gossip, quote or sentence.text, confidence)
        for number, clause in enumerate(self._clauses(sentence)):
            text = render.clean(clause.text)
            if text:
                self._clause(
                    flow,
                    clause,
                    text,
                    opening=sentence.start == 0 and number == 0,
                    first=number == 0,
                )

    def _clause(
        self, flow: _Flow, clause: Sentence, text: str, *, opening: bool, first: bool
    ) -> None:
        """One clause: who it speaks of, who they are, and what of it is worth a draft."""
        act = judge(text, clause.end_mark if clause.end_mark[:1] in {"?", "？"} else "")
        if act in {Act.SUPPOSES, Act.JOKES} or (flow.laughing and re.search(r"[“\"]", text)):
            flow.supposing = True
        if self._says_who_not(text) or self.callings.names_introduced(text):
            return
        spots = self.scanner.scan(text, topic=self.at.topic)
        self.scanner.learn_friends(text, spots)
        self.identities.learn_gender(spots)
        if self.subjects.is_impersonal(text, spots) or self._sets_scene(flow, clause, text, spots):
            return
        spots = self.identities.equate(text, spots)
        subject, explicit = self.subjects.subject(text, spots)
        spoken_name = self._names(flow, text, spots, subject, first=opening)
        self.subjects.note_people(spots, flow.turn)
        subject = self.subjects.alive(subject)
        self.bonds.infer_social(text, spots, subject)
        skip = self._is_idle(flow, act, text, subject)
        if explicit or subject is not None:
            self.at.topic = subject
        if skip:
            flow.current = None
            return
        if holds_secret(text) or self._claims_paste(text, subject, flow.turn):
            return
        values, explicit = self._values(text, spots, subject, explicit)
        if spoken_name and not values:
            self.identities.introduce(flow.turn, subject, flow.sentence)
        elif not self._completes(flow, text, subject, values, fresh=opening and not explicit):
            values += self.answers.workplace(text, flow.sentence.text)
            if first and not explicit:
                text, spots, values = self.answers.answered(text, spots, values)
            self._draft(flow, subject, Piece(text, spots, values, explicit), act)

    def _names(
        self, flow: _Flow, text: str, spots: list[Spot], subject: Someone | None, *, first: bool
    ) -> bool:
        """Whether a clause only says a name; what somebody would be called names nobody."""
        if flow.supposing:
            return False
        return self.callings.name(text, spots, subject, flow.turn, first=first)

    def _values(
        self, text: str, spots: list[Spot], subject: Someone | None, explicit: bool
    ) -> tuple[list[Value], bool]:
        """The values that a clause states, none of a stranger's, and whether it says whose."""
        if subject is None and of_a_stranger(text, spots):
            return [], True
        return own_values(text, spots, subject, read_values(text, spots)), explicit

    def _says_who_not(self, text: str) -> bool:
        """不是老何, not Ben: a clause that only says whom the user does not mean."""
        denied = _IS_NOT.match(text)
        return denied is not None and self.book.by_name(denied.group("who")) is not None

    def _sets_scene(self, flow: _Flow, clause: Sentence, text: str, spots: list[Spot]) -> bool:
        """Clauses that only name a thing or a person, or say what the person is."""
        if not any(s.who is not None for s in spots) and self.subjects.is_thing(text):
            flow.current = Draft(flow.turn, None, [Piece(text, spots, [], True)], quote=flow.quote)
            self.drafts.append(flow.current)
            self.at.topic = None
            return True
        self.subjects.note_things(text, spots)
        if not spots and _OTHER_SUBJECT.match(text):
            return True
        alone = len(spots) == 1 and spots[0].text == text and spots[0].how == "name"
        if alone and clause.end_mark[:1] in {"，", ","} and not spots[0].new:
            self.subjects.note_people(spots, flow.turn)
            self.at.topic = spots[0].who
            return True
        return self.identities.identifies(text, spots, flow.turn) or self.identities.announces(
            text, flow.turn
        )

    def _is_idle(self, flow: _Flow, act: Act, text: str, subject: Someone | None) -> bool:
        """Whether a clause states nothing that holds: supposed, joked, ordered, gossiped."""
        if flow.supposing or act not in {Act.STATES, Act.HEDGED}:
            return True
        stale = bool(self.at.stale) and text.startswith(self.at.stale)
        if stale or self.subjects.of_the_banned(text):
            return True
        if laughs(flow.sentence.text) and tells_tall_tale(text):
            return True
        if boasts(text, flow.sentence.text):
            flow.supposing = True
            return True
        before = flow.sentence.text.split(text)[0]
        if flow.laughing and reports_plan(text) and _REPORTED.search(before):
            return True
        return flow.gossip and subject is not None and not _FIRST_HAND.search(flow.sentence.text)

    def _completes(
        self, flow: _Flow, text: str, subject: Someone | None, values: list[Value], *, fresh: bool
    ) -> bool:
        """Whether a clause only completes what was said before, or answers past the point."""
        if self.answers.refines_date(text, flow.turn):
            return True
        current = flow.current
        if _MOVES.search(text) and current is not None:
            said_at = flow.turn.said_at
            dated = [p for p in current.pieces[1:] if find_dates(p.text, said_at, True)]
            current.pieces[:] = [p for p in current.pieces if p not in dated]
        return fresh and self.answers.beside_the_point(subject, values)

    def _draft(self, flow: _Flow, subject: Someone | None, piece: Piece, act: Act) -> None:
        """Join the piece to the draft it continues, or begin a new one."""
        joined = flow.current or self._short_before(flow.turn, subject, piece.explicit)
        if joined is not None and joined.subject is subject and joined.takes(piece):
            joined.pieces.append(piece)
            flow.current = joined
            return
        confidence = min(flow.confidence, HEDGED) if act is Act.HEDGED else flow.confidence
        flow.current = Draft(flow.turn, subject, [piece], quote=flow.quote, confidence=confidence)
        self._side_facts(flow.current, piece.text, piece.spots)
        self.drafts.append(flow.current)

    def _side_facts(self, draft: Draft, text: str, spots: list[Spot]) -> None:
        """Oslo 的 Nina: where somebody is, said in passing."""
        for spot in spots:
            place = re.search(r"([A-Z][A-Za-z]+|[\u4e00-\u9fff]{2,4})\s?的\s?$", text[: spot.start])
            if spot.who is not None and place and spot.how == "name":
                values = [v for v in facts_zh.facts(f"在{place.group(1)}") if v.key == "location"]
                draft.side_facts += [(spot.who, "location", value.value) for value in values]

    def _claims_paste(self, text: str, subject: Someone | None, turn: Turn) -> bool:
        """这是我朋友沈佳的: the text pasted before is about that person."""
        pasted = self.at.pasted
        if (
            subject is None
            or not pasted
            or not re.search(
                r"(?:是|这份|这个).{0,12}的(?:简历|资料|信息|介绍|档案)?$|['’]s(?: (?:resume|résumé|cv|profile|bio))?$",
                text,
            )
        ):
            return False
        self.at.pasted = ""
        if judge(pasted) is Act.INJECTS or len(pasted) > 400:
            return False
        self.identities.introduce(turn, subject, Sentence(text, 0))
        self.at.topic = subject
        for sentence in sentences(
            re.sub(
                r"[「」【】『』“”\"]|(?:姓名|名字|name)[:：]\s?\S+?[，,]", "", pasted, flags=re.I
            )
        ):
            self.statement(turn, sentence)
        return True

    def _clauses(self, sentence: Sentence) -> list[Sentence]:
        """Clauses, with "6月8号，" style fragments joined to what follows in English."""
        if is_chinese(sentence.text):
            return clauses(sentence)
        parts = _ENGLISH_SPLIT.split(sentence.text)
        found, at = [], 0
        for part in parts:
            at = sentence.text.index(part, at)
            found.append(Sentence(part, sentence.start + at, sentence.end_mark))
            at += len(part)
        return found

    def _short_before(self, turn: Turn, subject: Someone | None, explicit: bool) -> Draft | None:
        """The last draft of this turn, when it is too short to stand alone."""
        if not self.drafts or explicit:
            return None
        last = self.drafts[-1]
        same = last.turn.id == turn.id and last.subject is subject and bool(last.pieces)
        return last if same and len(last.text()) < SHORT else None
