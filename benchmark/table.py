"""Figures of several systems side by side."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]


def percent(*path: str) -> Callable[[Figures], str]:
    def cell(figures: Figures) -> str:
        value = at(figures, path)
        return "–" if value is None else f"{value:.2f}".lstrip("0") or "0"

    return cell


def number(*path: str) -> Callable[[Figures], str]:
    def cell(figures: Figures) -> str:
        value = at(figures, path)
        return "–" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.1f}"

    return cell


def at(figures: Figures, path: Sequence[str]) -> Any:
    value: Any = figures
    for key in path:
        value = (value or {}).get(key)
    return value


COLUMNS: dict[str, Callable[[Figures], str]] = {
    "T1 ordinary: needed found": percent("who", "ordinary", "needed_found"),
    "wrong per 100": number("who", "ordinary", "wrong_per_100"),
    "T1 hard: exact (mentions)": percent("who", "mentions", "exact"),
    "(pronouns)": percent("who", "pronouns", "exact"),
    "T2 F1": percent("pairs", "f1"),
    "T3 kept": percent("kept", "kept"),
    "kept of what nobody stated": percent("kept", "kept_of_them"),
    "T4 far": percent("lives", "far", "passed"),
    "ordinary": percent("lives", "ordinary", "passed"),
    "hard": percent("lives", "hard", "passed"),
    "T5 R@50 (zh)": percent("crowd", "recall_at_50", "zh"),
    "(en)": percent("crowd", "recall_at_50", "en"),
    "tokens": number("lives_cost", "tokens"),
}


def markdown(systems: Sequence[Figures]) -> str:
    """A table; the time of a context as a ratio to the fastest that searches (1 ms or more). Tasks of
    one system may stand in several of ``systems``."""
    by_name: dict[str, dict[str, Any]] = {}
    for one in systems:
        by_name.setdefault(one["system"], {}).update(one)
    systems = list(by_name.values())
    times = [at(one, ("lives_cost", "ms")) for one in systems]
    least = min((ms for ms in times if ms and ms >= 1), default=None)
    lines = [
        "| system | " + " | ".join(COLUMNS) + " | time |",
        "|---|" + "--:|" * (len(COLUMNS) + 1),
    ]
    for figures, ms in zip(systems, times, strict=True):
        cells = [cell(figures) for cell in COLUMNS.values()]
        ratio = f"{ms / least:.1f}" if ms and least and ms >= 1 else "–"
        lines.append(f"| {figures['system']} | " + " | ".join([*cells, ratio]) + " |")
    return "\n".join(lines)
