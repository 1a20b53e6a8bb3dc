"""Whether two records are one person, and why. All people here are invented."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.reasons import TEMPLATES, Reason
from understanding.same_person import features, name_similarity, name_types, text_overlap
from understanding.same_person.name_similarity import two_scripts
from understanding.same_person.pair_scoring import Comparison, among_rivals, compare
from understanding.same_person.pair_scoring import codes as all_codes
from understanding.same_person.records import MAX_FACT, MAX_FACTS, Record, record
from understanding.types import Person

SUGGESTED = {"certain", "likely"}


def who(name: str, relationship: str = "", *facts: str, **known: object) -> Record:
    return Record(name=name, relationship=relationship, facts=facts, **known)  # type: ignore[arg-type]


def codes(found: Comparison, *, against: bool = False) -> set[str]:
    return {e.sign.code for e in found.evidence if (e.weight < 0) is against}


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        ("Renée", "renee", "same_name"),
        ("謝麗", "谢 丽", "same_name"),
        ("谢丽", "Xie Li", "pinyin"),
        ("Li Xie", "谢丽", "pinyin"),
        ("谢晓丽", "晓丽", "part_of_name"),
        ("Nora Lindqvist", "Lindqvist", "part_of_name"),
        ("阿丽", "丽丽", "nickname"),
        ("谢晓丽", "小丽", "nickname"),
        ("谢晓丽", "老谢", "titled_name"),
        ("Margaret", "Peggy", "diminutive"),
        ("谢晓丽", "谢律师", "titled_name"),
        ("谢律师", "谢姐", "other_title"),
        ("谢老师", "谢教授", "titled_name"),
        ("Mrs. Lindqvist", "Nora Lindqvist", "titled_name"),
        ("Aunt Nora", "Nora Lindqvist", "part_of_name"),
        ("Stefan", "Stephen", "spelling"),
        ("谢丽", "谢莉", "homophone"),
        ("外婆", "姥姥", "same_role_word"),
        ("外婆", "奶奶", "both_unnamed"),
        ("大姨", "三姨", "both_unnamed"),
        ("房东", "谢丽", "unnamed"),
        ("the lodger", "Nora", "unnamed"),
        ("谢丽", "谢丽的爸爸", "relative_of"),
        ("Nora", "Nora's husband", "relative_of"),
        ("谢丽", "谢芳", "shared_surname"),
        ("谢丽", "苏丽", "shared_given"),
        ("谢丽", "苏梅", "other_full_name"),
        ("Anna Kerr", "Anna Blake", "shared_given"),
        ("Spoorthi Hegde", "Spoo", "short_form"),
        ("VS", "Vikram Shetty", "short_form"),
        ("林浩", "浩子", "nickname"),
        ("肥May", "May", "same_name"),
        ("韩东升", "冬升", "homophone"),
        ("Nora", "Nadine", "different_name"),
        ("Torvald", "Ysolde", "different_name"),
        ("Nora", "Moose", "other_name"),
        ("小丽", "小梅", "different_name"),
        ("大宝", "小宝", "different_name"),
        ("谢总", "苏老师", "different_name"),
        ("谢总", "苏梅", "different_name"),
    ],
)
def test_two_names_relate_the_same_way_whichever_comes_first(
    first: str, second: str, how: str
) -> None:
    assert name_similarity.relate((first,), (second,)).how == how
    assert name_similarity.relate((second,), (first,)).how == how


def test_an_alias_counts_as_a_name() -> None:
    assert name_similarity.relate(("Nora", "小丽"), ("谢丽",)).how == "nickname"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("谢丽", "full"), ("小丽", "byname"), ("石头", "byname"), ("谢总", "titled"), ("我妈", "role"),
     ("the plumber from work", "role"), ("Nora", "full"), ("nora_77", "handle"), ("老三", "role")],
)  # fmt: skip
def test_what_sort_of_name_it_is(name: str, kind: str) -> None:
    assert name_types.kind_of(name) == kind


def test_a_nickname_with_the_same_life_is_one_person() -> None:
    found = compare(
        who("谢晓丽", "同事", "在采购部，养了一只鹦鹉"),
        who("小丽", "同事", "采购部的，家里有只鹦鹉会说话"),
    )
    assert found.verdict == "certain"
    assert {"nickname", "bond_same", "words"} <= codes(found)


def test_two_languages_agree_on_a_number() -> None:
    found = compare(
        who("Xie Li", "coworker", "badge 7731, sits in room 1204"),
        who("谢丽", "同事", "工号7731，在1204办公"),
    )
    assert found.verdict in SUGGESTED
    assert "words" in codes(found)


def test_one_name_and_two_lives_are_two_people() -> None:
    found = compare(
        who("谢丽", "同事", "三十五岁，在采购部"), who("谢丽", "外甥女", "在读小学三年级")
    )
    assert found.verdict == "none"
    assert "bond_opposed" in codes(found, against=True)


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [(("男，退伍军人",), ("女，做会计",), "gender"), (("今年18岁",), ("63岁，天天钓鱼",), "age")],
)
def test_what_one_person_cannot_be_speaks_against(
    first: tuple[str, ...], second: tuple[str, ...], code: str
) -> None:
    same = compare(who("Kim", "同事", *first), who("Kim", "同事", *first))
    found = compare(who("Kim", "同事", *first), who("Kim", "同事", *second))
    assert code in codes(found, against=True)
    assert found.verdict not in SUGGESTED
    assert code not in codes(same, against=True)


def test_someone_elses_age_is_not_the_persons_own() -> None:
    assert not features.ages(who("谢丽", "同事", "妈妈今年七十岁"))
    assert not features.ages(who("谢丽", "同事", "女儿8岁了"))


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("外号闪电，真名叫谢丽", "谢丽"),
        ("大家都叫她丽姐，本名谢丽", "谢丽"),
        ("闪电（谢丽）在采购部", "谢丽"),
        ("闪电就是谢丽", "谢丽"),
        ("闪电真名叫谢丽在采购部上班", "谢丽"),
        ("同事闪电的本名是谢丽", "谢丽"),
        ("everyone calls him Nora", "Nora"),
        ("闪电's real name is Nora", "Nora"),
        ("her real name is Nora Lindqvist", "Nora Lindqvist"),
        ("goes by Nora at work", "Nora"),
    ],
)
def test_a_stated_name_makes_one_person_of_two_unlike_names(fact: str, name: str) -> None:
    found = compare(who("闪电", "同事", fact), who(name, "同事", "在采购部"))
    assert "stated_name" in codes(found)
    assert found.verdict == "certain"
    assert found.statement == fact


@pytest.mark.parametrize(
    "fact",
    [
        "苏梅的真名叫谢丽",
        "同事的真名叫谢丽",
        "闪电以为自己真名叫谢丽",
        "真名不叫谢丽",
        "谢丽，闪电的姐姐",
        "his boss goes by 谢丽",
        "她老公叫谢丽",
        "养了只猫叫谢丽",
        "和谢丽一起去了趟云南",
        "谢丽手下的采购",
        "不是采购部那个谢丽",
    ],
)
def test_a_name_said_of_someone_else_states_nothing(fact: str) -> None:
    found = compare(who("闪电", "同事", fact), who("谢丽", "同事", "在采购部"))
    assert "stated_name" not in codes(found)
    assert found.verdict not in SUGGESTED
    assert not found.statement


def test_a_name_right_behind_the_role_says_who_it_is() -> None:
    boss = who("我老板", "老板", "我老板谢军下周出差")
    found = compare(boss, who("谢军", "老板", "谢军常出差"))
    assert "stated_name" in codes(found)


def test_a_statement_that_something_contradicts_is_not_certain() -> None:
    found = compare(
        who("闪电", "同事", "真名叫谢丽", "男，单身"), who("谢丽", "同事", "女，已婚，孩子三岁")
    )
    assert "stated_name" in codes(found)
    assert not found.statement


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (who("谢丽", "同事", "和研发的谢丽不是一个人"), who("谢丽", "同事", "在研发")),
        (who("Nora", "friend", "not the Nora from yoga"), who("Nora", "friend", "does yoga")),
        (who("谢丽", "朋友", "跟苏梅一起学陶艺"), who("苏梅", "朋友", "跟谢丽一起学陶艺")),
        (who("妈", "母亲", "住老家"), who("婆婆", "婆婆", "住老家")),
        (who("前男友", "前男友", "做摄影"), who("谢军", "男朋友", "做摄影")),
        (who("妮妮", "宠物", "一只布偶"), who("妮妮", "同学", "学法语")),
        (who("Nora", "friend", "has two cats"), who("Nora's mum", "friend's mother", "has two cats")),
    ],
)  # fmt: skip
def test_people_set_apart_are_never_suggested(first: Record, second: Record) -> None:
    assert compare(first, second).verdict not in SUGGESTED


def test_people_shown_side_by_side_are_held_apart() -> None:
    pair = who("小丽", "朋友", "做陶艺"), who("丽丽", "朋友", "做陶艺的")
    assert compare(*pair).verdict in SUGGESTED
    assert compare(*pair, together=True).verdict not in SUGGESTED


def test_shared_habits_do_not_make_one_of_two_full_names() -> None:
    facts = "素食，攀岩，住在河边，会吹萨克斯"
    assert compare(who("谢丽", "同事", facts), who("苏梅", "同事", facts)).verdict == "none"


def test_records_that_say_nothing_are_never_certain() -> None:
    assert compare(who("小丽", "朋友"), who("丽丽", "朋友")).verdict != "certain"


def test_the_only_one_of_a_role_is_whoever_bears_the_name() -> None:
    found = compare(who("房东", "房东", "养了条金毛"), who("苏梅", "房东", "遛金毛，收租准时"))
    assert found.verdict in SUGGESTED
    assert "bond_alone" in codes(found)


def test_lasting_attributes_that_differ_speak_against() -> None:
    one = who("小丽", "朋友", attributes={"hometown": ("厦门",), "birthday": ("3月4日",)})
    other = who("丽丽", "朋友", attributes={"birthday": ("9月9日",)})
    assert "attribute_other" in codes(compare(one, other), against=True)


def test_plainly_different_names_are_not_suggested_however_much_else_is_shared() -> None:
    facts = ("my friend from the choir, plays chess, lives by the harbour",)
    one = who("Torvald", "friend from the choir", *facts)
    assert compare(one, who("Ysolde", "friend from the choir", *facts)).verdict == "none"
    assert compare(one, who("the tenor", "friend from the choir", *facts)).verdict in SUGGESTED
    named = who("Torvald", "friend", "her real name is Ysolde", *facts)
    assert compare(named, who("Ysolde", "friend", *facts)).verdict == "certain"


def test_a_shared_role_counts_once() -> None:
    said = "my friend from the choir"
    found = compare(who("Nora", said, said), who("Nora Lindqvist", said, said))
    assert codes(found) == {"part_of_name", "bond_same"}


def test_names_of_one_sound_are_two_people_unless_something_says_otherwise() -> None:
    one = who("谢丽", "同事", "在采购部，养了一只鹦鹉")
    alike = who("谢莉", "同事", "采购部的，家里有只鹦鹉会说话")
    stated = who("谢莉", "同事", "谢莉也叫谢丽", "采购部的，家里有只鹦鹉会说话")
    assert compare(who("谢丽", "同事"), who("谢莉", "同事")).verdict == "none"
    assert compare(one, alike).verdict == "likely"
    assert compare(one, stated).verdict == "certain"


def test_a_city_that_differs_speaks_less_against_than_a_birthday() -> None:
    def pair(key: str, *values: str) -> Comparison:
        sides = (who("Nora", "friend", attributes={key: (value,)}) for value in values)
        return compare(*sides)

    alike, other_city = (pair("location", "Oslo", city) for city in ("Oslo", "Bergen"))
    other_birthday = pair("birthday", "May 3", "June 4")
    assert other_birthday.score < other_city.score < alike.score
    assert "attribute_other" not in codes(pair("location", "Oslo", "奥斯陆"), against=True)


def test_a_word_that_everyone_shares_counts_for_nothing() -> None:
    pair = who("小丽", "朋友", "住在厦门"), who("丽丽", "朋友", "厦门人")
    people = [*pair, *(who(f"友{n}", "朋友", "厦门") for n in range(9))]
    rarity = text_overlap.rarity_of([person.words for person in people])
    assert "words" in codes(compare(*pair))
    assert "words" not in codes(compare(*pair, rarity=rarity))


def test_many_who_fit_make_each_less_likely_but_not_a_stated_one() -> None:
    guess = compare(who("小丽", "朋友", "做陶艺"), who("谢晓丽", "朋友", "做陶艺的"))
    stated = compare(who("小丽", "朋友", "本名谢晓丽"), who("谢晓丽", "朋友", "做陶艺的"))
    assert among_rivals(guess, 4).score < among_rivals(guess, 1).score < guess.score
    assert among_rivals(stated, 4) == stated


def test_what_a_person_says_with_their_numbers_is_read_alike() -> None:
    assert text_overlap.plain("三百八 三月十二日 二〇二一年 八千") == "380 3月12日 2021年 8000"
    assert set(text_overlap.read(["March 12th"])) == set(text_overlap.read(["3月12号"]))


def test_years_and_counts_are_named_only_where_nothing_else_is_shared() -> None:
    first, second = (
        text_overlap.read(["2026年5月去大理一周"]),
        text_overlap.read(["2026年5月在大理待一周"]),
    )
    assert text_overlap.shared(first, second, {}).words[0] == "大理"
    assert not {"2026", "5", "1"} & set(text_overlap.shared(first, second, {}).words)
    year = text_overlap.read(["2026年"])
    assert text_overlap.shared(year, year, {}).words == ("2026",)


def test_a_record_reads_a_bounded_number_of_bounded_texts() -> None:
    person = Person(id=None, name="谢丽")  # type: ignore[arg-type]
    long = record(person, {"pet": [{"value": "鹦鹉"}]}, ["长" * 5000] * 100)
    assert len(long.facts) == MAX_FACTS
    assert {len(fact) for fact in long.facts} == {MAX_FACT}
    assert long.attributes == {"pet": ("鹦鹉",)}


def test_every_sign_has_a_weight_and_words_and_can_be_stored() -> None:
    assert all_codes() <= TEMPLATES.keys()
    found = compare(who("闪电", "同事", "真名叫谢丽，32岁"), who("谢丽", "同事", "退休了"))
    for evidence in found.evidence:
        kept = json.loads(json.dumps(evidence.as_json))
        assert "{" not in str(Reason(kept["code"], **kept["params"]))
        assert kept["code"] in all_codes()


NAMES = ["谢丽", "小丽", "丽丽", "谢总", "Nora", "Nora Lindqvist", "Xie Li", "我妈", "nora_7", "丽", "?", "·"]  # fmt: skip
TEXTS = ["", "女，32岁", "真名叫谢丽", "her name is Nora", "和谢丽不是一个人", "since 2020", "𠮷野家，三百八"]  # fmt: skip
RECORDS = st.builds(
    who,
    st.sampled_from(NAMES),
    st.sampled_from(["", "同事", "friend", "母亲", "前男友", "阿竹的姐夫", "???"]),
    st.sampled_from(TEXTS) | st.text(max_size=40),
)


@given(RECORDS, RECORDS)
def test_a_comparison_is_the_same_both_ways_round(first: Record, second: Record) -> None:
    one, other = compare(first, second), compare(second, first)
    assert one.score == pytest.approx(other.score)
    assert one.verdict == other.verdict
    assert 0 <= one.score <= 1


def test_every_pair_of_names_relates_symmetrically() -> None:
    for a, b in product(NAMES, NAMES):
        assert name_similarity.relate((a,), (b,)).how == name_similarity.relate((b,), (a,)).how, (
            a,
            b,
        )


@pytest.mark.parametrize(
    ("chinese", "latin", "alike"),
    [("红红", "anna", False), ("丽丽", "leo", False), ("凯文", "kevin", True)],
)
def test_names_in_two_scripts_sound_alike_by_more_than_one_consonant(
    chinese: str, latin: str, alike: bool
) -> None:
    assert (two_scripts(chinese, latin) in ("transliteration", "pinyin")) is alike
