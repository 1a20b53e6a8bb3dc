"""Weights belong to the evidence that they were learned from: where what is read off a text changes,
they are to be learned anew (``python -m tools train``), and its fingerprint here is another."""

import json
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import pytest

from understanding.people import person_tagger, span_evidence
from understanding.people.evidence import Evidence
from understanding.people.mentions import entries_of, hits_of
from understanding.people.person_tagger import PersonSpan
from understanding.requests.forget_reading import evidence_of
from understanding.roles import terms
from understanding.types import Person

ENGLISH = (
    "my older sister Anneliese met Dave O'Brien, the dentist from Leeds; Ryan's girlfriend said "
    '"call Grandma" and their dog Rex wasnt zylkov. BOB and Mary Ann left with an old friend.'
)
CHINESE = (
    "我同桌杜若生了，她老公孟川是护士。“小狗豆豆”跟李阿姨的儿子去了温哥华，王总和Tom哥都说好。"
)
PEOPLE = [
    Person("sister", "Anneliese", ("Anne",), "older sister", "female"),
    Person("friend", "Dave O'Brien", (), "friend", "male"),
    Person("mate", "杜若", ("小若",), "同桌", "female"),
    Person("boss", "王砚农", (), "老板", "male"),
    Person("rain", "Rex", (), "colleague", "male"),
]


def fingerprint(evidence: Any) -> int:
    return crc32(json.dumps(evidence, ensure_ascii=False, sort_keys=True).encode())


def rounded(features: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in features.items() if value}


@pytest.mark.parametrize(("text", "expected"), [(ENGLISH, 3538518980), (CHINESE, 3329171528)])
def test_of_tokens(text: str, expected: int) -> None:
    _, rows = span_evidence.evidence(text, ["Mary Ann", "小若"])
    assert fingerprint([sorted(row) for row in rows]) == expected


@pytest.mark.parametrize(
    ("text", "people", "expected"),
    [
        (
            ENGLISH,
            "sister Anneliese Dave+O'Brien dentist Ryan girlfriend Grandma BOB Mary+Ann",
            3161337468,
        ),
        (CHINESE, "同桌 杜若 老公 孟川 李阿姨 儿子 王总 Tom哥", 3917035084),
    ],
)
def test_of_pairs_of_spans(text: str, people: str, expected: int) -> None:
    said = [one.replace("+", " ") for one in people.split()]
    spans = [
        PersonSpan(
            text.index(one), text.index(one) + len(one), "role" if terms().get(one) else "name", 1.0
        )
        for one in said
    ]
    pairs = [person_tagger.pair_features(text, spans, at, at + 1) for at in range(len(spans) - 1)]
    assert fingerprint([rounded(features) for features in pairs]) == expected


@pytest.mark.parametrize(("text", "expected"), [(ENGLISH, 2229882433), (CHINESE, 314981831)])
def test_of_mentions(text: str, expected: int) -> None:
    found = [
        (hit.start, hit.end, hit.person.id, rounded(evidence.of(hit)))
        for _, reading, hits in hits_of(text, entries_of(PEOPLE))
        for evidence in [Evidence(reading, hits)]
        for hit in hits
    ]
    assert found
    assert fingerprint(found) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please forget what I said last about my sister: her salary, ok?", 2847579787),
        ("别记我刚才说的了，把前男友的事都删掉吧，好吗？", 3931354340),
    ],
)
def test_of_requests_to_forget(text: str, expected: int) -> None:
    assert fingerprint([rounded(features) for features in evidence_of(text)]) == expected
