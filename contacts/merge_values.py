"""What is known of two people as one, or of one as two. Pure: the JSON of contacts' columns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from understanding.text import normalise

Entry = dict[str, Any]
Attributes = dict[str, list[Entry]]


def attributes(
    mine: Mapping[str, Sequence[Entry]], theirs: Mapping[str, Sequence[Entry]]
) -> Attributes:
    """All values of both, each once with the sources of both. Values that contradict each
    other stay side by side, mine first, until somebody resolves them."""
    united: Attributes = {}
    for key in dict.fromkeys([*mine, *theirs]):
        entries = [*mine.get(key, ()), *theirs.get(key, ())]
        united[key] = _once(entries, lambda entry: normalise(str(entry["value"])))
    return united


def timeline(mine: Sequence[Entry], theirs: Sequence[Entry]) -> list[Entry]:
    """The events of both in order of happening, each once. An undated event stays behind
    the dated one before it."""
    dated: list[tuple[str, Entry]] = []
    for events in (mine, theirs):
        last = ""
        for event in events:
            last = event.get("at") or last
            dated.append((last, event))
    dated.sort(key=lambda pair: pair[0])
    return _once(
        [event for _, event in dated],
        lambda event: (normalise(event["text"]), event.get("at") or ""),
    )


def references(
    mine: Sequence[Entry], theirs: Sequence[Entry], denied: Collection[str]
) -> list[Entry]:
    """The phrases of both, each once, but for those that somebody took away."""
    united = _once([*mine, *theirs], lambda entry: normalise(entry["text"]))
    return [entry for entry in united if normalise(entry["text"]) not in denied]


def text(mine: str, theirs: str) -> str:
    """Both descriptions, unless one says it all."""
    if not theirs or theirs in mine:
        return mine
    return theirs if mine in theirs else f"{mine}\n{theirs}"


def sources(*lists: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(source) for each in lists for source in each))


def _once(entries: Iterable[Entry], name: Any) -> list[Entry]:
    united: dict[Any, Entry] = {}
    for entry in entries:
        key = name(entry)
        held = united.get(key)
        if held is None:
            united[key] = {"sources": [], **entry}
        elif held["sources"] and entry.get("sources"):
            held["sources"] = sources(held["sources"], entry["sources"])
        else:
            held["sources"] = []  # a person stated it: no correction of a memory takes it away
    return list(united.values())


def divided(entries: Iterable[Entry], moved: Collection[str]) -> tuple[list[Entry], list[Entry]]:
    """The entries that stay and those that go along with the memories ``moved``; one that
    rests on both is in both, each with its own sources."""
    stay, go = [], []
    for entry in entries:
        theirs = [source for source in entry.get("sources", ()) if source in moved]
        mine = [source for source in entry.get("sources", ()) if source not in moved]
        if theirs:
            go.append({**entry, "sources": theirs})
        if mine or not theirs:
            stay.append({**entry, "sources": mine})
    return stay, go
