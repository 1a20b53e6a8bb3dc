"""What a user asked in a chat to forget: hidden at once, erased without trace when it is due."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from accounts.models import Change, EndUser
from contacts.models import Contact
from memories import queue
from memories.corrections import edit_memories, merge_contacts
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import (
    Edge,
    Entity,
    EntityLink,
    Erasure,
    Injected,
    Link,
    Memory,
    Message,
    Receipt,
)
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.pipeline.forget_requests import forget_asked
from memories.types import ForgetRequest
from tests.factories import (
    make_app,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
    make_suggestion,
)
from tests.memories.erasure.stored import everything_stored, places_of
from tests.memories.snapshots import assert_sound

pytestmark = pytest.mark.django_db

TALK = [
    Incoming("user", "我朋友小兰在开店卖章鱼丸，她住在泉州。", id="1", session_id="s"),
    Incoming("assistant", "小兰的章鱼丸听起来不错！", id="2", session_id="s"),
    Incoming("user", "小兰对芒果过敏。", id="3", session_id="s"),
    Incoming("user", "我同事老孟下个月去青岛出差。", id="4", session_id="s"),
    Incoming("user", "我喜欢喝乌龙茶。", id="5", session_id="s"),
]


@pytest.fixture
def end_user() -> EndUser:
    """A user who has told of people, and has asked to forget one of them."""
    end_user = receive(make_app(), "ann", TALK).end_user
    run.process(end_user.pk)
    end_user.refresh_from_db()
    return end_user


def say(end_user: EndUser, *lines: str, session: str = "s") -> None:
    incoming = [Incoming("user", line, session_id=session) for line in lines]
    receive(end_user.app, end_user.external_id, incoming)
    while run.extract_next(end_user.pk):
        pass


def make_due() -> None:
    Erasure.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def test_a_request_takes_effect_at_once_and_is_due_after_the_grace_period(end_user, settings):
    settings.MIO_FORGET_GRACE_DAYS = 3
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    assert not Contact.objects.of(end_user).filter(name="小兰").exists()
    assert not Memory.objects.of(end_user).active().filter(content__contains="小兰").exists()
    erasure = Erasure.objects.get()
    assert erasure.state == "pending"
    assert erasure.change.verb == "hide"
    assert erasure.due_at - erasure.requested_at == timedelta(days=3)
    assert len(erasure.contact_ids) == 1
    assert len(erasure.memory_ids) == len(erasure.change.subjects) - 1 > 0
    assert erasure.session_id == "s"
    assert_sound(end_user)


def test_nothing_is_erased_before_it_is_due(end_user):
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    before = everything_stored()
    assert erase.erase_due() == {"erasures": 0, "contacts": 0, "memories": 0, "messages": 0}
    assert everything_stored() == before


def test_after_the_erasure_no_table_has_a_word_of_it(end_user):
    lan = Contact.objects.of(end_user).get(name="小兰")
    memory = Memory.objects.of(end_user).filter(content__contains="章鱼丸", kind="fact").first()
    edit_memories.edit(end_user, memory.id, {"content": "小兰卖章鱼丸和芒果汁"}, actor="app:x")
    other = make_contact(end_user, "阿兰")
    make_suggestion(lan, other, evidence=[{"text": "小兰 阿兰", "weight": 1}])
    tea = Memory.objects.of(end_user).get(content__contains="乌龙茶", kind="fact")
    Edge.objects.create(
        end_user=end_user, source=memory, target=tea, kind="causes", reason="章鱼丸配茶"
    )
    shop = Entity.objects.create(
        end_user=end_user, kind="organisation", name="章鱼丸铺子", key="章鱼丸铺子"
    )
    EntityLink.objects.create(end_user=end_user, entity=shop, memory=memory)
    Injected.objects.create(end_user=end_user, memory_ids=[memory.id, tea.id])
    edit_memories.outdate(end_user, [tea], actor="extractor", why="小兰的章鱼丸", by=memory.id)
    queue.enqueue("link_backfill", str(lan.id))
    run.process(end_user.pk)
    say(end_user, "把我说的关于小兰的事都忘掉吧", "今天好热")
    ids = [str(pk) for pk in (lan.id, memory.id)]
    make_due()
    effect = erase.erase_due()
    assert effect["erasures"] == 1
    assert effect["memories"] > 0
    assert places_of("小兰", "章鱼丸", "芒果") == []
    kept = [line for line in places_of(*ids) if not line.startswith("Erasure")]
    assert kept == []
    assert not OrmQ.objects.filter(payload__contains=str(lan.id)).exists()
    left = everything_stored()
    assert all(word in left for word in ("老孟", "乌龙茶", "今天好热"))
    erasure = Erasure.objects.get()
    assert erasure.state == "erased"
    assert Receipt.objects.get(pk=erasure.pk).contacts == 1
    assert_sound(end_user)


def test_a_second_run_and_a_killed_one_change_nothing(end_user, monkeypatch):
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    make_due()
    before = everything_stored()

    def killed(*_args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("memories.corrections.erasure_requests.report_until", killed)
        with pytest.raises(KeyboardInterrupt):
            erase.erase_due()
    assert everything_stored() == before
    assert erase.erase_due()["erasures"] == 1
    after = everything_stored()
    assert erase.erase_due()["erasures"] == 0
    assert erase.carry_out(Erasure.objects.get().pk) is None
    assert everything_stored() == after


def test_an_undo_calls_the_erasure_off(end_user):
    before = {m.content for m in Memory.objects.of(end_user).active().filter(kind="fact")}
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    undo_change(Change.objects.get(verb="hide"), actor="app:x")
    erasure = Erasure.objects.get()
    assert (erasure.state, erasure.words) == ("cancelled", [])
    make_due()
    assert erase.erase_due()["erasures"] == 0
    now = {m.content for m in Memory.objects.of(end_user).active().filter(kind="fact")}
    assert now == before
    assert Contact.objects.of(end_user).filter(name="小兰").exists()
    assert_sound(end_user)


def test_a_request_that_was_undone_is_not_carried_out_again_by_the_next_batch(end_user):
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    undo_change(Change.objects.get(verb="hide"), actor="app:x")
    receive(end_user.app, "ann", [Incoming("user", "明天要早起", session_id="s")])
    run.process(end_user.pk)
    assert Erasure.objects.count() == 1
    assert Contact.objects.of(end_user).filter(name="小兰").exists()


def test_what_was_never_stored_is_wiped_from_the_messages(end_user):
    say(end_user, "我把备用钥匙藏在花盆底下了", "别记这个")
    assert not Memory.objects.of(end_user).filter(content__contains="花盆").exists()
    erasure = Erasure.objects.get()
    assert erasure.change is None
    make_due()
    erase.erase_due()
    assert places_of("花盆", "别记这个") == []
    assert "乌龙茶" in everything_stored()


def test_without_a_grace_period_the_next_worker_erases(end_user, settings):
    settings.MIO_FORGET_GRACE_DAYS = 0
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    erasure = Erasure.objects.get()
    names = [task.name() for task in OrmQ.objects.all()]
    assert f"erase {erasure.pk}" in names
    assert erase.carry_out(erasure.pk) is not None
    assert places_of("小兰") == []


def test_an_erasure_that_fails_keeps_no_other_waiting(caplog):
    ann, ben = make_end_user(), make_end_user()
    with connection.cursor() as cursor:
        cursor.execute(
            f"ALTER TABLE memories_erasure ADD CHECK (state <> 'erased' OR end_user_id <> {ann.pk})"
        )
    for user in (ann, ben):
        Erasure.objects.create(end_user=user, due_at=timezone.now(), words=["secret"])
    effect = erase.erase_due()
    assert (effect["erasures"], effect["failed"]) == (1, 1)
    assert "IntegrityError at memories/erasure/erase.py" in caplog.text
    assert "secret" not in caplog.text


def test_the_assistants_echo_goes_with_what_it_echoes(end_user):
    receive(
        end_user.app, "ann",
        [
            Incoming("user", "我朋友大鹏在吃舍曲林。", session_id="s"),
            Incoming("assistant", "希望他早日好起来。", session_id="s"),
            Incoming("user", "嗯，谢谢", session_id="s"),
            Incoming("assistant", "舍曲林要按时吃。", session_id="s"),
            Incoming("user", "忘掉大鹏吃药的事", session_id="s"),
            Incoming("assistant", "好的，大鹏吃药的事我忘了。", session_id="s"),
        ],
    )  # fmt: skip
    run.process(end_user.pk)
    make_due()
    erase.erase_due()
    assert places_of("舍曲林", "吃药") == []


def test_what_is_told_anew_after_the_request_stays(end_user):
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    say(end_user, "我朋友小兰搬到漳州了。", session="t")
    run.process(end_user.pk)
    make_due()
    erase.erase_due()
    assert "漳州" in everything_stored()
    assert Memory.objects.of(end_user).active().filter(content__contains="漳州").exists()
    assert_sound(end_user)


def test_merged_names_come_back_with_an_undo_and_go_with_the_erasure():
    end_user = make_end_user(language="zh")
    lan, nickname = make_contact(end_user, "小兰"), make_contact(end_user, "兰兰")
    make_memory(end_user, "小兰在卖章鱼丸", lan)
    merge_contacts.merge(end_user, nickname.id, lan.id, actor="operator:x")
    forget_asked(end_user, [ForgetRequest(lan.id)])
    assert not Contact.objects.of(end_user).exists()
    undo_change(Change.objects.get(verb="hide"), actor="operator:x")
    nickname.refresh_from_db()
    assert nickname.merged_into_id == lan.id
    assert_sound(end_user)
    forget_asked(end_user, [ForgetRequest(lan.id)])
    make_due()
    erase.erase_due()
    assert places_of("小兰", "兰兰", "章鱼丸") == []


def test_a_message_with_other_news_loses_only_the_sentence():
    end_user = make_end_user()
    message = make_message(end_user, "Ann sings. Bob sold his boat!  Bob is sad about it.")
    boat = make_memory(
        end_user, "Bob sold his boat", source_message_ids=[message.pk], quote="Bob sold his boat"
    )
    song = make_memory(end_user, "Ann sings", source_message_ids=[message.pk], quote="Ann sings")
    erase.forget_memory(end_user, boat.id)
    message.refresh_from_db()
    assert message.content == "Ann sings. Bob is sad about it."
    song.refresh_from_db()
    assert song.quote == "Ann sings"


def test_a_memory_loses_its_quote_when_the_message_is_emptied():
    end_user = make_end_user()
    message = make_message(end_user, "Ann and Bob sing")
    ann = make_memory(
        end_user, "Ann sings", source_message_ids=[message.pk], quote="Ann and Bob sing"
    )
    bob = make_memory(
        end_user, "Bob sings", source_message_ids=[message.pk], quote="Ann and Bob sing"
    )
    erase.forget_memory(end_user, bob.id)
    ann.refresh_from_db()
    assert (ann.content, ann.quote) == ("Ann sings", "")
    assert "Bob" not in everything_stored()


def test_what_says_the_same_goes_too():
    """What it was merged from and into, and its pieces; others that were merged with it stay."""
    end_user = make_end_user()
    united = make_memory(end_user, "Bob sings and paints")
    sings = make_memory(end_user, "Bob sings", status="archived", merged_into=united)
    paints = make_memory(end_user, "Bob paints", status="archived", merged_into=united)
    whole = make_memory(end_user, "Bob sings bass in a choir in Graz")
    piece = make_memory(end_user, "Bob sings bass")
    Edge.objects.create(end_user=end_user, source=piece, target=whole, kind="part_of")
    erase.forget_memory(end_user, sings.id)
    paints.refresh_from_db()
    assert (paints.status, paints.merged_into_id) == ("active", None)
    assert not Memory.objects.filter(pk__in=[united.pk, sings.pk]).exists()
    erase.forget_memory(end_user, piece.id)
    assert not Memory.objects.filter(pk__in=[whole.pk, piece.pk]).exists()


def test_other_users_keep_theirs(end_user):
    other = receive(make_app(), "ann", [Incoming("user", "我朋友小兰在卖章鱼丸。")]).end_user
    run.process(other.pk)
    say(end_user, "把我说的关于小兰的事都忘掉吧")
    make_due()
    erase.erase_due()
    assert Link.objects.of(other).exists()
    assert Message.objects.of(other).get().content == "我朋友小兰在卖章鱼丸。"
