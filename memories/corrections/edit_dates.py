"""Important dates of an end user's people, each an attribute of theirs, and of the user, each a
fact of a memory; so corrections, erasure, export and undo treat them like all else."""

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
from understanding.attributes import ATTRIBUTES, YEARLY, attribute_key, is_yearly, label
from understanding.dates.important_dates import (
    YearlyDay,
    day_key,
    next_on,
    of_attributes,
    read,
    text,
)
from understanding.languages import LANGUAGES


class InvalidDate(CodedError):
    """What was given is no important date; the message says why."""


@dataclass(frozen=True, slots=True)
class ImportantDate:
    """A date of a contact, or of the end user (None). ``next_on`` is None beyond the known years;
    ``years`` have passed since the first. Without sources a person stated it."""

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
    """The important dates of a user's listed people and of the user, or of one ``contact``, the
    next first; with ``within`` those of so many days from today on."""
    known, today = Contact.objects.of(end_user), end_user.today
    if contact is None:
        found = [*_of_people(end_user, known.listed(), today), *_own(end_user, today)]
    else:
        found = [*_of_people(end_user, known.standing().filter(pk=contact), today)]
    if within is not None:
        until = today + timedelta(days=within)
        found = [one for one in found if one.next_on is not None and one.next_on <= until]
    return sorted(found, key=lambda one: (one.next_on or date.max, str(one.id)))


def _of_people(end_user: EndUser, people: ContactQuerySet, today: date) -> Iterator[ImportantDate]:
    for one in people.exclude(coming=[]).light():
        one.end_user = end_user
        for kind, _, day in of_attributes(one.attributes):
            sources = map(UUID, one.attributes[kind][0].get("sources", ()))
            yield _made(one, end_user, kind, day, today, sources)


def _own(end_user: EndUser, today: date) -> Iterator[ImportantDate]:
    rows = EndUser.objects.filter(pk=end_user.pk).values_list("own_facts", flat=True)
    facts = [fact for known in rows for fact in known if not fact.get("until")]
    for kind in YEARLY:
        for fact in (fact for fact in facts if fact["kind"] == kind):
            if (day := read(fact["value"])) is not None:
                yield _made(None, end_user, kind, day, today, [UUID(fact["memory"])])
                break


def _made(
    contact: Contact | None,
    end_user: EndUser,
    kind: str,
    day: YearlyDay,
    today: date,
    sources: Iterable[UUID],
) -> ImportantDate:
    found = next_on(day, today)
    whose = f"{contact.pk if contact else end_user.pk}"
    return ImportantDate(
        id=uuid5(NAMESPACE_URL, f"mio:{whose}:{kind}"),
        contact=contact,
        kind=kind,
        day=day,
        text=text(day, end_user.language),
        next_on=found.on if found else None,
        in_days=(found.on - today).days if found else None,
        years=found.years if found else None,
        sources=tuple(sources),
    )


def one(end_user: EndUser, date_id: UUID) -> ImportantDate | None:
    """The date with this id, also of who is archived."""
    people, today = Contact.objects.of(end_user).standing(), end_user.today
    known = (*_of_people(end_user, people, today), *_own(end_user, today))
    return next((each for each in known if each.id == date_id), None)


def kind_of(said: str) -> str:
    """A kind of date as it is kept: ``Gotcha`` as ``gotcha_day``. Raises InvalidDate."""
    known = {label(key, language): key for key in YEARLY for language in LANGUAGES}
    key = known.get(said) or day_key(attribute_key(said))
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
    """States a date of a contact, or of the user, in place of one of its kind; no ``day`` takes it
    away. None when nothing changes. Raises InvalidDate and contacts.edit.UnknownContact."""
    values = [text(day, end_user.reads)] if day else []
    if contact_id is not None:
        stated: dict[str, Any] = {"attributes": {kind: values}}
        return edit.edit_contact(end_user, contact_id, stated, actor=actor, why=why)[1]
    if kind not in YEARLY:
        raise InvalidDate(Reason("no_kind_of_date"))
    return state_own(end_user, {kind: values}, actor=actor, why=why)
