"""What a row was before the changes that were made since a moment: corrections, merges and
edits, taken back in the mind only. Undone changes never count."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime

from accounts.cells import connection
from accounts.models import EndUser

CONTACT, MEMORY, LINK = "contacts.contact", "memories.memory", "memories.link"

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Touch:
    """What a change did to a row: ``before`` None made it, ``after`` None deleted it. ``at``
    is when it took effect: for a memory that became outdated, when that was learnt."""

    change_id: UUID
    actor: str
    why: str
    at: datetime
    model: str
    row_id: str
    before: Values | None
    after: Values | None


_TOUCHES = """
SELECT c.id, c.actor, c.why,
    COALESCE((SELECT min(CASE
                  WHEN r->'after'->>'status' = 'outdated' THEN r->'after'->>'outdated_at'
                  WHEN c.verb = 'outdate' THEN (
                      SELECT max(ended #>> '{}')
                      FROM jsonb_path_query(r->'after', '$.facts[*].outdated_at') ended) END)
              FROM jsonb_array_elements(c.rows) r WHERE r->>'model' = 'memories.memory'
             )::timestamptz, c.created_at) AS at,
    row->>'model', row->>'id', row->'before', row->'after'
FROM accounts_change c CROSS JOIN LATERAL jsonb_array_elements(c.rows) row
WHERE c.end_user_id = %(end_user)s AND c.undone_at IS NULL AND row->>'model' = ANY(%(models)s)
    AND (%(ids)s::text[] IS NULL OR row->>'id' = ANY(%(ids)s))
    AND (%(since)s::timestamptz IS NULL OR (c.created_at > %(since)s AND c.verb <> 'hide'))
ORDER BY c.created_at, c.id
"""


def touches(
    end_user: EndUser,
    models: Iterable[str],
    *,
    ids: Iterable[UUID] | None = None,
    since: datetime | None = None,
) -> list[Touch]:
    """What changes did to rows of these models, the earliest change first: only to these
    rows, and only what took effect after ``since``, where given. Then what the user asked to
    forget is left out: it stays forgotten, whenever one looks back to. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            _TOUCHES,
            {
                "end_user": end_user.pk,
                "models": list(models),
                "ids": None if ids is None else [str(pk) for pk in ids],
                "since": since,
            },
        )
        found = [Touch(*row[:6], *map(_loaded, row[6:])) for row in cursor.fetchall()]
    return [touch for touch in found if since is None or touch.at > since]


def _loaded(value: Any) -> Any:
    """A JSON value of a plain cursor, which leaves the decoding to its reader."""
    return json.loads(value) if isinstance(value, str) else value


def before(found: Iterable[Touch]) -> dict[tuple[str, str], Values | None]:
    """By model and id, the fields of each row that were otherwise before all of these; None:
    the row was not there. A row that is gone now has all its tracked fields."""
    then: dict[tuple[str, str], Values | None] = {}
    for touch in reversed(list(found)):
        row = (touch.model, touch.row_id)
        held = then.get(row) or {}
        then[row] = None if touch.before is None else {**held, **touch.before}
    return then


def moment(value: Any) -> datetime | None:
    """A time as a change keeps it, or as the row has it."""
    return parse_datetime(value) if isinstance(value, str) else value
