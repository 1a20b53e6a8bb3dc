"""Reads a batch of turns into quotes, people and relations. A classifier judges what each sentence
does: one that surely states nothing about a life is left out, all others are quoted."""

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
from understanding.certainty import CONTACT_BORNE_OUT, CONTACT_NAME, CONTACT_ROLE, NOTE_THRESHOLD
from understanding.dates.relative_dates import DateHit, find_dates
from understanding.lexicon import words
from understanding.lexicon.rules import patterns
from understanding.statements.secrets import is_private
from understanding.statements.wordings import greets
from understanding.text import is_chinese, simplified

RE = patterns(__file__)
LONGEST_VALUE = 24  # characters of a value that is corrected

# Thresholds on sentences, chosen by their recall on authors whom the heads had not seen. A sentence
# is quoted from KEEP on (.99 of those worth a memory and .58 of the others, on a corpus of which
# half are not), unless the probability that it does something else reaches OTHER.
KEEP, OTHER = 0.05, 0.85
# A conversation about somebody continues for TALK turns of the user that name nobody. Without this,
# answers and additions were lost: T3 of docs/benchmarks.md fell from .925 to .906, with it to .919.
# The number was chosen on chats that the weights know.
TALK = 2
# A single word is quoted alone if its probability to be worth a memory reaches WORD.
WORD = 0.5
# Facts are read if the probability of acts that need not be true is below UNTRUE, and that of being
# stated as a fact at least FACT. From IMAGINED on, a sentence gives nobody a role.
UNTRUE, FACT, IMAGINED = 0.4, 0.5, 0.3
# Acts of sentences that state nothing about a life, and whose words need not be true.
ELSEWHERE = ("ask", "request", "forget", "paste", "fiction", "joke")
# From this probability on a memory is the user's own, whoever else it is about.
OWN = 0.5


def extract(request: ExtractionRequest) -> Extraction:
    """Returns the memories and people in a batch of turns."""
    return with_self_statements(_extracted(request), request, _extracted)


def _extracted(request: ExtractionRequest) -> Extraction:
    book = read(request)
    contacts = _extracted_people(book, {turn.id for turn in request.turns})
    return Extraction(
        people=tuple(one.extracted() for one in contacts),
        memories=tuple(_memory(draft, contacts) for draft in book.drafts),
        relations=tuple(_relations(contacts)),
        retracted_turn_ids=tuple(book.retracted),
        user_names=tuple(book.user_names),
        forget=tuple(dict.fromkeys(book.forget)),
    )


def read(request: ExtractionRequest) -> DraftBook:
    """Returns the drafts that are to be quoted of a batch, with its people."""
    circle, turns, user_names = understand(request)
    book = DraftBook(circle, user_names)
    reply: SpokenTurn | None = None
    for spoken in turns:
        if spoken.by_user:
            book.clock += 1
            _read_turn(book, spoken, reply)
            book.before_id = spoken.turn.id
            reply = None
        else:
            reply = spoken
    _select_drafts(book)
    return book


def _read_turn(book: DraftBook, spoken: SpokenTurn, reply: SpokenTurn | None) -> None:
    """Carries out what a turn asks for, and drafts what it states."""
    drafts = drafts_of(spoken)
    if reply is not None and drafts and drafts[0].sentence.start == 0 and drafts[0].is_fragment():
        drafts[0].before = _question_before(reply, drafts[0])
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
    """Whether ``text`` asks to make something (translate, write): what follows is part of it."""
    return bool(RE.makes.search(simplified(text)))


def _question_before(reply: SpokenTurn, answer: Draft) -> Before | None:
    """Returns the last question of the assistant's turn, with its mentions, or certain ones if the
    answer has a subject. None if it asks about nobody, or only about the user and the answer says
    no more than yes."""
    sentence, spots = last_question(reply) or (None, [])
    if answer.explicit:
        spots = [spot for spot in spots if spot.confidence >= NOTE_THRESHOLD]
    is_about_user = sentence and addresses(sentence.text) and not greets(answer.spoken.text)
    if sentence is None or not (is_about_user or any(spot.who for spot in spots)):
        return None
    return Before(sentence.whole, spots, reply.turn.said_at)


