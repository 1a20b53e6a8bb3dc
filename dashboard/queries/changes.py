"""What a change was about, and what it made of what."""

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from accounts import cells
from accounts.models import Change, EndUser
from contacts.models import Contact
from dashboard import words
from dashboard.queries.contacts import tell_apart
from dashboard.words import APP, OPERATOR
from memories.history import changed
from memories.models import Memory
from understanding.attributes import label

MOST_NAMED = 3  # people and memories of one change
MOST_LIVES = 100  # matters that changed in lives, on one page
# Changes of few rows, whose values are told. A merge touches as many rows as there are links.
TOLD = ("edit", "edit_contact", "resolve")
#: Whose changes a list may be narrowed to.
BY = {
    "operators": Q(actor__startswith=OPERATOR),
    "apps": Q(actor__startswith=APP),
    "machines": ~Q(actor__startswith=OPERATOR) & ~Q(actor__startswith=APP),
}
UNTOLD = ("hide",)  # what a user asked to forget is not shown again


@dataclass(frozen=True, slots=True)
class Edit:
    """What was there before and is not after, and the other way round."""

    label: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class About:
    """``more`` subjects are not among these people and memories."""

    people: tuple[Contact, ...]
    memories: tuple[Memory, ...]
    more: int
    edits: tuple[Edit, ...]


def about(changes: Sequence[Change], language: str) -> dict[UUID, About]:
    """What each of these changes was about, by its id. Four statements for each cell that they
    are in."""
    of_cell: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        of_cell[change._state.db or cells.SHARED].append(change)
    by_id: dict[UUID, About] = {}
    for cell, rows in of_cell.items():
        with cells.entered(cell):
            by_id |= _about(rows, language)
    return by_id


def _about(changes: Sequence[Change], language: str) -> dict[UUID, About]:
    """The same of changes in the current cell."""
    owners = {change.end_user_id for change in changes}
    shown = [change for change in changes if change.verb not in UNTOLD]
    named = {subject for change in shown for subject in change.subjects[: 2 * MOST_NAMED]}
    contacts = Contact.objects.filter(end_user__in=owners, pk__in=named)
    people = {str(one.pk): one for one in contacts.light()}
    tell_apart(people.values())
    memories = {
        str(one.pk): one
        for one in Memory.objects.filter(end_user__in=owners, pk__in=named)
        .exclude(status=Memory.Status.ARCHIVED)
        .defer("tokens", "metadata", "facts")
    }
    small = [change.pk for change in shown if change.verb in TOLD]
    rows = dict(Change.objects.filter(end_user__in=owners, pk__in=small).values_list("pk", "rows"))
    by_id = {}
    for change in shown:
        subjects = change.subjects
        contacts_shown = [people[one] for one in subjects if one in people][:MOST_NAMED]
        memories_shown = [memories[one] for one in subjects if one in memories][:MOST_NAMED]
        more = len(subjects) - len(contacts_shown) - len(memories_shown)
        by_id[change.pk] = About(
            tuple(contacts_shown),
            tuple(memories_shown),
            more if len(subjects) > 2 * MOST_NAMED else 0,
            tuple(_edits(people | memories, rows.get(change.pk, ()), language)),
        )
    return by_id


def _edits(shown: Container[str], rows: Iterable[Any], language: str) -> Iterable[Edit]:
    for row in rows:
        before, after = row["before"], row["after"]
        if row["id"] not in shown or not before or not after:
            continue
        if row["model"] == "memories.memory" and "content" in before:
            yield Edit(words.field("content"), (before["content"],), (after["content"],))
        elif row["model"] == "contacts.contact":
            yield from _of_person(before, after, language)


def _of_person(before: dict[str, Any], after: dict[str, Any], language: str) -> Iterable[Edit]:
    genders = {"female": _("Female"), "male": _("Male")}
    for field in ("name", "relationship", "gender", "personality", "note"):
        if field in before:
            old, new = (genders.get(side[field], side[field]) for side in (before, after))
            yield Edit(words.field(field), (old,) if old else (), (new,) if new else ())
    if "aliases" in before:
        yield _apart(words.field("aliases"), before["aliases"], after["aliases"])
    if "references" in before:
        phrases = ([entry["text"] for entry in side["references"]] for side in (before, after))
        yield _apart(_("May be called"), *phrases)
    if "attributes" in before:
        old_ones, new_ones = (_values(side["attributes"]) for side in (before, after))
        for key in dict.fromkeys([*old_ones, *new_ones]):
            edit = _apart(label(key, language), old_ones.get(key, []), new_ones.get(key, []))
            if edit.before or edit.after:
                yield edit


def _values(attributes: dict[str, Any]) -> dict[str, list[str]]:
    return {key: [str(one["value"]) for one in values] for key, values in attributes.items()}


def _apart(name: str, before: Sequence[str], after: Sequence[str]) -> Edit:
    return Edit(
        name,
        tuple(value for value in before if value not in after),
        tuple(value for value in after if value not in before),
    )


Steps = list[tuple[str, changed.Step]]  # each with the label of its key, the earliest first


def in_lives(end_user: EndUser, language: str) -> list[tuple[Contact | None, Steps]]:
    """What changed in the lives of the people who are known, and of the end user (None): values
    that held one after the other. The latest first. Three statements."""
    matters = changed.changed(end_user)[:MOST_LIVES]
    ids = {one.person for one in matters if one.person}
    people = end_user.contacts.standing().light().in_bulk(ids)
    tell_apart(people.values())
    return [
        (
            people.get(one.person) if one.person else None,
            [(label(step.key, language), step) for step in one.steps],
        )
        for one in matters
        if one.person is None or one.person in people
    ]
