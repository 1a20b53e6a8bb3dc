"""The playground: what the API would say and why, without a trace."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import EndUser
from contacts.models import Contact
from dashboard.forms import turns
from memories.context import build, clock
from memories.context.request import ContextRequest
from memories.corrections import edit_memories
from memories.models import Edge, Memory
from memories.providers.factory import embedder
from tests.dashboard.playground import OPTIONS, SHE, ask, at, marks, talk, text
from tests.dashboard.signin import signed_in
from tests.factories import SOME_DAY, make_contact, make_memory

pytestmark = pytest.mark.django_db


@pytest.fixture
def hong(user: EndUser) -> Contact:
    return make_contact(user, "小红", gender="female", aliases=["阿红"])


def test_she_is_the_one_whom_the_chosen_session_speaks_of(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    make_contact(user, "王强", gender="male")
    talk(user, "小红昨天来找我了", "你们聊了什么？")
    answer = ask(reviewer, user, before="session:s1").context["answer"]
    assert [(m["mention"].person.name, m["mention"].how) for m in answer["meant"]] == [
        ("小红", "pronoun")
    ]
    assert answer["spans"] == ((0, 1),)


def test_a_history_written_by_hand_says_who_she_is(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    history = "user: 小红昨天来找我了\n带了一只猫\nassistant: 你们聊了什么？"
    response = ask(reviewer, user, before="hand", history=history)
    assert [one["mention"].person.id for one in response.context["answer"]["meant"]] == [hong.pk]
    assert "<mark>她</mark>最近怎么样了" in text(response)
    assert "带了一只猫" in text(response)


def test_a_search_that_was_late_is_said_to_be_missing(
    reviewer: Client, user: EndUser, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    assert "without search" not in text(ask(reviewer, user)).lower()
    monkeypatch.setattr(clock, "is_warm", True)
    settings.MIO_CONTEXT_DEADLINE_MS = 1
    assert "Without search, which would have come too late" in text(ask(reviewer, user))


def test_turns_are_read_line_by_line_in_both_languages() -> None:
    assert turns("用户：她来了\n还有猫\nAssistant: oh\n助手: 好") == [
        ("user", "她来了\n还有猫"),
        ("assistant", "oh"),
        ("assistant", "好"),
    ]
    assert turns("  \n ") == []


def test_the_page_shows_precisely_what_the_api_says(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    vector = embedder().embed_passages(["小红下周去北京出差"])[0]
    make_memory(user, "小红下周去北京出差", hong, embedding=vector)
    make_memory(user, "小红喜欢爬山")
    answer = ask(reviewer, user, "小红什么时候出差").context["answer"]
    built = build.build(user, ContextRequest("小红什么时候出差"))
    traced = answer["trace"].injection
    assert traced.system_prompt == built.system_prompt
    assert (traced.contacts, traced.memories) == (built.contacts, built.memories)
    assert list(traced.timing) == ["who", "linked", "embedding", "search", "prompt"]
    assert [one["ms"] for one in answer["bars"]] == list(traced.timing.values())
    reasons = {one["memory"].content: one["reasons"] for one in answer["memories"]}
    assert "linked to 小红" in reasons["小红下周去北京出差"]
    assert "meaning rank 1" in reasons["小红下周去北京出差"]
    assert "names 小红, not linked yet" in reasons["小红喜欢爬山"]


def test_limits_and_parts_are_obeyed(reviewer: Client, user: EndUser, hong: Contact) -> None:
    for n in range(5):
        make_memory(user, f"小红第{n}次出差", hong)
    answer = ask(reviewer, user, "小红怎么样", limit=2).context["answer"]
    assert len(answer["memories"]) == 2
    assert ask(reviewer, user, "小红怎么样", include=["cards"]).context["answer"]["memories"] == []
    short = ask(reviewer, user, "小红怎么样", token_budget=115).context["answer"]
    assert len(short["memories"]) < 5


def test_trying_writes_nothing_and_a_viewer_may(user: EndUser, hong: Contact) -> None:
    viewer = signed_in("viewer")
    linked = make_memory(user, "小红下周去北京出差", hong)
    gone = make_memory(user, "小红要去上海")
    make_memory(user, "小红喜欢爬山")
    Edge.objects.create(end_user=user, source=linked, target=gone, kind="complements")
    Memory.objects.filter(pk=gone.pk).update(status="archived")
    viewer.get(at(user))  # remembers whose page was looked at last
    before = marks(user)
    with CaptureQueriesContext(connection) as captured:
        response = ask(viewer, user, "小红什么时候出差")
    assert response.context["answer"]["memories"]
    assert {query["sql"].split()[0] for query in captured} <= {"SELECT", "WITH"}
    assert marks(user) == before
    build.build(user, ContextRequest("小红什么时候出差"))
    changed = [old != new for old, new in zip(before, marks(user), strict=True)]
    assert changed == [True, True, True, False, True, True]


def test_the_statements_don_t_grow_with_memories(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            ask(reviewer, user, "小红最近怎么样", limit=100)
        return len(captured)

    make_memory(user, "小红第一次出差", hong)
    make_memory(user, "小红要出差")
    talk(user, "小红来了")
    statements()
    few = statements()
    for n in range(60):
        make_memory(user, f"小红第{n}个计划", hong)
        talk(user, f"第{n}句话", session=f"s{n}")
    assert statements() <= few


def test_the_empty_page_teaches_with_the_users_own_people(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    talk(user, "小红昨天来找我了", "你们聊了什么？")
    response = reviewer.get(at(user))
    examples = response.context["examples"]
    assert (examples[0]["message"], examples[0]["session_id"]) == (SHE, "s1")
    assert examples[1]["message"] == "小红最近怎么样了"
    assert "你们聊了什么？" in text(response)


def test_a_pronoun_that_is_not_clear_is_no_example(reviewer: Client, user: EndUser) -> None:
    make_contact(user, "小红", gender="female")
    talk(user, "今天下雨")
    messages = [example["message"] for example in reviewer.get(at(user)).context["examples"]]
    assert messages == ["小红最近怎么样了"]


def test_a_user_of_whom_nothing_is_known_can_be_tried(reviewer: Client, user: EndUser) -> None:
    assert "Nobody known yet" in text(reviewer.get(at(user)))
    assert "there is nothing to tell the model" in text(ask(reviewer, user, "hello"))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"message": "  "}, "Write a message first."),
        ({"message": "x" * 20_001}, "at most 20000"),
        ({"message": "a\0b"}, "Null characters"),
        ({"before": "hand", "history": "hello\nuser: x"}, "Begin each turn with"),
        ({"limit": "many"}, "whole number"),
        ({"token_budget": 0}, "greater than or equal to 1"),
        ({"include": ["everything"]}, "not one of the available"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field_and_nothing_is_lost(
    reviewer: Client, user: EndUser, fields: dict[str, Any], problem: str
) -> None:
    data = {"message": "小红好吗", "before": "session:", **OPTIONS, **fields}
    response = reviewer.post(at(user), data)
    assert response.status_code == 422
    assert problem in text(response)
    assert 'role="alert"' in text(response)
    assert str(data["message"]).replace("\0", "")[:3].strip() in text(response)


def test_only_the_part_that_changes_is_sent_to_a_script(reviewer: Client, user: EndUser) -> None:
    data = {"message": SHE, "before": "session:", **OPTIONS}
    fragment = text(reviewer.post(at(user), data, headers={"HX-Request": "true"}))
    assert "<html" not in fragment
    assert 'id="play"' in fragment


def test_hostile_words_are_shown_as_text(reviewer: Client, user: EndUser) -> None:
    bad = "<script>alert(1)</script>"
    names = ["Morgan", "]]>\u202e", "😀" * 60]
    contact = make_contact(user, bad, aliases=names, relationship=bad)
    make_memory(user, bad + "长" * 10_000, contact)
    make_memory(user, "Morgan" + bad, contact)
    talk(user, bad, bad, session=bad)
    assert bad not in text(reviewer.get(at(user)))
    message = f"{bad} Morgan ]]>\u202e {'😀' * 60}"
    for fields in (
        {"before": f"session:{bad}"},
        {"before": "hand", "history": f"user: {bad}</textarea>"},
    ):
        response = ask(reviewer, user, message, **fields)
        assert response.context["answer"]["meant"]
        assert bad not in text(response)


def test_each_thing_has_its_correction_beside_it(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    memory = make_memory(user, "小红下周去北京出差", hong)
    html = text(ask(reviewer, user, "阿红什么时候出差"))
    link = memory.links.get()
    here = f"/u/{user.pk}"
    for address in (
        f"{here}/people/{hong.pk}/aliases/",
        f"{here}/people/{hong.pk}/memories/move/?memory={memory.pk}",
        f"{here}/links/{link.pk}/decide/",
        f"{here}/memories/outdate/",
        f"{here}/memories/{memory.pk}/",
    ):
        assert f'"{address}"' in html, address
    data = {"decision": "wrong", "next": at(user)}
    assert reviewer.post(f"{here}/links/{link.pk}/decide/", data)["Location"] == at(user)
    assert ask(reviewer, user, "阿红什么时候出差").context["answer"]["memories"] == []


def test_two_people_of_one_name_are_to_be_compared(reviewer: Client, user: EndUser) -> None:
    one = make_contact(user, "王强", aliases=["阿强"])
    other = make_contact(user, "李强", aliases=["阿强"])
    html = text(ask(reviewer, user, "阿强来了"))
    assert f"/u/{user.pk}/review/{one.pk}/{other.pk}/" in html


def test_a_viewer_sees_no_form_that_changes_anything(user: EndUser, hong: Contact) -> None:
    memory = make_memory(user, "小红下周去北京出差", hong)
    html = text(ask(signed_in("viewer"), user, "阿红什么时候出差"))
    assert "/aliases/" not in html
    assert "/decide/" not in html
    assert "/outdate/" not in html
    assert f"/memories/{memory.pk}/" in html


def test_what_is_no_longer_true_is_history_when_the_past_is_asked_for(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    make_memory(user, "小红下周去北京出差", hong)
    edit_memories.outdate(user, list(Memory.objects.of(user)), actor="operator:x")
    old = ask(reviewer, user, "小红以前什么时候出差").context["answer"]["memories"]
    assert [one["memory"].status for one in old] == ["outdated"]


def test_the_users_own_card_is_shown_with_the_way_to_correct_it(
    reviewer: Client, user: EndUser
) -> None:
    fact = {"key": "allergy", "value": "figs", "person": None}
    make_memory(user, "The user is allergic to figs", facts=[fact])
    shown = text(ask(reviewer, user, "snack ideas"))
    assert shown.count("：figs") + shown.count(": figs") == 2  # the card, and the prompt
    assert f"/u/{user.pk}/#own-card" in shown


def left_out(response: Any) -> dict[str, str]:
    """The reasons, by the words of memories and the names of people."""
    near = response.context["near"]
    memories = {one.row.content: one.reason for one in near["memories"]}
    return memories | {one.row.name: one.reason for one in near["people"]}


def test_what_is_near_and_was_left_out_has_its_reason(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    ming = make_contact(user, "小明")
    wang = make_contact(user, "小王", archived_at=SOME_DAY)
    for n in range(3):
        make_memory(user, f"小红第{n}次去北京出差", hong)
    make_memory(user, "小明去北京出差", ming)
    make_memory(user, "有人去北京出差")
    make_memory(user, "小红去年去北京出差", hong, status="outdated")
    make_memory(user, "小红要去北京出差两天", hong, status="archived")
    denied = make_memory(user, "她哥哥去北京出差", hong)
    denied.links.update(rejected=True)
    make_memory(user, "王叔去北京出差", wang)
    why = left_out(ask(reviewer, user, "小红去北京出差，小王呢", limit=2))
    assert why["小明去北京出差"] == "It is about 小明; the message means 小红."
    assert why["有人去北京出差"] == "It is linked to nobody; the message means 小红."
    assert why["小红要去北京出差两天"] == "It is archived."
    assert why["小红去年去北京出差"].startswith("It is no longer true")
    assert why["她哥哥去北京出差"] == "Somebody said that it is not about 小红."
    assert "2 memories are the most that is wanted" in " ".join(why.values())
    assert why["小王"] == "They are archived."
    assert why["小明"].startswith("The message does not name them; 1 memory")
    assert "小红" not in why
    short = left_out(ask(reviewer, user, "小红去北京出差", token_budget=115))
    assert "over the budget of 115 tokens" in " ".join(short.values())


def test_what_is_too_far_from_the_message_says_how_far(reviewer: Client, user: EndUser) -> None:
    vector = embedder().embed_passages(["他家的冰箱是白色的"])[0]
    make_memory(user, "他家的冰箱是白色的", embedding=vector)
    assert (
        "Below relevance"
        in left_out(ask(reviewer, user, "量子力学的方程怎么解"))["他家的冰箱是白色的"]
    )
    assert "Nothing was searched" in left_out(ask(reviewer, user, "你好"))["他家的冰箱是白色的"]


def test_a_reason_leads_to_its_correction(reviewer: Client, user: EndUser, hong: Contact) -> None:
    other = make_memory(user, "小明去北京出差", make_contact(user, "小明"))
    make_memory(user, "小红去北京出差", hong)
    html = text(ask(reviewer, user, "小红去北京出差", limit=1))
    assert reverse("dashboard:about-memory", args=[user.pk, other.pk]) in html
    viewer = text(ask(signed_in("viewer"), user, "小红去北京出差", limit=1))
    assert reverse("dashboard:about-memory", args=[user.pk, other.pk]) not in viewer