def _apply_correction(book: DraftBook, spoken: SpokenTurn, draft: Draft) -> bool:
    """Retracts what the user says was a joke, and returns True; or shows ``draft``, a correction,
    after the sentence that it corrects, whose draft it replaces, and returns False."""
    text = draft.sentence.text
    if RE.confesses_joke.search(simplified(text)):
        # The last turn of the user's with a draft, before this one if there is one, was a joke.
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
    """Returns the words that ``text`` calls wrong as it corrects them, or ""."""
    match = RE.contrast.search(simplified(text))
    if match is None:
        return ""
    groups = [name for name, words_of_it in match.groupdict().items() if words_of_it]
    new, old = (text[slice(*match.span(name))].strip() for name in sorted(groups))
    vague = any(word in old for word in words("grammar_zh", "no_value"))
    return old if not vague and old and new and old != new and len(old) <= LONGEST_VALUE else ""


def _select_drafts(book: DraftBook) -> None:
    """Removes drafts that surely state nothing about a life, or are private; joins a sentence that
    can't stand alone with the one before it."""
    drafts = [d for d in book.drafts if any(map(str.isalnum, d.sentence.text))]
    wanted = [d for d in drafts if d.spoken.wanted or d.extra_turns]
    about_people = _turns_about_people(drafts)
    of_nobody = [draft.turn_id not in about_people for draft in wanted]
    judged = judge([draft.sentence.whole for draft in wanted], of_nobody)
    for draft, judgement in zip(wanted, judged, strict=True):
        draft.judgement = judgement
    _forget_imagined_roles(book.circle, wanted)
    units: list[tuple[Draft, bool]] = []
    for draft in wanted:
        states = _may_state(draft)
        before = units[-1] if units and _needs_previous(draft) else None
        merged = joined(before[0], draft) if before and not before[0].wish else None
        if before is None or merged is None:
            units.append((draft, states))
        else:
            merged.judgement = draft.judgement if states and not before[1] else merged.judgement
            units[-1] = merged, states or before[1]
    selected = (unit for unit, states in units if states and not _is_lone_word(unit))
    book.drafts = [unit for unit in selected if not _is_private(unit)]


def _turns_about_people(drafts: Sequence[Draft]) -> set[int]:
    """Returns the ids of turns that mention somebody, and of the ``TALK`` turns after each, which
    may go on about them without a mention."""
    mentioning = {draft.turn_id for draft in drafts if draft.people()}
    turns = list(dict.fromkeys(draft.turn_id for draft in drafts))
    return {
        turn
        for at, turn in enumerate(turns)
        if not mentioning.isdisjoint(turns[max(0, at - TALK) : at + 1])
    }


def _needs_previous(draft: Draft) -> bool:
    """Whether a sentence needs the one before it, as it is too short or mentions nobody. A few
    words are not judged by themselves: a name or a place looks like a greeting."""
    asks = draft.sentence.end_mark[:1] in ("?", "？")
    if asks or draft.wish or greets(draft.sentence.text) or _other_act(draft) >= OTHER:
        return False
    return draft.is_fragment() or (not draft.explicit and not draft.spots)


def _is_lone_word(draft: Draft) -> bool:
    """Whether it is a single word that answers nothing and is hardly worth a memory."""
    alone = draft.before is None and not draft.wish and draft.size() < 2
    return alone and draft.judged.keep < WORD


def _is_private(draft: Draft) -> bool:
    """Whether its words contain a secret or a telephone number. Dates in its brackets are not read,
    as digits after a date look like a number."""
    text = " ".join([draft.before.text if draft.before else "", draft.words()])
    return is_private(text)


def _may_state(draft: Draft) -> bool:
    """Whether a sentence may state something about a life: an answer to a question does, though its
    few words don't show it, and so does a sentence with a subject that hardly does otherwise."""
    if draft.before is not None and not draft.extra_turns:
        # An answer that accepts or refuses an offer is only thanks.
        only_answers = draft.judged.act["greet"] >= OTHER or greets(draft.words())
        return not only_answers or not RE.offers.search(draft.before.text)
    if draft.before is not None or draft.wish:
        return True
    # With a subject it is no greeting; of somebody by name, short statements look like jokes to the
    # head (Ivo sold his boat).
    is_of_named = draft.subject is not None and draft.subject.named
    joke = draft.judged.act["joke"] if is_of_named else 0.0
    states = draft.explicit and _other_act(draft) - joke < UNTRUE
    does_else = _other_act(draft) + draft.judged.act["greet"] >= OTHER
    return states or (draft.judged.keep >= KEEP and not does_else)


