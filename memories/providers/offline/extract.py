"""A batch of turns in, people, memories and relations out."""

import re
from collections.abc import Iterable
from datetime import timedelta

from contacts.text import HAN
from memories.providers.offline.acts import (
    Act,
    judge,
    laughs,
)
from memories.providers.offline.own_names import own_names
from memories.providers.offline.people import Someone
from memories.providers.offline.statements import Statements
from memories.providers.offline.takebacks import Takebacks
from memories.providers.offline.talk import Part, Talk
from memories.providers.offline.writing import Writer
from memories.text.own_words import own_words, quoted_parts
from memories.text.sentences import Sentence, sentences
from memories.types import (
    Extraction,
    ExtractionRequest,
    Turn,
)

SESSION_GAP = timedelta(hours=6)
_YES = re.compile(
    r"^(?:对+|是+的?|没错|嗯+|恩|是啊|对啊|对呀|对的|yes|yeah|yep|yup|right|exactly|correct|indeed|that's right)(?=$|[，,。!！\s.呀啊哈])",
    re.I,
)
_WHO_ASKS = re.compile(
    r"谁|什么|哪|怎么|几|多少|为什么|吗.*吗|\b(?:what|who|where|when|how|why|which)\b", re.I
)
_ABOUT_YOU = re.compile(r"你|您|\byou\b|\byour\b", re.I)
_ASKS_NAME = re.compile(r"叫什么|名字|怎么称呼|尊姓|是谁|\bname\b|called|who is|who's", re.I)


class Reader(Part):
    """Reads turns in order. One instance serves one request."""

    def __init__(self, request: ExtractionRequest, met: Iterable[Someone] = ()) -> None:
        super().__init__(Talk(request, met))
        self.statements = Statements(self.talk)
        self.takebacks = Takebacks(self.talk, self.statements)

    def read(self) -> Extraction:
        for turn in (*self.request.context, *self.request.turns):
            if turn.role == "assistant":
                self._listen(turn)
            elif turn.role == "user":
                self.book.clock += 1
                self._session(turn)
                self.at.turn_ids = (turn.id,)
                self.scanner.renewing = turn.id in self.wanted
                self._turn(turn)
                self.at.asked, self.at.asked_name = "", False
                self.at.before_id = turn.id
        return Writer(self.talk).write()

    def _session(self, turn: Turn) -> None:
        """A new session or a long silence ends topics and stories."""
        before = self.at.said_at
        if before is not None and (
            turn.session_id != self.at.session or turn.said_at - before > SESSION_GAP
        ):
            self.at.topic, self.at.asked, self.at.pasted, self.at.making, self.at.awaiting = (
                None,
                "",
                "",
                False,
                None,
            )
            self.frames.leave()
        self.at.said_at, self.at.session = turn.said_at, turn.session_id

    def _listen(self, turn: Turn) -> None:
        """What the assistant says only helps to understand the answer to it."""
        text = own_words(turn.content)
        self.scanner.begin(text)
        questions = [s.text for s in sentences(text) if s.end_mark[:1] in {"?", "？"}]
        self.at.asked = questions[-1] if questions else ""
        self.at.asked_people = bool(
            re.search(r"[他她]|\b(?:he|she|him|her|his)\b", self.at.asked, re.I)
        )
        self.at.asked_name = bool(_ASKS_NAME.search(self.at.asked))
        if not self.at.asked:
            return
        spots = self.talk.known_spots(self.at.asked)
        people = [spot.who for spot in spots if spot.who is not None]
        about_user = _ABOUT_YOU.search(self.at.asked)
        self.at.asked_people = self.at.asked_people or bool(people)
        if people:
            if not about_user or self.at.asked.index(about_user.group()) > spots[0].start:
                self.at.topic = people[0]
                self.book.touch(people[0])
        elif about_user and not re.search(
            r"要我|需要|你们|want me|should i|do you want|need a|提醒你", self.at.asked, re.I
        ):
            self.at.topic = None

    def _turn(self, turn: Turn) -> None:
        text = own_words(turn.content)
        self._learn_own_names(text)
        self.scanner.begin(text)
        pets = len(self.frames.own_pets)
        self.frames.enter(text)
        if not text.strip():
            self.at.pasted = quoted_parts(turn.content)
            return
        if self.frames.in_story:
            return
        if self._confirmation(turn, text):
            return
        if not self.frames.in_story:
            for name in dict.fromkeys(self.frames.own_pets[pets:]):
                self.statements.answers.own_pet(turn, name, "")
        self.at.making, self.at.stale = False, ""
        self.at.identified = self.at.introduced = None
        laughing = laughs(text)
        parts = sentences(text)
        gossip = any(judge(s.text, s.end_mark) is Act.GOSSIPS for s in parts)
        for number, sentence in enumerate(parts):
            if self.at.making:
                break
            if self.takebacks.takes_back(turn, sentence, parts[number + 1 :]):
                continue
            self.statements.sentence(turn, sentence, laughing=laughing, gossip=gossip)

    def _learn_own_names(self, text: str) -> None:
        """The user's own names are nobody else's."""
        if self.frames.in_story:
            return
        for name in own_names(text):
            known = self.book.by_name(name)
            if known is not None and known.contact_id is not None:
                continue
            for form in dict.fromkeys((name, name.split()[0])):
                self.book.ban(form)
            if name not in self.talk.own_names:
                self.talk.own_names.append(name)

    def _confirmation(self, turn: Turn, text: str) -> bool:
        """Yes to a closed question makes what was asked the user's own statement."""
        if _YES.match(text.strip()) and self.at.asked:
            self.frames.enter(re.sub(r"[吗吧呢]?$", "", self.at.asked))
            pet = self.frames.pet_in(re.sub(r"[吗吧呢]?$", "", self.at.asked))
            if pet:
                self.statements.answers.own_pet(turn, pet, text)
                return True
        yes = _YES.match(text.strip())
        asked = self.at.asked
        if not yes or not asked or _WHO_ASKS.search(asked) or len(asked) > 40:
            return False
        statement = re.sub(r"^(?:那|所以|so|and|oh)[，,\s]*", "", asked, flags=re.I)
        if HAN.search(statement):
            if re.search(r"要不要|需要|提醒|要我|可以|能不能|是不是|还是|新[室同老邻]", statement):
                return False
            statement = re.sub(r"[吗吧呢呀啊么]+$", "", statement).replace("你", "我")
            self.statements.statement(
                turn, Sentence(statement, -1), quote=text.strip(), confidence=0.8
            )
        return False


def extract(request: ExtractionRequest) -> Extraction:
    """The memories and people in a batch of turns, by rules alone. The batch is read twice:
    names that come out late are known from the first line on."""
    scout = Reader(request)
    scout.read()
    named = [person for person in scout.book.people if person.named]
    owners = [
        person.owner for person in named if person.owner is not None and person.owner not in named
    ]
    return Reader(request, [*owners, *named]).read()
