"""The search box: people, end users and memories that an operator may see, in reachable cells."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from accounts.cells import fetch
from accounts.models import EndUser
from accounts.paging import first_merged
from accounts.sql_files import sql_pieces
from contacts import key_index
from contacts.models import Contact, ContactQuerySet
from dashboard.queries.contacts import tell_apart
from dashboard.queries.memories import linked, with_people
from memories.models import Memory
from memories.search.tokens import distinct_words

_SQL = sql_pieces(__file__)

SHOWN = 20  # of each kind
MOST_KEYS = 400  # matches from which those that are shown are chosen
OF_ONE_USER = 200  # matches from one end user

_MOST_MENTIONED = ("-mention_count", "pk")
_BY_ID = ("external_id", "pk")
_LATEST = ("-said_at", "pk")


def search_everywhere(users: QuerySet[EndUser], q: str) -> dict[str, list[Any]]:
    """Returns people whose name begins with ``q``, end users whose id contains it and memories with
    all its words, of the current cell or, if none was entered, of all that answer."""
    if not q.strip():
        return {"people": [], "users": [], "memories": []}
    with_id = users.filter(external_id__icontains=q)
    return {
        "people": first_merged(users, lambda part: _shown_people(part, q), _MOST_MENTIONED, SHOWN),
        "users": first_merged(
            with_id, lambda part: list(part.order_by(*_BY_ID)[:SHOWN]), _BY_ID, SHOWN
        ),
        "memories": first_merged(users, lambda part: _memories_with_words(part, q), _LATEST, SHOWN),
    }


def people_named(
    users: QuerySet[EndUser], q: str, of_one_user: int, most_keys: int
) -> ContactQuerySet:
    """Returns people whose name or alias begins with ``q``: those of the first matching keys, up to
    ``of_one_user`` of each end user and ``most_keys`` in all. One statement before it is read."""
    wanted = key_index.typed(q)
    if not wanted:
        return Contact.objects.none()
    pattern = wanted.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
    ids = _found_ids(_SQL["people"], users, [pattern, of_one_user, most_keys])
    return Contact.objects.filter(pk__in=ids).standing()


def _shown_people(users: QuerySet[EndUser], q: str) -> list[Contact]:
    """Returns people whose name or alias begins with ``q``, most mentioned first, up to SHOWN."""
    rows = people_named(users, q, OF_ONE_USER, MOST_KEYS).light().select_related("end_user__app")
    people = list(rows.order_by(*_MOST_MENTIONED)[:SHOWN])
    tell_apart(people)
    return people


def _memories_with_words(users: QuerySet[EndUser], q: str) -> list[Memory]:
    """Returns the latest memories that contain all words of ``q``, up to SHOWN."""
    tokens = distinct_words(q)
    if not tokens:
        return []
    ids = _found_ids(_SQL["memories"], users, [tokens, len(tokens), OF_ONE_USER, MOST_KEYS])
    rows = Memory.objects.filter(pk__in=ids).facts().select_related("end_user__app")
    memories = list(with_people(rows).order_by(*_LATEST)[:SHOWN])
    tell_apart(linked(memories))
    return memories


def _found_ids(statement: str, users: QuerySet[EndUser], params: list[Any]) -> list[UUID]:
    """Runs the statement for these end users and returns the ids that it finds."""
    sql, user_params = users.order_by().values("pk").query.sql_with_params()
    return [pk for (pk,) in fetch(statement.format(users=sql), [*user_params, *params])]
