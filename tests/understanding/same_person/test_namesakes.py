"""When words mean somebody else than the one who is known by a name."""

import pytest

from understanding.same_person.namesakes import index_of_bearer, is_someone_else, says_another


def _says(text: str, name: str) -> bool:
    start = text.rindex(name)
    return says_another(text, start, start + len(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("There's another Ruth on my team", "Ruth"),
        ("I met a different Ruth yesterday", "Ruth"),
        ("I also have a neighbour called Ruth", "Ruth"),
        ("My roommate's name is Ruth too", "Ruth"),
        ("我们班也有个何婷", "何婷"),
        ("又来了一个叫何婷的", "何婷"),
        ("另一个何婷下周结婚", "何婷"),
        ("楼下住着个同名的何婷", "何婷"),
        ("我有个客户也叫何婷", "何婷"),
        ("来的是另一个 何婷", "何婷"),
        ("别跟我嫂子何婷弄混了", "何婷"),
        ("何婷,不是楼下那个", "何婷"),
        ("not to be confused with my dentist Ruth", "Ruth"),
        ("don't mix her up with our Ruth", "Ruth"),
        ("saw Ruth, not the choir one", "Ruth"),
    ],
)
def test_the_words_say_that_somebody_else_has_the_name(text: str, name: str):
    assert _says(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I told another Ruth story", "Ruth"),
        ("She is becoming another Ruth", "Ruth"),
        ("Ruth has another job", "Ruth"),
        ("I saw Ruth too", "Ruth"),
        ("聚会也有何婷", "何婷"),
        ("何婷也有个妹妹", "何婷"),
        ("她简直像另一个何婷", "何婷"),
        ("又一个何婷式的笑话", "何婷"),
        ("我跟何婷把样品弄混了", "何婷"),
        ("何婷不是那个意思", "何婷"),
        ("I'm confused by Ruth", "Ruth"),
        ("Ruth wants the blue one, not the red one", "Ruth"),
    ],
)
def test_other_talk_of_one_more_is_of_the_known_one(text: str, name: str):
    assert not _says(text, name)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("coworker", "uncle"),
        ("landlord", "sister"),
        ("son", "dentist"),
        ("同事", "表姐"),
        ("房东", "舅舅"),
        ("医生", "哥哥"),
        ("朋友", "姑姑"),
    ],
)
def test_kin_is_nobody_of_the_users_work_or_circle(said: str, known: str):
    assert is_someone_else(said, known)
    assert is_someone_else(known, said)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("阿姨", "邻居"),
        ("叔叔", "同事"),
        ("哥", "同事"),
        ("妹妹", "朋友"),
        ("girlfriend", "coworker"),
        ("husband", "friend"),
        ("colleague", "classmate"),
        ("former boss", "boss"),
        ("ex-wife", "wife"),
        ("roommate", "brother"),
        ("妹妹", "表妹"),
        ("coworker", "Ben's sister"),
        ("coworker", ""),
        ("", "uncle"),
    ],
)
def test_changes_of_one_person_and_forms_of_address_make_no_second(said: str, known: str):
    assert not is_someone_else(said, known)
    assert not is_someone_else(known, said)


def test_of_several_bearers_the_role_decides_and_a_bare_name_means_the_first():
    bearers = ["brother", "coworker"]
    assert index_of_bearer(bearers) == 0
    assert index_of_bearer(bearers, "coworker") == 1
    assert index_of_bearer(bearers, "landlord") == 1
    assert index_of_bearer(bearers, "landlord", another=True) is None
    assert index_of_bearer(["brother"], "coworker") is None
    assert index_of_bearer(["brother"], another=True) is None
    assert index_of_bearer(["brother", ""], another=True) == 1
