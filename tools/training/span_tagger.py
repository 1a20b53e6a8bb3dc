"""Learns to find the people in a text: a linear-chain CRF over classes of words, which kind of
name a span is, and which spans are one person.

The gold are the spans of sentences, and messages of other writers that speak of nobody. The other
files of an author name contacts that stand in a text: there a CRF that was learned from the gold tags
the rest, and the final one learns from both (self-training with what is known, Yarowsky 1995)."""

import itertools
import random
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pycrfsuite
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from tools.training import by_author
from tools.training.by_author import Case
from tools.training.replaced_mentions import replaced
from understanding.learned import MODELS, Logistic, log_odds
from understanding.lexicon import words
from understanding.people import person_tagger
from understanding.people.chain import Chain, Segment
from understanding.people.person_tagger import pair_features
from understanding.people.span_evidence import Row, Token, evidence
from understanding.roles import groups, terms
from understanding.text import is_han, normalise

NAMES = ("name", "nickname", "title")
FILES = ("extraction", "mentions", "pronouns", "sentences", by_author.NOBODY)
# A feature that fewer authors have is of one life.
LEAST_AUTHORS = 3
# Chosen by the mean F1 on other authors; more L1 loses names, more L2 both.
SETTINGS = {"c1": 0.1, "c2": 1.0, "max_iterations": 80}
# A span that is tagged by itself in an unread text counts from this probability.
SELF = 0.5
# Of what the chain finds, what calibration and thresholds are chosen from.
SEEN = 0.1
# How often each sentence is read again with other names in it.
REPLACED = 2


class Span(NamedTuple):
    """A person at [start, end); ``key`` says who, within the text."""

    start: int
    end: int
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Example:
    """A text as the chain reads it, with who is spoken of; ``nobody`` are places of traps."""

    text: str
    lang: str
    spans: tuple[Span, ...]
    toks: Sequence[Token]
    rows: Sequence[Row]
    nobody: tuple[tuple[int, int], ...] = ()

    def labels(self, spans: Iterable[Span]) -> list[str]:
        """Of each token O, B-kind or I-kind; names of all kinds are one kind here."""
        out = ["O"] * len(self.toks)
        for span in spans:
            inside = [
                a for a, t in enumerate(self.toks) if t.start < span.end and t.end > span.start
            ]
            for at in inside:
                out[at] = f"{'B' if at == inside[0] else 'I'}-{_chained(span.kind)}"
        return out


Texts = Mapping[str, Sequence[Example]]


def _chained(kind: str) -> str:
    return "role" if kind == "role" else "name"


# --- Gold


