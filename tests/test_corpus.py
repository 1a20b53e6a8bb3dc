"""The corpus is of its forms and as large as it has to be; what is wrong in it is found."""

import json
from copy import deepcopy
from itertools import chain
from typing import Any

import pytest

from tools import check_corpus
from tools.check_corpus import CORPUS, authors, cases, problems, sizes, unsound

LEAST = {"mentions": 1500, "aliases": 1200, "pronouns": 1200, "extraction": 300, "sentences": 3000}


def test_nothing_is_wrong_in_it() -> None:
    assert list(problems()) == []


def test_it_is_large_enough_and_every_author_is_in_one_split() -> None:
    total = {name: sum(one[name] for one in sizes().values()) for name in LEAST}
    assert {name: total[name] >= least for name, least in LEAST.items()} == dict.fromkeys(
        LEAST, True
    )
    splits = json.loads((CORPUS / "splits.json").read_text("utf-8"))
    assert sorted(chain(*splits.values())) == [author.name for author in authors()]
    asks = [case["asks"] for author in authors() for case in cases(author, "forgetting")]
    assert min(asks.count(True), asks.count(False)) >= 150
    means = [case["expect"] for author in authors() for case in cases(author, "descriptions")]
    assert min(means.count([]), len(means) - means.count([])) >= 90


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"id": "n1-nob-002", "writer": "n1", "lang": "fr", "text": "Il pleut."}, "lang"),
        (
            {"id": "n1-nob-001", "writer": "n1", "lang": "en", "text": "It rains."},
            "n1-nob-001 twice",
        ),
        ({"id": "n1-nob-002", "writer": "n1", "lang": "zh", "text": "下雨了"}, "下雨了 twice"),
    ],
)
def test_a_wrong_line_of_nobody_is_named(
    line: Any, problem: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {"id": "n1-nob-001", "writer": "n1", "lang": "zh", "text": "下雨了"}
    lines = [json.dumps(one) for one in (first, line)]
    (tmp_path / "nobody.jsonl").write_text("\n".join(lines), "utf-8")
    for name in ("schema.json", "errata.jsonl"):
        (tmp_path / name).write_text((CORPUS / name).read_text("utf-8"), "utf-8")
    monkeypatch.setattr(check_corpus, "CORPUS", tmp_path)
    assert any(problem in found for found in problems())


def test_whom_a_description_means_has_memories(tmp_path: Any) -> None:
    case = {"id": "a01-des-001", "expect": ["Zyx"]}
    (tmp_path / "extraction.jsonl").write_text("", "utf-8")
    (tmp_path / "descriptions.jsonl").write_text(json.dumps(case), "utf-8")
    assert list(check_corpus.untold(tmp_path)) == ["a01-des-001: no memory is about Zyx"]


def _trap_with_key(case: Any) -> None:
    case["spans"] = [{"text": case["text"][0], "nth": 0, "kind": "trap", "key": "p9"}]


@pytest.mark.parametrize(
    ("name", "break_it", "problem"),
    [
        ("mentions", lambda case: case.update(expect=["nobody"]), "no contact has the key"),
        ("pronouns", lambda case: case["contacts"].append(case["contacts"][0]), "one key"),
        ("extraction", lambda case: case["messages"].reverse(), "not in order"),
        ("extraction", lambda case: case["gold"]["contacts"].append(
            {"name": "Zyx", "aliases": []}), "does not occur"),
        ("sentences", lambda case: case.update(about=["p77"], type="plan", lasting=True), "no span"),
        ("sentences", _trap_with_key, "a trap has no key"),
        ("forgetting", lambda case: case.update(asks=not case["asks"]), "about something"),
        ("changes", lambda case: case.update(old=case["new"]), "not older"),
        ("descriptions", lambda case: case.update(message=case["expect"][0]), "not described"),
    ],
)  # fmt: skip
def test_a_case_that_contradicts_itself_is_found(name: str, break_it: Any, problem: str) -> None:
    case = deepcopy(cases(authors()[0], name)[0])
    assert list(unsound(name, case)) == []
    break_it(case)
    assert any(problem in found for found in unsound(name, case))


def test_a_line_of_another_form_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    author = tmp_path / "a01"
    author.mkdir()
    for name in check_corpus.SETS:
        (author / f"{name}.jsonl").write_text("", "utf-8")
    (author / "author.json").write_text("{}", "utf-8")
    (author / "mentions.jsonl").write_text('{"id": "a01-men-001", "lang": "fr"}\n', "utf-8")
    for name in ("errata.jsonl", "nobody.jsonl"):
        (tmp_path / name).write_text("", "utf-8")
    (tmp_path / "schema.json").write_text((CORPUS / "schema.json").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(check_corpus, "CORPUS", tmp_path)
    found = list(problems())
    assert any("a01-men-001: lang" in one for one in found)
    assert any("a01/author.json" in one for one in found)
