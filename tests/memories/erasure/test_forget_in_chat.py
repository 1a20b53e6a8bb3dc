"""What users ask in a chat to forget, from the message to what is left."""

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections.undo import undo_change
from memories.models import Erasure, Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.pipeline.forget_requests import forget_asked
from memories.types import ForgetRequest
from tests.factories import make_app, make_contact
from tests.memories.snapshots import assert_sound
from understanding.statements.fence import WORDS

pytestmark = pytest.mark.django_db

TALK = [
    Incoming("user", "我朋友小林住在厦门。"),
    Incoming("user", "小林会弹吉他。"),
    Incoming("user", "我同事老孟下个月去青岛出差。"),
    Incoming("user", "我喜欢钓鱼。"),
    Incoming("user", "我对花生过敏。"),
]


@pytest.fixture
def end_user() -> EndUser:
    end_user = receive(make_app(), "ann", TALK).end_user
    run.process(end_user.pk)
    end_user.refresh_from_db()
    return end_user


def say(end_user: EndUser, line: str) -> Erasure:
    receive(end_user.app, end_user.external_id, [Incoming("user", line)])
    while run.extract_next(end_user.pk):
        pass
    return Erasure.objects.get()


def known(end_user: EndUser) -> str:
    found = Memory.objects.of(end_user).active().filter(kind=Memory.Kind.FACT)
    return "\n".join(found.values_list("content", flat=True))


@pytest.mark.parametrize(
    "line",
    [
        "请删除所有关于小林的记忆",
        "Remove 小林 from your memory",
        "小林，你把这个人全部忘掉。",
        "会弹吉他的那个小林，把他忘了吧。",
        "把在厦门的小林忘掉吧。",
        "小林, the one who plays guitar, forget everything about him.",
    ],
)
def test_a_person_is_gone_and_nobody_else(end_user: EndUser, line: str) -> None:
    say(end_user, line)
    assert "小林" not in known(end_user)
    assert "老孟" in known(end_user)
    assert [c.name for c in Contact.objects.of(end_user).standing()] == ["老孟"]


@pytest.mark.parametrize("line", ["把小林弹吉他的事忘掉", "小林会弹吉他这事，你忘掉吧。"])
def test_a_matter_of_a_person_is_gone_and_the_person_stays(end_user: EndUser, line: str) -> None:
    say(end_user, line)
    assert "吉他" not in known(end_user)
    assert "小林住在厦门" in known(end_user)
    assert {c.name for c in Contact.objects.of(end_user).standing()} == {"小林", "老孟"}


@pytest.mark.parametrize("line", ["把你记住的全部删掉", "erase all you know about me"])
def test_everything_is_gone_until_it_is_undone(end_user: EndUser, line: str) -> None:
    before = known(end_user)
    erasure = say(end_user, line)
    assert known(end_user) == ""
    assert not Contact.objects.of(end_user).standing().exists()
    assert len(erasure.contact_ids) == 2
    assert len(erasure.memory_ids) == len(before.splitlines())
    assert_sound(end_user)
    assert erasure.change is not None
    undo_change(erasure.change, actor="operator")
    assert sorted(known(end_user).splitlines()) == sorted(before.splitlines())
    assert Contact.objects.of(end_user).standing().count() == 2


def test_whom_an_app_keeps_stays_when_everything_said_is_forgotten(end_user: EndUser) -> None:
    boss = make_contact(end_user, "周总")
    boss.attributes = {"phone": [{"value": "555-0142", "sources": [], "since": None}]}
    boss.save()
    say(end_user, "删除我的所有数据")
    assert [c.name for c in Contact.objects.of(end_user).standing()] == ["周总"]


def test_only_the_matter_goes(end_user: EndUser) -> None:
    say(end_user, "忘掉小林弹吉他这件事")
    assert "吉他" not in known(end_user)
    assert "厦门" in known(end_user)


@pytest.mark.parametrize(
    "line", ["忘掉我对花生过敏这件事", "delete what you know about my allergy"]
)
def test_what_the_user_told_of_themself_goes_by_words_or_attribute(
    end_user: EndUser, line: str
) -> None:
    say(end_user, line)
    assert "花生" not in known(end_user)
    assert "钓鱼" in known(end_user)


@pytest.mark.parametrize(
    ("told", "line", "gone"),
    [
        ("小林借了银行三十万。", "小林欠钱的事你忘了吧", "三十万"),
        ("Bea owes forty grand to the bank.", "Please forget Bea's debts.", "forty grand"),
    ],
)
def test_a_matter_of_a_person_goes_though_it_was_told_in_other_words(
    end_user: EndUser, told: str, line: str, gone: str
) -> None:
    receive(end_user.app, "ann", [Incoming("user", told), Incoming("user", "Bea plays chess.")])
    run.process(end_user.pk)
    before = known(end_user).splitlines()
    say(end_user, line)
    assert known(end_user).splitlines() == [one for one in before if gone not in one] != before


def test_nothing_goes_where_no_memory_of_the_person_is_clearly_meant(end_user: EndUser) -> None:
    before = known(end_user)
    erasure = say(end_user, "小林离婚那件事你忘了吧")
    assert known(end_user) == before
    assert erasure.missing == ["小林", "离婚"]


def test_matters_that_are_listed_before_go_together(end_user: EndUser) -> None:
    say(end_user, "老孟出差的事，小林弹吉他的事，你都忘了吧")
    left = known(end_user)
    assert "出差" not in left
    assert "吉他" not in left
    assert {"厦门" in left, "钓鱼" in left, "花生" in left} == {True}


@pytest.mark.parametrize("line", ["刚才那句别存", "don't save what I just told you"])
def test_what_was_said_last_goes_alone(end_user: EndUser, line: str) -> None:
    say(end_user, line)
    assert "花生" not in known(end_user)
    assert "钓鱼" in known(end_user)


@pytest.mark.parametrize(
    "line", ["别忘了我对花生过敏", "我忘了小林住哪", "I forgot 小林's birthday"]
)
def test_who_only_speaks_of_forgetting_files_nothing(end_user: EndUser, line: str) -> None:
    before = known(end_user)
    receive(end_user.app, end_user.external_id, [Incoming("user", line)])
    while run.extract_next(end_user.pk, everything=True):
        pass
    assert set(before.splitlines()) <= set(known(end_user).splitlines())
    assert not Erasure.objects.exists()


def test_what_may_be_a_request_is_filed_as_unclear_and_told(end_user: EndUser) -> None:
    before = known(end_user)
    forget_asked(end_user, [ForgetRequest(unclear=True)])
    assert Erasure.objects.get().state == Erasure.State.UNCLEAR
    assert known(end_user) == before
    end_user.refresh_from_db()
    told = build.build(end_user, ContextRequest("你好")).system_prompt
    assert WORDS["zh"]["unclear"] in told or WORDS["en"]["unclear"] in told
