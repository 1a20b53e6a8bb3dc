"""A batch of turns in; quotes, people and relations out.

Turns are understood first (who is meant where) and cut into sentences. A classifier says what
each does: what is no statement of a life for sure is left out, all else is quoted.
"""

from memories.providers.offline.heads.judge import judge
from memories.providers.offline.reading.choices import ELSEWHERE, KEEP, OTHER, UNTRUE
from memories.providers.offline.reading.discourse_reading import SpokenTurn, understand
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.forget_in_batch import forget_asked
from memories.providers.offline.reading.quoting import Before, Draft, drafts_of, joined
from memories.providers.offline.reading.results import extraction_of
from memories.providers.offline.reading.self_statements import with_self_statements
from memories.providers.offline.reading.speech import addresses, injects, last_question, makes
from memories.providers.offline.reading.spoken_corrections import apply_correction
from memories.types import Extraction, ExtractionRequest
from understanding.sentences import sentences
from understanding.statements.secrets import holds_phone, holds_secret
from understanding.statements.small_talk import greets


def extract(request: ExtractionRequest) -> Extraction:
    """The memories and people in a batch of turns."""
    return with_self_statements(_extracted(request), request, _extracted)


def _extracted(request: ExtractionRequest) -> Extraction:
    return extraction_of(read(request), request)


def read(request: ExtractionRequest) -> DraftBook:
    """What is quoted of a batch."""
    discourse = understand(request)
    book = DraftBook(discourse)
    asked: SpokenTurn | None = None
    for spoken in discourse.turns:
        if spoken.by_user:
            book.clock += 1
            _read_turn(book, spoken, asked)
            book.before_id = spoken.turn.id
            asked = None
        else:
            asked = spoken
    _keep(book)
    return book


def _read_turn(book: DraftBook, spoken: SpokenTurn, asked: SpokenTurn | None) -> None:
    """Carries out what a turn asks for, and drafts what it states."""
    drafts = drafts_of(spoken)
    if asked is not None and drafts and drafts[0].sentence.start == 0 and drafts[0].is_fragment():
        drafts[0].before = _question(asked, spoken.text)
    for sentence, draft in zip(sentences(spoken.text), drafts, strict=True):
        if draft.wish:
            book.drafts.append(draft)
            continue
        if makes(sentence.text):
            return
        if injects(sentence.text):
            continue
        if not spoken.in_chat and forget_asked(book, spoken, sentence):
            continue
        if apply_correction(book, spoken, draft):
            continue
        book.drafts.append(draft)


def _question(asked: SpokenTurn, answer: str) -> Before | None:
    """The last question of the assistant's turn, with whom it means; None where it asks neither
    about somebody nor about the user, or the answer says no more than yes to the latter."""
    question = last_question(asked.text)
    if not question:
        return None
    at = asked.text.rindex(question)
    end = at + len(question)
    spots = [s.moved(-at) for s in asked.spots if at <= s.start and s.end <= end]
    if not any(spot.who for spot in spots) and (not addresses(question) or greets(answer)):
        return None
    return Before(asked.text[at : end + 1].rstrip(), spots, asked.turn.said_at)


def _keep(book: DraftBook) -> None:
    """Leaves out what tells nothing of a life for sure, and what is private; what can't stand
    alone is quoted with the sentence before it."""
    book.drafts = [d for d in book.drafts if any(map(str.isalnum, d.text()))]
    wanted = [d for d in book.drafts if d.spoken.wanted or d.extra_turns]
    texts = [d.text() + d.sentence.end_mark for d in wanted]
    for draft, judgement in zip(wanted, judge(texts), strict=True):
        draft.judgement = judgement
    units: list[tuple[Draft, bool]] = []
    for draft in wanted:
        tells = _tells(draft)
        before = units[-1] if units and draft.is_fragment() and not _does_else(draft) else None
        whole = joined(before[0], draft) if before and not before[0].wish else None
        if before is None or whole is None:
            units.append((draft, tells))
        else:
            whole.judgement = draft.judgement if tells and not before[1] else whole.judgement
            units[-1] = whole, tells or before[1]
    book.drafts = [unit for unit, tells in units if tells and not _is_private(unit.content()[0])]


def _tells(draft: Draft) -> bool:
    """Whether a sentence may tell something of a life; the answer to a question does, which its
    few words alone don't show, and so does what says whom it is about and hardly does anything
    else."""
    states = (
        draft.explicit and _elsewhere(draft) < UNTRUE
    )  # what begins with somebody is no greeting
    likely = draft.judged.keep >= KEEP and not _does_else(draft)
    return draft.before is not None or draft.wish or states or likely


def _does_else(draft: Draft) -> bool:
    """Whether it is as good as certain that a sentence does something else than to tell."""
    return _elsewhere(draft) + draft.judged.act["greet"] >= OTHER


def _elsewhere(draft: Draft) -> float:
    return sum(draft.judged.act[act] for act in ELSEWHERE)


def _is_private(text: str) -> bool:
    return holds_secret(text) or holds_phone(text)
