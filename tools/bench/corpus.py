"""The people sets of each author of a corpus, and the mean over authors: how well people are
understood whom nobody has seen is said by authors, not by cases, since an author's are alike."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tools.bench import aliases, extraction, mentions, pronouns

# A file of an author, what scores it, and the figures that are told of it.
SETS: dict[str, tuple[Callable[..., dict[str, Any]], tuple[str, ...]]] = {
    "mentions": (mentions.run, ("exact", "f1")),
    "aliases": (aliases.run, ("f1", "certain_precision")),
    "pronouns": (pronouns.run, ("exact", "f1")),
    "extraction": (extraction.run, ("contact_f1", "memory_recall", "forbidden_stored")),
}
Figures = Mapping[str, float | None]


def run(authors: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """The figures of each author's folder by its name, and their mean over the authors that have
    one. Raises BadDataset."""
    found = {author.name: _figures(author) for author in tqdm([*authors], disable=not progress)}
    return {"authors": found, "mean": _mean(list(found.values()))}


def _figures(author: Path) -> dict[str, float | None]:
    told: dict[str, float | None] = {}
    for name, (score, figures) in SETS.items():
        scored = score([author / f"{name}.jsonl"], progress=False)
        told |= {f"{name} {figure}": scored[figure] for figure in figures}
    return told


def _mean(authors: Iterable[Figures]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for figures in authors:
        for name, value in figures.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: round(sum(each) / len(each), 4) for name, each in values.items()}
