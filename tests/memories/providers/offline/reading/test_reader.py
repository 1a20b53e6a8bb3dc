"""What the offline reader learns from conversations in Chinese and in English, and what it never does."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from contacts.types import Person
from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import Extraction, ExtractionRequest, Turn
from tests.memories.providers.offline.talks import NOON, contents, talk

LINES = [
    "我同事孙悦昨天搬到厦门了，她很开心。真好！",
    "My friend Nadia plays the cello. She moved to Munich last week!",
    "A: Where does Nadia live now?",
    "Munich, I think",
    "不是厦门，是昆明。",
    "我妈退休前是老师。三姨下个月来。",
    "Ben's birthday is July 12.  He hates cake...",
    "哈哈 好的",
]


def facts(found: Extraction, name: str) -> set[tuple[str, str]]:
    ref = next((p.ref for p in found.people if p.name == name), "") if name else ""
    return {(f.key, f.value) for m in found.memories for f in m.facts if f.person == ref}


def test_a_colleague_is_named_and_placed_in_chinese():
    found = talk("我同事孙悦在厦门工作，她对花生过敏。")
    (person,) = found.people
    assert (person.name, person.relationship, person.gender) == ("孙悦", "同事", "female")
    assert ("location", "厦门") in facts(found, "孙悦")
    assert all(memory.people == (person.ref,) for memory in found.memories)


def test_a_friend_is_named_and_placed_in_english():
    found = talk("My friend Nadia works at Lufthansa and lives in Munich.", language="en")
    (person,) = found.people
    assert (person.name, person.relationship) == ("Nadia", "friend")
    assert ("location", "Munich") in facts(found, "Nadia")


def test_people_are_met_whoever_types_without_capitals():
    found = talk("my mate nadia works in munich now", language="en")
    assert [(person.name, person.relationship) for person in found.people] == [("Nadia", "mate")]


def test_mother_keeps_her_kinship_when_her_name_comes_later():
    found = talk("我妈膝盖不好。", "她叫赵桂芬。")
    (person,) = found.people
    assert person.name == "赵桂芬"
    assert "妈妈" in person.aliases


def test_somebody_elses_partner_is_related_to_them_and_not_to_the_user():
    found = talk("我表妹陈佳的男朋友叫小韩，是个程序员。")
    ref = {person.ref: person.name for person in found.people}
    assert [(ref[r.subject], r.kind, ref[r.object]) for r in found.relations] == [
        ("小韩", "男朋友", "陈佳")
    ]


def test_a_name_that_only_sounds_like_a_known_one_is_somebody_elses():
    known = Person(uuid4(), "张伟", (), "同事")

    def met(line: str) -> set[UUID | None]:
        return {person.contact_id for person in talk(line, people=(known,)).people}

    assert known.id in met("昨天碰到张伟了，他现在在厦门")
    assert known.id not in met("昨天碰到张玮了，他现在在厦门")
    assert known.id not in met("张玮昨天搬到厦门了。")


def test_what_the_assistant_claims_is_not_a_memory():
    found = talk("我姐姐最近很忙。", "A: 你姐姐在广州做律师，一定很累吧。", "我也不清楚她忙什么。")
    assert "广州" not in contents(found)
    assert "律师" not in contents(found)


def test_relative_dates_are_resolved_in_brackets():
    found = talk("我同学马骏下周五来找我。")
    (memory,) = found.memories
    assert memory.content == "我同学马骏下周五（2025-06-13）来找我。"
    assert memory.happens_at == datetime(2025, 6, 13, tzinfo=UTC)


def test_taking_back_what_was_said_earlier_names_its_turn():
    found = talk("我同事老魏离职了。", "刚才是开玩笑的。", context=1)
    assert found.retracted_turn_ids == (1,)
    assert not found.memories


def test_what_a_later_turn_of_the_batch_replaces_is_told_before_it():
    found = talk("我同学孙悦住在天津。", "孙悦搬到西安了。")
    places = [f.value for m in found.memories for f in m.facts if f.key == "location"]
    assert places == ["天津", "西安"]  # so that the store marks the first one outdated


def test_what_is_said_of_somebodys_relative_is_not_said_of_them():
    found = talk("小红的男朋友叫陈浩，在一家律所上班。")
    named = {p.ref: p.name for p in found.people}
    assert set(named.values()) == {"小红", "陈浩"}
    assert "小红" not in [named[fact.person] for memory in found.memories for fact in memory.facts]


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
