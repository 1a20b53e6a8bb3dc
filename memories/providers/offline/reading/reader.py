"""A batch of turns in; quotes, people and relations out. A classifier says what each sentence does:
what is no statement of a life for sure is left out, all else is quoted."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from memories.providers.offline.judge import judge
from memories.providers.offline.reading.circle import Circle, PersonDraft, in_order
from memories.providers.offline.reading.discourse_reading import (
    SpokenTurn,
    addresses,
    last_question,
    understand,
)
from memories.providers.offline.reading.forget_in_batch import forget_asked
from memories.providers.offline.reading.quoting import (
    Before,
    Draft,
    DraftBook,
    drafts_of,
    injects,
    joined,
)
from memories.providers.offline.reading.self_statements import with_self_statements
from memories.types import (
    ExtractedMemory,
    ExtractedRelation,
    Extraction,
    ExtractionRequest,
    Fact,
    MemoryType,
    Subtype,
)
from understanding.certainty import CONTACT_BORNE_OUT, CONTACT_NAME, CONTACT_ROLE, NOTED
from understanding.dates.relative_dates import DateHit, find_dates
from understanding.lexicon import words
from understanding.lexicon.rules import patterns
from understanding.statements.secrets import is_private
from understanding.statements.wordings import greets
from understanding.text import is_chinese, simplified

RE = patterns(__file__)
LONGEST_VALUE = 24  # characters of a value that is corrected

# Thresholds on sentences, chosen by their recall on authors whom the heads had not seen. A sentence
# is quoted from KEEP on (.99 of what is worth a memory and .58 of what is not, on a corpus of which
# half is not), unless it is as likely as OTHER to do something else.
KEEP, OTHER = 0.05, 0.85
# A talk of somebody goes on for TALK turns of the user that name nobody. Without it answers and
# additions were lost: T3 of docs/benchmarks.md fell from .925 to .906, with it to .919. The number was
# chosen on chats that the weights know.
TALK = 2
# A single word is quoted alone from WORD on.
WORD = 0.5
# It is believed below UNTRUE, that it does what need not be true, and its attributes are taken from
# FACT on, that it is told as a fact. From IMAGINED on it puts nobody in a role.
UNTRUE, FACT, IMAGINED = 0.4, 0.5, 0.3
# What a sentence does that tells nothing of a life, and whose words need not be true.
ELSEWHERE = ("ask", "request", "forget", "paste", "fiction", "joke")
# From which probability a memory is the user's own, whoever else it is about.
OWN = 0.5


def extract(request: ExtractionRequest) -> Extraction:
    """The memories and people in a batch of turns."""
    return with_self_statements(_extracted(request), request, _extracted)


def _extracted(request: ExtractionRequest) -> Extraction:
    book = read(request)
    contacts = _contacts(book, {turn.id for turn in request.turns})
    return Extraction(
        people=tuple(one.extracted() for one in contacts),
        memories=tuple(_memory(draft, contacts) for draft in book.drafts),
        relations=tuple(_relations(contacts)),
        retracted_turn_ids=tuple(book.retracted),
        user_names=tuple(book.user_names),
        forget=tuple(dict.fromkeys(book.forget)),
    )


def read(request: ExtractionRequest) -> DraftBook:
    """What is quoted of a batch."""
    circle, turns, user_names = understand(request)
    book = DraftBook(circle, user_names)
    asked: SpokenTurn | None = None
    for spoken in turns:
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
        drafts[0].before = _question(asked, drafts[0])
    for draft in drafts:
        if not draft.wish:
            if makes(draft.sentence.text):
                return
            if injects(draft.sentence.text):
                continue
            if not spoken.in_chat and forget_asked(book, spoken, draft.sentence):
                continue
            if _apply_correction(book, spoken, draft):
                continue
        book.drafts.append(draft)


def makes(text: str) -> bool:
    """Whether ``text`` asks for a work to be made (translate, write): what follows belongs to it."""
    return bool(RE.makes.search(simplified(text)))


def _question(asked: SpokenTurn, answer: Draft) -> Before | None:
    """The last question of the assistant's turn, with whom it means for certain where the answer names
    somebody; None where it asks neither about somebody nor about the user, or the answer says no more
    than yes to the latter."""
    sentence, spots = last_question(asked) or (None, [])
    if answer.explicit:
        spots = [spot for spot in spots if spot.confidence >= NOTED]
    of_user = sentence and addresses(sentence.text) and not greets(answer.spoken.text)
    if sentence is None or not (of_user or any(spot.who for spot in spots)):
        return None
    return Before(sentence.whole, spots, asked.turn.said_at)


def _apply_correction(book: DraftBook, spoken: SpokenTurn, draft: Draft) -> bool:
    """Takes back what the user says was a joke, and shows a correction behind the sentence that it
    puts right, which it takes the place of; True where the sentence did nothing else."""
    text = draft.sentence.text
    if RE.confesses_joke.search(simplified(text)):
        # What the user said in their last turn before, else in this one, was no statement.
        jokes = [d.turn_id for d in book.drafts if d.turn_id != spoken.turn.id]
        jokes = (jokes or [d.turn_id for d in book.drafts])[-1:]
        book.drafts = [d for d in book.drafts if d.turn_id not in jokes]
        book.retracted += [turn for turn in jokes if turn not in book.retracted]
        return True
    old = corrected(text)
    if not old:
        return False
    for wrong in reversed(book.drafts):
        if old in wrong.sentence.text:
            draft.before = Before(wrong.sentence.whole, wrong.spots, wrong.spoken.turn.said_at)
            draft.extra_turns.append(wrong.turn_id)
            if wrong.spoken.wanted:
                book.drafts.remove(wrong)
            break
    return False


def corrected(text: str) -> str:
    """The words that ``text`` says were wrong, as it says what is right instead, or ""."""
    match = RE.contrast.search(simplified(text))
    if match is None:
        return ""
    groups = [name for name, words_of_it in match.groupdict().items() if words_of_it]
    new, old = (text[slice(*match.span(name))].strip() for name in sorted(groups))
    vague = any(word in old for word in words("grammar_zh", "no_value"))
    return old if not vague and old and new and old != new and len(old) <= LONGEST_VALUE else ""


def _keep(book: DraftBook) -> None:
    """Leaves out what tells nothing of a life for sure, and what is private; what can't stand
    alone is quoted with the sentence before it."""
    drafts = [d for d in book.drafts if any(map(str.isalnum, d.sentence.text))]
    wanted = [d for d in drafts if d.spoken.wanted or d.extra_turns]
    in_talk = _turns_in_talk(drafts)
    of_nobody = [draft.turn_id not in in_talk for draft in wanted]
    judged = judge([draft.sentence.whole for draft in wanted], of_nobody)
    for draft, judgement in zip(wanted, judged, strict=True):
        draft.judgement = judgement
    _forget_imagined_roles(book.circle, wanted)
    units: list[tuple[Draft, bool]] = []
    for draft in wanted:
        tells = _tells(draft)
        before = units[-1] if units and _leans(draft) else None
        whole = joined(before[0], draft) if before and not before[0].wish else None
        if before is None or whole is None:
            units.append((draft, tells))
        else:
            whole.judgement = draft.judgement if tells and not before[1] else whole.judgement
            units[-1] = whole, tells or before[1]
    told = (unit for unit, tells in units if tells and not _is_word(unit))
    book.drafts = [unit for unit in told if not _is_private(unit)]


def _turns_in_talk(drafts: Sequence[Draft]) -> set[int]:
    """The turns that speak of somebody, and the ``TALK`` turns behind each, which may go on about them
    without naming them."""
    spoken_of = {draft.turn_id for draft in drafts if draft.people()}
    turns = list(dict.fromkeys(draft.turn_id for draft in drafts))
    return {
        turn
        for at, turn in enumerate(turns)
        if not spoken_of.isdisjoint(turns[max(0, at - TALK) : at + 1])
    }


def _leans(draft: Draft) -> bool:
    """Whether a sentence can't stand without the one before it, as it is too short or speaks of
    nobody. What a few words do is not judged by themselves: a name or a place looks like a greeting."""
    asks = draft.sentence.end_mark[:1] in ("?", "？")
    if asks or draft.wish or greets(draft.sentence.text) or _elsewhere(draft) >= OTHER:
        return False
    return draft.is_fragment() or (not draft.explicit and not draft.spots)


def _is_word(draft: Draft) -> bool:
    """Whether it is a single word that answers nothing and hardly tells anything."""
    alone = draft.before is None and not draft.wish and draft.size() < 2
    return alone and draft.judged.keep < WORD


def _is_private(draft: Draft) -> bool:
    """Whether its words hold a secret or a telephone number; the dates in its brackets are not read
    with them, as digits behind a date look like a number."""
    text = " ".join([draft.before.text if draft.before else "", draft.words()])
    return is_private(text)


def _tells(draft: Draft) -> bool:
    """Whether a sentence may tell something of a life; the answer to a question does, which its
    few words alone don't show, and so does what says whom it is about and hardly does anything
    else."""
    if draft.before is not None and not draft.extra_turns:
        # Whoever takes or refuses an offer only thanks for it.
        only_answers = draft.judged.act["greet"] >= OTHER or greets(draft.words())
        return not only_answers or not RE.offers.search(draft.before.text)
    if draft.before is not None or draft.wish:
        return True
    states = draft.explicit and _elsewhere(draft) < UNTRUE  # with a subject it is no greeting
    return states or (draft.judged.keep >= KEEP and not _does_else(draft))


def _does_else(draft: Draft) -> bool:
    """Whether it is as good as certain that a sentence does something else than to tell."""
    return _elsewhere(draft) + draft.judged.act["greet"] >= OTHER


def _elsewhere(draft: Draft) -> float:
    return sum(draft.judged.act[act] for act in ELSEWHERE)


def _contacts(book: DraftBook, wanted: set[int]) -> list[PersonDraft]:
    """Whom the batch speaks of as people of the user's life, and whose relatives they are."""
    told = {one.ref for draft in book.drafts for one in draft.people()}
    found = [
        one
        for one in book.circle.people
        if set(one.turns) & wanted and _is_contact(one, told=one.ref in told)
    ]
    owners = [one.owner for one in found if one.owner is not None and one.owner.owner is None]
    owners += [owner for one in found for _, owner in one.ties if owner.named]
    return [one for one in in_order(found) if one in found or one in owners]


