"""``EndUser.own_facts``: facts about the user from memories, for the user's own card and important
dates. Triggers store them with the user, so that a context reads them without a statement."""

import json

import pgtrigger

from accounts.sql_files import sql_pieces
from understanding.attributes import ON_OWN_CARD, YEARLY

# Values stored per kind, the latest first: of a single kind the first is the current one.
MOST = 8
MAX_VALUE = 200  # code points

_KINDS = (*ON_OWN_CARD, *YEARLY)
_FACTS = ", ".join(f"'{json.dumps([{'key': key, 'person': None}])}'" for key in _KINDS)
_SQL = sql_pieces(
    __file__, keys=", ".join(f"'{key}'" for key in _KINDS), longest=MAX_VALUE, most=MOST
)


def _states_sql(row: str) -> str:
    """Returns the SQL condition that a row of memories states such a fact."""
    return f"{row}.facts @> ANY (ARRAY[{_FACTS}]::jsonb[])"


def _latest_sql(entries: str) -> str:
    """Returns the SQL for ``own_facts``: the latest of these entries of each kind."""
    return _SQL["latest"].strip().format(entries=entries)


def _entries_sql(memory: str) -> str:
    return _SQL["entries"].rstrip().format(memory=memory)


def _read_sql(row: str) -> str:
    """Returns the SQL that reads a user's ``own_facts`` from all memories again."""
    entries, states = _entries_sql("memory"), _states_sql("memory")
    stated = _SQL["stated"].strip().format(entries=entries, row=row, states=states)
    return _SQL["read"].strip().format(latest=_latest_sql(stated), row=row)


_ADD = _SQL["add"].format(
    latest=_latest_sql(f"{_SQL['kept'].strip()} UNION ALL {_entries_sql('NEW')}")
)


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
    _trigger("told", pgtrigger.Insert, _states_sql("NEW"), _ADD),
    _trigger("untold", pgtrigger.Delete, _states_sql("OLD"), _read_sql("OLD")),
    _trigger(
        "changed",
        pgtrigger.UpdateOf("facts", "status", "kind", "said_at", "valid_from", "valid_to"),
        f"{_states_sql('OLD')} OR {_states_sql('NEW')}",
        f"{_read_sql('NEW')} IF NOT FOUND THEN {_ADD} END IF;",
    ),
]
