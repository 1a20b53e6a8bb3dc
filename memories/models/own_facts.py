"""``EndUser.own_facts``: what memories state of the user that is on the user's own card, and the
user's important dates, kept beside the user so that a context reads them without a statement."""

import json

import pgtrigger

from contacts.attributes import ON_OWN_CARD, YEARLY

# So many values of a kind are kept, the last said first: of a single kind the first is current.
MOST = 8
MAX_VALUE = 200  # code points

_KINDS = (*ON_OWN_CARD, *YEARLY)
_FACTS = ", ".join(f"'{json.dumps([{'key': key, 'person': None}])}'" for key in _KINDS)
_KEYS = ", ".join(f"'{key}'" for key in _KINDS)


def _states(row: str) -> str:
    return f"{row}.facts @> ANY (ARRAY[{_FACTS}]::jsonb[])"


def _time(name: str) -> str:
    """When a fact began or ended: its own times, else those of its memory."""
    return f"""CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> '{name}')::timestamptz
                    ELSE memory.{name} END"""


def _keep(row: str) -> str:
    return f"""
    UPDATE accounts_enduser SET own_facts = COALESCE((
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('kind', kind, 'value', value,
            'memory', memory_id, 'since', since, 'until', until)) ORDER BY said_at DESC, memory_id, place)
        FROM (
            SELECT *, row_number() OVER (PARTITION BY kind ORDER BY said_at DESC, memory_id, place) AS rank
            FROM (
                SELECT fact ->> 'key' AS kind, left(fact ->> 'value', {MAX_VALUE}) AS value,
                    memory.id AS memory_id, memory.said_at, place,
                    {_time("valid_from")} AS since, {_time("valid_to")} AS until
                FROM memories_memory memory
                CROSS JOIN jsonb_array_elements(memory.facts) WITH ORDINALITY AS told (fact, place)
                WHERE memory.end_user_id = {row}.end_user_id AND memory.status = 'active'
                    AND memory.kind = 'fact' AND {_states("memory")}
                    AND fact ->> 'key' IN ({_KEYS}) AND fact ->> 'person' IS NULL
                    AND fact ->> 'outdated_at' IS NULL) stated
            WHERE until IS NULL OR until > now()) ranked
        WHERE rank <= {MOST}), '[]')
    WHERE id = {row}.end_user_id;
    RETURN NULL;
"""  # noqa: S608 - constants


def _trigger(name: str, operation: pgtrigger.Operation, row: str, states: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name=f"own_facts_{name}",
        when=pgtrigger.After,
        operation=operation,
        condition=pgtrigger.Condition(states),
        func=_keep(row),
    )


TRIGGERS = [
    _trigger("told", pgtrigger.Insert, "NEW", _states("NEW")),
    _trigger("untold", pgtrigger.Delete, "OLD", _states("OLD")),
    _trigger(
        "changed",
        pgtrigger.UpdateOf("facts", "status", "kind", "said_at", "valid_from", "valid_to"),
        "NEW",
        f"{_states('OLD')} OR {_states('NEW')}",
    ),
]
