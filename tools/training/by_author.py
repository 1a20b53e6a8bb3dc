"""Cross-validation by author: cases of one author are alike, so a model is judged on authors that
it has not seen."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus"
# Messages of other writers that speak of nobody; no model learns from those of the writers UNREAD.
NOBODY = "corpus/nobody.jsonl"
UNREAD = frozenset({"n8", "n9"})
Case = dict[str, Any]
Authors = Mapping[str, list[Case]]
M = TypeVar("M")
T = TypeVar("T")
_VECTOR = re.compile(r"\[[-\d.,\s e]+\]")


def authors(file: str, *others: Path) -> dict[str, list[Case]]:
    """The cases of one file (``mentions``) by author, the corpus's and those of other folders."""
    folders = [*sorted(CORPUS.glob("a[0-9][0-9]")), *others]
    return {folder.name: cases(folder / f"{file}.jsonl") for folder in folders}


def cases(path: Path) -> list[Case]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def nobody() -> list[Case]:
    """The messages that speak of nobody."""
    return cases(ROOT / NOBODY)


def by_writer(messages: Sequence[Case]) -> dict[str, list[Case]]:
    """Messages that speak of nobody by who wrote them."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in messages:
        found[case["writer"]].append(case)
    return found


def folds() -> list[tuple[str, ...]]:
    """The authors that are held out together, of the corpus's splits."""
    found: dict[str, list[str]] = json.loads((CORPUS / "splits.json").read_text("utf-8"))
    return [tuple(held) for _, held in sorted(found.items())]


def held_out(
    data: Mapping[str, list[T]], fit: Callable[[Mapping[str, list[T]]], M]
) -> Iterator[tuple[str, M]]:
    """Each author with a model that was fitted on the authors of the other folds; further writers
    are spread over these."""
    further = sorted(set(data).difference(*folds()))
    for number, authors in enumerate(folds()):
        fold = (*authors, *further[number :: len(folds())])
        learned = fit({name: rows for name, rows in data.items() if name not in fold})
        for name in fold:
            yield name, learned


def learning_curve(
    data: Mapping[str, list[T]],
    fit: Callable[[Mapping[str, list[T]]], M],
    score: Callable[[M, list[T]], float],
) -> dict[int, float]:
    """The mean score on held-out authors after learning from 5, 10 and 20 authors."""
    out: dict[int, list[float]] = {5: [], 10: [], 20: []}
    for fold in folds():
        rest = [name for name in sorted(data) if name not in fold]
        for size, scores in out.items():
            # Spread over the list, so that a few authors aren't neighbours in it.
            chosen = [rest[round(at)] for at in np.linspace(0, len(rest) - 1, size)]
            learned = fit({name: data[name] for name in chosen})
            scores += [score(learned, data[name]) for name in fold]
    return {size: round(float(np.mean(scores)), 4) for size, scores in out.items()}


@dataclass(frozen=True, slots=True)
class Reliability:
    """``said`` and ``observed`` of each tenth that holds any, and the expected error."""

    rows: tuple[tuple[float, float, int], ...]
    error: float
    brier: float

    def __str__(self) -> str:
        bars = "\n".join(
            f"  said {said:.2f}  was {was:.2f}  {'#' * round(40 * was)} ({count})"
            for said, was, count in self.rows
        )
        return f"{bars}\n  expected calibration error {self.error:.3f}, Brier {self.brier:.3f}"


def reliability(probabilities: Sequence[float], truths: Sequence[bool]) -> Reliability:
    """How often what was said with a probability was so, by tenths (Guo et al. 2017, section 2)."""
    said, was = np.asarray(probabilities), np.asarray(truths, dtype=float)
    bins = np.minimum((said * 10).astype(int), 9)
    rows = []
    for at in range(10):
        inside = bins == at
        if inside.any():
            rows.append((float(said[inside].mean()), float(was[inside].mean()), int(inside.sum())))
    error = sum(abs(one - other) * count for one, other, count in rows) / max(1, len(said))
    return Reliability(tuple(rows), error, float(np.mean((said - was) ** 2)))


def table(rows: Mapping[str, Mapping[str, float | None]]) -> str:
    """Authors down, figures across, and their mean and lowest."""
    columns = list(next(iter(rows.values())))
    lines = [" " * 6 + "".join(f"{name:>16}" for name in columns)]
    every = dict(rows)
    for label, whole in (("mean", np.nanmean), ("lowest", np.nanmin)):
        every[label] = {
            column: float(whole([_number(row[column]) for row in rows.values()]))
            for column in columns
        }
    for name, row in every.items():
        lines.append(f"{name:6}" + "".join(f"{_number(row[c]):16.3f}" for c in columns))
    return "\n".join(lines)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def corpus_hash(files: Iterable[str]) -> str:
    """Of the corpus's files of these names (``mentions``), in the order of authors, and of other
    files by their path in the repository."""
    digest = sha256()
    for name in sorted(files):
        here = [ROOT / name] if "/" in name else CORPUS.glob(f"a[0-9][0-9]/{name}.jsonl")
        for path in sorted(here):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def write(path: Path, files: Sequence[str], source: str, learned: Mapping[str, Any]) -> None:
    """Writes weights, a named weight a line, a vector a line; what they were learned from and their
    thresholds go into the manifest beside them, which knows the model's name."""
    manifest = json.loads(path.with_name("manifest.json").read_text("utf-8"))
    entry = manifest[path.stem]
    corpus = {"files": sorted(files), "sha256": corpus_hash(files)}
    thresholds = {name: learned[name] for name in entry["thresholds"]}
    manifest[path.stem] = {**entry, "source": source, "corpus": corpus, "thresholds": thresholds}
    weights = {name: value for name, value in learned.items() if name not in thresholds}
    for at, content in ((path, weights), (path.with_name("manifest.json"), manifest)):
        text = json.dumps(content, ensure_ascii=False, indent=1)
        at.write_text(
            _VECTOR.sub(lambda found: " ".join(found.group().split()), text) + "\n", "utf-8"
        )


def place_of(text: str, span: Mapping[str, Any]) -> tuple[int, int]:
    """Where a span of a case lies in ``text``, in code points."""
    start = -1
    for _ in range(span["nth"] + 1):
        start = text.index(span["text"], start + 1)
    return start, start + len(span["text"])
