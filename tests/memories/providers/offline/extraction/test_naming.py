"""Who is who: the user by their own name, names learnt later."""

from uuid import uuid4

import pytest

from contacts.types import Person
from tests.memories.providers.offline.talks import talk

MEI = Person(uuid4(), "阿梅", (), "朋友", "female")


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


def test_a_pet_is_not_the_friend_who_keeps_it():
    found = talk("我朋友小梅养了一只叫毛毛的猫")
    assert [person.name for person in found.people] == ["小梅"]


def test_a_full_name_learnt_later_joins_the_short_one():
    found = talk("Just called Gregory, my old friend", "Gregory Hale, everyone calls him Greg")
    assert [person.name for person in found.people] == ["Gregory Hale"]
    assert {"Gregory", "Greg"} <= set(found.people[0].aliases)


def test_what_everyone_calls_somebody_is_their_alias():
    found = talk("财务的赵丽君，我们都叫赵姐。她腰不好")
    assert [(person.name, person.aliases) for person in found.people] == [("赵丽君", ("赵姐",))]
