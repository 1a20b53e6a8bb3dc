"""Sentences into drafts of memories."""

import re
from dataclasses import dataclass

from contacts.lexicon.rules import patterns
from contacts.text import is_chinese
from memories.dates import find_dates
from memories.providers.offline.extraction import facts_zh, third_person
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.ellipsis import (
    bare_workplace,
    fill_question,
    is_beside_the_point,
    refine_date,
)
from memories.providers.offline.extraction.facts import own_values, read_values
from memories.providers.offline.extraction.naming import learn_names, name_introduced
from memories.providers.offline.extraction.person_mentions import find_spots, learn_friends
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book, Someone, Spot
from memories.providers.offline.extraction.repairs import without_false_start
from memories.providers.offline.extraction.role_spans import of_a_stranger
from memories.providers.offline.extraction.social_ties import (
    await_role,
    equate,
    identify_topic,
    infer_social,
    introduce,
    learn_gender,
)
from memories.providers.offline.extraction.speech_acts import (
    Act,
    boasts,
    judge,
    laughs,
    reports_plan,
    tells_tall_tale,
    without_note,
)
from memories.providers.offline.extraction.stated_values import Value
from memories.providers.offline.extraction.subjects import (
    is_impersonal,
    is_thing,
    note_people,
    note_things,
    opens_with_banned,
    subject_of,
    surviving,
    touch_people,
)
from memories.text.secrets import holds_secret
from memories.text.sentences import LONGEST_CLAUSE, Sentence, clauses, cut, sentences
from memories.types import Turn

RE = patterns(__file__)
HEDGED = 0.5
SHORT = 8


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


def read_sentence(
    reading: Reading, turn: Turn, sentence: Sentence, *, laughing: bool, gossip: bool
) -> None:
    """One sentence by what it does: only what states something is read for facts."""
    text = without_note(sentence.text)
    shift = sentence.start + len(sentence.text) - len(text)
    said, text = text, without_false_start(text)
    sentence = Sentence(text, shift, sentence.end_mark)
    act = judge(text, sentence.end_mark)
    if act is Act.INJECTS or act is Act.GREETS:
        if act is Act.GREETS and len(text) > 4:
            touch_people(reading, turn, text)
        return
    if act is Act.MAKES:
        reading.making = True
        return
    if act is Act.ASKS:
        touch_people(reading, turn, text)
        return
    if act in {Act.GOSSIPS, Act.JOKES, Act.SUPPOSES} and len(clauses(sentence)) == 1:
        touch_people(reading, turn, text)
        return
    read_statement(reading, turn, sentence, laughing=laughing, gossip=gossip, quote=said)


