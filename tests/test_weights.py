"""Learned weights and the corpus belong together."""

import json

import pytest

from tools.training.by_author import ROOT, corpus_hash

LEARNED = [
    path
    for package in ("understanding", "memories")
    for path in sorted((ROOT / package).rglob("*.json"))
    if "corpus" in json.loads(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("path", LEARNED, ids=lambda path: path.stem)
def test_weights_were_learned_from_the_corpus_as_it_is(path):
    source = json.loads(path.read_text(encoding="utf-8"))["corpus"]
    assert source["sha256"] == corpus_hash(source["files"]), (
        "The corpus changed: learn the weights anew (python -m tools train MODEL --write)."
    )
