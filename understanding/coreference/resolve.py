"""Resolves the pronouns, dropped subjects and role words of a message to contacts.

The conversation is read once, turn by turn, each from left to right: named people come into focus,
and a model gives for each anaphor the probability of each of them. An anaphor that refers to
nobody, or to somebody who is no contact, has no mention.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from accounts.reasons import Reason
from understanding import roles
from understanding.certainty import MENTION_THRESHOLD, RELATIVE
from understanding.coreference import antecedents
from understanding.coreference.anaphors import (
    Anaphor,
    Relative,
    Turn,
    beside,
    find_anaphors,
    inside,
    lex,
    named_relatives,
    read_turn,
    relatives_of,
)
from understanding.coreference.antecedents import Antecedents, Choice, Features, Scene, agrees
from understanding.coreference.discourse import Focus, Referent, Relation
from understanding.lexicon.rules import patterns
from understanding.types import Mention, Person, Utterance

# Limits of what is read: turns, and the characters at the beginning of each.
HISTORY_TURNS = 12
LAST_SESSION_TURNS = 8
# An antecedent is at most this many turns back. Chosen on held-out authors: with 12, .727
# of the cases are exact and .674 of chats right, with 8 .731 and .683, with 6 .731 and .677.
REACH_TURNS = 8
MESSAGE_CHARACTERS = 2000
HISTORY_CHARACTERS = 600
# Limits: names and anaphors per turn, candidates per anaphor.
_MOST_STEPS = 100
_MOST_CANDIDATES = 12

_FIRST_PERSON = patterns("first_person")

_Step = Mention | Anaphor | Relative
# The people at each position, with their probabilities, as owners of kin words after it.
_Owners = dict[int, tuple[tuple[Referent, float], ...]]


def refers_back(text: str) -> bool:
    """Whether ``text`` may refer to a person without a name, so that it is worth fetching the
    conversation. Errs towards True: if it is False, :func:`resolve_turns` finds nobody."""
    turn, anaphors = _read_alone(text)
    return bool(anaphors or lex.owned.search(turn.text)) or _may_drop_subject(turn)


def may_refer_to_one(text: str) -> bool:
    """Whether ``text`` may refer to one person without a name: by an anaphor or a dropped subject.
    Plurals do not count, since they mostly mean people in general."""
    turn, anaphors = _read_alone(text)
    return any(a.number == 1 for a in anaphors) if anaphors else _may_drop_subject(turn)


def _read_alone(text: str) -> tuple[Turn, list[Anaphor]]:
    turn = read_turn(Utterance("user", text), MESSAGE_CHARACTERS)
    return turn, find_anaphors(turn)


def _may_drop_subject(turn: Turn) -> bool:
    sentence = antecedents.of_sentence(turn, [])
    return bool(turn.words) and antecedents.learned().leaves_out(sentence)


def resolve_turns(
    message: Utterance,
    history: Sequence[Utterance],
    last_session: Sequence[Utterance] = (),
    relations: Sequence[Relation] = (),
) -> list[list[Mention]]:
    """Returns, for each of the last turns of ``history`` and then for ``message``, the mentions of
    contacts without a name, by position: none if it is unclear who is meant, all who fit if the
    model cannot decide. Takes time linear in the turns read, whose number and length are capped."""
    talk = Conversation(relations)
    talk.read_session(last_session[-LAST_SESSION_TURNS:], HISTORY_CHARACTERS)
    earlier_mentions = talk.read_session(history[-HISTORY_TURNS:], HISTORY_CHARACTERS)
    return [*earlier_mentions, talk.read(message, MESSAGE_CHARACTERS)]


def resolve_all(
    sessions: Sequence[Sequence[Utterance]], relations: Sequence[Relation] = ()
) -> list[list[Mention]]:
    """Returns the same for every turn of ``sessions`` from a single reading, one list per turn."""
    talk = Conversation(relations)
    return [
        result for session in sessions for result in talk.read_session(session, MESSAGE_CHARACTERS)
    ]


@dataclass(slots=True)
class Conversation:
    """A conversation as far as it has been read."""

    relations: Sequence[Relation] = ()
    model: Antecedents = field(default_factory=antecedents.learned)
    focus: Focus = field(default_factory=Focus)
    understood: frozenset[UUID] = frozenset()

    def read_session(self, session: Sequence[Utterance], limit: int) -> list[list[Mention]]:
        """Starts a session and reads its turns, up to ``limit`` characters each."""
        self.focus.begin_session()
        return [self.read(utterance, limit) for utterance in session]

    def read(self, utterance: Utterance, limit: int) -> list[Mention]:
        """Adds a turn to the conversation; returns the mentions in it that are not by name."""
        turn = read_turn(utterance, limit)
        self.focus.begin_turn(turn.role, turn.text)
        self.understood = frozenset(person.id for person in utterance.understood)
        mentions: list[Mention] = []
        owners: _Owners = {}
        steps = _steps(turn)
        anaphors = [step for _, step in steps if isinstance(step, Anaphor)]
        sentence = antecedents.of_sentence(turn, anaphors)
        for start, step in steps:
            if isinstance(step, Anaphor):
                owners[start] = self._resolve(step, turn, sentence, mentions)
            elif isinstance(step, Mention):
                referent = self.focus.person(step.person)
                self.focus.touch(referent, turn.clause(start))
                owners[start] = (*owners.get(start, ()), (referent, RELATIVE))
            else:
                owners[start] = (self._resolve_relative(step, turn, owners, mentions),)
        has_person = turn.names or any(a.form == "personal" for a in anaphors)
        may_leave_out = turn.role == "user" and turn.words and not has_person
        if may_leave_out and not turn.is_of_user() and self.model.leaves_out(sentence):
            start, end = turn.first_clause()
            unspoken = Anaphor(start, end, turn.text[start:end], "unspoken")
            self._resolve(unspoken, turn, sentence, mentions)
        self._add_understood(utterance.understood, turn)
        return mentions

    def _add_understood(self, people: Sequence[Person], turn: Turn) -> None:
        """Brings into focus the people that the turn is known to be about and does not mention."""
        spoken_of = self.focus.past_turns[-1].keys
        for person in people:
            if person.id not in spoken_of:
                self.focus.touch(
                    self.focus.person(person), len(turn.clauses) - 1, without_name=True
                )

    def _resolve(
        self, a: Anaphor, turn: Turn, sentence: Features, mentions: list[Mention]
    ) -> tuple[tuple[Referent, float], ...]:
        """Returns the antecedents of ``a``, contacts or not, and adds contacts to ``mentions``."""
        focus, clause = self.focus, turn.clause(a.start)
        candidates = _candidates(focus, a, turn)
        # In a turn that was understood, an anaphor refers to somebody the turn is about.
        understood = [one for one in candidates if one.person and one.person.id in self.understood]
        candidates = understood or candidates
        if candidates:
            scene = Scene(a, turn, focus, focus.before(), candidates, sentence)
            choice = self.model.choose(scene)
            if choice is not None:
                return self._accept(choice, a, turn, mentions)
        if a.group == "noun":
            # Somebody else, who may own the role words after it.
            one = focus.other(a.word or a.text, a.gender, None)
            focus.touch(one, clause)
            return ((one, 0.0),)
        return ()

    def _accept(
        self, choice: Choice, a: Anaphor, turn: Turn, mentions: list[Mention]
    ) -> tuple[tuple[Referent, float], ...]:
        for one, likely in choice.all:
            if likely >= MENTION_THRESHOLD and one.last.turn >= 0:
                self.focus.touch(one, turn.clause(a.start), without_name=True)
                one.gender = one.gender or (a.gender if a.number == 1 else "")
        mentions += self._mentions(choice, turn, a.start, a.end)
        return choice.all

    def _resolve_relative(
        self, word: Relative, turn: Turn, people: _Owners, mentions: list[Mention]
    ) -> tuple[Referent, float]:
        owners = people.get(word.owner, ())
        relative = _relative(self.relations, word, [one for one, _ in owners])
        confidence = min((likely for _, likely in owners), default=0.0)
        if relative is None:
            owner = owners[0][0].key if owners else None
            one = self.focus.other(word.word, word.gender, owner)
        else:
            one = self.focus.person(relative)
            choice = Choice(((one, confidence),), Reason("relative_of_meant", word=word.word))
            mentions += self._mentions(choice, turn, word.start, word.end)
        self.focus.touch(one, turn.clause(word.start))
        return one, confidence

    def _mentions(self, choice: Choice, turn: Turn, start: int, end: int) -> list[Mention]:
        text = turn.original[start:end]
        return [
            Mention(one.person, start, end, text, "pronoun", self._score(choice, p), choice.reason)
            for one, p in choice.all
            if one.person is not None
        ]

    def _score(self, choice: Choice, probability: float) -> float:
        """Returns the confidence in a person; people who can't be told apart keep their share."""
        confidence = probability if choice.undecided else self.model.confidence(probability)
        return max(0.01, round(confidence, 2))


