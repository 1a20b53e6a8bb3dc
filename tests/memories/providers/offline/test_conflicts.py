"""How a new memory stands to the known ones: by what of them can hold together."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contacts import learned
from memories.bench import changes
from memories.providers.offline import conflicts
from memories.providers.offline.change_features import Told
from memories.providers.offline.conflicts import ChangeModel
from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import (
    ConflictCase,
    MemoryType,
    Resolution,
    StoredFact,
    StoredMemory,
    Verdict,
)
from tools.training import by_author

CORPUS = by_author.CORPUS
MARCH = datetime(2025, 3, 1, tzinfo=UTC)
YUE, BO = uuid4(), uuid4()


def stored(
    content: str,
    *facts: tuple[str, str, UUID | None],
    similarity: float = 0.9,
    kind: MemoryType = MemoryType.PERSONAL,
) -> StoredMemory:
    return StoredMemory(
        uuid4(), content, kind, MARCH, None, tuple(StoredFact(*f) for f in facts), similarity
    )


def resolve(
    content: str,
    facts: list[tuple[str, str, UUID | None]],
    *known: StoredMemory,
    kind: MemoryType = MemoryType.PERSONAL,
) -> Resolution:
    case = ConflictCase(
        "key",
        content,
        kind,
        MARCH + timedelta(days=30),
        tuple(StoredFact(*f) for f in facts),
        known,
    )
    found = OfflineProvider().resolve([case]).value["key"]
    return found[0] if found else Resolution(Verdict.NEW)


def test_a_new_value_of_a_single_attribute_supersedes_the_old_one():
    old = stored("孙悦在厦门工作", ("location", "厦门", YUE))
    found = resolve("孙悦搬到了昆明", [("location", "昆明", YUE)], old)
    assert found.verdict is Verdict.SUPERSEDES
    assert found.targets == (old.id,)
    assert "昆明" in str(found.reason)


def test_another_person_is_never_superseded():
    old = stored("孙悦在厦门工作", ("location", "厦门", YUE), similarity=0.97)
    found = resolve("林波搬到了昆明", [("location", "昆明", BO)], old)
    assert found.verdict is Verdict.NEW


def test_the_users_own_fact_is_not_superseded_by_a_contacts():
    old = stored("用户在厦门工作", ("location", "厦门", None))
    assert resolve("孙悦在昆明", [("location", "昆明", YUE)], old).verdict is Verdict.NEW


def test_the_same_statement_is_a_duplicate():
    old = stored("孙悦在厦门工作", ("location", "厦门", YUE), similarity=0.98)
    assert (
        resolve("孙悦在厦门工作。", [("location", "厦门", YUE)], old).verdict is Verdict.DUPLICATE
    )


def test_values_that_collect_do_not_replace_each_other():
    old = stored("孙悦喜欢爬山", ("likes", "爬山", YUE))
    assert resolve("孙悦喜欢摄影", [("likes", "摄影", YUE)], old).verdict is Verdict.COMPLEMENTS


def test_a_taste_that_turned_supersedes():
    old = stored("Nadia loves coffee", ("likes", "coffee", YUE))
    found = resolve("Nadia can't stand coffee any more", [("dislikes", "coffee", YUE)], old)
    assert found.verdict is Verdict.SUPERSEDES


def test_two_dates_of_one_wording_are_not_duplicates():
    old = stored("用户2025-03-20去体检", similarity=0.99, kind=MemoryType.PLAN)
    assert (
        resolve("用户2025-09-20去体检", [], old, kind=MemoryType.PLAN).verdict
        is not Verdict.DUPLICATE
    )


def test_an_older_statement_does_not_supersede_a_newer_one():
    newer = StoredMemory(
        uuid4(),
        "孙悦在昆明",
        MemoryType.PERSONAL,
        MARCH + timedelta(days=90),
        None,
        (StoredFact("location", "昆明", YUE),),
        0.9,
    )
    assert (
        resolve("孙悦在厦门", [("location", "厦门", YUE)], newer).verdict is not Verdict.SUPERSEDES
    )


def test_two_values_that_somebody_else_doubts_are_kept_for_review():
    old = stored("博子说12月测试在渭南", ("location", "渭南", BO))
    found = resolve("博子的测试好像是在咸阳 他自己也说不清", [("location", "咸阳", BO)], old)
    assert found.verdict is Verdict.CONFLICTS


def test_who_is_linked_to_others_is_another_matter():
    old = replace(stored("Kim lives in Oslo"), people=frozenset({YUE}))
    case = ConflictCase(
        "key", "Kim moved to Bergen", old.type, old.said_at, (), (old,), frozenset({BO})
    )
    assert OfflineProvider().resolve([case]).value["key"] == []


@settings(max_examples=30)
@given(st.text(max_size=60), st.text(max_size=60), st.floats(-100, 1000), st.booleans())
def test_the_odds_are_probabilities_whatever_is_said(new, old, days, same):
    vectors = np.random.default_rng(len(new) + len(old)).normal(size=(2, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    later = Told(new, MARCH + timedelta(days=days), frozenset({YUE}), vectors[0])
    earlier = Told(old, MARCH, frozenset({YUE if same else BO}), vectors[1])
    odds = ChangeModel.read(learned.model(conflicts.__file__, "change_model")).odds(later, earlier)
    assert all(0 <= share <= 1 for share in (odds.ended, odds.same, odds.excluded))
    assert odds.ended + odds.same + odds.excluded <= 1 + 1e-9


def test_the_corpus_is_decided_as_its_gold_says_where_it_counts():
    files = [CORPUS / author / "changes.jsonl" for author in ("a01", "a09", "a15")]
    figures = changes.run(files, progress=False)
    assert figures["outdated"] <= 5
    assert figures["asked_precision"] >= 0.75
    assert figures["seen"] >= 0.45


def test_nothing_alike_is_new():
    assert resolve("孙悦养了一只兔子", [("pet", "兔子", YUE)]).verdict is Verdict.NEW
