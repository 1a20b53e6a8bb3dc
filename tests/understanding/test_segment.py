"""Chinese text as words, with and without the names of one user."""

import tempfile
import time

import pytest

from understanding import segmentation


@pytest.fixture
def fresh_tagger():
    caches = (segmentation._tagger, segmentation.tagged)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_a_users_name_is_a_word_for_them_alone():
    assert [word.text for word in segmentation.cut("我和果冻去吃饭", {"果冻去": 9e9})][
        2
    ] == "果冻去"
    assert "果冻" in [word.text for word in segmentation.cut("我和果冻去吃饭")]


def test_the_tagger_also_finds_names_that_no_dictionary_has():
    assert ("赵晓楠", "nr") in segmentation.tagged("我和赵晓楠去吃饭")
    assert segmentation.frequency("赵晓楠") == 0


def test_the_tagger_leaves_no_file_in_the_shared_folder(fresh_tagger, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ("上海", "ns") in segmentation.tagged("她在上海")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["王玥喆说她不来", "龘靐齉爩", "㐂 和 𠮶人, ok?", "王李张刘陈杨赵黄周吴"]
)
def test_no_character_is_lost_or_changed_by_tagging(text: str):
    assert "".join(word for word, _ in segmentation.tagged(text)) == text


def test_characters_that_the_tables_lack_are_read_as_those_of_names():
    assert segmentation.tagged("王玥喆说她不来")[0] == ("王玥喆", "nr")


def test_characters_that_the_tables_lack_take_no_longer_than_others():
    def seconds(text: str) -> float:
        start = time.perf_counter()
        segmentation.tagged(text)
        return time.perf_counter() - start

    segmentation.tagged("她在上海")  # loads the tables
    # Read by jieba itself, each of them takes as long as a hundred others.
    assert seconds("龘靐齉爩" * 100) < 20 * max(seconds("赵晓楠李" * 100), 0.001)
