"""``EndUser.own_dates``: what memories tell of the user's own important dates, kept beside the user,
so that a context reads them without a statement."""

import json

import pgtrigger

from contacts.attributes import YEARLY

# So many of the last that were told are kept: of a kind the last is current.
MOST = 20

_FACTS = ", ".join(f"'{json.dumps([{'key': key, 'person': None}])}'" for key in YEARLY)
_KEYS = ", ".join(f"'{key}'" for key in YEARLY)


def _tells(row: str) -> str:
    return f"{row}.facts @> ANY (ARRAY[{_FACTS}]::jsonb[])"


def _keep(row: str) -> str:
    return f"""
    UPDATE accounts_enduser SET own_dates = COALESCE((
        SELECT jsonb_agg(jsonb_build_object('kind', kind, 'value', value) ORDER BY place)
        FROM (
            SELECT fact ->> 'key' AS kind, fact ->> 'value' AS value,
                row_number() OVER (ORDER BY said_at DESC, memory.id) AS place
            FROM memories_memory memory CROSS JOIN jsonb_array_elements(memory.facts) fact
            WHERE memory.end_user_id = {row}.end_user_id AND memory.status = 'active'
                AND memory.kind = 'fact' AND {_tells("memory")}
                AND fact ->> 'key' IN ({_KEYS}) AND fact ->> 'person' IS NULL
                AND fact ->> 'valid_to' IS NULL AND fact ->> 'outdated_at' IS NULL
            ORDER BY place LIMIT {MOST}) told), '[]')
    WHERE id = {row}.end_user_id;
    RETURN NULL;
"""  # noqa: S608 - constants


def _trigger(name: str, operation: pgtrigger.Operation, row: str, tells: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name=f"own_dates_{name}",
        when=pgtrigger.After,
        operation=operation,
        condition=pgtrigger.Condition(tells),
        func=_keep(row),
    )


TRIGGERS = [
    _trigger("told", pgtrigger.Insert, "NEW", _tells("NEW")),
    _trigger("untold", pgtrigger.Delete, "OLD", _tells("OLD")),
    _trigger(
        "changed",
        pgtrigger.UpdateOf("facts", "status", "kind", "said_at"),
        "NEW",
        f"{_tells('OLD')} OR {_tells('NEW')}",
    ),
]