def _steps(turn: Turn) -> list[tuple[int, _Step]]:
    """Returns the names, anaphors and relatives of a turn with their positions, in order."""
    text, spans = turn.text, turn.spans
    anaphors = [
        a
        for a in find_anaphors(turn)
        if not inside((a.start, a.end), spans)
        # 亮子他们, 阿岑那位: one word with the name, for others.
        and (a.group == "personal" or not beside(text, (a.start, a.end), spans))
    ]
    owners = spans + [(a.start, a.end) for a in anaphors if a.number == 1]
    relatives = relatives_of(text, owners)
    relative_spans = [(one.start, one.end) for one in relatives]
    anaphors = [
        a for a in anaphors if a.group != "noun" or not inside((a.start, a.end), relative_spans)
    ]
    steps: list[tuple[int, int, _Step]] = [
        *((m.start, 0, m) for m in turn.names),
        *((a.start, 1, a) for a in anaphors),
        *((one.start, 2, one) for one in relatives),
    ]
    ordered = sorted(steps, key=lambda step: step[:2])
    return [(start, step) for start, _, step in ordered[:_MOST_STEPS]]


def _candidates(focus: Focus, a: Anaphor, turn: Turn) -> list[Referent]:
    """Returns the possible antecedents: people mentioned before, latest first, or named later."""
    relatives, word = named_relatives(a, turn), turn.owned_by(a.end)
    near = [
        one
        for one in focus.near(REACH_TURNS)
        if agrees(a.gender, one.gender)
        # The person known as the daughter is not the owner in "her daughter".
        and (not one.person or (one.person.id not in relatives and one.person.name != word))
    ]
    # People of the session before are candidates if this one has mentioned nobody who fits, and for
    # a role word only those known in the role: the report may be one to read.
    present = [one for one in near if not focus.is_earlier(one)]
    if any(one.person for one in present):
        near = present
    elif roles.is_role(a.word):
        near = [
            one
            for one in near
            if not focus.is_earlier(one) or (one.person and roles.is_called(one.person, a.word))
        ]
    clause = turn.clause(a.start)
    named_until = max((m.end for m in turn.names if m.end <= a.start), default=0)
    begins = max(turn.clauses[clause], named_until)
    user_before = _FIRST_PERSON.spoken.search(turn.text, begins, a.start)
    if a.case == "object" and not user_before:
        # Not the subject of its own clause (Tash drove her home): principle B of the binding theory
        # (Chomsky 1981). If the user comes between, it may be (Tash asked me to drive her).
        near = [one for one in near if not focus.is_subject(one, clause)]
    near = near[:_MOST_CANDIDATES]
    if a.group == "personal":
        later_people = dict.fromkeys(m.person for m in turn.names if m.start >= a.end)
        later = (focus.person(person) for person in later_people if person.id not in relatives)
        near += [one for one in later if one.last.turn < 0 and agrees(a.gender, one.gender)]
    return near


def _relative(
    relations: Sequence[Relation], word: Relative, owners: Sequence[Referent]
) -> Person | None:
    """Returns the contact who is the ``word`` of one of ``owners``, if exactly one is known."""
    keys: set[Hashable] = {one.key for one in owners}
    fitting = {
        relation.subject.id: relation.subject
        for relation in relations
        if relation.object.id in keys
        and roles.same_kind(word.word, relation.kind)
        and agrees(word.gender, roles.person_gender(relation.subject))
    }
    return next(iter(fitting.values())) if len(fitting) == 1 else None
