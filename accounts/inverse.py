"""Taking one change out of a value that others have changed since (a three-way merge).

Pure: JSON values in, JSON value out.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

# What a value rests on rather than is: two values that differ only in these are one.
_GROUNDS = ("sources", "since")


def taken_back(before: Any, after: Any, now: Any) -> Any:
    """``now`` without what made ``before`` into ``after``; all that came later stays.

    Lists are sets in an order: what the change added goes, what it removed comes back. An
    added item that has found sources of its own since stays with these. A plain value that
    was changed again stays as it is now.
    """
    if now == after:
        return before
    if all(isinstance(value, list) for value in (before, after, now)):
        return _list(before, after, now)
    if all(isinstance(value, dict) for value in (before, after, now)):
        return _dict(before, after, now)
    return now


def given_back(
    before: Sequence[Any], after: Sequence[Any], now: Sequence[Any], name: str
) -> list[Any]:
    """``now`` with the value of ``name`` that items had ``before`` in those that a change gave
    another one ``after``; what got yet another one since keeps that, what is gone stays gone."""
    was, became = (_in_turn(side, name) for side in (before, after))
    left = []
    for turn, item in _in_turn(now, name).items():
        renamed = turn in was and turn in became and item[name] == became[turn][name]
        left.append({**item, name: was[turn][name]} if renamed else item)
    return left


def _in_turn(items: Sequence[Any], name: str) -> dict[tuple[str, int], Any]:
    """Items by what they say but for ``name``; those that say the same, by their turn."""
    found: dict[tuple[str, int], Any] = {}
    for item in items:
        said = _identity({key: value for key, value in item.items() if key != name})
        turn = next(n for n in itertools.count() if (said, n) not in found)
        found[said, turn] = item
    return found


def _dict(
    before: Mapping[str, Any], after: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    keys = dict.fromkeys([*now, *before])
    sides = {key: [side.get(key) for side in (before, after, now)] for key in keys}
    for values in sides.values():
        if any(isinstance(value, list) for value in values):
            values[:] = [[] if value is None else value for value in values]
    left = {key: taken_back(*values) for key, values in sides.items()}
    return {key: value for key, value in left.items() if value not in (None, [])}


def _list(before: Sequence[Any], after: Sequence[Any], now: Sequence[Any]) -> list[Any]:
    was, became = ({_identity(item): item for item in side} for side in (before, after))
    left: dict[str, Any] = {}
    for item in now:
        name = _identity(item)
        if name not in became:
            left[name] = item
        elif name in was:
            left[name] = taken_back(was[name], became[name], item)
        elif (own := _grown(became[name], item)) is not None:
            left[name] = own
    order = list(left)
    for place, name in enumerate(was):
        if name not in became and name not in left:
            left[name] = was[name]
            earlier = [order.index(other) for other in list(was)[:place] if other in order]
            order.insert(max(earlier, default=-1) + 1, name)
    return [left[name] for name in order]


def _grown(added: Any, now: Any) -> Any:
    """An item that the change added, resting on what it found since; None if on nothing."""
    if not isinstance(now, dict) or not isinstance(now.get("sources"), list):
        return None
    sources = [source for source in now["sources"] if source not in added["sources"]]
    return {**now, "sources": sources} if sources else None


def _identity(item: Any) -> str:
    if isinstance(item, dict):
        item = {key: value for key, value in item.items() if key not in _GROUNDS}
    return json.dumps(item, sort_keys=True, ensure_ascii=False)
