"""Partners and bosses who change."""

from uuid import uuid4

from contacts.types import Person
from memories.providers.offline.extraction.referents import Someone
from tests.memories.providers.offline.talks import talk

ZHOU = Person(uuid4(), "周总", (), "老板", "male")


def test_a_new_boss_makes_the_old_one_former():
    found = {p.name: p.relationship for p in talk("我新老板叫何俊", people=(ZHOU,)).people}
    assert found["何俊"] == "老板"
    known = talk("周总走了，新老板叫Anita", people=(ZHOU,))
    assert {p.name: p.relationship for p in known.people} == {"周总": "前老板", "Anita": "老板"}


def test_a_partner_becomes_a_former_one():
    ming = Person(uuid4(), "阿铭", (), "男朋友", "male")
    found = talk("我跟阿铭分手了", people=(ming,))
    assert [person.relationship for person in found.people] == ["前男友"]


def test_two_who_are_each_others_end_the_line_of_whom_they_belong_to():
    ada, bea = (Someone(ref, ref, named=False) for ref in ("ada", "bea"))
    ada.owner, bea.owner = bea, ada
    assert [*ada.with_owners()] == [bea, ada]
