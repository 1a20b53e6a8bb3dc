"""End users: who there are, and what is kept of one."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet

from accounts.models import App, Change, EndUser
from contacts.models import Contact
from memories.models import Edge, Link, Memory, Message

SAMPLE = 500  # rows of a table from which its size is estimated


def found(users: QuerySet[EndUser], wanted: str, app: str) -> QuerySet[EndUser]:
    """The end users whose id holds these characters, of one app where it is given."""
    if wanted:
        users = users.filter(external_id__icontains=wanted)
    if app.isdecimal():
        users = users.filter(app=int(app))
    return users


@dataclass(frozen=True, slots=True)
class Kept:
    """How many rows of a kind an end user has, and the bytes they take (an estimate)."""

    what: str
    rows: int
    size: int


def kept(end_user: EndUser) -> list[Kept]:
    """What is stored of an end user, table by table."""
    found = []
    for what, model in (
        ("contacts", Contact),
        ("memories", Memory),
        ("messages", Message),
        ("links", Link),
        ("edges", Edge),
        ("changes", Change),
    ):
        rows = model.objects.of(end_user).order_by()
        count = rows.count()
        found.append(Kept(what, count, round(count * _row_size(model, end_user)) if count else 0))
    return found


def _row_size(model: Any, end_user: EndUser) -> float:
    """The average bytes of some of a user's rows."""
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT avg(pg_column_size(sampled.*)) FROM "  # noqa: S608 the name of our own table
            f"(SELECT * FROM {table} WHERE end_user_id = %s LIMIT %s) sampled",
            [end_user.pk, SAMPLE],
        )
        return float(cursor.fetchone()[0] or 0)


def with_keys(apps: QuerySet[App]) -> QuerySet[App]:
    """Apps with their keys, and how many end users they have."""
    return apps.annotate(users=Count("end_users")).prefetch_related("keys")
