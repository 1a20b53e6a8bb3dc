"""Figures of several systems side by side."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]


def percent(value: float) -> str:
    return f"{value:.2f}".lstrip("0") or "0"


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def at(figures: Figures, path: str) -> Any:
    value: Any = figures
    for key in path.split("."):
        value = (value or {}).get(key)
    return value


COLUMNS: dict[str, tuple[Callable[[float], str], str]] = {
    "T1 ordinary: needed found": (percent, "who.ordinary.needed_found"),
    "wrong per 100": (number, "who.ordinary.wrong_per_100"),
    "T1 exact: mentions": (percent, "who.mentions.exact"),
    "pronouns": (percent, "who.pronouns.exact"),
    "traps": (percent, "who.traps.exact"),
    "T1 described: needed found": (percent, "who.descriptions.needed_found"),
    "wrong per 100 described": (number, "who.descriptions.wrong_per_100"),
    "T2 F1": (percent, "pairs.f1"),
    "T3 kept": (percent, "kept.kept"),
    "kept of what nobody stated": (percent, "kept.kept_of_them"),
    "T3 by the judge: kept": (percent, "kept.kept_by_judge"),
    "of what nobody stated": (percent, "kept.kept_of_them_by_judge"),
    "T4 far": (percent, "lives.far.passed"),
    "ordinary": (percent, "lives.ordinary.passed"),
    "hard": (percent, "lives.hard.passed"),
    "unseen": (percent, "lives.unseen.passed"),
    "nothing forgotten": (percent, "lives.all.nothing_forgotten"),
    "T5 R@50 zh": (percent, "crowd.recall_at_50.zh"),
    "en": (percent, "crowd.recall_at_50.en"),
    "tokens": (number, "lives_cost.tokens"),
    "ms a context": (number, "lives_cost.ms"),
    "ms a search (T5)": (number, "crowd_cost.ms"),
    "s to take in T5": (number, "crowd_cost.adding_s"),
    "MB in memory": (number, "memory_mb"),
    "MB on disk": (number, "database_mb"),
}


def markdown(systems: Sequence[Figures]) -> str:
    """A table, with a column for each system. Tasks of one system may stand in several of
    ``systems``; where a task does so twice, the least and the most are shown. ``time`` is the time of a
    context as a ratio to the fastest that searches (1 ms or more)."""
    runs: dict[str, list[Figures]] = defaultdict(list)
    for one in systems:
        runs[one["system"]].append(one)
    lines = ["| | " + " | ".join(runs) + " |", "|---|" + "--:|" * len(runs)]
    for name, (form, path) in COLUMNS.items():
        cells = [_cell(form, [at(one, path) for one in of_one]) for of_one in runs.values()]
        if set(cells) != {"–"} or len(systems) == 1:
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    times = [[at(one, "lives_cost.ms") for one in of_one] for of_one in runs.values()]
    least = min((ms for row in times for ms in row if ms and ms >= 1), default=None)
    if least is not None:
        ratios = [[ms / least if ms and ms >= 1 else None for ms in row] for row in times]
        lines.append("| time | " + " | ".join(_cell("{:.1f}".format, row) for row in ratios) + " |")
    return "\n".join(lines)


def _cell(form: Callable[[float], str], values: Sequence[float | None]) -> str:
    given = sorted(value for value in values if value is not None)
    texts = dict.fromkeys(form(value) for value in (*given[:1], *given[-1:]))
    return "–".join(texts) or "–"