def _forget_imagined_roles(circle: Circle, drafts: Sequence[Draft]) -> None:
    """Takes from new people with names the roles that only imagining sentences give (a dream), of all
    that were said, kept or not."""
    said = {
        one.ref
        for draft in drafts
        if draft.judged.act["fiction"] + draft.judged.act["suppose"] < IMAGINED
        for spot in draft.spots
        if spot.how == "role"
        for one in spot.people
    }
    for one in circle.people:
        if one.contact_id is None and one.named and one.ref not in said:
            one.role, one.owner = "", None


def _is_contact(one: PersonDraft, *, told: bool) -> bool:
    """Whether somebody is a person of the user's life: by a sure name, one used twice or beside a role,
    or as a relative of the user's own of whom something is told."""
    if one.contact_id is not None:
        return True
    if one.named:
        borne_out = len(one.turns) > 1 or (one.role and not one.by_pronoun)
        return one.certainty >= (CONTACT_BORNE_OUT if borne_out else CONTACT_NAME)
    of_user = bool(one.role) and one.owner is None and not one.by_pronoun
    return told and of_user and one.certainty >= CONTACT_ROLE


def _memory(draft: Draft, contacts: Sequence[PersonDraft]) -> ExtractedMemory:
    content, brackets = draft.content()
    quote = draft.words()
    dates = find_dates(quote, draft.spoken.turn.said_at, is_chinese(quote))
    hits = _of_event(quote, [hit for hit in dates if hit.at])
    people = [one for one in draft.people() if one in contacts]
    kind = MemoryType.PREFERENCE if draft.wish else draft.judged.type
    ends = [hit.until for hit in hits if hit.until is not None]
    return ExtractedMemory(
        content=content,
        type=kind,
        subtype=_subtype(draft, people),
        turn_ids=tuple(dict.fromkeys((draft.turn_id, *draft.extra_turns))),
        people=tuple(one.ref for one in people),
        quote=quote,
        brackets=tuple(brackets),
        facts=tuple(_facts(draft, contacts)),
        happens_at=hits[0].at if hits else None,
        happens_until=_last_day(hits[0]) if hits else None,
        expires_at=max(ends) if kind is MemoryType.PLAN and ends else None,
        confidence=round(draft.sure() if people else 1.0, 3),
        link_confidence={one.ref: round(draft.sure_of(one), 3) for one in people},
    )


