"""Chinese text as words, with and without the names of one user."""

import tempfile
from importlib import import_module

import pytest
from jieba import posseg

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
    "text", ["赵晓楠", "乂王乄", "红小红妈的", "王李张刘陈杨赵黄周吴", "一二十〇"]
)
def test_characters_without_a_word_are_tagged_as_jieba_tags_them(text: str):
    theirs = import_module("jieba.posseg.viterbi").viterbi
    states, *tables = posseg.char_state_tab_P, posseg.start_P, posseg.trans_P, posseg.emit_P
    assert segmentation.Viterbi(*tables)(text, states) == theirs(text, states, *tables)
