"""Who a message means: the only reads on the hot path, at most two statements."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from accounts.models import EndUser
from contacts.cards import Card, stored_with_coming
from contacts.key_index import Hit, hits, person_of, relations_of
from contacts.models import Contact
from understanding.attribute_index import DAY
from understanding.attributes import YEARLY
from understanding.coreference.discourse import staying
from understanding.coreference.resolve import HISTORY_CHARACTERS, refers_back, resolve_turns
from understanding.dates.important_dates import days_that_matter, next_on, read
from understanding.people.mentions import find_people, keys_in, told_apart
from understanding.text_document import read as read_document
from understanding.types import Entry, Mention, Person, Utterance

# Turns of a conversation that pronouns may reach back to.
HISTORY = 12
# So many of the user's turns are within that reach where the assistant answers each.
MOST_STAY = HISTORY // 2
# Of a longer message the beginning says whom it is about; it bounds the time of a lookup.
CHARACTERS = 4000
# So many turns a process remembers, with the mentions in them, by end user: nobody can tell by the
# time it takes what others said. It lies in memory alone, and is gone with the process.
REMEMBERED = 1024


class Turn(NamedTuple):
    """A turn of a conversation; ``understood`` are the contacts whom extraction found it to be
    about; ``at`` is when it was said, None where that is not stored."""

    role: str
    text: str
    understood: tuple[UUID, ...] = ()
    at: datetime | None = None


Turns = Callable[[], tuple[Sequence[Turn], Sequence[Turn]]]


class NearDate(NamedTuple):
    """An important date of a contact (None: the end user) that comes soon; ``years`` as
    ``Occurrence`` has them."""

    contact: UUID | None
    name: str
    kind: str
    on: date
    years: int | None


class Candidate(NamedTuple):
    """A contact whom a message may mean, with its card."""

    person: Person
    card: Card


class People(NamedTuple):
    """``cards`` are those of everyone who was found, by id; ``talked_of`` are whom turns of the
    session mention, by id."""

    mentions: list[Mention]
    cards: dict[UUID, Card]
    near: tuple[NearDate, ...]
    talked_of: Mapping[UUID, Person] = {}


def look_up(end_user: EndUser, message: str, turns: Turns, stay: int = 0) -> People:
    """The mentions in ``message``, pronouns resolved, with the cards of those meant, and the
    important dates that are near. Behind them, whom the conversation is still about, for up to
    ``stay`` messages after they were meant last. Nobody who is archived is among them.

    ``turns`` gives the turns of the session and those of the session before; it is called only when
    the message refers back, or somebody may stay. At most two statements: the turns, if they are
    read from the database, and one lookup for all texts together."""
    message = message[:CHARACTERS]
    today = end_user.day_of_talk
    span, keys_of_days = days_that_matter(message, today)
    days = [DAY + key for key in keys_of_days]
    document = read_document(message)
    back = refers_back(message)
    session, before = (
        [turn._replace(text=turn.text[:HISTORY_CHARACTERS]) for turn in part]
        for part in (turns() if back or stay else ([], []))
    )
    if not back:
        session, before = session[-2 * stay :], []
    if not back and not session:
        key_hits = hits(end_user, keys_in(document), days=days)
        named = find_people(document, _entries(key_hits))
        return _people(end_user, message, named, _known(key_hits), today, span)
    turns_read = [*session, *before]
    of_turns = (_turn_keys(end_user.pk, turn.text) for turn in turns_read)
    wanted = keys_in(document).union(*of_turns)
    understood = {pk for turn in turns_read for pk in turn.understood}
    key_hits = hits(end_user, wanted, days=days, contacts=sorted(understood), related=True)
    in_focus = {UUID(hit.known["id"]): hit.entry.person for hit in key_hits if not hit.key}
    entries = _entries(key_hits)
    named = find_people(document, entries)
    related, known = relations_of(key_hits)
    said = _utterances(end_user, session, entries, in_focus)
    *earlier, meant = resolve_turns(
        Utterance("user", message, tuple(named)),
        said,
        _utterances(end_user, before, entries, in_focus),
        related,
    )
    by_name = {mention.person.id for mention in named}
    meant = [mention for mention in meant if mention.person.id not in by_name]
    mentions = sorted([*named, *meant], key=lambda mention: mention.start)
    users = [
        [*turn.mentions, *more]
        for turn, more in zip(said[-len(earlier) :], earlier, strict=True)
        if turn.role == "user"
    ]
    mentions += staying(users, mentions, stay)
    # Who is only in focus is in no text.
    shown = {mention.person.id for mention in mentions}
    known |= _known(hit for hit in key_hits if hit.key or UUID(hit.known["id"]) in shown)
    people = _people(end_user, message, mentions, known, today, span)
    return people._replace(talked_of=_talked_of(said, earlier))


def _talked_of(
    turns: Sequence[Utterance], earlier: Iterable[Iterable[Mention]]
) -> dict[UUID, Person]:
    """Whom turns mention, in words or as a pronoun (``earlier``), or are found to be about."""
    mentioned = [mention.person for turn in turns for mention in turn.mentions]
    mentioned += [mention.person for turn in earlier for mention in turn]
    mentioned += [person for turn in turns for person in turn.understood]
    return {person.id: person for person in mentioned}


def candidates(
    end_user: EndUser, texts: Sequence[str], first: Iterable[Candidate], most: int
) -> list[Candidate]:
    """Whom a message may mean, at most so many: the ``first``, those whom ``texts`` name (the
    message, then the turns before it, the latest first), those whom words of the texts may mean at
    all, and who was mentioned last. Nobody who is archived. Two statements."""
    shown = [text[:CHARACTERS] for text in texts]
    found = hits(end_user, frozenset().union(*map(keys_in, shown)))
    recent = Contact.objects.of(end_user).listed().order_by("-last_mentioned_at", "id")[:most]
    columns = ("id", "name", "aliases", "relationship", "gender", "card", "coming")
    known = {
        row["id"]: {**row, "id": str(row["id"]), "archived": False}
        for row in recent.values(*columns)
    }
    latest = list(known)
    known |= _known(found)
    entries = _entries(found)
    named = [mention.person.id for text in shown for mention in find_people(text, entries)]
    alike = [UUID(hit.known["id"]) for hit in found if hit.how in ("name", "alias", "kinship")]
    given = {one.person.id: one for one in first}
    wanted = [pk for pk in dict.fromkeys([*named, *alike, *latest]) if pk not in given]
    there = {pk: known[pk] for pk in wanted if not known[pk]["archived"]}
    cards = cards_of(end_user, there)
    others = [Candidate(person_of(contact), cards[pk]) for pk, contact in there.items()]
    return [*given.values(), *others][:most]


def _people(
    end_user: EndUser,
    message: str,
    mentions: list[Mention],
    known: Mapping[UUID, dict[str, Any]],
    today: date,
    span: timedelta,
) -> People:
    """Without those who are archived: they were read, so that nobody else is taken for them."""
    there = {pk: one for pk, one in known.items() if not one["archived"]}
    standing = [mention for mention in mentions if mention.person.id in there]
    mentions = told_apart(message, standing, {pk: one["card"] for pk, one in there.items()})
    near = [*_own_dates(end_user, today), *_dates(there, today)]
    near = [one for one in near if one.on - today <= span]
    near.sort(key=lambda one: (one.on, one.name))
    return People(mentions, cards_of(end_user, there), tuple(near))


def _dates(known: Mapping[UUID, dict[str, Any]], today: date) -> Iterator[NearDate]:
    for pk, contact in known.items():
        for entry in contact["coming"]:
            day = read(entry.get("value", ""))
            if day is not None and (found := next_on(day, today)) is not None:
                yield NearDate(pk, contact["name"], entry["kind"], found.on, found.years)


def _own_dates(end_user: EndUser, today: date) -> Iterator[NearDate]:
    """When the user's own come next: of a kind that which was told last."""
    kinds = set()
    for told in end_user.own_facts:
        day = read(told["value"]) if told["kind"] in YEARLY else None
        if told["kind"] in kinds or day is None:
            continue
        kinds.add(told["kind"])
        if (found := next_on(day, today)) is not None:
            yield NearDate(None, "", told["kind"], found.on, found.years)


