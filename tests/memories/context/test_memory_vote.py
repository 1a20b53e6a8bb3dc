"""Whom nothing names is found by what is known of them, and ordinary talk means nobody."""

import math
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import EndUser
from memories.context import build, memory_vote
from memories.context.request import ContextRequest
from memories.context.types import Trace
from memories.models import Memory
from memories.providers.factory import embedder
from memories.search.recall import Hit
from memories.search.relevance import Relevance
from tests.factories import make_contact, make_end_user, make_memory
from understanding.learned import logistic, model

KNOWN = {
    "Marek": (
        "Marek is the barber who does the user's hair",
        "Marek is going to Gdańsk to see his mother",
    ),
    "Ines": ("Ines teaches the cello to children", "Ines has two greyhounds"),
    "Tobias": ("Tobias brings a kitchen timer to the weekly meeting", "Tobias is a vegan"),
    "Wren": ("Wren keeps bees on the roof of the library",),
    "": ("The user takes the 47 bus to work", "The user is learning to bake bread"),
}
CELLO = "the one who teaches kids the cello asked me to dinner"


@pytest.fixture
def end_user(db: None) -> EndUser:
    end_user = make_end_user(language="en")
    for name, contents in KNOWN.items():
        about = [make_contact(end_user, name)] if name else []
        vectors = embedder().embed_passages(list(contents))
        for content, vector in zip(contents, vectors, strict=True):
            make_memory(end_user, content, *about, embedding=vector, said_at=timezone.now())
    return end_user


def traced(end_user: EndUser, message: str, **options: Any) -> Trace:
    return build.trace(end_user, ContextRequest(message, history=[("user", "hello")], **options))


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (CELLO, "Ines"),
        ("that one from work put his timer on the table again in the Monday meeting", "Tobias"),
    ],
)
def test_somebody_is_found_by_what_is_known_of_them(
    end_user: EndUser, message: str, name: str
) -> None:
    found = traced(end_user, message)
    (contact,) = found.injection.contacts
    assert (contact.name, contact.matched_by) == (name, "semantic")
    assert contact.matched_text in KNOWN[name]
    assert contact.matched_text in str(found.mentions[0].reason)
    assert f"### {name}" in found.injection.system_prompt


@pytest.mark.parametrize(
    "message", ["my own bread didn't rise today", "what's the best way to clean a kettle?"]
)
def test_ordinary_talk_means_nobody(end_user: EndUser, message: str) -> None:
    assert traced(end_user, message).injection.contacts == ()


def test_nobody_is_voted_for_beside_somebody_named_or_without_search(end_user: EndUser) -> None:
    named = traced(end_user, f"Wren says {CELLO}")
    assert [contact.name for contact in named.injection.contacts] == ["Wren"]
    alone = traced(end_user, CELLO, include=("cards", "linked"))
    assert alone.injection.contacts == ()


def test_an_archived_contact_is_not_voted_for(end_user: EndUser) -> None:
    end_user.contacts.filter(name="Ines").update(archived_at=timezone.now())
    found = traced(end_user, CELLO)
    assert "Ines" not in {contact.name for contact in found.injection.contacts}


def test_a_vote_takes_no_statement_of_its_own(end_user: EndUser) -> None:
    with CaptureQueriesContext(connection) as voted:
        found = traced(end_user, CELLO)
    assert found.injection.contacts
    assert len(voted) <= 8


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1), st.integers(0, 3)), max_size=10),
    st.text(max_size=80),
)
def test_a_vote_is_a_probability_whatever_was_found(
    found: list[tuple[float, float, int]], message: str
) -> None:
    people = [{"id": str(uuid4()), "name": f"P{n}"} for n in range(3)]
    hits = [
        Hit(
            memory=Memory(content="something"),
            score=likely,
            bm25_rank=None,
            vector_rank=None,
            reasons=(),
            relevance=Relevance(likely, cosine, likely, 0.0),
            people=tuple(people[who : who + 1]),
        )
        for likely, cosine, who in found
    ]
    vector = [1 / math.sqrt(384)] * 384
    learned = logistic("vote_model")
    for one in memory_vote.features(message, hits, [vector]).values():
        assert set(learned.weights) == set(one)
        assert 0 <= learned.probability(one) <= 1
    assert memory_vote.features(message, hits, []) == {}


def test_a_vote_needs_to_be_likely() -> None:
    assert 0.5 < model("vote_model")["threshold"] < 1
