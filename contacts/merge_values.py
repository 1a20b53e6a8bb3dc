"""Merges the JSON columns of two contacts, or divides those of one; pure functions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from understanding.text import normalise

Entry = dict[str, Any]
Attributes = dict[str, list[Entry]]


def attributes(
    mine: Mapping[str, Sequence[Entry]], theirs: Mapping[str, Sequence[Entry]]
) -> Attributes:
    """Returns all values of both, each once with the sources of both. Contradicting values stay
    side by side, ``mine`` first, until somebody resolves them."""
    united: Attributes = {}
    for key in dict.fromkeys([*mine, *theirs]):
        entries = [*mine.get(key, ()), *theirs.get(key, ())]
        united[key] = _united(entries, lambda entry: normalise(str(entry["value"])))
    return united


def timeline(mine: Sequence[Entry], theirs: Sequence[Entry]) -> list[Entry]:
    """Returns the events of both in order, each once; undated events follow the one before them."""
    dated: list[tuple[str, Entry]] = []
    for events in (mine, theirs):
        last = ""
        for event in events:
            last = event.get("at") or last
            dated.append((last, event))
    dated.sort(key=lambda pair: pair[0])
    return _united(
        [event for _, event in dated],
        lambda event: (normalise(event["text"]), event.get("at") or ""),
    )


def references(
    mine: Sequence[Entry], theirs: Sequence[Entry], denied: Collection[str]
) -> list[Entry]:
    """Returns the phrases of both, each once, without those that somebody denied."""
    united = _united([*mine, *theirs], lambda entry: normalise(entry["text"]))
    return [entry for entry in united if normalise(entry["text"]) not in denied]


def text(mine: str, theirs: str) -> str:
    """Returns both descriptions, or the one that contains the other."""
    if not theirs or theirs in mine:
        return mine
    return theirs if mine in theirs else f"{mine}\n{theirs}"


def sources(*lists: Iterable[Any]) -> list[str]:
    """Returns all sources of the lists, each once, as strings."""
    return list(dict.fromkeys(str(source) for source_list in lists for source in source_list))


def _united(entries: Iterable[Entry], key_of: Any) -> list[Entry]:
    """One entry for each key, with the sources of all; without any if one has none."""
    united: dict[Any, Entry] = {}
    for entry in entries:
        key = key_of(entry)
        first = united.get(key)
        if first is None:
            united[key] = {"sources": [], **entry}
        elif first["sources"] and entry.get("sources"):
            first["sources"] = sources(first["sources"], entry["sources"])
        else:
            first["sources"] = []  # a person stated it: no correction of a memory takes it away
    return list(united.values())


def divided(entries: Iterable[Entry], moved: Collection[str]) -> tuple[list[Entry], list[Entry]]:
    """Returns the entries that stay, and those that move with the memories ``moved``; one that
    rests on both is in both, each with its own sources."""
    staying, moving = [], []
    for entry in entries:
        moved_sources = [source for source in entry.get("sources", ()) if source in moved]
        other_sources = [source for source in entry.get("sources", ()) if source not in moved]
        if moved_sources:
            moving.append({**entry, "sources": moved_sources})
        if other_sources or not moved_sources:
            staying.append({**entry, "sources": other_sources})
    return staying, moving
