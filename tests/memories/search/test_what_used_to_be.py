"""What used to be is found when a question asks for it, and only then."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import EndUser
from memories.models import Edge
from memories.pipeline.store_memories import embed_missing
from memories.providers.embeddings import LocalEmbedder
from memories.search.query import asks_past
from memories.search.recall import SearchRequest, search
from tests.factories import make_end_user, make_memory

NOW = datetime(2026, 3, 18, tzinfo=UTC)
EMBEDDER = LocalEmbedder()
OTHERS = """
The user plays chess on Sundays
The user has a sister in Lyon
The user drives an old van
The user hates mornings
The user reads about volcanoes
The user ate food at a night market
The user loves long walks
The user takes the tram to work
The user cooks food for the neighbours
The user bought a red lamp
The user is learning Danish
The user loves the sea
The user grows tomatoes
The user plans a trip to Malta
""".strip().splitlines()


@pytest.fixture
def end_user() -> EndUser:
    """Somebody who once loved another food, long since put right, beside much else."""
    end_user = make_end_user()
    old = make_memory(
        end_user,
        "The user's favourite food is dumplings",
        status="outdated",
        outdated_at=NOW - timedelta(days=400),
        outdated_confidence=1.0,
    )
    new = make_memory(end_user, "The user's favourite food is couscous")
    Edge.objects.create(end_user=end_user, source=new, target=old, kind="supersedes")
    for content in OTHERS:
        make_memory(end_user, content)
    embed_missing(end_user, EMBEDDER)
    return end_user


def place(end_user: EndUser, query: str, word: str) -> int:
    hits = search(
        end_user,
        SearchRequest(query, statuses=["active", "outdated"], limit=20, now=NOW),
        embedder=EMBEDDER,
    )
    return next(n for n, hit in enumerate(hits, 1) if word in hit.memory.content)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    ["What food did I used to love?", "What was my favourite food before?", "以前我最喜欢吃什么？"],
)
def test_a_question_for_what_used_to_be_finds_it(end_user: EndUser, query: str) -> None:
    assert place(end_user, query, "dumplings") <= 3


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["What is my favourite food?", "我最喜欢吃什么？"])
def test_a_question_for_what_is_finds_that_first(end_user: EndUser, query: str) -> None:
    now = place(end_user, query, "couscous")
    assert now == 1
    assert place(end_user, query, "dumplings") > now
    assert not asks_past(query)


@pytest.mark.parametrize(
    ("message", "past"),
    [
        ("Did I ever love dumplings?", True),
        ("Has Nina ever lived in Malta?", True),
        ("我喜欢过爵士吗？", True),
        ("小林养过狗吗？", True),
        ("Have you ever seen snow?", False),
        ("Will she ever come back?", False),
        ("Has she been ill ever since?", False),
        ("我做过敏测试要准备什么？", False),
    ],
)
def test_whether_something_ever_was_is_a_question_for_the_past(message: str, past: bool) -> None:
    assert asks_past(message) is past
