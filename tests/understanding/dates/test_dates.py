"""Relative dates against the moment they were said (a Wednesday)."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.dates.relative_dates import find_dates

SAID = datetime(2025, 6, 4, 9, 30, tzinfo=UTC)


def _written(text: str, said_at: datetime, chinese: bool) -> str:
    """The text with each date as it is written for certain."""
    for hit in reversed(find_dates(text, said_at, chinese)):
        text = text[: hit.start] + hit.text + text[hit.end :]
    return text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("明天去体检", "2025-06-05去体检"),
        ("大前天刚到", "2025-06-01刚到"),
        ("下周三开会", "2025-06-11开会"),
        ("下下周五出发", "2025-06-20出发"),
        ("这周日聚餐", "2025-06-08聚餐"),
        ("下周要盘货", "2025-06-09起的一周要盘货"),
        ("下个月5号考试", "2025-07-05考试"),
        ("上个月搬了家", "2025年5月搬了家"),
        ("去年毕业", "2024年毕业"),
        ("三个月后复查", "2025年9月复查"),
        ("两年前认识的", "2023年认识的"),
        ("明天下午三点半见", "2025-06-05 15:30见"),
        ("后天上午十点", "2025-06-06 10:00"),
        ("6月20到23号出差", "2025-06-20至2025-06-23出差"),
        ("明年3月8号领证", "2026-03-08领证"),
        ("28号到期", "2025-06-28到期"),
        ("生日是9月9号", "生日是9月9日"),
        ("每周二开例会", "每周二开例会"),
        ("周五见", "2025-06-06见"),
        ("我们十月搬过来的", "我们2024年10月搬过来的"),
        ("她九月摔断了腿", "她2024年9月摔断了腿"),
        ("我九月就要退休了", "我2025年9月就要退休了"),
        ("下个月，九月份开课", "2025年9月开课"),
        ("周末去爬山", "2025-06-07的周末去爬山"),
    ],
)
def test_chinese_dates_are_written_out(text: str, written: str):
    assert _written(text, SAID, chinese=True) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("she left yesterday", "she left 2025-06-03"),
        ("the exam is tomorrow at 3pm", "the exam is 2025-06-05 15:00"),
        ("see you next Friday", "see you 2025-06-13"),
        ("we row on saturday the 14th", "we row on 2025-06-14"),
        ("it is on the 22nd", "it is on 2025-06-22"),
        ("moved there last month", "moved there in May 2025"),
        ("he starts July 1", "he starts 2025-07-01"),
        ("the wedding is in October", "the wedding is in October 2025"),
        ("back in two weeks", "back around 2025-06-18"),
        ("met him three years ago", "met him in 2022"),
        ("he's a baker and moved here in October", "he's a baker and moved here in October 2024"),
        ("she told me it starts in October", "she told me it starts in October 2025"),
        ("the hall is booked for October", "the hall is booked for October 2025"),
        ("gave me a plant last spring", "gave me a plant in spring 2025"),
        ("I broke my ankle in October", "I broke my ankle in October 2024"),
        ("Mum's surgery was in October", "Mum's surgery was in October 2024"),
        ("the course is held in October", "the course is held in October 2025"),
        ("I have sung there since October", "I have sung there since October 2024"),
        ("the course starts next month, in October", "the course starts in October 2025"),
        ("her birthday is May 4", "her birthday is May 4"),
        ("gym every Monday", "gym every Monday"),
        ("they may come", "they may come"),
    ],
)
def test_english_dates_are_written_out(text: str, written: str):
    assert _written(text, SAID, chinese=False) == written


def test_a_month_without_a_year_is_the_next_one_to_come():
    assert _written("2月去滑雪", SAID, chinese=True) == "2026年2月去滑雪"
    assert _written("十月生孩子", SAID, chinese=True) == "2025年10月生孩子"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("our Ailbhe starts school in April", "our Ailbhe starts school in April 2026"),
        ("I'll sell the van on 3 May", "I'll sell the van on 2026-05-03"),
        ("the kids are in Cork in April", "the kids are in Cork in April 2025"),
        ("the roof is due in May", "the roof is due in May 2026"),
        ("他四月要去读研", "他2026年4月要去读研"),
        ("他四月会很忙", "他2025年4月会很忙"),
    ],
)
def test_a_month_just_gone_is_meant_for_the_next_year_if_the_verb_is_of_what_is_to_come(
    text: str, written: str
):
    said_at = datetime(2025, 6, 10, 9, 30, tzinfo=UTC)
    assert _written(text, said_at, chinese="他" in text) == written


def test_a_date_carries_the_time_it_means():
    (hit,) = find_dates("下周三上午九点盘货", SAID, chinese=True)
    assert hit.at == datetime(2025, 6, 11, 9, tzinfo=UTC)
    (hit,) = find_dates("下个月结婚", SAID, chinese=True)
    assert (hit.at, hit.until) == (
        datetime(2025, 7, 1, tzinfo=UTC),
        datetime(2025, 8, 1, tzinfo=UTC),
    )


@given(st.text(max_size=60), st.booleans())
def test_dates_never_overlap_and_stay_inside_the_text(text: str, chinese: bool):
    hits = find_dates(text, SAID, chinese)
    assert all(0 <= hit.start < hit.end <= len(text) for hit in hits)
    assert all(left.end <= right.start for left, right in pairwise(hits))


NUMBERS = st.one_of(
    st.integers(0, 10**30).map(str),
    st.sampled_from(
        ["３０００", "九千九百九十九", "三百万", "十十", "〇〇〇〇", "٣", "a couple of", "ſix"]
    ),
)
UNITS = st.sampled_from(
    "年前 年后 个月前 周后 天前 年 月 月底 日 号 点半 -12-31 /1/1 月31日到32日 weeks|ago years|ago months|from|now th|of|May"
    " in|Auguſt laſt|week next|May May|31,|9999".split()
).map(lambda unit: unit.replace("|", " "))


@pytest.mark.parametrize(
    "text",
    [
        "今天在博物馆看到了3000年前的青铜器",
        "证书有效期到9999年12月31日",
        "0000-00-00",
        "5000000 weeks ago",
        "in 99 years",
        "9999-12-31 23点",
        "0001年1月1日",
        "一一一一一一一一一天后",
        "12月" + "9" * 600 + "日",
        "laſt week, 3 dayſ ago, next monday 25点",
    ],
)
@pytest.mark.parametrize("said_at", [SAID, SAID.replace(year=1970), SAID.replace(year=2999)])
def test_what_no_calendar_holds_is_no_date(text: str, said_at: datetime):
    for chinese in (True, False):
        assert all(
            1000 <= moment.year < 3000
            for hit in find_dates(text, said_at, chinese)
            for moment in (hit.at, hit.until)
            if moment
        )


@pytest.mark.parametrize("day", [1, 13, 21, 30])
@pytest.mark.parametrize(
    "text",
    ["3000年前的青铜器", "有效期到9999年12月31日", "2026年2月30日见", "2026年13月5日", "0000-12-31",
     "valid until December 31, 9999", "on 31 December 0000", "9999-12-31 23:00"],
)  # fmt: skip
def test_what_no_calendar_holds_is_left_as_it_was_said_in_all_its_parts(text: str, day: int):
    said_at = SAID.replace(month=11, day=day)
    for chinese in (True, False):
        assert _written(text, said_at, chinese) == text


@given(st.lists(st.one_of(NUMBERS, UNITS, st.text(max_size=3)), max_size=8), st.booleans())
def test_no_number_of_any_unit_is_too_much(parts: list[str], chinese: bool):
    _written("".join(parts), SAID, chinese)
    _written(" ".join(parts), SAID, chinese)


def test_a_day_of_the_lunar_calendar_is_none_of_the_solar_one() -> None:
    said = datetime(2026, 1, 4, 12, tzinfo=UTC)
    found = find_dates("我们农历二月十二出发，也就是三月三十号", said, True)
    assert [hit.at and hit.at.date().isoformat() for hit in found] == ["2026-03-30"]
