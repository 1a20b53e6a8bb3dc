"""The rules that split and trim: a piece stands alone without a guess. Invented texts."""

from uuid import uuid4

import pytest

from memories.providers.offline.refinement import refine
from memories.types import MemoryType, StoredMemory
from tests.memories.providers.openai.examples import SAID_AT


def refined(content):
    memory = StoredMemory(uuid4(), content, MemoryType.PERSONAL, SAID_AT)
    return refine([memory]).get(memory.id)


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        (
            "Nora works at Brightwater as a nurse. She lives in Ghent with two cats.",
            ["Nora works at Brightwater as a nurse.", "Nora lives in Ghent with two cats."],
        ),
        (  # who found the flat is not said
            "The user moved in 2021, and Nora helped with the boxes, and she found the flat.",
            ["The user moved in 2021.", "Nora helped with the boxes, and she found the flat."],
        ),
        (  # "this" leans on what was said before
            "小红在医院做夜班护士。她的妹妹在北京读研究生。这让她很骄傲。",
            ["小红在医院做夜班护士。", "小红的妹妹在北京读研究生。这让她很骄傲。"],
        ),
        (
            "用户打算五月去京都旅行，预订了三晚民宿。另外，用户对花生过敏。",
            ["用户打算五月去京都旅行，预订了三晚民宿。", "用户对花生过敏。"],
        ),
    ],
)
def test_sentences_that_stand_alone_become_pieces(content, pieces):
    assert list(refined(content).pieces) == pieces


@pytest.mark.parametrize(
    "content",
    [
        "Nora works at Brightwater as a nurse on the night shift with Ivan.",
        "Nora met Ada at the station. She was late, and this annoyed everyone.",
        "Nora sings. Yes.",
        "小红在医院做夜班护士，已经三年了",
        "",
    ],
)
def test_what_is_about_one_matter_or_would_take_a_guess_stays(content):
    assert refined(content) is None


def test_words_that_say_nothing_go():
    wordy = "Basically, to be honest, Nora, as I said before, likes hiking around Ghent."
    assert refined(wordy).trimmed == "Nora likes hiking around Ghent."
    assert refined("其实小红怎么说呢，特别喜欢爬山").trimmed == "小红特别喜欢爬山"


def test_what_is_said_twice_is_said_once():
    assert refined("Nora likes hiking. nora likes hiking.").trimmed == "Nora likes hiking."
