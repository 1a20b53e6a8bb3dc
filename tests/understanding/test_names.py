"""Normal forms, identity keys, index keys and role words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.names import lookup_keys, name_key
from understanding.roles import kinship
from understanding.text import normalise, normalise_with_offsets, original_span
from understanding.text_document import Document
from understanding.types import Person


def keys_of(name: str, *aliases: str, relationship: str = "") -> set[str]:
    return {key.key for key in lookup_keys(Person(1, name, aliases, relationship))}


@pytest.mark.parametrize(
    ("typed", "same"),
    [
        ("Ｍａｒｔａ", "marta"),
        ("François", "francois"),
        ("Zoe\u0308", "zoe"),
        ("劉德龍", "刘德龙"),
        ("STRASSE", "straße"),
        ("Łukasz", "lukasz"),
        ("O’Neil", "O'Neil"),
    ],
)
def test_spellings_of_one_name_have_one_normal_form(typed: str, same: str) -> None:
    assert normalise(typed) == normalise(same)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(), st.text(min_size=1))
def test_offsets_lead_back_to_the_text_that_was_normalised(before: str, after: str) -> None:
    text = before + after
    norm, offsets = normalise_with_offsets(text)
    assert len(offsets) == len(norm) + 1
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(text)
    for place in range(len(norm)):
        start, end = original_span(offsets, place, place + 1)
        assert 0 <= start < end <= len(text)
        assert norm[place] in normalise(text[start:end])


def test_a_span_in_expanded_text_covers_whole_characters() -> None:
    text = "die Straße 和劉備"
    norm, offsets = normalise_with_offsets(text)
    at = norm.index("strasse")
    assert text[slice(*original_span(offsets, at, at + 7))] == "Straße"
    at = norm.index("刘备")
    assert text[slice(*original_span(offsets, at, at + 2))] == "劉備"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anne-Marie", "anne marie"),
        ("艾力·吐尔逊", "艾力吐尔逊"),
        ("  Sean   O'Neil ", "sean oneil"),
        ("Dr. Weber", "dr weber"),
        ("林 小 満", "林小満"),
    ],
)
def test_separators_inside_a_name_do_not_change_its_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_a_name_of_nothing_but_signs_has_no_key() -> None:
    assert name_key("·— !") == ""
    assert lookup_keys(Person(1, "···")) == ()


def test_a_chinese_name_is_found_by_given_name_pinyin_and_surname_with_title() -> None:
    keys = keys_of("梁文博")
    assert {"梁文博", "文博", "liangwenbo", "liang wenbo", "wenbo liang", "title:梁"} <= keys
    assert "title:liang" in keys


def test_surnames_are_read_as_surnames_in_pinyin() -> None:
    assert {"shan xin", "xin shan"} <= keys_of("单欣")
    assert "dan xin" not in keys_of("单欣")


def test_an_english_name_is_found_by_first_name_and_short_forms() -> None:
    keys = keys_of("Margaret Doyle")
    assert {"margaret doyle", "margaret", "doyle", "maggie", "title:doyle"} <= keys


def test_a_short_form_that_has_short_forms_of_its_own_is_a_key() -> None:
    assert "tom" in keys_of("Thomas")
    assert "thomas" in keys_of("Tom")


def test_what_follows_the_surname_in_a_title_is_not_a_given_name() -> None:
    assert "医生" not in keys_of("何医生")
    assert "title:何" in keys_of("何医生")


def test_keys_of_kin_come_from_relationship_and_aliases() -> None:
    assert "kin:aunt" in keys_of("苏梅", relationship="小姨")
    assert "kin:mother" in keys_of("苏梅", "老妈")
    assert not any(key.startswith("kin:") for key in keys_of("苏梅"))


def test_every_key_is_given_once() -> None:
    keys = [key.key for key in lookup_keys(Person(1, "小燕", ("Xiaoyan", "燕子", "小燕")))]
    assert len(keys) == len(set(keys))


@given(st.text(), st.lists(st.text(), max_size=3), st.text())
def test_any_text_can_be_a_name_or_relationship(
    name: str, aliases: list[str], relationship: str
) -> None:
    keys = [key.key for key in lookup_keys(Person(1, name, tuple(aliases), relationship))]
    assert all(keys)
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("word", "kind", "gender"),
    [
        ("我妈", "mother", "female"),
        ("老爸", "father", "male"),
        ("Mum", "mother", "female"),
        ("姥爷", "grandfather", "male"),
        ("my older sister", "sister", "female"),
        ("高中班主任", "homeroomteacher", ""),
        ("顶头上司", "boss", ""),
        ("ex-boyfriend", "boyfriend", "male"),
        ("丈母娘", "mother", "female"),
    ],
)
def test_role_words_have_their_class_and_gender(word: str, kind: str, gender: str) -> None:
    role = kinship(word)
    assert role is not None
    assert (role.kind, role.gender) == (kind, gender)


def test_words_that_are_no_roles_are_none() -> None:
    assert kinship("长颈鹿") is None
    assert kinship("") is None


def test_a_role_fits_only_what_does_not_contradict_it() -> None:
    def role(term: str):
        found = kinship(term)
        assert found is not None
        return found

    assert role("grandma").fits(role("外婆"))
    assert not role("奶奶").fits(role("外婆"))
    assert not role("my little brother").fits(role("older brother"))
    assert not role("mother").fits(role("mother-in-law"))
    assert not role("girlfriend").fits(role("ex-girlfriend"))


@pytest.mark.parametrize(
    ("text", "word", "whose"),
    [
        ("我姥姥会做豆腐", "姥姥", "own"),
        ("爸，我晚点回去", "爸", "bare"),
        ("他爸爸很凶", "爸爸", "other"),
        ("阿琳的爸爸很凶", "爸爸", "other"),
        ("每位妈妈都值得尊敬", "妈妈", "generic"),
        ("my new boss is strict", "boss", "own"),
        ("their boss is strict", "boss", "other"),
        ("a boss should listen", "boss", "generic"),
        ("the tiger mom drives", "mom", "generic"),
        ("Grandpa naps all day", "grandpa", "bare"),
        ("Nadia's uncle naps all day", "uncle", "other"),
    ],
)
def test_a_role_word_is_own_someone_elses_bare_or_generic(text: str, word: str, whose: str) -> None:
    found = [(role.text, role.whose) for role in Document(text).roles]
    assert found == [(word, whose)]


def test_someone_elses_role_word_names_its_owner() -> None:
    owners = [Document(text).roles[0].owner for text in ("他爸爸很凶", "阿琳的爸爸", "their boss")]
    assert owners == ["他", "阿琳", "their"]
