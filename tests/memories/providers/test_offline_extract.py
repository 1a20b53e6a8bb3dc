"""What the offline provider learns from conversations, in Chinese and in English."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contacts.types import Person
from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import Extraction, ExtractionRequest, MemoryType, Subtype, Turn
from tests.memories.providers.talks import NOON, contents, talk


def names(found: Extraction) -> set[str]:
    return {person.name for person in found.people}


def facts(found: Extraction, name: str) -> set[tuple[str, str]]:
    ref = next((p.ref for p in found.people if p.name == name), "") if name else ""
    return {(f.key, f.value) for m in found.memories for f in m.facts if f.person == ref}


def test_a_colleague_is_named_placed_and_employed_in_chinese():
    found = talk("我同事孙悦在厦门工作，她对花生过敏。")
    (person,) = found.people
    assert (person.name, person.relationship, person.gender) == ("孙悦", "同事", "female")
    assert ("location", "厦门") in facts(found, "孙悦")
    assert ("allergy", "花生") in facts(found, "孙悦")
    assert all(memory.subtype is Subtype.COLLEAGUE for memory in found.memories)


def test_a_friend_is_named_placed_and_employed_in_english():
    found = talk("My friend Nadia works at Lufthansa and lives in Munich.", language="en")
    (person,) = found.people
    assert (person.name, person.relationship) == ("Nadia", "friend")
    assert {("company", "Lufthansa"), ("location", "Munich")} <= facts(found, "Nadia")


def test_moving_to_a_city_is_no_change_of_employer():
    found = talk("My colleague Nadia moved to Lisbon last year.", language="en")
    assert facts(found, "Nadia") == {("location", "Lisbon")}


def test_a_chinese_message_may_name_its_people_in_latin_letters():
    found = talk("我同事 Oscar 昨天转岗去了测试组，他是巴西人。")
    assert names(found) == {"Oscar"}


def test_mother_keeps_her_kinship_when_her_name_comes_later():
    found = talk("我妈膝盖不好。", "她叫赵桂芬。")
    (person,) = found.people
    assert person.name == "赵桂芬"
    assert "妈妈" in person.aliases
    assert person.relationship == "母亲"


def test_everyone_calls_him_adds_an_alias():
    found = talk("My boss's name is Leonard Hayes, everyone calls him Leo.", language="en")
    (person,) = found.people
    assert person.name == "Leonard Hayes"
    assert "Leo" in person.aliases


def test_somebody_elses_partner_is_related_to_them_and_not_to_the_user():
    found = talk("我表妹陈佳的男朋友叫小韩，是个程序员。")
    relation = found.relations[0]
    ref = {person.ref: person.name for person in found.people}
    assert (ref[relation.subject], relation.kind, ref[relation.object]) == (
        "小韩",
        "男朋友",
        "陈佳",
    )
    assert ("job_title", "程序员") in facts(found, "小韩")


def test_the_unnamed_child_of_a_friend_is_a_fact_of_the_friend():
    found = talk("我邻居吴姐的儿子发烧了。")
    assert names(found) == {"吴姐"}
    assert any("儿子" in memory.content for memory in found.memories)


def test_an_answer_takes_its_subject_from_the_question():
    found = talk("我舅舅要来看我。", "A: 你舅舅住哪儿？", "贵阳，他在那边开餐馆。")
    assert "贵阳" in contents(found)
    assert all(memory.people for memory in found.memories)


def test_yes_makes_the_assistants_question_the_users_statement():
    found = talk("Rita 今天请大家喝了奶茶。", "A: 她是你的组长？", "对，人特别大方。")
    (person,) = found.people
    assert person.relationship == "组长"


def test_what_the_assistant_claims_is_not_a_memory():
    found = talk("我姐姐最近很忙。", "A: 你姐姐在广州做律师，一定很累吧。", "我也不清楚她忙什么。")
    assert "广州" not in contents(found)
    assert "律师" not in contents(found)


def test_relative_dates_are_written_out():
    found = talk("我同学马骏下周五来找我。")
    (memory,) = found.memories
    assert "2025-06-13" in memory.content
    assert memory.type is MemoryType.PLAN
    assert memory.happens_at == datetime(2025, 6, 13, tzinfo=UTC)
    assert memory.expires_at == datetime(2025, 6, 14, tzinfo=UTC)


def test_the_user_is_spoken_of_in_the_third_person():
    assert "用户对芒果过敏" in contents(talk("我对芒果过敏。"))
    assert contents(talk("I work as a nurse.", language="en")) == "The user works as a nurse"


def test_a_quote_is_the_exact_words_of_its_turn():
    line = "顺便说一下，我爸痛风，不能喝啤酒。"
    (memory, *_) = talk(line).memories
    assert memory.quote in line
    assert memory.turn_ids == (1,)


def test_a_known_contact_is_referred_to_by_id():
    contact = Person(uuid4(), "孙悦", ("小悦",), "同事", "female")
    found = talk("小悦下个月要去拉萨。", people=(contact,))
    (person,) = found.people
    assert person.contact_id == contact.id
    assert found.memories[0].people == (person.ref,)


def test_a_correction_leaves_only_the_right_value():
    found = talk("我哥生日是3月5号。", "啊不对，是3月6号。")
    assert ("birthday", "3月6日") in facts(found, "哥哥")
    assert ("birthday", "3月5日") not in facts(found, "哥哥")
    found = talk(
        "My brother Paul got an offer from Siemens.", "Wait, no. Not Siemens, Bosch.", language="en"
    )
    assert "Siemens" not in contents(found)
    assert "Bosch" in contents(found)


def test_taking_back_what_was_said_earlier_names_its_turn():
    found = talk("我同事老魏离职了。", "刚才是开玩笑的。", context=1)
    assert found.retracted_turn_ids == (1,)
    assert not found.memories


def test_a_value_replaced_within_the_batch_is_not_current():
    found = talk("我同学高远在天津上班。", "高远搬到西安了。")
    assert "天津" not in contents(found)
    assert ("location", "西安") in facts(found, "高远")


def test_children_born_are_no_longer_expected():
    found = talk("我表姐怀孕六个月了。", "表姐生了！是个男孩。", "小名叫果果。")
    assert "怀孕" not in contents(found)
    assert "果果" in names(found)


def test_an_empty_request_yields_nothing():
    found = OfflineProvider().extract(ExtractionRequest(())).value
    assert found == Extraction()


def test_usage_counts_what_was_read_and_written():
    reply = OfflineProvider().extract(
        ExtractionRequest((Turn(1, "user", "我妈住在扬州。", NOON),), language="zh")
    )
    assert reply.usage.tokens_in == 7
    assert reply.usage.tokens_out > 0
    assert reply.usage.latency_ms >= 0


def test_the_same_request_gives_the_same_answer():
    lines = ("我室友叫秦雨，她是药剂师。", "她下周三去长沙。")
    assert talk(*lines) == talk(*lines)


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
