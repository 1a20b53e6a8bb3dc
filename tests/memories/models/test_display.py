"""How a memory reads on a page."""

import pytest
from django.utils.translation import override

from memories.models import Memory


@pytest.mark.parametrize(
    ("content", "brackets", "shown"),
    [
        ("昨天（2026-05-04）回来了", [(2, 14)], "“昨天（2026年5月4日）回来了”"),
        ("下周（2026-04-27起的一周）出差", [(2, 19)], "“下周（2026年4月27日起的一周）出差”"),
        ("Back last week [2026-05]", [(15, 24)], "“Back last week [May 2026]”"),
        # No day of any year, and what the user wrote themself, stay as they are.
        ("It was 2026-05-04 [2026-13-40]", [(18, 30)], "“It was 2026-05-04 [2026-13-40]”"),
    ],
)
@pytest.mark.parametrize("reader", ["en", "zh-hans"])
def test_dates_in_brackets_are_in_the_language_of_the_quote(content, brackets, shown, reader):
    with override(reader):
        assert Memory(content=content, brackets=brackets).displayed_content == shown


def test_a_profile_shows_its_months_in_words():
    profile = Memory(kind=Memory.Kind.PROFILE, content="经历：\n2026-03 去了北京")
    with override("zh-hans"):
        assert profile.displayed_content == "经历：2026年3月 去了北京"
