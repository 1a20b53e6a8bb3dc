"""Learned weights and the corpus belong together."""

import json

import pytest

from memories.providers.embeddings import LOCAL_DIMENSIONS, LOCAL_MODEL
from tools.training.by_author import corpus_hash
from understanding.learned import MODELS

MANIFEST = json.loads((MODELS / "manifest.json").read_text("utf-8"))


def test_the_manifest_has_every_model_and_its_space_of_vectors():
    assert MANIFEST.keys() == {path.stem for path in MODELS.glob("*.json")} - {"manifest"}
    assert {one["space"] for one in MANIFEST.values()} == {
        None,
        f"{LOCAL_MODEL}/{LOCAL_DIMENSIONS}",
    }


@pytest.mark.parametrize("name", MANIFEST)
def test_weights_were_learned_from_the_corpus_as_it_is(name):
    corpus = MANIFEST[name]["corpus"]
    assert corpus["sha256"] == corpus_hash(corpus["files"]), (
        "The corpus changed: learn the weights anew (python -m tools train MODEL --write)."
    )
