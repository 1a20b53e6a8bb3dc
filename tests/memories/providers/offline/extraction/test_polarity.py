"""What is denied, wished for or over is no current attribute, in English and in Chinese."""

import pytest

from tests.memories.providers.offline.talks import talk


def known(line: str) -> set[tuple[str, str]]:
    found = talk(line, language="en" if line.isascii() else "zh")
    return {(fact.key, fact.value) for memory in found.memories for fact in memory.facts}


@pytest.mark.parametrize(
    "line",
    [
        "My friend Nadia doesn't live in Munich.",
        "My friend Nadia isn't a vegan.",
        "My friend Nadia isn't allergic to shrimp.",
        "My friend Nadia never worked at Lufthansa.",
        "My friend Nadia wants to work at Lufthansa.",
        "My friend Nadia turned down a job at Lufthansa.",
        "My friend Nadia almost married a sailor.",
        "My friend Nadia dreams of living in Lisbon.",
        "My friend Nadia is going to move to Lisbon.",
        "My friend Nadia is a former nurse.",
        "我朋友孙悦对芒果不过敏。",
        "我朋友孙悦没住在厦门。",
        "我朋友孙悦不吃素。",
        "我朋友孙悦想搬到昆明。",
        "我朋友孙悦差点结婚了。",
        "我朋友孙悦希望当律师。",
        "我朋友孙悦没养狗。",
        "我朋友孙悦以前是护士。",
        "我朋友孙悦不会说法语。",
    ],
)
def test_what_is_denied_wished_for_or_nearly_so_is_no_attribute(line):
    assert known(line) == set()


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("My friend Nadia no longer works at Lufthansa.", ("former_company", "Lufthansa")),
        ("My friend Nadia doesn't work at Lufthansa anymore.", ("former_company", "Lufthansa")),
        ("My friend Nadia quit her job at Lufthansa.", ("former_company", "Lufthansa")),
        ("My friend Nadia resigned from Lufthansa.", ("former_company", "Lufthansa")),
        ("My friend Nadia used to live in Munich.", ("former_location", "Munich")),
        ("我朋友孙悦不住厦门了。", ("former_location", "厦门")),
        ("我朋友孙悦以前住厦门。", ("former_location", "厦门")),
        ("我朋友孙悦不在网易上班了。", ("former_company", "网易")),
        ("我朋友孙悦辞了网易的工作。", ("former_company", "网易")),
        ("我朋友孙悦曾在网易工作。", ("former_company", "网易")),
    ],
)
def test_what_is_over_is_kept_as_what_was(line, fact):
    assert known(line) == {fact}


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("My friend Nadia can't believe she lives in Munich now.", ("location", "Munich")),
        ("My friend Nadia has worked at Lufthansa for years.", ("company", "Lufthansa")),
        ("My friend Nadia never smokes and works at Lufthansa.", ("company", "Lufthansa")),
        ("My friend Nadia doesn't drink because she has asthma.", ("health", "asthma")),
        ("My friend Nadia doesn't like olives.", ("dislikes", "olives")),
        ("My friend Nadia moved from Munich to Lisbon.", ("location", "Lisbon")),
        ("我朋友孙悦不久前搬到昆明。", ("location", "昆明")),
        ("我朋友孙悦不喜欢榴莲。", ("dislikes", "榴莲")),
        ("我朋友孙悦性别是女。", ("gender", "女")),
        ("我朋友孙悦不仅会弹钢琴。", ("interests", "弹钢琴")),
        ("My friend Nadia once a week plays tennis.", ("interests", "tennis")),
        ("我朋友孙悦是前端开发。", ("job_title", "前端开发")),
        ("我朋友孙悦几乎每天跑步。", ("interests", "跑步")),
        ("我朋友孙悦之前搬到昆明。", ("location", "昆明")),
    ],
)
def test_a_negation_elsewhere_in_the_sentence_denies_nothing(line, fact):
    assert fact in known(line)


@pytest.mark.parametrize("firm", ["网易", "美团", "京东", "小米", "银行"])
@pytest.mark.parametrize("verb", ["上班", "工作"])
def test_where_somebody_works_is_their_employer(firm, verb):
    assert ("company", firm) in known(f"我朋友孙悦在{firm}{verb}。")


@pytest.mark.parametrize("place", ["家", "学校", "外地", "晚上", "三楼", "国外", "努力", "周末"])
def test_a_place_a_time_or_a_manner_of_working_is_no_employer(place):
    assert not any(key == "company" for key, _ in known(f"我朋友孙悦在{place}工作。"))


def test_a_city_of_work_is_a_place():
    assert known("我朋友孙悦在厦门工作。") == {("location", "厦门")}