def _entries(found: Iterable[Hit]) -> list[Entry]:
    return [hit.entry for hit in found if hit.key and not hit.key.startswith(DAY)]


@lru_cache(maxsize=REMEMBERED)
def _turn_keys(_whose: int, text: str) -> frozenset[str]:
    return keys_in(text)


@lru_cache(maxsize=REMEMBERED)
def _turn_mentions(_whose: int, text: str, entries: tuple[Entry, ...]) -> tuple[Mention, ...]:
    return tuple(find_people(text, entries))


def _utterances(
    end_user: EndUser,
    turns: Iterable[Turn],
    entries: Sequence[Entry],
    in_focus: Mapping[UUID, Person],
) -> list[Utterance]:
    """The turns with their mentions, which are the same for every message until a contact whom
    they may name changes."""

    def within(text: str) -> tuple[Entry, ...]:
        keys = _turn_keys(end_user.pk, text)
        return tuple(entry for entry in entries if entry.key.key in keys)

    return [
        Utterance(
            turn.role,
            turn.text,
            _turn_mentions(end_user.pk, turn.text, within(turn.text)),
            tuple(in_focus[pk] for pk in turn.understood if pk in in_focus),
        )
        for turn in turns
    ]


def _known(found: Iterable[Hit]) -> dict[UUID, dict[str, Any]]:
    return {UUID(hit.known["id"]): hit.known for hit in found}


def cards_of(end_user: EndUser, known: Mapping[UUID, dict[str, Any]]) -> dict[UUID, Card]:
    """The cards of contacts as the index gives them, with what comes soon."""
    today, language = end_user.day_of_talk, end_user.reads
    return {
        pk: stored_with_coming(contact["card"], contact["coming"], today, language)
        for pk, contact in known.items()
    }