def sentences(cases: Sequence[Case], *, known: float = 0.0) -> list[Example]:
    """The sentences of one author, in a share of which half of the author's names are known."""
    names = sorted({s["text"] for c in cases for s in c["spans"] if s["kind"] in NAMES[:2]})
    out = []
    for case in cases:
        drawn = random.Random(case["id"])  # noqa: S311  the same in every run
        some = drawn.sample(names, len(names) // 2) if drawn.random() < known else ()
        spans = sorted(
            _span(case["text"], s) for s in case["spans"] if s["kind"] in (*NAMES, "role")
        )
        out.append(_example(case["text"], case["lang"], spans, known=some))
    return out


def nobody() -> dict[str, list[Example]]:
    """The messages to learn from that speak of nobody, by writer."""
    return {
        writer: [_example(case["text"], case["lang"], ()) for case in cases]
        for writer, cases in by_author.by_writer(by_author.nobody()).items()
        if writer not in by_author.UNREAD
    }


def varied(examples: Sequence[Example], times: int = REPLACED) -> list[Example]:
    """The examples, and so many of each in which the people bear other names."""
    out = list(examples)
    for number, example in enumerate(examples):
        for turn in range(times if example.spans else 0):
            draw = random.Random(f"{example.text} {number} {turn}")  # noqa: S311  the same in every run
            text, spans = replaced(example.text, example.spans, draw)
            out.append(_example(text, example.lang, itertools.starmap(Span, spans)))
    return out


def _span(text: str, span: Mapping[str, Any]) -> Span:
    at = -1
    for _ in range(span["nth"] + 1):
        at = text.index(span["text"], at + 1)
    return Span(at, at + len(span["text"]), span["kind"], span["key"])


def _example(
    text: str, lang: str, spans: Iterable[Span], *, known: Collection[str] = (), nobody: Any = ()
) -> Example:
    return Example(text, lang, tuple(spans), *evidence(text, known), tuple(nobody))


# --- Texts with known contacts


def told(author: str) -> list[Example]:
    """The user's messages of an author's other files, with those of the contacts' names in them
    that mean the contact (``nobody``: that don't)."""
    seen: dict[str, Example] = {}
    for text, meant, others in _messages(author):
        if text not in seen:
            spans = _places(text, meant)
            nobody = _places(text, others)
            inside = [s for s in spans if all(s.end <= n.start or s.start >= n.end for n in nobody)]
            seen[text] = _example(text, "", inside, nobody=[n[:2] for n in nobody])
    return list(seen.values())


def _messages(author: str) -> Iterator[tuple[str, set[str], set[str]]]:
    folder = by_author.CORPUS / author
    for case in by_author.cases(folder / "mentions.jsonl"):
        meant, others = _parted(case["contacts"], case["expect"])
        yield case["message"], meant, others
    for case in by_author.cases(folder / "pronouns.jsonl"):
        yield case["message"], _parted(case["contacts"], case["named"])[0], set()
        every = {name for contact in case["contacts"] for name in _names(contact)}
        yield from ((t["text"], every, set()) for t in case["history"] if t["role"] == "user")
    for case in by_author.cases(folder / "extraction.jsonl"):
        every = {name for contact in case["gold"]["contacts"] for name in _names(contact)}
        yield from ((t["text"], every, set()) for t in case["messages"] if t["role"] == "user")


def _parted(contacts: Sequence[Case], keys: Collection[str]) -> tuple[set[str], set[str]]:
    """The names of the contacts with these keys, and those that only the others have."""
    meant = {n for contact in contacts if contact["key"] in keys for n in _names(contact)}
    every = {n for contact in contacts for n in _names(contact)}
    return meant, every - meant


def _names(contact: Case) -> Iterator[str]:
    """The spellings of a contact's name and aliases, given names alone among them."""
    for name in (contact["name"], *contact["aliases"]):
        key = normalise(name)
        if (
            len(name) < 2
            or key in terms()
            or key in groups()
            or key in words("people_words", "kin")
        ):
            continue
        yield name
        if all(map(is_han, name)):
            yield from (name[1:],) * (len(name) == 3)
        elif normalise(first := name.split()[0]) not in words("people_words", "address"):
            yield from (first,) * (len(first) > 2)


def _places(text: str, names: Iterable[str]) -> list[Span]:
    """Where names stand in a text in any case, longer ones first, none over another."""
    low, out = text.lower(), list[Span]()
    for name in sorted(names, key=lambda name: (-len(name), name)):
        at = -1
        while (at := low.find(name.lower(), at + 1)) >= 0:
            end = at + len(name)
            whole = not (_joined(low, at) or _joined(low, end))
            if whole and all(end <= s.start or at >= s.end for s in out):
                out.append(Span(at, end, "name", name))
    return sorted(out)


def _joined(text: str, at: int) -> bool:
    """Whether a word of another script than Chinese goes on over a place."""
    sides = text[at - 1 : at + 1] if at else ""
    return len(sides) == 2 and sides.isalpha() and not any(map(is_han, sides))


# --- Learning


def fit(gold: Texts, more: Texts) -> dict[str, Any]:
    """The chain, from gold and from further texts that a first chain tags."""
    first = Chain.from_json(crf(_labelled(gold), _frequent(gold)))
    tagged = [(example, example.labels(_found(first, example))) for example in _every(more)]
    return crf([*_labelled(gold), *tagged], _frequent(gold))


def _labelled(gold: Texts) -> list[tuple[Example, list[str]]]:
    return [(example, example.labels(example.spans)) for example in _every(gold)]


def _every(texts: Texts) -> Iterator[Example]:
    return (example for author in sorted(texts) for example in texts[author] if example.toks)


def _found(chain: Chain, example: Example) -> list[Span]:
    """What is known of a text, and what a chain finds elsewhere in it."""
    out = list(example.spans)
    taken = [*(s[:2] for s in out), *example.nobody]
    for start, end, kind, _ in _located(
        example, person_tagger.without_overlaps(chain.segments(example.rows, SELF))
    ):
        if all(end <= a or start >= b for a, b in taken):
            out.append(Span(start, end, kind, ""))
    return sorted(out)


def _located(example: Example, segments: Iterable[Segment]) -> list[tuple[int, int, str, float]]:
    toks = example.toks
    return [(toks[s.start].start, toks[s.end - 1].end, s.kind, s.probability) for s in segments]


def _frequent(gold: Texts) -> set[str]:
    """Features that enough authors have."""
    having: dict[str, set[str]] = defaultdict(set)
    for author, texts in gold.items():
        for feature in {f for example in texts for row in example.rows for f in row}:
            having[feature].add(author)
    least = min(LEAST_AUTHORS, len(gold))
    return {feature for feature, ones in having.items() if len(ones) >= least}


def crf(texts: Sequence[tuple[Example, list[str]]], features: Collection[str]) -> dict[str, Any]:
    """Labels, transitions and weights by OWL-QN (elastic net, CRFsuite: Okazaki 2007)."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    for example, labels in texts:
        trainer.append([[f for f in row if f in features] for row in example.rows], labels)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        read = pycrfsuite.Tagger()
        read.open(f"{folder}/model")
        labels, info = list(read.labels()), read.info()
        read.close()
    weights: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(labels))
    for (feature, label), weight in info.state_features.items():
        weights[feature][labels.index(label)] = round(weight, 2)
    steps = [[round(info.transitions.get((a, b), 0.0), 2) for b in labels] for a in labels]
    kept = {feature: row for feature, row in sorted(weights.items()) if any(row)}
    return {"labels": labels, "transitions": steps, "weights": kept}


def logistic(features: Sequence[Mapping[str, float]], truths: Sequence[Any]) -> dict[Any, Any]:
    """A logistic regression by class (the one against the other, of two: the positive one's)."""
    vectors = DictVectorizer()
    matrix = vectors.fit_transform(features)
    learned = LogisticRegression(C=1.0, max_iter=2000).fit(matrix, truths)
    names = vectors.get_feature_names_out()
    classes = learned.classes_ if len(learned.classes_) > 2 else learned.classes_[1:]
    return {
        one if isinstance(one, str) else bool(one): {
            "bias": round(float(bias), 3),
            "weights": {n: round(float(w), 3) for n, w in zip(names, row, strict=True)},
        }
        for one, bias, row in zip(classes, learned.intercept_, learned.coef_, strict=True)
    }


def links(gold: Texts) -> dict[str, Any]:
    """Whether two spans are one person."""
    pairs = [(e, i, j) for e in _every(gold) for i, j in combinations(range(len(e.spans)), 2)]
    same = [e.spans[i].key == e.spans[j].key for e, i, j in pairs]
    return {
        "pairs": logistic([pair_features(e.text, e.spans, i, j) for e, i, j in pairs], same)[True]
    }


# --- Judging


def train(*, write: bool) -> None:
    cases = by_author.authors("sentences")
    gold = {author: sentences(rows) for author, rows in cases.items()}
    taught = {author: varied(sentences(rows, known=0.4)) for author, rows in cases.items()}
    more = {author: told(author) for author in cases}
    of_nobody = nobody()

    found: dict[str, list[tuple[Example, list[Segment]]]] = {}
    linked: dict[str, dict[str, float]] = {}
    folds = by_author.folds()
    for number, fold in enumerate(folds):
        held_out = [*fold, *sorted(of_nobody)[number :: len(folds)]]
        rest = [author for author in sorted(cases) if author not in held_out]
        training = {author: taught[author] for author in rest}
        training |= {w: texts for w, texts in of_nobody.items() if w not in held_out}
        chain = Chain.from_json(fit(training, {a: more[a] for a in rest}))
        tied = links({a: gold[a] for a in rest})
        for name in held_out:
            texts = gold[name] if name in gold else of_nobody[name]
            found[name] = [
                (e, person_tagger.without_overlaps(chain.segments(e.rows, SEEN))) for e in texts
            ]
        linked |= {author: _links_right(gold[author], tied) for author in fold}
    scale = {kind: _platt(found, kind) for kind in ("name", "role")}
    least = {kind: _threshold(found, scale, kind) for kind in ("name", "role")}
    rows = {
        author: {**_figures(found[author], scale, least), **linked[author]}
        for author in sorted(cases)
    }
    print(by_author.table(rows))
    print(f"names in messages of nobody: {_names_found(found, of_nobody, scale, least)}")
    for lang in ("zh", "en", "mixed"):
        some = [(e, s) for a in cases for e, s in found[a] if e.lang == lang]
        print(lang, {name: round(f or 0, 3) for name, f in _figures(some, scale, least).items()})
    for kind in ("name", "role"):
        said, true = _outcomes(found, scale, kind)
        print(f"{kind}: threshold {least[kind]}\n{by_author.reliability(said, true)}")
    if write:
        model = {**fit({**taught, **of_nobody}, more), "calibration": scale, "threshold": least}
        source = "Spans of people: a linear-chain CRF by tools/training/span_tagger.py"
        by_author.write(MODELS / "span_tagger.json", FILES, source, model)
        source = "Spans of one person, by tools/training/span_tagger.py"
        by_author.write(MODELS / "span_links.json", ("sentences",), source, links(gold))

    def learned(some: Mapping[str, Any]) -> Chain:
        texts = {author: gold[author] for author in some}
        return Chain.from_json(crf(_labelled(texts), _frequent(texts)))

    def score(chain: Chain, rows: Sequence[Case]) -> float:
        texts = gold[rows[0]["id"][:3]]
        some = [(e, person_tagger.without_overlaps(chain.segments(e.rows, SEEN))) for e in texts]
        figures = _figures(some, scale, least)
        return ((figures["name F1"] or 0.0) + (figures["role F1"] or 0.0)) / 2

    print("mean of both F1 by authors, sentences alone:")
    print(by_author.learning_curve(cases, learned, score))


def _right(example: Example, segments: Iterable[Segment]) -> Iterator[tuple[Segment, bool]]:
    gold = {(s.start, s.end, _chained(s.kind)) for s in example.spans}
    for segment in segments:
        [(start, end, kind, _)] = _located(example, [segment])
        yield segment, (start, end, kind) in gold


def _platt(found: Any, kind: str) -> dict[str, float]:
    """Platt scaling of what was found on authors that the chain had not seen."""
    every = [pair for texts in found.values() for e, s in texts for pair in _right(e, s)]
    odds = [[log_odds(s.probability)] for s, _ in every if s.kind == kind]
    fitted = LogisticRegression(C=1e6).fit(odds, [right for s, right in every if s.kind == kind])
    return {
        "slope": round(float(fitted.coef_[0, 0]), 3),
        "offset": round(float(fitted.intercept_[0]), 3),
    }


def _outcomes(found: Any, scale: Any, kind: str) -> tuple[list[float], list[bool]]:
    every = [pair for texts in found.values() for e, s in texts for pair in _right(e, s)]
    every = [(s, right) for s, right in every if s.kind == kind]
    return [person_tagger.calibrated(s, scale) for s, _ in every], [right for _, right in every]


def _threshold(found: Any, scale: Any, kind: str) -> float:
    """From which probability a span is returned: where F1 is highest."""
    said, true = map(np.asarray, _outcomes(found, scale, kind))
    whole = sum(
        _chained(s.kind) == kind for texts in found.values() for e, _ in texts for s in e.spans
    )
    f1 = {
        t: 2 * true[said >= t].sum() / ((said >= t).sum() + whole)
        for t in np.arange(0.2, 0.8, 0.05)
    }
    return round(float(max(f1, key=lambda t: f1[t])), 2)


def _figures(texts: Any, scale: Any, least: Any) -> dict[str, float | None]:
    """Precision, recall and F1 of names (of all kinds) and of roles."""
    out: dict[str, float | None] = {}
    for kind in ("name", "role"):
        pairs = [(s, r) for e, segments in texts for s, r in _right(e, segments) if s.kind == kind]
        right = [r for s, r in pairs if person_tagger.calibrated(s, scale) >= least[kind]]
        whole = sum(_chained(s.kind) == kind for e, _ in texts for s in e.spans)
        out[f"{kind} precision"] = sum(right) / len(right) if right else None
        out[f"{kind} recall"] = sum(right) / whole if whole else None
        out[f"{kind} F1"] = 2 * sum(right) / (len(right) + whole) if right or whole else None
    return out


def _names_found(found: Any, of_nobody: Texts, scale: Any, least: Any) -> str:
    """For each writer of messages that speak of nobody, how many names are found in how many."""
    counts = {
        writer: sum(
            person_tagger.calibrated(s, scale) >= least["name"]
            for _, segments in found[writer]
            for s in segments
            if s.kind == "name"
        )
        for writer in sorted(of_nobody)
    }
    return ", ".join(f"{w} {count} in {len(of_nobody[w])}" for w, count in counts.items())


def _links_right(texts: Sequence[Example], learned: Mapping[str, Any]) -> dict[str, float]:
    """On gold spans: F1 of pairs of one person."""
    pairs = Logistic(learned["pairs"]["bias"], learned["pairs"]["weights"])
    said = true = both = 0
    for e in texts:
        group = person_tagger.grouped(e.text, e.spans, pairs)
        for i, j in combinations(range(len(e.spans)), 2):
            one, same = group[i] == group[j], e.spans[i].key == e.spans[j].key
            said, true, both = said + one, true + same, both + (one and same)
    return {"one person F1": 2 * both / (said + true)}
