"""Who did what: changes over many end users, filtered by who, what, to whom and when."""

from collections.abc import Collection
from datetime import date, datetime, time, timedelta
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import App, Change, EndUser
from accounts.paging import of_cells
from contacts.models import Contact
from dashboard.queries import everywhere
from dashboard.queries.changes import BY
from dashboard.words import USER

ORDER = ("-created_at", "id")
MOST_NAMES = 200  # operators to choose from
OPERATORS, APPS, USERS, JOBS = "operators", "apps", "users", "jobs"

#: Which actors each group of the filter has.
GROUPS = {
    OPERATORS: BY["operators"],
    APPS: BY["apps"],
    USERS: Q(actor=USER),
    JOBS: BY["machines"] & ~Q(actor=USER),
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
    """The changes of these end users that a filter lets through, without what they changed. ``by``
    is a group or an actor; ``whose`` is in the id that the app gave an end user; ``person`` begins
    a name. Days are the reader's; "" and None mean any."""
    if whose:
        users = users.filter(external_id__icontains=whose)
    rows = Change.objects.filter(end_user__in=users.order_by().values("pk")).defer("rows")
    if by:
        rows = rows.filter(GROUPS.get(by) or Q(actor=by))
    if verb:
        rows = rows.filter(verb=verb)
    if person:
        people = _ids_of(users, person)
        rows = rows.filter(subjects__has_any_keys=people) if people else rows.none()
    if since:
        rows = rows.filter(created_at__gte=_midnight(since))
    if until:
        rows = rows.filter(created_at__lt=_midnight(until + timedelta(days=1)))
    return rows.select_related("end_user__app")


def _ids_of(users: QuerySet[EndUser], name: str) -> list[str]:
    """The ids of those whom a name begins, with all who were merged into them."""

    def ids(part: QuerySet[EndUser]) -> list[UUID]:
        named = [one.pk for one in everywhere.people_named(part, name)]
        merged = Contact.objects.filter(merged_into__in=named).values_list("pk", flat=True)
        return [*named, *merged]

    return [str(pk) for pk in of_cells(users, ids)]


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def operators(apps: Collection[App], *, limited: bool) -> list[str]:
    """The names of those who may work at the dashboard; for somebody ``limited`` to these apps,
    of those who see one of them."""
    people = get_user_model().objects.filter(Q(is_superuser=True) | ~Q(groups=None))
    if limited:
        people = people.filter(Q(operator=None) | Q(operator__apps__in=apps))
    names = people.distinct().order_by("username").values_list("username", flat=True)
    return list(names[:MOST_NAMES])