def read_statement(
    reading: Reading,
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
    for number, clause in enumerate(_clauses_of(sentence)):
        text = third_person.clean(clause.text)
        if text:
            _read_clause(
                reading,
                flow,
                clause,
                text,
                opening=sentence.start == 0 and number == 0,
                first=number == 0,
            )


def _read_clause(
    reading: Reading, flow: _Flow, clause: Sentence, text: str, *, opening: bool, first: bool
) -> None:
    """One clause: who it speaks of, who they are, and what of it is worth a draft."""
    act = judge(text, clause.end_mark if clause.end_mark[:1] in {"?", "？"} else "")
    if act in {Act.SUPPOSES, Act.JOKES} or (flow.laughing and re.search(r"[“\"]", text)):
        flow.supposing = True
    if _says_who_not(reading.book, text) or name_introduced(reading, text):
        return
    spots = find_spots(reading, text)
    learn_friends(text, spots)
    learn_gender(spots)
    if is_impersonal(text, spots) or _sets_scene(reading, flow, clause, text, spots):
        return
    spots = equate(reading, text, spots)
    subject, explicit = subject_of(reading, text, spots)
    # What somebody would be called names nobody.
    spoken_name = not flow.supposing and learn_names(
        reading, text, spots, subject, flow.turn, first=opening
    )
    note_people(reading.book, spots, flow.turn)
    subject = surviving(reading.book, subject)
    infer_social(reading, text, spots, subject)
    skip = _is_idle(reading, flow, act, text, subject)
    if explicit or subject is not None:
        reading.topic = subject
    if skip:
        flow.current = None
        return
    if holds_secret(text) or _claims_paste(reading, text, subject, flow.turn):
        return
    values, explicit = _stated_values(text, spots, subject, explicit)
    if spoken_name and not values:
        introduce(reading, flow.turn, subject, flow.sentence)
    elif not _completes_earlier(
        reading, flow, text, subject, values, fresh=opening and not explicit
    ):
        values += bare_workplace(text, flow.sentence.text)
        if first and not explicit:
            text, spots, values = fill_question(reading, text, spots, values)
        _add_to_drafts(reading, flow, subject, Piece(text, spots, values, explicit), act)


def _stated_values(
    text: str, spots: list[Spot], subject: Someone | None, explicit: bool
) -> tuple[list[Value], bool]:
    """The values that a clause states, none of a stranger's, and whether it says whose."""
    if subject is None and of_a_stranger(text, spots):
        return [], True
    return own_values(text, spots, subject, read_values(text, spots)), explicit


def _says_who_not(book: Book, text: str) -> bool:
    """不是老何, not Ben: a clause that only says whom the user does not mean."""
    denied = RE.is_not.match(text)
    return denied is not None and book.by_name(denied.group("who")) is not None


def _sets_scene(
    reading: Reading, flow: _Flow, clause: Sentence, text: str, spots: list[Spot]
) -> bool:
    """Clauses that only name a thing or a person, or say what the person is."""
    if not any(s.who is not None for s in spots) and is_thing(reading, text):
        flow.current = Draft(flow.turn, None, [Piece(text, spots, [], True)], quote=flow.quote)
        reading.drafts.append(flow.current)
        reading.topic = None
        return True
    note_things(reading, text, spots)
    if not spots and RE.other_subject.match(text):
        return True
    alone = len(spots) == 1 and spots[0].text == text and spots[0].how == "name"
    if alone and clause.end_mark[:1] in {"，", ","} and not spots[0].new:
        note_people(reading.book, spots, flow.turn)
        reading.topic = spots[0].who
        return True
    return identify_topic(reading, text, spots, flow.turn) or await_role(reading, text, flow.turn)


def _is_idle(reading: Reading, flow: _Flow, act: Act, text: str, subject: Someone | None) -> bool:
    """Whether a clause states nothing that holds: supposed, joked, ordered, gossiped."""
    if flow.supposing or act not in {Act.STATES, Act.HEDGED}:
        return True
    stale = bool(reading.stale) and text.startswith(reading.stale)
    if stale or opens_with_banned(reading.book, text):
        return True
    if laughs(flow.sentence.text) and tells_tall_tale(text):
        return True
    if boasts(text, flow.sentence.text):
        flow.supposing = True
        return True
    before = flow.sentence.text.split(text)[0]
    if flow.laughing and reports_plan(text) and RE.reported.search(before):
        return True
    return flow.gossip and subject is not None and not RE.first_hand.search(flow.sentence.text)


def _completes_earlier(
    reading: Reading,
    flow: _Flow,
    text: str,
    subject: Someone | None,
    values: list[Value],
    *,
    fresh: bool,
) -> bool:
    """Whether a clause only completes what was said before, or answers past the point."""
    if refine_date(reading, text, flow.turn):
        return True
    current = flow.current
    if RE.moves.search(text) and current is not None:
        said_at = flow.turn.said_at
        dated = [p for p in current.pieces[1:] if find_dates(p.text, said_at, True)]
        current.pieces[:] = [p for p in current.pieces if p not in dated]
    return fresh and is_beside_the_point(reading, subject, values)


def _add_to_drafts(
    reading: Reading, flow: _Flow, subject: Someone | None, piece: Piece, act: Act
) -> None:
    """Join the piece to the draft it continues, or begin a new one."""
    joined = flow.current or _short_before(reading, flow.turn, subject, piece.explicit)
    if joined is not None and joined.subject is subject and joined.takes(piece):
        joined.pieces.append(piece)
        flow.current = joined
        return
    confidence = min(flow.confidence, HEDGED) if act is Act.HEDGED else flow.confidence
    flow.current = Draft(flow.turn, subject, [piece], quote=flow.quote, confidence=confidence)
    _side_facts(flow.current, piece.text, piece.spots)
    reading.drafts.append(flow.current)


def _side_facts(draft: Draft, text: str, spots: list[Spot]) -> None:
    """Oslo 的 Nina: where somebody is, said in passing."""
    for spot in spots:
        place = re.search(r"([A-Z][A-Za-z]+|[\u4e00-\u9fff]{2,4})\s?的\s?$", text[: spot.start])
        if spot.who is not None and place and spot.how == "name":
            values = [v for v in facts_zh.facts(f"在{place.group(1)}") if v.key == "location"]
            draft.side_facts += [(spot.who, "location", value.value) for value in values]


def _claims_paste(reading: Reading, text: str, subject: Someone | None, turn: Turn) -> bool:
    """这是我朋友沈佳的: the text pasted before is about that person."""
    pasted = reading.pasted
    if (
        subject is None
        or not pasted
        or not re.search(
            r"(?:是|这份|这个).{0,12}的(?:简历|资料|信息|介绍|档案)?$|['’]s(?: (?:resume|résumé|cv|profile|bio))?$",
            text,
        )
    ):
        return False
    reading.pasted = ""
    if judge(pasted) is Act.INJECTS or len(pasted) > 400:
        return False
    introduce(reading, turn, subject, Sentence(text, 0))
    reading.topic = subject
    for sentence in sentences(
        re.sub(r"[「」【】『』“”\"]|(?:姓名|名字|name)[:：]\s?\S+?[，,]", "", pasted, flags=re.I)
    ):
        read_statement(reading, turn, sentence)
    return True


def _clauses_of(sentence: Sentence) -> list[Sentence]:
    """Clauses, with "6月8号，" style fragments joined to what follows in English."""
    if is_chinese(sentence.text):
        return clauses(sentence)
    parts = RE.english_split.split(sentence.text)
    found, at = [], 0
    for part in parts:
        at = sentence.text.index(part, at)
        found += cut(Sentence(part, sentence.start + at, sentence.end_mark), LONGEST_CLAUSE)
        at += len(part)
    return found


def _short_before(
    reading: Reading, turn: Turn, subject: Someone | None, explicit: bool
) -> Draft | None:
    """The last draft of this turn, when it is too short to stand alone."""
    if not reading.drafts or explicit:
        return None
    last = reading.drafts[-1]
    same = last.turn.id == turn.id and last.subject is subject and bool(last.pieces)
    return last if same and len(last.text()) < SHORT else None
