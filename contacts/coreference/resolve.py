"""Pronouns, dropped subjects and role words of a message -> the contacts they mean.

The conversation is read once, turn by turn, each from left to right: names and strangers
come into focus, each pointing word goes to whoever of the right gender and number scores
best then. When that is nobody, or someone who is no contact, it means no contact.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from accounts.reasons import Reason
from contacts.coreference import role_features, zero_pronouns
from contacts.coreference import strangers as others
from contacts.coreference import weights as w
from contacts.coreference.anaphors import Anaphor, find_anaphors
from contacts.coreference.antecedents import Choice, agrees, choose
from contacts.coreference.discourse import Focus, Referent, Relation, clues
from contacts.coreference.strangers import Other
from contacts.coreference.syntax import HAN, SENTENCE_ENDS, STOPS
from contacts.coreference.utterance import Span, Turn, beside, inside, read_turn
from contacts.lexicon.rules import patterns
from contacts.matching.role_mentions import find_roles
from contacts.text import quotations, simplified
from contacts.types import Mention, Person, Utterance

lex = patterns("anaphora")

_POINTING = (
    lex.personal_en,
    lex.personal_zh,
    lex.demonstrative_zh,
    lex.demonstrative_en,
    lex.other_party,
    lex.renjia,
    lex.former_latter,
    lex.reply_request,
    lex.asked_of_person_en,
    lex.answer_en,
)


def refers_back(text: str) -> bool:
    """Whether ``text`` may mean a person without naming them, so that it is worth fetching
    the conversation. Errs towards yes: where it says no, :func:`resolve` finds nobody."""
    text = simplified(text[: w.MESSAGE_CHARACTERS])
    if any(pattern.search(text) for pattern in _POINTING):
        return True
    if others.role_words(text) or (quotations(text) and lex.you.search(text)):
        return True
    if any(word.whose == "other" for word in find_roles(text)):
        return True
    needed = w.ZERO_FROM - w.ZERO["answers_about_them"]
    return bool(HAN.search(text)) and zero_pronouns.zero_cues(text)[0] >= needed


def resolve(
    message: Utterance,
    history: Sequence[Utterance],
    last_session: Sequence[Utterance] = (),
    relations: Sequence[Relation] = (),
) -> list[Mention]:
    """The contacts that ``message`` means without naming them, in order of place; none when
    that isn't clear, all who fit when it is undecidable between them. Time is linear in the
    turns read, whose number and length are capped."""
    return resolve_turns(message, history, last_session, relations)[-1]


def resolve_turns(
    message: Utterance,
    history: Sequence[Utterance],
    last_session: Sequence[Utterance] = (),
    relations: Sequence[Relation] = (),
) -> list[list[Mention]]:
    """The same for each of the last turns of ``history`` that are read, and last for ``message``."""
    talk = _Conversation(relations)
    for turn in last_session[-w.LAST_SESSION_TURNS :]:
        _read(talk, turn, w.HISTORY_CHARACTERS)
    talk.focus.begin_session()
    talk.previous = talk.last_user = None
    found = [_read(talk, turn, w.HISTORY_CHARACTERS) for turn in history[-w.HISTORY_TURNS :]]
    return [*found, _read(talk, message, w.MESSAGE_CHARACTERS)]


def resolve_all(
    sessions: Sequence[Sequence[Utterance]], relations: Sequence[Relation] = ()
) -> list[list[Mention]]:
    """The same for every turn of ``sessions`` in a single reading, one list a turn."""
    talk = _Conversation(relations)
    found = []
    for session in sessions:
        talk.focus.begin_session()
        talk.previous = talk.last_user = None
        found += [_read(talk, turn, w.MESSAGE_CHARACTERS) for turn in session]
    return found


@dataclass(slots=True)
class _Conversation:
    """What has been read of a conversation up to the next turn."""

    relations: Sequence[Relation]
    focus: Focus = field(default_factory=Focus)
    previous: Utterance | None = None
    last_user: Utterance | None = None


def _read(talk: _Conversation, utterance: Utterance, limit: int) -> list[Mention]:
    """Take in a turn; the mentions of those that it means without naming them."""
    talk.focus.begin_turn()
    turn = read_turn(utterance, limit)
    _deny(talk, turn)
    found: list[Mention] = []
    # Who is spoken of at a place, for the kin words that hang on it.
    at: dict[int, tuple[Referent, ...]] = {}
    steps = _steps(talk, turn)
    for start, step in steps:
        if isinstance(step, Anaphor):
            at[start] = _point(talk.focus, step, turn, found)
        elif isinstance(step, Mention):
            one = talk.focus.person(step.person)
            _touch(talk.focus, one, turn, step.start, step.end)
            at[start] = (*at.get(start, ()), one)
        else:
            at[start] = (_bring_in(talk, step, turn, at, found),)
    points = any(isinstance(step, Anaphor) and step.form != "role" for _, step in steps)
    if not found and not points and turn.role == "user":
        found = _unspoken(talk, turn)
    talk.previous = utterance
    if utterance.role == "user":
        talk.last_user = utterance
    return found


def _steps(talk: _Conversation, turn: Turn) -> list[tuple[int, Mention | Anaphor | Other]]:
    """What a turn speaks of, from left to right."""
    text, spans = turn.text, turn.spans
    anaphors = [
        a
        for a in find_anaphors(text, turn.clauses)
        if not inside(a.start, spans)
        # 亮子他们, 小蔓那位: with the name, one word for others.
        and not (
            (a.number > 1 or a.form == "demonstrative") and any(end == a.start for _, end in spans)
        )
    ]
    owners = spans + [(a.start, a.end) for a in anaphors if a.number == 1]
    relatives = others.owned_kin(text, owners)
    relatives += [k for k in others.own_kin(text) if not _overlaps(k, spans)]
    role_words = _role_words(talk.focus, turn, relatives)
    roles = {(a.start, a.end) for a in role_words}
    anaphors += role_words
    taken = [*spans, *((a.start, a.end) for a in anaphors)]
    taken += [(k.start, k.end) for k in relatives]
    # What the assistant says of people at large is about nobody.
    strangers = [
        o
        for o in (others.strangers(text) if turn.role == "user" else ())
        if not _overlaps(o, taken)
        and (o.kind == "pet" or not beside(text, (o.start, o.end), spans))
    ]
    steps: list[tuple[int, int, Mention | Anaphor | Other]] = [
        # A bare role word that fits several (房东): the focus says which.
        *((m.start, 0, m) for m in turn.names if (m.start, m.end) not in roles),
        *((a.start, 1, a) for a in anaphors),
        *((o.start, 2, o) for o in (*relatives, *strangers)),
    ]
    ordered = sorted(steps, key=lambda step: step[:2])
    return [(start, step) for start, _, step in ordered[: w.MOST_STEPS]]


def _role_words(focus: Focus, turn: Turn, relatives: Sequence[Other]) -> list[Anaphor]:
    """Role words that may stand for a contact who was spoken of: 老板, the landlord."""
    return [
        Anaphor(start, end, turn.text[start:end], "role", turn.clauses.role(start, end), word=word)
        for start, end, word in others.role_words(turn.text)
        if not any(k.start <= start < k.end for k in relatives)
        and not inside(start, turn.exact)
        and not beside(turn.text, (start, end), turn.exact)
        and any(
            one.person is not None and role_features.is_called(one.person, word)
            for one in focus.referents.values()
            if one.distance(focus) <= w.REACH["role"] and not one.last_session
        )
    ]


def _point(focus: Focus, a: Anaphor, turn: Turn, found: list[Mention]) -> tuple[Referent, ...]:
    clause = turn.clause(a.start)
    ahead = _named_ahead(focus, a, turn)
    if ahead is not None:
        choice: Choice | None = Choice((ahead,), Reason("named_after"), w.CONFIDENCE["ahead"])
    else:
        choice = choose(a, turn.text, clause, focus)
    if choice is None:
        return ()
    found += _mentions(choice, turn, a.start, a.end)
    first, last = turn.clauses.span(clause)
    near = turn.text[max(first, a.start - w.CLUE_REACH) : min(last, a.end + w.CLUE_REACH)]
    grams = clues(near)
    for one in choice.all:
        focus.touch(one, a.role, clause, grams)
        one.by_pronoun = True
    if len(choice.all) == 1 and a.number == 1 and not choice.all[0].gender:
        choice.all[0].gender = a.gender
    return choice.all


def _bring_in(
    talk: _Conversation,
    other: Other,
    turn: Turn,
    at: dict[int, tuple[Referent, ...]],
    found: list[Mention],
) -> Referent:
    owners = at.get(other.owner, ())
    relative = _relative(talk.relations, other, owners)
    if relative is None:
        kind = "someone" if other.kind == "kin" else other.kind
        owner = owners[0].key if owners else None
        one = talk.focus.other(kind, other.word, other.gender, owner)
    else:
        one = talk.focus.person(relative)
        choice = Choice((one,), Reason("relative_of_meant", word=other.word), w.CONFIDENCE["kin"])
        found += _mentions(choice, turn, other.start, other.end)
    _touch(talk.focus, one, turn, other.start, other.end)
    return one


def _relative(
    relations: Sequence[Relation], word: Other, owners: Sequence[Referent]
) -> Person | None:
    """The contact who is the ``word`` of one of ``owners``, when one is known to be."""
    keys = {one.key for one in owners}
    fitting = {
        relation.subject.id: relation.subject
        for relation in relations
        if relation.object.id in keys
        and role_features.same_kind(word.word, relation.kind)
        and agrees(word.gender, role_features.person_gender(relation.subject))
    }
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _touch(focus: Focus, one: Referent, turn: Turn, start: int, end: int) -> None:
    """``one`` is spoken of at ``start:end`` of the turn."""
    text = turn.text
    clause = turn.clause(start)
    first, last = turn.clauses.span(clause)
    role = turn.clauses.role(start, end, turn.spans)
    before, after = text[max(first, start - w.CLUE_REACH) : start], text[end:last]
    # What follows, up to the next name, is still about them.
    following = bisect_left(turn.spans, (end, end))
    until = turn.spans[following][0] if following < len(turn.spans) else len(text)
    said = clues(before) | clues(after[: w.CLUE_REACH]) | clues(text[last:until])
    focus.touch(one, role, clause, said)
    if role in ("object", "oblique"):
        transfer = lex.transfer.search(text, first, last)
        one.goal = transfer is not None and transfer.end() <= start + 1
        one.addressee = bool(lex.speaks_to_zh.search(before)) and "说" in after
    one.source = one.kind == "someone" and bool(lex.quoted_as_source.match(text[end:]))
    one.presented = one.kind == "someone" and bool(lex.presented.search(before))
    one.associates = bool(lex.associates.match(after)) or role_features.names_several(
        text[start:end]
    )
    one.in_passing = bool(lex.in_passing.match(after))
    one.by_pronoun = False
    not_after = lex.said_instead.search(text) and lex.denied_after.match(after)
    one.denied = bool(lex.denied_before.search(before) or not_after)


def _deny(talk: _Conversation, turn: Turn) -> None:
    """The user says no to whom the assistant just brought up as the one meant."""
    previous = talk.previous
    if previous is None or previous.role != "assistant" or turn.role != "user":
        return
    if lex.denied.match(turn.text) and lex.proposed.search(previous.text):
        for mention in previous.mentions:
            one = talk.focus.referents.get(mention.person.id)
            if one and one.turns == {talk.focus.turn - 1}:
                one.denied = True


def _named_ahead(focus: Focus, a: Anaphor, turn: Turn) -> Referent | None:
    """The name that a pronoun points ahead to: 还没等她开口，文文就…"""
    if a.form != "personal" or a.number > 1:
        return None
    text, clause = turn.text, turn.clause(a.start)
    ahead = next(
        (
            m
            for m in turn.names
            if m.start > a.end
            and turn.clause(m.start) > clause
            and agrees(a.gender, role_features.person_gender(m.person))
        ),
        None,
    )
    if ahead is None:
        return None
    between = text[a.end : ahead.start]
    one = focus.person(ahead.person)
    if lex.named_after.search(between):
        return one
    if turn.clauses.role(ahead.start, ahead.end) != "subject":
        return None
    sentence = max(text.rfind(mark, 0, a.start) for mark in SENTENCE_ENDS) + 1
    subordinate = lex.subordinate_start.match(text[sentence:])
    if subordinate and not any(mark in between for mark in SENTENCE_ENDS):
        return one
    spoken_of = any(
        known.person and known.turns and agrees(a.gender, known.gender)
        for known in focus.referents.values()
    )
    return None if spoken_of else one


def _unspoken(talk: _Conversation, turn: Turn) -> list[Mention]:
    drafted = zero_pronouns.addressee(turn.text, talk.last_user)
    if drafted is not None:
        person, start, end = drafted
        choice = Choice(
            (talk.focus.person(person),), Reason("draft_addressee"), w.CONFIDENCE["you"]
        )
        return _mentions(choice, turn, start, end)
    if turn.names:
        return []
    answering = talk.previous if talk.previous and talk.previous.role == "assistant" else None
    topic = zero_pronouns.dropped_subject(turn.text, answering, talk.last_user, talk.focus)
    if topic is None:
        return []
    one, reason = topic
    end = len(turn.text[: turn.clauses.span(0)[1]].rstrip(STOPS)) or len(turn.text)
    talk.focus.touch(one, "subject", 0, clues(turn.text))
    return _mentions(Choice((one,), reason, w.CONFIDENCE["zero"]), turn, 0, end)


def _mentions(choice: Choice, turn: Turn, start: int, end: int) -> list[Mention]:
    people: dict[Hashable, Person] = {
        one.person.id: one.person for one in choice.all if one.person is not None
    }
    sure = round(max(0.1, choice.confidence), 2)
    text = turn.original[start:end]
    return [
        Mention(person, start, end, text, "pronoun", sure, choice.reason)
        for person in people.values()
    ]


def _overlaps(other: Other, spans: Sequence[Span]) -> bool:
    return any(other.start < end and start < other.end for start, end in spans)
