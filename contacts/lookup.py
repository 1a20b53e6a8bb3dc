"""Whom a message refers to: the only reads on the hot path, at most two statements."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from accounts.models import EndUser
from contacts.cards import Card, with_coming
from contacts.key_index import Hit, hits, person_of, relations_of
from contacts.models import Contact
from understanding.attribute_index import DAY
from understanding.attributes import YEARLY
from understanding.coreference.discourse import staying
from understanding.coreference.resolve import HISTORY_CHARACTERS, refers_back, resolve_turns
from understanding.dates.important_dates import days_that_matter, next_on, read
from understanding.people.mentions import find_people, keys_in, without_excluded_namesakes
from understanding.text_document import read as read_document
from understanding.types import Entry, Mention, Person, Utterance

HISTORY = 12  # turns of a conversation that pronouns may reach back to
MOST_STAY = HISTORY // 2  # the user's turns within that reach, if the assistant answers each
CHARACTERS = 4000  # of a message, whose beginning states whom it is about: bounds the time
# Turns that a process caches with the mentions in them, in memory only. The end user is part of the
# key, so nobody can tell by the time it takes what others said.
REMEMBERED = 1024


class Turn(NamedTuple):
    """A turn of a conversation; ``understood`` are the contacts that it is about, as extraction
    found; ``at`` is when it was said, None if that is not stored."""

    role: str
    text: str
    understood: tuple[UUID, ...] = ()
    at: datetime | None = None


Turns = Callable[[], tuple[Sequence[Turn], Sequence[Turn]]]


class NearDate(NamedTuple):
    """A near important date of a contact (None: the end user); ``years`` as in ``Occurrence``."""

    contact: UUID | None
    name: str
    kind: str
    on: date
    years: int | None


class Candidate(NamedTuple):
    """A contact that a message may refer to, with its card."""

    person: Person
    card: Card


class People(NamedTuple):
    """The people of a message: ``cards`` of everyone who was found, by id; ``people_in_session``:
    the people in turns of the session, by id."""

    mentions: list[Mention]
    cards: dict[UUID, Card]
    near_dates: tuple[NearDate, ...]
    people_in_session: Mapping[UUID, Person] = {}


def look_up(end_user: EndUser, message: str, turns: Turns, stay_messages: int = 0) -> People:
    """Returns the mentions in ``message``, pronouns resolved, with the cards of the people referred
    to, and the important dates that are near. After them come people whom the conversation is still
    about, for up to ``stay_messages`` messages after their last mention. Archived contacts are left
    out.

    ``turns`` returns the turns of the session and those of the session before; it is called only if
    the message refers back, or somebody may stay. At most two statements: the turns, if they are
    read from the database, and one lookup for all texts together."""
    message = message[:CHARACTERS]
    today = end_user.day_of_talk
    span, keys_of_days = days_that_matter(message, today)
    days = [DAY + key for key in keys_of_days]
    document = read_document(message)
    refers = refers_back(message)
    session, previous = (
        [turn._replace(text=turn.text[:HISTORY_CHARACTERS]) for turn in part]
        for part in (turns() if refers or stay_messages else ([], []))
    )
    if not refers:
        session, previous = session[-2 * stay_messages :], []
    if not refers and not session:
        key_hits = hits(end_user, keys_in(document), days=days)
        direct = find_people(document, _name_entries(key_hits))
        return _visible(end_user, message, direct, _contacts_of(key_hits), today, span)
    turns_read = [*session, *previous]
    keys_of_turns = (_turn_keys(end_user.pk, turn.text) for turn in turns_read)
    keys = keys_in(document).union(*keys_of_turns)
    understood = {pk for turn in turns_read for pk in turn.understood}
    key_hits = hits(end_user, keys, days=days, contacts=sorted(understood), related=True)
    in_focus = {UUID(hit.contact["id"]): hit.entry.person for hit in key_hits if not hit.key}
    entries = _name_entries(key_hits)
    direct = find_people(document, entries)
    related, contacts = relations_of(key_hits)
    utterances = _read_turns(end_user, session, entries, in_focus)
    *earlier, resolved = resolve_turns(
        Utterance("user", message, tuple(direct)),
        utterances,
        _read_turns(end_user, previous, entries, in_focus),
        related,
    )
    by_name = {mention.person.id for mention in direct}
    resolved = [mention for mention in resolved if mention.person.id not in by_name]
    mentions = sorted([*direct, *resolved], key=lambda mention: mention.start)
    user_mentions = [
        [*turn.mentions, *more]
        for turn, more in zip(utterances[-len(earlier) :], earlier, strict=True)
        if turn.role == "user"
    ]
    mentions += staying(user_mentions, mentions, stay_messages)
    # People who are only in focus are in no text.
    shown = {mention.person.id for mention in mentions}
    contacts |= _contacts_of(hit for hit in key_hits if hit.key or UUID(hit.contact["id"]) in shown)
    people = _visible(end_user, message, mentions, contacts, today, span)
    return people._replace(people_in_session=_people_in_session(utterances, earlier))


def _people_in_session(
    turns: Sequence[Utterance], earlier: Iterable[Iterable[Mention]]
) -> dict[UUID, Person]:
    """The people whom turns mention, by name or by pronoun (``earlier``), or are about, by id."""
    mentioned = [mention.person for turn in turns for mention in turn.mentions]
    mentioned += [mention.person for turn in earlier for mention in turn]
    mentioned += [person for turn in turns for person in turn.understood]
    return {person.id: person for person in mentioned}


def candidates(
    end_user: EndUser, texts: Sequence[str], first: Iterable[Candidate], most: int
) -> list[Candidate]:
    """Returns at most ``most`` contacts that a message may refer to: the ``first``, those whom
    ``texts`` name (the message, then the turns before it, the latest first), those of which a key
    is in the texts, and the last mentioned. No archived contacts. Two statements."""
    shown = [text[:CHARACTERS] for text in texts]
    matches = hits(end_user, frozenset().union(*map(keys_in, shown)))
    recent = Contact.objects.of(end_user).listed().order_by("-last_mentioned_at", "id")[:most]
    columns = ("id", "name", "aliases", "relationship", "gender", "card", "coming")
    contacts = {
        row["id"]: {**row, "id": str(row["id"]), "archived": False}
        for row in recent.values(*columns)
    }
    latest = list(contacts)
    contacts |= _contacts_of(matches)
    entries = _name_entries(matches)
    named_ids = [mention.person.id for text in shown for mention in find_people(text, entries)]
    similar = [
        UUID(hit.contact["id"]) for hit in matches if hit.how in ("name", "alias", "kinship")
    ]
    chosen = {candidate.person.id: candidate for candidate in first}
    wanted = [pk for pk in dict.fromkeys([*named_ids, *similar, *latest]) if pk not in chosen]
    listed = {pk: contacts[pk] for pk in wanted if not contacts[pk]["archived"]}
    cards = cards_of(end_user, listed)
    more = [Candidate(person_of(contact), cards[pk]) for pk, contact in listed.items()]
    return [*chosen.values(), *more][:most]


def _visible(
    end_user: EndUser,
    message: str,
    mentions: list[Mention],
    contacts: Mapping[UUID, dict[str, Any]],
    today: date,
    span: timedelta,
) -> People:
    """The result without archived contacts, read only so that nobody else is taken for them."""
    visible = {pk: one for pk, one in contacts.items() if not one["archived"]}
    standing = [mention for mention in mentions if mention.person.id in visible]
    mentions = without_excluded_namesakes(
        message, standing, {pk: one["card"] for pk, one in visible.items()}
    )
    near = [*_own_dates(end_user, today), *_near_dates(visible, today)]
    near = [one for one in near if one.on - today <= span]
    near.sort(key=lambda one: (one.on, one.name))
    return People(mentions, cards_of(end_user, visible), tuple(near))


def _near_dates(contacts: Mapping[UUID, dict[str, Any]], today: date) -> Iterator[NearDate]:
    """Yields the next important dates of contacts."""
    for pk, contact in contacts.items():
        for entry in contact["coming"]:
            day = read(entry.get("value", ""))
            if day is not None and (occurrence := next_on(day, today)) is not None:
                yield NearDate(pk, contact["name"], entry["kind"], occurrence.on, occurrence.years)


def _own_dates(end_user: EndUser, today: date) -> Iterator[NearDate]:
    """Yields the user's own next important dates; of each kind the one that was told last."""
    kinds = set()
    for fact in end_user.own_facts:
        day = read(fact["value"]) if fact["kind"] in YEARLY else None
        if fact["kind"] in kinds or day is None:
            continue
        kinds.add(fact["kind"])
        if (occurrence := next_on(day, today)) is not None:
            yield NearDate(None, "", fact["kind"], occurrence.on, occurrence.years)


