"""What the user asks to forget, who the user is, and what is only said for fun."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from contacts.types import Person
from memories.providers.offline import OfflineProvider, forgetting
from memories.types import Extraction, ExtractionRequest, ForgetRequest, Turn

NOON = datetime(2025, 6, 4, 12, tzinfo=UTC)
MEI = Person(uuid4(), "阿梅", (), "朋友", "female")
ZHOU = Person(uuid4(), "周总", (), "老板", "male")


def talk(*lines: str, people: tuple[Person, ...] = (), before: int = 0) -> Extraction:
    """The extraction of ``lines``, of which the first ``before`` are only context."""
    turns = tuple(
        Turn(n, "user", line, NOON + timedelta(minutes=n)) for n, line in enumerate(lines, start=1)
    )
    request = ExtractionRequest(turns[before:], turns[:before], people, "zh")
    return OfflineProvider().extract(request).value


def contents(extraction: Extraction) -> str:
    return "\n".join(memory.content for memory in extraction.memories)


@pytest.mark.parametrize(
    "line",
    [
        "忘掉我说的关于阿强离婚的事",
        "把阿强的事都删掉",
        "别记这个",
        "就当我没提过",
        "please forget that",
        "Oh and please don't save what I said about Tom's divorce",
        "forget what I told you about my ex",
    ],
)
def test_a_request_to_forget_is_recognised_and_never_a_memory(line: str):
    assert forgetting.asks(line)
    assert talk(line).memories == ()


@pytest.mark.parametrize(
    "line",
    [
        "别忘了带伞",
        "她老忘了吃药",
        "老板忘了我的生日",
        "把那封邮件删掉",
        "别记错了",
        "那件事我已经忘了",
        "I forgot what he said",
        "Don't forget what I said about the cake",
    ],
)
def test_talk_about_forgetting_asks_for_nothing(line: str):
    assert not forgetting.asks(line)


def test_a_matter_of_a_known_person_is_forgotten_with_its_attribute():
    found = talk(
        "阿梅在吃安定片", "忘掉我说的关于阿梅吃药的那些话", "阿梅今天去爬山了", people=(MEI,)
    )
    assert found.forget == (ForgetRequest(MEI.id, ("吃药",), ("medication",)),)
    assert "安定" not in contents(found)
    assert "爬山" in contents(found)


def test_everything_about_a_person_is_forgotten_and_they_are_not_met_again():
    found = talk(
        "那个阿梅又来加我，烦。你把关于阿梅的一切都忘了吧，我不想再看到这个名字", people=(MEI,)
    )
    assert found.forget == (ForgetRequest(MEI.id),)
    assert found.people == ()
    assert found.memories == ()


def test_a_bare_request_takes_back_the_last_statement():
    found = talk("我同事老周离婚了", "别记这个")
    assert found.memories == ()
    assert found.people == ()


def test_a_bare_request_reaches_back_into_the_batch_before():
    assert talk("我同事老周离婚了", "别记这个", before=1).forget == (ForgetRequest(turn_ids=(1,)),)


def test_a_second_request_only_confirms_the_first():
    found = talk("阿梅搬到苏州了", "我同事老周离婚了", "别记这个", "就当我没提过", people=(MEI,))
    assert "苏州" in contents(found)


def test_a_request_beside_its_secret_means_that_secret_only():
    found = talk("我妈明天去体检", "她的医保卡放在床头，你别记", before=0)
    assert "体检" in contents(found)
    assert "床头" not in contents(found)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("我叫林晓舟，在杭州上班", ("林晓舟",)),
        ("大家都叫我圆圆", ("圆圆",)),
        ("My name is Peter Vance", ("Peter Vance",)),
        ("Hi, I'm Laura.", ("Laura",)),
        ("我叫了外卖", ()),
        ("我是医生", ()),
        ("I'm Happy to help", ()),
    ],
)
def test_the_user_introduces_themself(line: str, names: tuple[str, ...]):
    found = talk(line)
    assert found.user_names == names
    assert found.people == ()


def test_the_users_own_name_is_nobody_else():
    found = talk("我叫林晓舟", "林晓舟今天不加班")
    assert found.people == ()


def test_words_on_a_sign_introduce_nobody():
    found = talk('阿梅举着牌子，上面写着"何晓舟加油"', people=(MEI,))
    assert [person.name for person in found.people] == ["阿梅"]


@pytest.mark.parametrize("line", ["今天天气不错", "地铁好挤", "外面又下雨了"])
def test_small_talk_after_a_person_is_about_nobody(line: str):
    alone = contents(talk("我朋友小梅在华为当工程师"))
    assert contents(talk("我朋友小梅在华为当工程师", line)) == alone


def test_a_boast_met_with_rolled_eyes_is_not_a_fact():
    found = contents(talk("我爸退休了，昨天还说要去报名参加奥运会，我妈翻白眼"))
    assert "退休" in found
    assert "奥运" not in found


def test_a_pets_value_says_what_it_is_and_its_name():
    facts = [fact for memory in talk("我养了一只叫奶油的狗").memories for fact in memory.facts]
    assert ("pet", "狗（奶油）") in [(fact.key, fact.value) for fact in facts]


def test_a_pet_is_not_the_friend_who_keeps_it():
    found = talk("我朋友小梅养了一只叫毛毛的猫")
    assert [person.name for person in found.people] == ["小梅"]


def test_a_new_boss_makes_the_old_one_former():
    found = {p.name: p.relationship for p in talk("我新老板叫何俊", people=(ZHOU,)).people}
    assert found["何俊"] == "老板"
    known = talk("周总走了，新老板叫Anita", people=(ZHOU,))
    assert {p.name: p.relationship for p in known.people} == {"周总": "前老板", "Anita": "老板"}


def test_a_partner_becomes_a_former_one():
    ming = Person(uuid4(), "阿铭", (), "男朋友", "male")
    found = talk("我跟阿铭分手了", people=(ming,))
    assert [person.relationship for person in found.people] == ["前男友"]


def test_a_full_name_learnt_later_joins_the_short_one():
    found = talk("Just called Gregory, my old friend", "Gregory Hale, everyone calls him Greg")
    assert [person.name for person in found.people] == ["Gregory Hale"]
    assert {"Gregory", "Greg"} <= set(found.people[0].aliases)


def test_what_everyone_calls_somebody_is_their_alias():
    found = talk("财务的赵丽君，我们都叫赵姐。她腰不好")
    assert [(person.name, person.aliases) for person in found.people] == [("赵丽君", ("赵姐",))]