def _other_act(draft: Draft) -> float:
    """Returns the probability that a sentence does one of the acts of ``ELSEWHERE``."""
    return sum(draft.judged.act[act] for act in ELSEWHERE)


def _extracted_people(book: DraftBook, wanted: set[int]) -> list[PersonDraft]:
    """Returns the people of the user's life whom the turns mention, and the owners of these."""
    mentioned = {one.ref for draft in book.drafts for one in draft.people()}
    contacts = [
        one
        for one in book.circle.people
        if set(one.turns) & wanted and _is_contact(one, is_quoted=one.ref in mentioned)
    ]
    owners = [one.owner for one in contacts if one.owner is not None and one.owner.owner is None]
    owners += [owner for one in contacts for _, owner in one.ties if owner.named]
    return [one for one in in_order(contacts) if one in contacts or one in owners]


def _forget_imagined_roles(circle: Circle, drafts: Sequence[Draft]) -> None:
    """Removes the roles of new named people that only sentences about imagined things (a dream)
    state; ``drafts`` are all sentences, quoted or not."""
    refs_with_role = {
        one.ref
        for draft in drafts
        if draft.judged.act["fiction"] + draft.judged.act["suppose"] < IMAGINED
        for spot in draft.spots
        if spot.how == "role"
        for one in spot.people
    }
    for one in circle.people:
        if one.contact_id is None and one.named and one.ref not in refs_with_role:
            one.role, one.owner = "", None


def _is_contact(one: PersonDraft, *, is_quoted: bool) -> bool:
    """Whether somebody is a person of the user's life: by a certain name, a less certain one used
    twice or with a role, or as the user's own relative about whom something is quoted."""
    if one.contact_id is not None:
        return True
    if one.named:
        is_confirmed = len(one.turns) > 1 or (one.role and not one.by_pronoun)
        return one.certainty >= (CONTACT_BORNE_OUT if is_confirmed else CONTACT_NAME)
    of_user = bool(one.role) and one.owner is None and not one.by_pronoun
    return is_quoted and of_user and one.certainty >= CONTACT_ROLE


def _memory(draft: Draft, contacts: Sequence[PersonDraft]) -> ExtractedMemory:
    content, brackets = draft.content()
    quote = draft.words()
    dates = find_dates(quote, draft.spoken.turn.said_at, is_chinese(quote))
    hits = _event_dates(quote, [hit for hit in dates if hit.at])
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


def _event_dates(quote: str, hits: Sequence[DateHit]) -> Sequence[DateHit]:
    """Returns the dates on which something happens: without those of denied clauses, if there are
    others (she can't come on the 4th, but on the 11th)."""
    ends = [match.span() for match in RE.clause_end.finditer(quote)]

    def is_denied(hit: DateHit) -> bool:
        start = max((end for _, end in ends if end <= hit.start), default=0)
        end = min((start for start, _ in ends if start >= hit.end), default=len(quote))
        return bool(RE.denies.search(simplified(quote[start:end])))

    return [hit for hit in hits if not is_denied(hit)] or hits


def _subtype(draft: Draft, people: Sequence[PersonDraft]) -> Subtype:
    """Returns SELF if the memory is about nobody else, or the user is its subject. If its people
    are no contacts it has their subtype all the same, so that it is linked once they are."""
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
    """Whether a sentence is stated as a fact, stands alone, and hardly does what may be untrue."""
    untrue = draft.judged.act["suppose"] + _other_act(draft)
    return draft.before is None and untrue < UNTRUE and draft.judged.modality["fact"] >= FACT


def _last_day(hit: DateHit) -> datetime | None:
    """Returns the beginning of the last day of a period longer than a day, else None."""
    if hit.at is None or hit.until is None or hit.until - hit.at <= timedelta(days=1):
        return None
    return hit.until - timedelta(days=1)


def _relations(contacts: Sequence[PersonDraft]) -> Iterator[ExtractedRelation]:
    for one in contacts:
        ties = [(one.role, one.owner)] if one.owner is not None and one.role else []
        for role, owner in (*ties, *one.ties):
            if owner in contacts:
                yield ExtractedRelation(one.ref, role, owner.ref, tuple(one.turns))