def _name_entries(key_hits: Iterable[Hit]) -> list[Entry]:
    """The entries of hits of names, without those of days and of people in focus."""
    return [hit.entry for hit in key_hits if hit.key and not hit.key.startswith(DAY)]


@lru_cache(maxsize=REMEMBERED)
def _turn_keys(_end_user_id: int, text: str) -> frozenset[str]:
    return keys_in(text)


@lru_cache(maxsize=REMEMBERED)
def _turn_mentions(_end_user_id: int, text: str, entries: tuple[Entry, ...]) -> tuple[Mention, ...]:
    return tuple(find_people(text, entries))


def _read_turns(
    end_user: EndUser,
    turns: Iterable[Turn],
    entries: Sequence[Entry],
    in_focus: Mapping[UUID, Person],
) -> list[Utterance]:
    """Turns with their mentions, which stay the same until a contact that they may name changes."""

    def entries_in(text: str) -> tuple[Entry, ...]:
        keys = _turn_keys(end_user.pk, text)
        return tuple(entry for entry in entries if entry.key.key in keys)

    return [
        Utterance(
            turn.role,
            turn.text,
            _turn_mentions(end_user.pk, turn.text, entries_in(turn.text)),
            tuple(in_focus[pk] for pk in turn.understood if pk in in_focus),
        )
        for turn in turns
    ]


def _contacts_of(key_hits: Iterable[Hit]) -> dict[UUID, dict[str, Any]]:
    return {UUID(hit.contact["id"]): hit.contact for hit in key_hits}


def cards_of(end_user: EndUser, known: Mapping[UUID, dict[str, Any]]) -> dict[UUID, Card]:
    """Returns cards by id, with what is ahead, for contacts as the index returns them."""
    today, language = end_user.day_of_talk, end_user.writing_language
    return {
        pk: with_coming(contact["card"], contact["coming"], today, language)
        for pk, contact in known.items()
    }
