"""Important dates: those of contacts are attributes, those of the end user are facts of memories;
so corrections, erasure, export and undo need no code for them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.reasons import CodedError, Reason
from contacts import edit
from contacts.models import Contact, ContactQuerySet
from memories.corrections.edit_own_card import state_own
from understanding.attributes import ATTRIBUTES, YEARLY, attribute_key, is_yearly
from understanding.dates.important_dates import (
    YearlyDay,
    day_key,
    next_on,
    of_attributes,
    read,
    text,
)


class InvalidDate(CodedError):
    """What was given is not an important date; the message says why."""


@dataclass(frozen=True, slots=True)
class ImportantDate:
    """A date of a contact, or of the end user (None). ``next_on`` is None beyond the known years;
    ``years`` is the number since the first. Without sources a person stated it."""

    id: UUID
    contact: Contact | None
    kind: str
    day: YearlyDay
    text: str
    next_on: date | None
    in_days: int | None
    years: int | None
    sources: tuple[UUID, ...]


def dates_of(
    end_user: EndUser, *, within: int | None = None, contact: UUID | None = None
) -> list[ImportantDate]:
    """Returns the important dates of a user's listed contacts and of the user, or of one
    ``contact``, the next first; with ``within``, only those of so many days from today on."""
    contacts, today = Contact.objects.of(end_user), end_user.today
    if contact is None:
        dates = [*_of_contacts(end_user, contacts.listed(), today), *_of_user(end_user, today)]
    else:
        dates = [*_of_contacts(end_user, contacts.standing().filter(pk=contact), today)]
    if within is not None:
        until = today + timedelta(days=within)
        dates = [one for one in dates if one.next_on is not None and one.next_on <= until]
    return sorted(dates, key=lambda one: (one.next_on or date.max, str(one.id)))


def _of_contacts(end_user: EndUser, rows: ContactQuerySet, today: date) -> Iterator[ImportantDate]:
    for contact in rows.exclude(coming=[]).light():
        contact.end_user = end_user
        for kind, _, day in of_attributes(contact.attributes):
            sources = map(UUID, contact.attributes[kind][0].get("sources", ()))
            yield _important_date(contact, end_user, kind, day, today, sources)


def _of_user(end_user: EndUser, today: date) -> Iterator[ImportantDate]:
    """Yields the user's dates: of each kind the latest fact that can be read."""
    rows = EndUser.objects.filter(pk=end_user.pk).values_list("own_facts", flat=True)
    facts = [fact for own_facts in rows for fact in own_facts if not fact.get("until")]
    for kind in YEARLY:
        for fact in (fact for fact in facts if fact["kind"] == kind):
            if (day := read(fact["value"])) is not None:
                yield _important_date(None, end_user, kind, day, today, [UUID(fact["memory"])])
                break


def _important_date(
    contact: Contact | None,
    end_user: EndUser,
    kind: str,
    day: YearlyDay,
    today: date,
    sources: Iterable[UUID],
) -> ImportantDate:
    occurrence = next_on(day, today)
    owner_id = f"{contact.pk if contact else end_user.pk}"
    return ImportantDate(
        id=uuid5(NAMESPACE_URL, f"mio:{owner_id}:{kind}"),
        contact=contact,
        kind=kind,
        day=day,
        text=text(day, end_user.language),
        next_on=occurrence.on if occurrence else None,
        in_days=(occurrence.on - today).days if occurrence else None,
        years=occurrence.years if occurrence else None,
        sources=tuple(sources),
    )


def date_of_id(end_user: EndUser, date_id: UUID) -> ImportantDate | None:
    """Returns the date with this id, also one of an archived contact; None if there is none."""
    people, today = Contact.objects.of(end_user).standing(), end_user.today
    dates = (*_of_contacts(end_user, people, today), *_of_user(end_user, today))
    return next((entry for entry in dates if entry.id == date_id), None)


def kind_of(said: str) -> str:
    """Returns a kind of date as it is stored: ``Gotcha`` as ``gotcha_day``. Raises InvalidDate."""
    key = day_key(attribute_key(said))
    if not key or key == "_day" or (key in ATTRIBUTES and not is_yearly(key)):
        raise InvalidDate(Reason("no_kind_of_date"))
    return key


@atomic()
def set_date(
    end_user: EndUser,
    contact_id: UUID | None,
    kind: str,
    day: YearlyDay | None,
    *,
    actor: str,
    why: str = "",
) -> Change | None:
    """Sets a date of a contact, or of the user, in place of one of its kind; no ``day`` removes it.
    None if nothing changes. Raises InvalidDate and contacts.edit.UnknownContact."""
    values = [text(day, end_user.writing_language)] if day else []
    if contact_id is not None:
        edits: dict[str, Any] = {"attributes": {kind: values}}
        return edit.edit_contact(end_user, contact_id, edits, actor=actor, why=why)[1]
    if kind not in YEARLY:
        raise InvalidDate(Reason("no_kind_of_date"))
    return state_own(end_user, {kind: values}, actor=actor, why=why)
