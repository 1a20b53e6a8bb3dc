"""How a new statement stands to an earlier one, learned from the pairs of changes.jsonl and from
pairs that do not meet: other pairs' statements, and memories of one chat, which hold together.

A softmax over the relations (POLICY.md, "changes"), on the features, the vectors and their product.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from memories.providers.embeddings import LocalEmbedder
from memories.providers.offline.change_features import Told, Vector, features
from memories.providers.offline.conflicts import SAME, ChangeModel, Odds, in_doubt
from tools.training import by_author

FILES = ("changes", "extraction")
TARGET = by_author.ROOT / "memories/providers/offline/change_model.json"
OVER = ("supersedes", "partly")
ASKED = (*OVER, "conflicts")
# How much a pair counts that no author wrote as one: of two people; of one person, told apart;
# of one chat. Most of what a new memory is compared with is such.
STRANGERS, SAME_PERSON, ONE_CHAT = 0.3, 0.5, 0.3
NEAREST = 3  # statements about others that a later one is set beside: a store shows the nearest
# Inverse strength of L2, and the scale of vectors beside features of standard deviation 1, which
# says how strongly they count; all chosen by cross-validation.
C = 0.03
SCALES = np.repeat([16.0, 480.0, 3.0], 384)  # new, product, old
DIGITS = 3

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, the evidence on them, and how the later stands to the earlier; ``made``:
    no author wrote it as a pair; ``of_chat``: two memories of one chat."""

    new: Told
    old: Told
    evidence: dict[str, float]
    relation: str
    weight: float = 1.0
    made: bool = False
    of_chat: bool = False


def train(*, write: bool) -> None:
    pairs = _pairs()
    judged = _judged(pairs)
    print(by_author.table(_table(judged)))
    print(_summary([one for each in judged.values() for one in each]))
    ended = [(odds.ended, pair.relation in OVER) for each in judged.values() for pair, odds in each]
    print("That the old one is over, in part or whole:")
    print(by_author.reliability(*map(list, zip(*ended, strict=True))))
    print("Share of the cases that are decided as their gold says, after so many authors:")
    print(by_author.learning_curve(pairs, _fit, _right))
    if write:
        by_author.write(TARGET, FILES, "tools/training/change_model.py", _fit(pairs))


def _pairs() -> dict[str, list[Pair]]:
    changes, chats = by_author.authors("changes"), by_author.authors("extraction")
    vectors = _vectors(
        [row[side]["text"] for rows in changes.values() for row in rows for side in ("old", "new")]
        + [memory["content"] for rows in chats.values() for memory in _memories(rows)]
    )
    return {
        name: [*_written(rows, vectors), *_of_chats(chats[name], rows, vectors)]
        for name, rows in changes.items()
    }


def _memories(chats: Sequence[Row]) -> Iterator[Row]:
    for chat in chats:
        yield from chat["gold"]["memories"]


def _written(rows: Sequence[Row], vectors: dict[str, Vector]) -> Iterator[Pair]:
    """The author's cases, and each later statement beside the earlier ones of other cases."""
    for row in rows:
        new, old = (_told(row, side, vectors) for side in ("new", "old"))
        yield Pair(new, old, features(new, old), row["relation"])
        others = [_told(other, "old", vectors) for other in rows if other is not row]
        earlier = [other for other in others if other.said_at < new.said_at]
        strangers = [other for other in earlier if not new.people & other.people]
        strangers.sort(key=lambda other: float(-new.vector @ other.vector))
        for other in strangers[:NEAREST]:
            yield Pair(new, other, features(new, other), "unrelated", STRANGERS, made=True)
        for other in earlier:
            if new.people & other.people:
                evidence = features(new, other)
                yield Pair(new, other, evidence, "complements", SAME_PERSON, made=True)


def _told(row: Row, side: str, vectors: dict[str, Vector]) -> Told:
    """A message of a case; of two people who are told apart each side has its own."""
    names = [name.strip() for name in row["person"].split("/")]
    text, said_at = row[side]["text"], datetime.fromisoformat(row[side]["time"])
    who = names[-1] if side == "new" else names[0]
    return Told(text, said_at, frozenset({who}), vectors[text])


def _of_chats(
    chats: Sequence[Row], rows: Sequence[Row], vectors: dict[str, Vector]
) -> Iterator[Pair]:
    """What one chat tells of one person, as if it had been told as far apart as the cases."""
    number = 0
    for chat in chats:
        said_at = datetime.fromisoformat(chat["messages"][0]["time"])
        for old, new in combinations(chat["gold"]["memories"], 2):
            if old["person"] != new["person"]:
                continue
            case = rows[number % len(rows)]
            gap = datetime.fromisoformat(case["new"]["time"]) - datetime.fromisoformat(
                case["old"]["time"]
            )
            first, second = (
                Told(one["content"], at, frozenset({one["person"]}), vectors[one["content"]])
                for one, at in ((old, said_at), (new, said_at + gap))
            )
            evidence = features(second, first)
            yield Pair(second, first, evidence, "complements", ONE_CHAT, made=True, of_chat=True)
            number += 1


