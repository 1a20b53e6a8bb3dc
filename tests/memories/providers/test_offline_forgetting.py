"""What the user asks to forget, and what only sounds like it."""

from uuid import uuid4

import pytest

from contacts.types import Person
from memories.text import forget_intent
from memories.types import ForgetRequest
from tests.memories.providers.talks import contents, talk

MEI = Person(uuid4(), "阿梅", (), "朋友", "female")


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
    assert forget_intent.asks(line)
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
    assert not forget_intent.asks(line)


def test_a_matter_of_a_known_person_is_forgotten_with_its_attribute():
    found = talk(
        "阿梅在吃安定片", "忘掉我说的关于阿梅吃药的那些话", "阿梅今天去爬山了", people=(MEI,)
    )
    assert found.forget == (
        ForgetRequest(MEI.id, ("吃药",), ("medication",)),
        ForgetRequest(turn_ids=(1,)),
    )
    assert "安定" not in contents(found)
    assert "爬山" in contents(found)


def test_everything_about_a_person_is_forgotten_and_they_are_not_met_again():
    found = talk(
        "那个阿梅又来加我，烦。你把关于阿梅的一切都忘了吧，我不想再看到这个名字", people=(MEI,)
    )
    assert found.forget == (ForgetRequest(MEI.id), ForgetRequest(turn_ids=(1,)))
    assert found.people == ()
    assert found.memories == ()


def test_a_bare_request_takes_back_the_last_statement():
    found = talk("我同事老周离婚了", "别记这个")
    assert found.memories == ()
    assert found.people == ()


def test_a_bare_request_reaches_back_into_the_batch_before():
    assert talk("我同事老周离婚了", "别记这个", context=1).forget == (ForgetRequest(turn_ids=(1,)),)


def test_a_second_request_only_confirms_the_first():
    found = talk("阿梅搬到苏州了", "我同事老周离婚了", "别记这个", "就当我没提过", people=(MEI,))
    assert "苏州" in contents(found)


def test_a_request_beside_its_secret_means_that_secret_only():
    found = talk("我妈明天去体检", "她的医保卡放在床头，你别记", context=0)
    assert "体检" in contents(found)
    assert "床头" not in contents(found)


def test_a_request_names_its_topic_in_the_clause_before():
    found = talk("阿梅在吃安定片", "我之前说的关于阿梅吃药的那些话，你忘了吧", people=(MEI,))
    assert found.forget[0] == ForgetRequest(MEI.id, ("吃药",), ("medication",))


def test_an_earlier_request_is_not_made_again_by_the_batch_after_it():
    found = talk(
        "阿梅在吃安定片", "忘掉我说的关于阿梅吃药的话", "她去爬山了", people=(MEI,), context=2
    )
    assert found.forget == ()


def test_a_request_says_which_turn_asks():
    found = talk("阿梅在吃安定片", "忘掉我说的关于阿梅吃药的话", people=(MEI,))
    assert {asked.asked_in for asked in found.forget} == {2}
