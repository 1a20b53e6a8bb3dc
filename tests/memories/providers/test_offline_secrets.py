"""Secrets are recognised beside Chinese characters as beside spaces, and sports are none."""

import pytest

from memories.providers.offline.secrets import holds_secret


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
    ],
)
def test_words_that_only_resemble_a_secret_are_kept(text):
    assert not holds_secret(text)
