"""Long memories that are read often are split or trimmed once; nothing is invented or lost."""

import pytest
from django.utils import timezone

from accounts.models import Change
from memories.budget import Budget
from memories.models import Edge, Memory, ModelCall
from memories.pipeline import refine
from memories.providers.errors import PermanentError
from tests.factories import make_contact, make_end_user
from tests.memories.read_often import LONG, read_often
from tests.memories.snapshots import assert_sound

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model")]
LONG_ZH = (
    "小红在医院做夜班护士，已经是护士长了。她养了两只从街上捡来的橘猫，都很胖。"
    "小红的妹妹在北京读研究生，学的是建筑设计。"
)


@pytest.fixture
def model(server):
    """A model that finds no memory verbose."""
    server.answer_with = lambda _sent: {"rewrites": []}


@pytest.fixture
def end_user():
    return make_end_user(language="en")


def refined(end_user, calls=100):
    return refine.refine_user(end_user.pk, Budget(calls, 10_000))


PIECES = [
    "Nora works at Brightwater as a nurse on the night shift and teaches on Mondays.",
    "Nora lives in Ghent with two cats and a very old piano.",
    "The user met Nora at a concert in the botanical garden and goes hiking with her.",
]


def test_a_long_memory_is_split_and_stays(end_user, server):
    server.reply_json({"rewrites": [{"ids": ["m1"], "texts": PIECES}]})
    nora = make_contact(end_user, "Nora")
    memory = read_often(end_user, LONG, nora)
    assert refine.users_due() == [end_user.pk]
    assert refined(end_user)["split"] == 1
    memory.refresh_from_db()
    assert (memory.status, memory.content) == ("active", LONG)
    pieces = set(Edge.objects.filter(target=memory).values_list("source__content", flat=True))
    assert pieces == set(PIECES)
    assert Change.objects.get().actor == "refiner"
    assert_sound(end_user)


def test_chinese_is_measured_in_characters_and_stays_as_it_is_without_a_model(end_user):
    memory = read_often(end_user, LONG_ZH, make_contact(end_user, "小红"))
    done = refined(end_user)
    assert (done["looked_at"], done["split"], done["trimmed"]) == (1, 0, 0)
    assert Memory.objects.get().content == memory.content


def test_a_wordy_memory_is_said_in_fewer_words(end_user, server):
    fewer = (
        "Nora likes long hikes in the hills around Ghent at weekends, and rain never stops her; "
        "she likes hikes in the rain"
    )
    server.reply_json({"rewrites": [{"ids": ["m1"], "texts": [fewer]}]})
    wordy = (
        "To be honest, needless to say, Nora, as I said before, likes long hikes in the hills "
        "around Ghent at weekends, you know, and it should be noted that rain never stops her; "
        "as a matter of fact, at the end of the day, she likes hikes in the rain"
    )
    memory = read_often(end_user, wordy)
    assert refined(end_user)["trimmed"] == 1
    memory.refresh_from_db()
    assert memory.content == fewer


@pytest.mark.parametrize(
    "fields",
    [
        {"accesses": 4},
        {"days": 6},
        {"refined_at": timezone.now()},
        {"status": "archived"},
        {"status": "outdated"},
        {"kind": "profile"},
        {"content": LONG[:56]},
    ],
)
def test_only_long_old_and_read_facts_are_looked_at(end_user, fields):
    fields = {"content": LONG, **fields}
    read_often(end_user, fields.pop("content"), **fields)
    assert refined(end_user)["calls"] == 0
    assert Memory.objects.count() == 1


def test_a_second_run_makes_no_call_and_writes_nothing(end_user, django_assert_max_num_queries):
    read_often(end_user, LONG)
    read_often(end_user, "Ivan keeps bees, " + ", ".join(f"hive number {n}" for n in range(20)))
    assert refined(end_user)["looked_at"] == 2
    before = list(Memory.objects.order_by("pk").values()), ModelCall.objects.count()
    with django_assert_max_num_queries(3):
        assert not any(refined(end_user).values())
    assert (list(Memory.objects.order_by("pk").values()), ModelCall.objects.count()) == before
    assert refine.users_due() == []


def test_ten_memories_share_a_call_and_the_budget_bounds_a_run(end_user):
    for n in range(25):
        read_often(end_user, f"{LONG} It was night {n}.")
    done = refined(end_user, calls=1)
    assert (done["looked_at"], done["calls"]) == (10, 1)
    done = refined(end_user)
    assert (done["looked_at"], done["calls"]) == (15, 2)
    assert ModelCall.objects.filter(purpose="refine").count() == 3


@pytest.mark.parametrize(
    "texts",
    [
        ["Nora works at Brightwater.", "Nora lives in Porto."],
        ["Nora is a nurse.", "Nora has two cats and loves surfing, poker and cake."],
        ["Nora is no nurse.", "Nora does not live in Ghent."],
        ["Nora is a nurse in Ghent."],
        [LONG, "Nora is a nurse."],
    ],
)
def test_what_a_model_invents_or_loses_is_discarded(end_user, server, texts):
    memory = read_often(end_user, LONG)
    server.reply_json({"rewrites": [{"ids": ["m1"], "texts": texts}]})
    done = refined(end_user)
    assert (done["calls"], done["split"], done["trimmed"]) == (1, 0, 0)
    memory.refresh_from_db()
    assert memory.content == LONG
    assert memory.refined_at is not None
    assert Memory.objects.count() == 1


def test_a_memory_whose_model_fails_is_looked_at_again(end_user, server):
    memory = read_often(end_user, LONG)
    server.fail(401)
    with pytest.raises(PermanentError):
        refined(end_user)
    memory.refresh_from_db()
    assert memory.refined_at is None
