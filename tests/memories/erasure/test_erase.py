import pytest
from django_q.models import OrmQ, Success

from accounts.models import Change, EndUser
from contacts import edit
from contacts.merge import not_the_same
from contacts.models import Contact
from memories import queue
from memories.corrections import edit_memories, merge_contacts
from memories.corrections.erasure_requests import hide
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.erasure.receipts import Forgotten
from memories.models import Link, Memory, Message
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app, make_contact, make_end_user, make_memory, make_message
from tests.memories.erasure.stored import everything_stored
from tests.memories.snapshots import assert_sound

pytestmark = pytest.mark.django_db

TALK = [
    Incoming("user", "我朋友小梅在华为当工程师，她住在东莞。", id="1"),
    Incoming("assistant", "小梅真厉害。", id="2"),
    Incoming("user", "我同事老韩下个月去青岛出差。", id="3"),
    Incoming("user", "我喜欢喝乌龙茶。", id="4"),
]


@pytest.fixture
def end_user():
    end_user = receive(make_app(), "ann", TALK).end_user
    run.process(end_user.pk)
    end_user.refresh_from_db()
    return end_user


def test_forgetting_everything_leaves_no_row_of_the_user(end_user):
    other = make_end_user(app=end_user.app)
    make_memory(other, "别人的记忆", make_contact(other, "别人"))
    memory = Memory.objects.of(end_user).filter(kind="fact").first()
    edit_memories.edit(end_user, memory.id, {"content": "改过的华为"}, actor="a")
    queue.enqueue("extract", end_user.pk)
    Success.objects.create(
        id="1", name=f"extract {end_user.pk}", func="f", started="2026-01-01T00:00Z",
        stopped="2026-01-01T00:00Z", success=True,
    )  # fmt: skip
    gone = erase.forget_everything(end_user)
    assert gone.messages == len(TALK)
    assert gone.contacts >= 2
    left = everything_stored()
    assert not [word for word in ("小梅", "华为", "老韩", "乌龙茶", "ann") if word in left]
    assert not EndUser.objects.filter(pk=end_user.pk).exists()
    assert not OrmQ.objects.exists()
    assert not Success.objects.exists()
    assert "别人的记忆" in left
    assert erase.forget_everything(end_user) == Forgotten()


def test_forgetting_a_person_leaves_nothing_that_names_them(end_user):
    contact = Contact.objects.of(end_user).get(name="小梅")
    erase.forget_contact(end_user, contact.id)
    left = everything_stored()
    assert not [word for word in ("小梅", "华为", "东莞") if word in left]
    assert "老韩" in left
    assert "乌龙茶" in left
    assert list(Message.objects.of(end_user).values_list("seq", flat=True)) == [1, 2, 3, 4]


def test_forgetting_a_person_takes_merged_names_and_others_profiles_along(end_user):
    mei = Contact.objects.of(end_user).get(name="小梅")
    han = Contact.objects.of(end_user).get(name="老韩")
    make_memory(end_user, "老韩和小梅是邻居", mei, han)
    tombstone = make_contact(end_user, "梅梅", merged_into=mei)
    run.process(end_user.pk)
    erase.forget_contact(end_user, mei.id)
    assert "小梅" not in everything_stored()
    assert not Contact.objects.filter(pk=tombstone.pk).exists()
    assert Contact.objects.filter(pk=han.pk).exists()


def test_forgetting_a_memory_takes_its_words_and_what_was_learnt_from_it(end_user):
    memory = Memory.objects.of(end_user).filter(content__contains="乌龙茶", kind="fact").get()
    gone = erase.forget_memory(end_user, memory.id)
    assert gone.memories == 1
    assert "乌龙茶" not in everything_stored()
    assert Memory.objects.of(end_user).filter(content__contains="华为").exists()


def test_a_message_that_another_memory_rests_on_keeps_what_was_said_of_that():
    end_user = make_end_user()
    message = make_message(end_user, "Ann has a cat. Ann has a dog")
    cat = make_memory(end_user, "Ann has a cat", source_message_ids=[message.pk], quote="has a cat")
    make_memory(end_user, "Ann has a dog", source_message_ids=[message.pk])
    assert erase.forget_memory(end_user, cat.id).messages == 0
    message.refresh_from_db()
    assert message.content == "Ann has a dog"


def test_the_audit_trail_forgets_too(end_user):
    memory = Memory.objects.of(end_user).filter(content__contains="乌龙茶", kind="fact").get()
    edit_memories.edit(end_user, memory.id, {"content": "用户爱喝乌龙茶"}, actor="a")
    assert Change.objects.exists()
    erase.forget_memory(end_user, memory.id)
    assert "乌龙茶" not in everything_stored()


@pytest.mark.parametrize("verb", [erase.forget_contact, erase.forget_memory])
def test_what_is_not_there_or_not_yours_can_not_be_forgotten(end_user, verb):
    other = make_end_user()
    contact = make_contact(other, "别人")
    memory = make_memory(other, "别人的记忆", contact)
    for pk in (contact.id, memory.id):
        with pytest.raises(erase.NothingToForget):
            verb(end_user, pk)
    assert Link.objects.of(other).count() == 1


def test_what_only_an_erased_change_could_bring_back_is_in_no_other():
    end_user = make_end_user(language="en")
    ada, bea, zoe = (make_contact(end_user, name) for name in ("Ada", "Bea", "Zoe"))
    said = make_memory(end_user, "Zoe sings.", zoe)
    for one in (ada, bea):
        not_the_same(end_user, one.id, zoe.id, actor="operator:ann")
    # The two questions about Zoe become one; the other is only in the change.
    merge = merge_contacts.merge(end_user, ada.id, bea.id, actor="operator:ann")
    hide(end_user, [said], actor="extractor", contacts=[zoe])
    erase.forget_memory(end_user, said.id)
    assert str(zoe.id) not in everything_stored()
    undo_change(Change.objects.get(pk=merge.pk), actor="operator:ann")
    assert_sound(end_user)


def test_cards_of_others_no_longer_name_an_erased_contact():
    end_user = make_end_user(language="en")
    ada, zoe = make_contact(end_user, "Ada"), make_contact(end_user, "Zoe")
    edit.add_relation(end_user, zoe.id, "sister", ada.id, actor="operator:ann")
    erase.forget_contact(end_user, zoe.id)
    assert "Zoe" not in Contact.objects.get(pk=ada.pk).card
    assert_sound(end_user)


def test_after_an_erasure_what_it_changed_is_embedded_anew(end_user):
    told = Memory.objects.of(end_user).get(kind="fact", content__contains="东莞")
    OrmQ.objects.all().delete()
    erase.forget_memory(end_user, told.pk)
    assert f"embed {end_user.pk}" in [task.name() for task in OrmQ.objects.all()]
