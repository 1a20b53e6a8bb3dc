"""Secrets are recognised beside Chinese characters as beside spaces, and sports are none."""

import pytest

from memories.text.secrets import holds_secret


@pytest.mark.parametrize(
    "text",
    [
        "我的API key是sk-q8w7e6r5t4y3u2",
        "新密钥ghp_q8w7e6r5t4y3给你",
        "my key is sk-q8w7e6r5t4y3u2",
        "我的pin是9075",
        "他的pwd是tiger77",
        "保险柜密码左4右9左2",
        "门禁密码四七一九",
        "她换号了，13812345678",
        "Reach Ana on 123-456-7890",
        "Reach Ana on 212-555-0142",
        "打他办公室 010-6552 9988",
        "Her London line: +44 20 7946 0958",
        "用这张付款 3782 822463 10005",
        "转到 DE89 3704 0044 0532 0130 00",
        "the safe combination is 31-07-22",
    ],
)
def test_a_secret_is_seen_in_any_script(text):
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nadia loves skateboarding",
        "小兰在API组工作",
        "密码学很难",
        "I spin wool on Sundays",
        "他住左边第3间",
        "2024-03-13 18:30 到 2024-03-14 19:30 在上海",
        "快递单 3782 822463 10006",
        "The model GB29 NWBK 6016 1331 9268 20 failed",
    ],
)
def test_words_that_only_resemble_a_secret_are_kept(text):
    assert not holds_secret(text)
