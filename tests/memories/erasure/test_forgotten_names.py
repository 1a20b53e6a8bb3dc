"""Where the names of forgotten people stand in a text, and where only their letters do."""

import pytest

from contacts.edit import edit_contact
from memories.corrections.forgotten_names import Names
from memories.corrections.undo import undo_change
from memories.erasure.scrub import scrub_names
from tests.factories import make_contact, make_end_user

BRENDA = Names(["Brenda", "Bren", "sister"], ["Anna", "Brenda Smith"])
HONG = Names(["小红", "红红", "妈妈"], ["王小红"])


@pytest.mark.parametrize(
    ("names", "text", "left"),
    [
        (BRENDA, "Brenda's sister", "sister of [forgotten]"),
        (BRENDA, "sister of BRENDA", "sister of [forgotten]"),
        (BRENDA, "likes Bren's dog", "likes [forgotten]'s dog"),
        (BRENDA, "brenda@x.org, met_brenda", "[forgotten]@x.org, met_[forgotten]"),
        (BRENDA, "爱Brenda的人", "爱[已忘记]的人"),
        (BRENDA, "Brendan brings Brenda Smith", "Brendan brings Brenda Smith"),
        (HONG, "小红的姐姐", "[已忘记]的姐姐"),
        (HONG, "小紅的姐姐和红红的猫", "[已忘记]的姐姐和[已忘记]的猫"),
        (HONG, "李小红", "李[已忘记]"),
        (HONG, "王小红用小红书找小红", "王小红用小红书找[已忘记]"),
        (HONG, "妈妈", "妈妈"),
        (Names(["秦阿姨"]), "秦阿姨的外甥女", "[已忘记]的外甥女"),
        (Names(["孔老师"]), "跟孔老师学琴", "跟[已忘记]学琴"),
    ],
)
def test_names_go_and_words_that_hold_their_letters_stay(
    names: Names, text: str, left: str
) -> None:
    assert names.without(text) == left
    assert names.spans(left) == []


def test_keys_and_values_of_json_lose_names() -> None:
    value = {"desk_brenda": [{"value": "Bren"}, 3, None]}
    left = {"desk_[forgotten]": [{"value": "[forgotten]"}, 3, None]}
    assert BRENDA.cleaned_in("attributes", value) == left


def test_keys_and_ids_of_ours_stay_whatever_they_spell() -> None:
    fact = {"value": "Value", "at": "2024-05", "person": "0abe1f00-0000-4000-8000-00000000abe1"}
    cleaned = Names(["Value", "Abe", "At"], []).cleaned_in("timeline", [fact])
    assert cleaned == [{**fact, "value": "[forgotten]"}]


@pytest.mark.django_db
def test_a_change_is_taken_back_after_people_whose_names_its_columns_and_ids_spell_are_gone() -> (
    None
):
    end_user = make_end_user()
    ora = make_contact(end_user, "Ora")
    told = {"relationship": "aunt of Abe"}
    _, change = edit_contact(end_user, ora.pk, told, actor="operator:x")
    scrub_names(end_user, Names(["Abe", "name", "contact", "id", *"abcdef"], ["Ora"]))
    change.refresh_from_db()
    assert "aunt of Abe" not in str(change.rows)
    undo_change(change, actor="operator:x")
    ora.refresh_from_db()
    assert (ora.name, ora.relationship) == ("Ora", "")
