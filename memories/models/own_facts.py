"""``EndUser.own_facts``: what memories state of the user that is on the user's own card, and the
user's important dates, kept beside the user so that a context reads them without a statement."""

import json

import pgtrigger

from memories.sql_files import sql_pieces
from understanding.attributes import ON_OWN_CARD, YEARLY

# So many values of a kind are kept, the last said first: of a single kind the first is current.
MOST = 8
MAX_VALUE = 200  # code points

_KINDS = (*ON_OWN_CARD, *YEARLY)
_FACTS = ", ".join(f"'{json.dumps([{'key': key, 'person': None}])}'" for key in _KINDS)
_SQL = sql_pieces(
    __file__, keys=", ".join(f"'{key}'" for key in _KINDS), longest=MAX_VALUE, most=MOST
)


def _states(row: str) -> str:
    return f"{row}.facts @> ANY (ARRAY[{_FACTS}]::jsonb[])"


def _latest(entries: str) -> str:
    return _SQL["latest"].strip().format(entries=entries)


def _entries(memory: str) -> str:
    return _SQL["entries"].rstrip().format(memory=memory)


def _read(row: str) -> str:
    entries, states = _entries("memory"), _states("memory")
    stated = _SQL["stated"].strip().format(entries=entries, row=row, states=states)
    return _SQL["read"].strip().format(latest=_latest(stated), row=row)


_ADD = _SQL["add"].format(latest=_latest(f"{_SQL['kept'].strip()} UNION ALL {_entries('NEW')}"))


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
