"""Queries about changes: who did what, with filters, what it is about, and what it changed."""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import cells
from accounts.models import App, Change, EndUser
from accounts.paging import of_cells
from contacts.models import Contact, Relation
from dashboard import words
from dashboard.queries import everywhere
from dashboard.queries.contacts import tell_apart
from dashboard.words import APP, OPERATOR, USER
from memories.history import changed
from memories.models import Memory
from understanding.attributes import label

MOST_NAMED = 3  # people, and memories, that are shown of one change
MOST_LIVES = 100  # changed attributes and tastes on one page
# Verbs of few rows, whose values are shown. A merge touches as many rows as there are links.
DETAILED_VERBS = ("edit", "edit_contact", "resolve", "add_relation", "remove_relation")
RELATION = Relation._meta.label_lower
GENDERS = {"female": gettext_lazy("Female"), "male": gettext_lazy("Male")}
HIDING_VERBS = ("hide",)  # what a user asked to forget is not shown again


def about(changes: Sequence[Change], language: str) -> dict[UUID, dict[str, Any]]:
    """Returns what each of these changes is about, by its id. Four statements for each cell."""
    changes_by_cell: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        changes_by_cell[change._state.db or cells.SHARED].append(change)
    by_id: dict[UUID, dict[str, Any]] = {}
    for cell, rows in changes_by_cell.items():
        with cells.entered(cell):
            by_id |= _about_in_cell(rows, language)
    return by_id


def _about_in_cell(changes: Sequence[Change], language: str) -> dict[UUID, dict[str, Any]]:
    """Returns what each of these changes of the current cell is about; nothing if it was hidden."""
    owners = {change.end_user_id for change in changes}
    shown = [change for change in changes if change.verb not in HIDING_VERBS or change.undone_at]
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
    small = [change.pk for change in shown if change.verb in DETAILED_VERBS]
    rows = dict(Change.objects.filter(end_user__in=owners, pk__in=small).values_list("pk", "rows"))
    by_id = {}
    for change in shown:
        subjects = change.subjects
        contacts_shown = [people[one] for one in subjects if one in people][:MOST_NAMED]
        memories_shown = [memories[one] for one in subjects if one in memories][:MOST_NAMED]
        more = len(subjects) - len(contacts_shown) - len(memories_shown)
        by_id[change.pk] = {
            "people": contacts_shown,
            "memories": memories_shown,
            "more": more if len(subjects) > 2 * MOST_NAMED else 0,
            "edits": list(_edits(people | memories, rows.get(change.pk, ()), language)),
        }
    return by_id


def _edits(shown: Container[str], rows: Iterable[Any], language: str) -> Iterable[dict[str, Any]]:
    """Yields each edited field of the rows ``shown``: its label, and values removed and added."""
    for row in rows:
        before, after = row["before"], row["after"]
        if row["model"] == RELATION and not (before and after):
            tie = before or after
            if tie["subject_id"] in shown and tie["object_id"] in shown:
                kinds = {"before": before and [before["kind"]], "after": after and [after["kind"]]}
                yield {"label": words.field("relationship"), **kinds}
        elif row["id"] in shown and before and after:
            old, new = _readable_values(before, language), _readable_values(after, language)
            for name in dict.fromkeys([*old, *new]):
                removed = [value for value in old.get(name, ()) if value not in new.get(name, ())]
                added = [value for value in new.get(name, ()) if value not in old.get(name, ())]
                if removed or added:
                    yield {"label": name, "before": removed, "after": added}


def _readable_values(columns: dict[str, Any], language: str) -> dict[str, list[str]]:
    """Returns the readable values of these columns of a memory or person, by label."""
    by_label: dict[str, list[str]] = {}
    for name in ("content", "name", "relationship", "gender", "personality", "note"):
        if value := columns.get(name):
            by_label[words.field(name)] = [GENDERS.get(value, value) if name == "gender" else value]
    by_label[words.field("aliases")] = columns.get("aliases", [])
    by_label[_("May be called")] = [entry["text"] for entry in columns.get("references", ())]
    for key, values in columns.get("attributes", {}).items():
        by_label[label(key, language)] = [str(one["value"]) for one in values]
    return by_label


Steps = list[tuple[str, changed.Step]]  # each with the label of its key, the earliest first


def life_changes(end_user: EndUser, language: str) -> list[tuple[Contact | None, Steps]]:
    """Returns what changed in the lives of people and the end user (None), the latest first."""
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


ORDER = ("-created_at", "id")
MOST_NAMES = 200  # operators to choose from
MOST_KEYS = 5000  # keys of people's names that a filter by a person reads in one cell
OPERATORS, APPS, USERS, JOBS = "operators", "apps", "users", "jobs"

#: Which actors each group of a filter has.
GROUPS = {
    OPERATORS: Q(actor__startswith=OPERATOR),
    APPS: Q(actor__startswith=APP),
    USERS: Q(actor=USER),
    JOBS: ~Q(actor__startswith=OPERATOR) & ~Q(actor__startswith=APP) & ~Q(actor=USER),
}


def matching(
    users: QuerySet[EndUser],
    *,
    by: str = "",
    verb: str = "",
    whose: str = "",
    person: str = "",
    since: date | None = None,
    until: date | None = None,
) -> QuerySet[Change]:
    """Returns the changes of these end users that match a filter, without their ``rows``. ``by`` is
    a group or an actor; ``whose`` is part of the id that the app gave an end user; ``person`` is
    the beginning of a name. Days are the reader's; "" and None match all."""
    if whose:
        users = users.filter(external_id__icontains=whose)
    rows = Change.objects.filter(end_user__in=users.order_by().values("pk")).defer("rows")
    if by:
        rows = rows.filter(GROUPS.get(by) or Q(actor=by))
    if verb:
        rows = rows.filter(verb=verb)
    if person:
        people = _contact_ids(users, person)
        rows = rows.filter(subjects__has_any_keys=people) if people else rows.none()
    if since:
        rows = rows.filter(created_at__gte=_midnight(since))
    if until:
        rows = rows.filter(created_at__lt=_midnight(until + timedelta(days=1)))
    return rows.select_related("end_user__app")


def _contact_ids(users: QuerySet[EndUser], name: str) -> list[str]:
    """Returns ids of people whose name begins so, and of all contacts merged into them."""

    def ids_in_cell(part: QuerySet[EndUser]) -> list[UUID]:
        people = everywhere.people_named(part, name, MOST_KEYS, MOST_KEYS)
        named = list(people.values_list("pk", flat=True))
        return [*named, *(one.pk for one in Contact.objects.all_merged_into(named))]

    return [str(pk) for pk in of_cells(users, ids_in_cell)]


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def operators(apps: Collection[App], *, limited: bool) -> list[str]:
    """Returns names of operators; if ``limited``, of those who may see one of these apps."""
    people = get_user_model().objects.filter(Q(is_superuser=True) | ~Q(groups=None))
    if limited:
        people = people.filter(Q(operator=None) | Q(operator__apps__in=apps))
    names = people.distinct().order_by("username").values_list("username", flat=True)
    return list(names[:MOST_NAMES])
