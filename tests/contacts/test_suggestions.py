"""The job that proposes who may be one person. All people here are invented."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import OrmQ
from faker import Faker

from accounts.models import Change, EndUser
from contacts import merge as identities
from contacts import relations
from contacts.models import Contact, Suggestion
from contacts.suggestions import suggest
from memories.corrections import auto_merge, merge_contacts
from memories.corrections.auto_merge import newest_facts, suggest_merges
from memories.corrections.undo import undo_change
from tests.factories import make_contact, make_end_user, make_memory
from understanding.same_person.blocking import MAX_PAIRS, Block, pairs
from understanding.same_person.pair_scoring import compare
from understanding.same_person.records import Record

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user(language="zh")


def known(end_user: EndUser, name: str, relationship: str, *facts: str) -> Contact:
    """A contact with a memory for each fact."""
    contact = make_contact(end_user, name, relationship=relationship)
    for fact in facts:
        make_memory(end_user, fact, contact)
    return contact


def potters(end_user: EndUser) -> tuple[Contact, Contact]:
    """Two records of one person, as anyone would say."""
    return (
        known(end_user, "谢晓丽", "朋友", "谢晓丽在河边开陶艺工作室", "谢晓丽养了只鹦鹉"),
        known(end_user, "小丽", "朋友", "小丽的陶艺工作室搬到了河边", "小丽的鹦鹉会背诗"),
    )


def the_suggestion(end_user: EndUser) -> Suggestion:
    return Suggestion.objects.of(end_user).get()


def backdate(end_user: EndUser) -> None:
    Contact.objects.of(end_user).update(updated_at=timezone.now() - timedelta(days=1))


def test_a_pair_is_suggested_with_its_evidence_in_codes(end_user: EndUser) -> None:
    pair = potters(end_user)
    known(end_user, "苏梅", "朋友", "苏梅在银行上班")
    suggest(end_user, newest_facts)
    row = the_suggestion(end_user)
    assert {row.first_id, row.second_id} == {contact.id for contact in pair}
    assert row.verdict in ("certain", "likely")
    evidence = {item["code"]: item for item in row.evidence}
    assert {"nickname", "bond_same", "words"} <= evidence.keys()
    assert evidence["nickname"]["weight"] > 0
    assert "小丽" in evidence["nickname"]["params"].values()


def test_running_it_twice_changes_nothing(end_user: EndUser) -> None:
    potters(end_user)
    suggest(end_user, newest_facts)
    before = Suggestion.objects.of(end_user).values("id", "confidence", "evidence", "state").get()
    outcome = suggest(end_user, newest_facts)
    after = Suggestion.objects.of(end_user).values("id", "confidence", "evidence", "state").get()
    assert before == after
    assert outcome.withdrawn == 0


def test_what_an_operator_called_different_is_never_suggested_again(end_user: EndUser) -> None:
    one, other = potters(end_user)
    suggest(end_user, newest_facts)
    identities.not_the_same(end_user, one.id, other.id, actor="operator:ann")
    before = the_suggestion(end_user).updated_at
    outcome = suggest(end_user, newest_facts)
    row = the_suggestion(end_user)
    assert (row.state, row.decided_by, row.updated_at) == ("different", "operator:ann", before)
    assert outcome.suggested == outcome.compared == 0


def test_a_postponed_suggestion_stays_postponed_and_is_kept_up_to_date(end_user: EndUser) -> None:
    potters(end_user)
    suggest(end_user, newest_facts)
    Suggestion.objects.of(end_user).update(state="later", confidence=0.1)
    suggest(end_user, newest_facts)
    row = the_suggestion(end_user)
    assert row.state == "later"
    assert row.confidence > 0.5


def test_a_suggestion_that_nothing_speaks_for_any_more_goes(end_user: EndUser) -> None:
    one, _ = potters(end_user)
    suggest(end_user, newest_facts)
    make_memory(end_user, "谢晓丽和采购部的小丽不是同一个人", one)
    assert suggest(end_user, newest_facts).withdrawn == 1
    assert not Suggestion.objects.of(end_user).exists()


def test_a_postponed_suggestion_is_not_withdrawn(end_user: EndUser) -> None:
    one, _ = potters(end_user)
    suggest(end_user, newest_facts)
    Suggestion.objects.of(end_user).update(state="later")
    make_memory(end_user, "谢晓丽和采购部的小丽不是同一个人", one)
    assert suggest(end_user, newest_facts).withdrawn == 0
    assert the_suggestion(end_user).state == "later"


def test_a_merged_contact_is_not_compared(end_user: EndUser) -> None:
    one, other = potters(end_user)
    merge_contacts.merge(end_user, other.id, one.id, actor="operator:ann")
    assert suggest(end_user, newest_facts).compared == 0


def test_a_namesake_somebody_made_is_not_suggested(end_user: EndUser) -> None:
    known(end_user, "谢丽", "同事", "在采购部养鹦鹉")
    other = Contact.objects.create(
        end_user=end_user, name="谢丽", name_key="谢丽", namesake=1, relationship="同事"
    )
    make_memory(end_user, "谢丽在采购部养鹦鹉", other)
    suggest(end_user, newest_facts)
    assert not Suggestion.objects.of(end_user).filter(verdict__in=["certain", "likely"]).exists()


def test_two_who_are_related_to_one_another_are_not_suggested(end_user: EndUser) -> None:
    one, other = potters(end_user)
    relations.relate(end_user, one, "sister", other)
    suggest(end_user, newest_facts)
    assert not Suggestion.objects.of(end_user).filter(verdict__in=["certain", "likely"]).exists()


def test_people_named_in_one_memory_as_two_are_not_suggested(end_user: EndUser) -> None:
    one = known(end_user, "阿丽", "朋友", "阿丽做陶艺")
    other = known(end_user, "丽丽", "朋友", "丽丽做陶艺")
    make_memory(end_user, "阿丽和丽丽一起办了陶艺展", one, other)
    suggest(end_user, newest_facts)
    assert not Suggestion.objects.of(end_user).filter(verdict__in=["certain", "likely"]).exists()


def test_another_users_people_are_not_candidates(end_user: EndUser) -> None:
    stranger = make_end_user()
    known(end_user, "谢晓丽", "朋友", "谢晓丽在河边开陶艺工作室")
    known(stranger, "小丽", "朋友", "小丽的陶艺工作室搬到了河边")
    assert suggest(end_user, newest_facts).compared == suggest(stranger, newest_facts).compared == 0


def test_only_what_changed_is_compared_again(end_user: EndUser) -> None:
    potters(end_user)
    backdate(end_user)
    since = timezone.now() - timedelta(hours=1)
    assert suggest(end_user, newest_facts, since).compared == 0
    known(end_user, "丽姐", "朋友", "丽姐的陶艺工作室在河边")
    outcome = suggest(end_user, newest_facts, since)
    assert outcome.compared == 2
    backdate(end_user)
    suggest(end_user, newest_facts, since)
    assert Suggestion.objects.of(end_user).exists()


def test_a_stated_identity_merges_by_itself_and_can_be_undone(end_user: EndUser) -> None:
    one = known(end_user, "闪电", "同事", "闪电真名叫谢丽", "闪电在采购部")
    other = known(end_user, "谢丽", "同事", "谢丽负责采购")
    figures = suggest_merges(end_user)
    assert figures.merged == 1
    change = Change.objects.of(end_user).get(verb="merge")
    assert change.actor == "suggestions"
    assert change.why == "闪电真名叫谢丽"
    assert Contact.objects.of(end_user).standing().filter(pk__in=[one.id, other.id]).count() == 1
    assert Suggestion.objects.of(end_user).get().state == "merged"


def test_a_certain_pair_without_a_statement_waits_for_an_operator(end_user: EndUser) -> None:
    potters(end_user)
    assert suggest_merges(end_user).merged == 0
    assert the_suggestion(end_user).state == "open"


def test_a_contradicted_statement_does_not_merge(end_user: EndUser) -> None:
    known(end_user, "闪电", "同事", "闪电真名叫谢丽", "男，单身")
    known(end_user, "谢丽", "同事", "女，已婚，刚休完产假")
    assert suggest_merges(end_user).merged == 0


def test_a_merge_that_was_undone_is_not_made_again(end_user: EndUser) -> None:
    known(end_user, "闪电", "同事", "闪电真名叫谢丽")
    known(end_user, "谢丽", "同事", "谢丽负责采购")
    suggest_merges(end_user)
    undo_change(Change.objects.of(end_user).get(verb="merge"), actor="operator:ann")
    assert suggest_merges(end_user).merged == 0
    assert Contact.objects.of(end_user).standing().count() == 2


def test_the_queries_do_not_grow_with_the_contacts(end_user: EndUser) -> None:
    potters(end_user)
    suggest(end_user, newest_facts)
    with CaptureQueriesContext(connection) as few:
        suggest(end_user, newest_facts)
    for number in range(20):
        known(end_user, f"苏梅{number}", "同事", f"苏梅{number}在第{number}楼")
    with CaptureQueriesContext(connection) as many:
        suggest(end_user, newest_facts)
    assert len(many) <= len(few) + 1


def address_book(end_user: EndUser, language: str, people: int = 200) -> None:
    """Contacts as an import leaves them: usual names, few cities and employers, mostly colleagues."""
    faker = Faker("zh_CN" if language == "zh" else "en_US")
    faker.seed_instance(7)
    ties = (["同事"] * 5 + ["同学", "客户", "邻居"], ["colleague"] * 5 + ["friend", "client", ""])
    cities = (["北京", "上海", "杭州"], ["Leeds", "Boston", "Austin"])
    said = ("{}住在{}，在{}上班", "{} lives in {} and works at {}")
    at = 0 if language == "zh" else 1
    firms = [faker.company() for _ in range(40)]
    names = [
        faker.first_name() + " " + faker.last_name() if at else faker.name() for _ in range(people)
    ]
    for name in dict.fromkeys(names):  # a set would deal the facts out anew in every process
        city, firm = faker.random_element(cities[at]), faker.random_element(firms)
        known(end_user, name, faker.random_element(ties[at]), said[at].format(name, city, firm))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_people_of_different_names_in_one_address_book_are_hardly_asked_about(
    language: str,
) -> None:
    end_user = make_end_user(language=language)
    address_book(end_user, language)
    assert suggest(end_user, newest_facts).suggested <= 5


def test_a_nickname_in_an_address_book_is_asked_about_where_the_facts_agree(
    end_user: EndUser,
) -> None:
    address_book(end_user, "zh", 40)
    one = known(end_user, "王磊", "同事", "王磊在测试组，刚从无锡搬来")
    other = known(end_user, "磊哥", "同事", "磊哥是无锡人，做测试的")
    suggest(end_user, newest_facts)
    asked = Suggestion.objects.of(end_user).filter(verdict__in=["certain", "likely"])
    assert {one.pk, other.pk} in [{row.first_id, row.second_id} for row in asked]


def test_a_run_takes_what_changed_since_the_last(end_user: EndUser) -> None:
    potters(end_user)
    auto_merge.follow(end_user)
    suggest_merges(end_user)
    end_user.refresh_from_db()
    auto_merge.follow(end_user)
    known(end_user, "丽姐", "朋友", "丽姐的陶艺工作室在河边")
    auto_merge.follow(end_user)
    assert OrmQ.objects.count() == 2
    assert suggest_merges(end_user, end_user.suggested_at).compared == 2


def crowd(count: int) -> list[UUID]:
    return sorted(uuid4() for _ in range(count))


def test_the_pairs_grow_with_the_people_and_never_with_their_square() -> None:
    people = crowd(600)
    blocks = {
        person: {Block(0, f"{table}:{place * 7919 % (20 + table)}") for table in range(30)}
        for place, person in enumerate(people)
    }
    found = pairs(blocks)
    assert len(found) == len(set(found)) <= len(people) * MAX_PAIRS / 2
    assert all(first < second for first, second in found)


def test_a_key_that_a_crowd_shares_makes_no_pairs() -> None:
    assert pairs({person: {Block(0, "小丽")} for person in crowd(500)}) == []


def test_the_job_judges_as_a_plain_comparison_does(end_user: EndUser) -> None:
    potters(end_user)
    suggest(end_user, newest_facts)
    plain = compare(
        Record("谢晓丽", (), "朋友", facts=("谢晓丽养了只鹦鹉", "谢晓丽在河边开陶艺工作室")),
        Record("小丽", (), "朋友", facts=("小丽的鹦鹉会背诗", "小丽的陶艺工作室搬到了河边")),
    )
    assert the_suggestion(end_user).confidence == pytest.approx(plain.score, abs=1e-3)
