"""How a new quote stands to the known ones: a fact ends another of its key, and nothing else ends."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import ConflictCase, MemoryType, Resolution, StoredFact, StoredMemory, Verdict

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
    people: frozenset[UUID] = frozenset(),
) -> Resolution:
    case = ConflictCase(
        "key",
        StoredMemory(
            uuid4(),
            content,
            kind,
            MARCH + timedelta(days=30),
            facts=tuple(StoredFact(*f) for f in facts),
            people=people,
        ),
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


def test_who_is_linked_to_others_is_another_matter():
    old = replace(stored("Kim lives in Oslo"), people=frozenset({YUE}))
    new = replace(old, id=uuid4(), content="Kim moved to Bergen", facts=(), people=frozenset({BO}))
    case = ConflictCase("key", new, (old,))
    assert OfflineProvider().resolve([case]).value["key"] == []


def test_nothing_alike_is_new():
    assert resolve("孙悦养了一只兔子", [("pet", "兔子", YUE)]).verdict is Verdict.NEW


def test_values_that_collect_end_nothing_and_a_taste_ends_the_opposite_one():
    old = stored("孙悦喜欢爬山", ("likes", "爬山", YUE))
    assert resolve("孙悦变了", [("likes", "摄影", YUE)], old).verdict is Verdict.NEW
    assert resolve("孙悦变了", [("dislikes", "爬山", YUE)], old).verdict is Verdict.SUPERSEDES


def test_what_somebody_left_ends_there():
    old = stored("孙悦在丰田上班", ("company", "丰田", YUE))
    found = resolve("孙悦从丰田离职了", [("former_company", "丰田", YUE)], old)
    assert (found.verdict, found.targets) == (Verdict.SUPERSEDES, (old.id,))
    assert [fact.key for fact in found.ended[old.id]] == ["company"]


def test_the_same_words_about_another_are_another_matter():
    old = replace(stored("她升职了"), people=frozenset({YUE}))
    new = replace(old, id=uuid4(), content="她升职了", facts=(), people=frozenset({BO}))
    case = ConflictCase("key", new, (old,))
    assert OfflineProvider().resolve([case]).value["key"] == []


@pytest.mark.parametrize(
    ("old", "fact", "new"),
    [
        ("Yue works at Acme", ("company", "Acme"), "Yue isn't at Acme, she's at Initech"),
        ("Yue works at Acme", ("company", "Acme"), "Yue quit Acme in March"),
        ("孙悦在蓝帆公司上班", ("company", "蓝帆公司"), "孙悦从蓝帆公司离职了，想歇一阵"),
        ("孙悦住在厦门", ("location", "厦门"), "孙悦其实不住厦门，我记错了"),
        ("Yue lives in Leeds", ("location", "Leeds"), "Yue moved away from Leeds"),
        ("Yue is a plumber", ("job_title", "plumber"), "Yue is no longer a plumber"),
        (
            "Yue is allergic to figs",
            ("allergy", "figs"),
            "sorry, yue isnt allergic to figs, its kiwi",
        ),
        ("Yue has asthma", ("health", "asthma"), "Yue doesn't have asthma, the doctor says"),
        ("Yue is vegan", ("diet", "vegan"), "Yue is not vegan any more"),
        ("孙悦对榛子过敏", ("allergy", "榛子"), "说错了，孙悦对榛子不过敏"),
        ("孙悦有胃炎", ("health", "胃炎"), "孙悦不是胃炎，查过了"),
    ],
)
def test_words_that_say_that_a_known_value_is_over_end_it(old, fact, new):
    known = stored(old, (*fact, YUE))
    found = resolve(new, [], known, people=frozenset([YUE]))
    assert found.verdict is Verdict.SUPERSEDES
    assert [ended.value for ended in found.ended[known.id]] == [fact[1]]


@pytest.mark.parametrize(
    ("old", "fact", "new"),
    [
        ("Yue works at Acme", ("company", "Acme"), "Yue isn't at Acme today"),
        ("Yue works at Acme", ("company", "Acme"), "Yue would quit Acme for that"),
        ("Yue works at Acme", ("company", "Acme"), "Has Yue left Acme?"),
        ("Yue works at Acme", ("company", "Acme"), "If it goes on like this, Yue quits Acme"),
        ("Yue lives in Leeds", ("location", "Leeds"), "Yue left Leeds by train"),
        ("孙悦在蓝帆公司上班", ("company", "蓝帆公司"), "孙悦想从蓝帆公司离职"),
        ("孙悦住在厦门", ("location", "厦门"), "孙悦这周不在厦门"),
        ("Yue works at Acme", ("company", "Acme"), "Yue isn't at the Acme Arena"),
        ("Yue has a cat", ("pet", "cat"), "Yue left cat food here"),
        ("Yue is allergic to figs", ("allergy", "figs"), "Yue is not just allergic to figs"),
        ("Yue is allergic to figs", ("allergy", "figs"), "not figs again, says Yue"),
        ("孙悦有高血压", ("health", "高血压"), "孙悦没有高血压药了"),
    ],
)
def test_words_that_leave_it_open_end_nothing(old, fact, new):
    known = stored(old, (*fact, YUE))
    assert resolve(new, [], known, people=frozenset([YUE])).verdict is Verdict.NEW


def test_what_is_said_of_several_ends_nothing():
    known = stored("Yue works at Acme", ("company", "Acme", YUE))
    found = resolve("Bo quit Acme, Yue is sad", [], known, people=frozenset([YUE, BO]))
    assert found.verdict is Verdict.NEW