def _vectors(texts: Sequence[str]) -> dict[str, Vector]:
    """Of the local model, kept between runs: they take minutes."""
    kept = Path(tempfile.gettempdir()) / "mio-change-vectors.npz"
    found: dict[str, Vector] = {}
    if kept.exists():
        with np.load(kept) as held:
            found = dict(zip(held["texts"].tolist(), held["vectors"], strict=True))
    if left := sorted(set(texts) - found.keys()):
        made = np.asarray(LocalEmbedder().embed_passages(left))
        found |= dict(zip(left, made, strict=True))
        np.savez(kept, texts=np.array([*found]), vectors=np.array([*found.values()]))
    return found


def _fit(data: Mapping[str, list[Pair]]) -> dict[str, Any]:
    """The weights as ``change_model.json`` holds them, of raw features and vectors."""
    pairs = [pair for each in data.values() for pair in each]
    names = sorted(pairs[0].evidence)
    values = np.array([[pair.evidence[name] for name in names] for pair in pairs])
    told = np.array([not pair.made for pair in pairs])
    vectors = _in_one_style(pairs)
    center = np.hstack([values[told].mean(0), vectors[told].mean(0)])
    scale = np.hstack([1 / (values[told].std(0) + 1e-6), SCALES])
    relations = np.array([pair.relation for pair in pairs])
    weights, bias = _logistic(
        np.hstack([values, vectors]), center, scale, relations, [pair.weight for pair in pairs]
    )
    by_feature, by_vector = np.split(weights, [len(names)], axis=1)
    new, product, old = np.split(by_vector, 3, axis=1)
    return {
        "relations": sorted(set(relations.tolist())),
        "bias": _rounded(bias),
        "features": dict(zip(names, _rounded(by_feature.T), strict=True)),
        "new": _rounded(new),
        "product": _rounded(product),
        "old": _rounded(old),
    }


def _in_one_style(pairs: Sequence[Pair]) -> NDArray[Any]:
    """The vectors of each pair: new, product, old. Those of memories of chats, which are all in
    the third person and all hold together, are moved to where messages lie, language by language:
    how a thing is worded would else pass for evidence that it still holds."""
    groups = [(pair.of_chat, pair.evidence["chinese"]) for pair in pairs]
    lies: dict[tuple[bool, float], list[NDArray[Any]]] = {}
    for pair, group in zip(pairs, groups, strict=True):
        if pair.of_chat or not pair.made:
            lies.setdefault(group, []).append(_both(pair))
    means = {group: np.mean(vectors, (0, 1)) for group, vectors in lies.items()}
    out = []
    for pair, (of_chat, chinese) in zip(pairs, groups, strict=True):
        moved = _both(pair) + (means[False, chinese] - means[True, chinese] if of_chat else 0.0)
        new, old = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        out.append(np.concatenate([new, new * old, old]))
    return np.array(out)


def _both(pair: Pair) -> NDArray[Any]:
    return np.array([pair.new.vector, pair.old.vector])


def _logistic(
    values: NDArray[Any],
    center: NDArray[Any],
    scale: NDArray[Any],
    classes: NDArray[Any],
    weights: Sequence[float],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Coefficients and biases of the raw values, learned from centred and scaled ones."""
    model = LogisticRegression(C=C, max_iter=2000, tol=1e-3)
    model.fit((values - center) * scale, classes, sample_weight=weights)
    raw = model.coef_ * scale
    return raw, model.intercept_ - raw @ center


def _rounded(values: NDArray[Any]) -> Any:
    return np.round(values, DIGITS).tolist()


Judged = list[tuple[Pair, Odds]]


def _judged(pairs: dict[str, list[Pair]]) -> dict[str, Judged]:
    """Every pair with what a model says that has not seen its author."""
    found = {}
    for name, learned in by_author.held_out(pairs, _fit):
        model = ChangeModel.read(learned)
        found[name] = [(pair, model.odds(pair.new, pair.old)) for pair in pairs[name]]
    return dict(sorted(found.items()))


def _decision(odds: Odds) -> str:
    if odds.same >= SAME:
        return "same"
    return "asked" if in_doubt(odds) else "kept"


def _right(model: dict[str, Any], pairs: list[Pair]) -> float:
    read = ChangeModel.read(model)
    told = [pair for pair in pairs if not pair.made]
    return float(
        np.mean([_fits(_decision(read.odds(one.new, one.old)), one.relation) for one in told])
    )


def _fits(decision: str, relation: str) -> bool:
    fitting = {"same": ("same",), "asked": ASKED}
    return relation in fitting.get(decision, ("complements", "unrelated", "same"))


def _table(judged: dict[str, Judged]) -> dict[str, dict[str, float | None]]:
    return {name: _figures(each) for name, each in judged.items()}


def _figures(judged: Judged) -> dict[str, float | None]:
    told = [(pair.relation, _decision(odds)) for pair, odds in judged if not pair.made]
    asked = [one for one, said in told if said == "asked"]
    return {
        "asked": len(asked),
        "needlessly": sum(one not in ASKED for one in asked),
        "seen": _share([said == "asked" for one, said in told if one in ASKED]),
    }


def _share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def _summary(judged: Judged) -> str:
    lines = []
    for label, made in (("of the cases", False), ("of made pairs", True)):
        told = [(one.relation, _decision(odds)) for one, odds in judged if one.made is made]
        counts = {
            said: {one: told.count((one, said)) for one in sorted({one for one, _ in told})}
            for said in ("asked", "same", "kept")
        }
        lines += [f"{label}, {said}: {count}" for said, count in counts.items()]
    return "\n".join(lines)