def _of_event(quote: str, hits: Sequence[DateHit]) -> Sequence[DateHit]:
    """The dates on which something happens: without those of a denied clause, where there are
    others (she can't come on the 4th, but on the 11th)."""
    ends = [match.span() for match in RE.clause_end.finditer(quote)]

    def is_denied(hit: DateHit) -> bool:
        start = max((end for _, end in ends if end <= hit.start), default=0)
        end = min((start for start, _ in ends if start >= hit.end), default=len(quote))
        return bool(RE.denies.search(simplified(quote[start:end])))

    return [hit for hit in hits if not is_denied(hit)] or hits


def _subtype(draft: Draft, people: Sequence[PersonDraft]) -> Subtype:
    """The user's own where they are its subject, or it is about them beside somebody. Of nobody
    who is a contact it is as of whom it speaks, so that it is linked once they are one."""
    own = draft.subject is None and (draft.explicit or draft.judged.about_user >= OWN)
    about = people or draft.people()
    if not about or (people and own):
        return Subtype.SELF
    return next((one for one in about if one is draft.subject), about[0]).subtype


def _facts(draft: Draft, contacts: Sequence[PersonDraft]) -> Iterator[Fact]:
    if draft.wish:
        yield Fact("answer_wish", draft.sentence.text)
    for value, subject in dict.fromkeys(draft.values) if is_believed(draft) else ():
        if subject is None or subject in contacts:
            yield Fact(value.key, value.value, subject.ref if subject else "")


def is_believed(draft: Draft) -> bool:
    """Whether a sentence is told as a fact, stands alone, and hardly does what need not be true."""
    untrue = draft.judged.act["suppose"] + _elsewhere(draft)
    return draft.before is None and untrue < UNTRUE and draft.judged.modality["fact"] >= FACT


def _last_day(hit: DateHit) -> datetime | None:
    """The beginning of the last day of a longer time."""
    if hit.at is None or hit.until is None or hit.until - hit.at <= timedelta(days=1):
        return None
    return hit.until - timedelta(days=1)


def _relations(contacts: Sequence[PersonDraft]) -> Iterator[ExtractedRelation]:
    for one in contacts:
        ties = [(one.role, one.owner)] if one.owner is not None and one.role else []
        for role, owner in (*ties, *one.ties):
            if owner in contacts:
                yield ExtractedRelation(one.ref, role, owner.ref, tuple(one.turns))
