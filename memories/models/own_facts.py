"""``EndUser.own_facts``: what memories state of the user that is on the user's own card, and the
user's important dates, kept beside the user so that a context reads them without a statement."""

import json

import pgtrigger

from understanding.attributes import ON_OWN_CARD, YEARLY

# So many values of a kind are kept, the last said first: of a single kind the first is current.
MOST = 8
MAX_VALUE = 200  # code points

_KINDS = (*ON_OWN_CARD, *YEARLY)
_FACTS = ", ".join(f"'{json.dumps([{'key': key, 'person': None}])}'" for key in _KINDS)
_KEYS = ", ".join(f"'{key}'" for key in _KINDS)


def _states(row: str) -> str:
    return f"{row}.facts @> ANY (ARRAY[{_FACTS}]::jsonb[])"


def _time(memory: str, name: str) -> str:
    """When a fact began or ended: its own times, else those of its memory."""
    return f"""CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> '{name}')::timestamptz
                    ELSE {memory}.{name} END"""


def _entries(memory: str) -> str:
    """The entries that the facts of a memory give."""
    return f"""
    SELECT jsonb_strip_nulls(jsonb_build_object('kind', fact ->> 'key', 'memory', {memory}.id,
            'value', left(fact ->> 'value', {MAX_VALUE}), 'said', {memory}.said_at,
            'since', {_time(memory, "valid_from")}, 'until', {_time(memory, "valid_to")})) AS entry, place
    FROM jsonb_array_elements({memory}.facts) WITH ORDINALITY AS stated (fact, place)
    WHERE {memory}.status = 'active' AND {memory}.kind = 'fact' AND fact ->> 'key' IN ({_KEYS})
        AND fact ->> 'person' IS NULL AND fact ->> 'outdated_at' IS NULL"""  # noqa: S608 - constants


def _latest(entries: str) -> str:
    """The entries that are kept of these."""
    return f"""COALESCE((
        SELECT jsonb_agg(entry ORDER BY said DESC, entry ->> 'memory', place)
        FROM (
            SELECT *, row_number() OVER (
                PARTITION BY entry ->> 'kind' ORDER BY said DESC, entry ->> 'memory', place) AS rank
            FROM (SELECT *, (entry ->> 'said')::timestamptz AS said FROM ({entries}) one) dated
            WHERE entry ->> 'until' IS NULL OR (entry ->> 'until')::timestamptz > now()) ranked
        WHERE rank <= {MOST}), '[]')"""  # noqa: S608 - constants


def _holds(row: str) -> str:
    return f"""id = {row}.end_user_id
        AND own_facts @> jsonb_build_array(jsonb_build_object('memory', {row}.id))"""


# What a memory states is added to what is kept, which takes as long however much is known. Only
# where something that is kept changes or goes, all memories that state something are read.
_ADD = f"""
    UPDATE accounts_enduser SET own_facts = {
    _latest(
        "SELECT entry, place FROM jsonb_array_elements(own_facts) WITH ORDINALITY AS kept (entry, place)"
        f" UNION ALL {_entries('NEW')}"
    )
}
    WHERE id = NEW.end_user_id;
"""  # noqa: S608 - constants


def _read(row: str) -> str:
    told = f"""SELECT one.* FROM memories_memory memory CROSS JOIN LATERAL ({_entries("memory")}) one
        WHERE memory.end_user_id = {row}.end_user_id AND {_states("memory")}"""  # noqa: S608 - constants
    return f"UPDATE accounts_enduser SET own_facts = {_latest(told)} WHERE {_holds(row)};"  # noqa: S608


def _trigger(
    name: str, operation: pgtrigger.Operation, states: str, func: str
) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name=f"own_facts_{name}",
        when=pgtrigger.After,
        operation=operation,
        condition=pgtrigger.Condition(states),
        func=f"{func} RETURN NULL;",
    )


TRIGGERS = [
    _trigger("told", pgtrigger.Insert, _states("NEW"), _ADD),
    _trigger("untold", pgtrigger.Delete, _states("OLD"), _read("OLD")),
    _trigger(
        "changed",
        pgtrigger.UpdateOf("facts", "status", "kind", "said_at", "valid_from", "valid_to"),
        f"{_states('OLD')} OR {_states('NEW')}",
        f"{_read('NEW')} IF NOT FOUND THEN {_ADD} END IF;",
    ),
]
