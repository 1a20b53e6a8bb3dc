"""Damaged files: every importer reads them or says why not, and what was read is read once."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contacts.models import Contact
from imports import dumps
from imports.people_intake import take_in
from imports.types import NotReadable
from memories.corrections.undo import undo_change
from memories.models import Memory
from tests.factories import make_end_user
from tools.fuzz_imports import SEEDS, attempt, damaged, written

PEOPLE = ("vcard", "google csv", "mem0", "memory graph")


@pytest.mark.parametrize("name", SEEDS)
def test_a_whole_file_is_read_as_what_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    path.write_text(SEEDS[name], encoding="utf-8", newline="")
    tried = attempt(path)
    assert tried.outcome == "read"
    assert tried.format.replace("-", " ") == name.removesuffix(" iphone").removesuffix(" csv") or (
        tried.format == "google-csv"
    )


@given(name=st.sampled_from([*SEEDS]), number=st.integers(0, 10**9))
def test_a_damaged_file_is_read_or_refused_with_words(
    tmp_path_factory: pytest.TempPathFactory, name: str, number: int
) -> None:
    draw = random.Random(number)
    path = written(tmp_path_factory.getbasetemp(), damaged(SEEDS[name], draw), draw)
    tried = attempt(path, draw.choice((None, "", "ben", "Anna")))
    assert tried.outcome in ("read", "refused"), tried.problem


@pytest.mark.django_db
def test_what_damaged_files_hold_is_taken_in_once_and_taken_back(tmp_path: Path) -> None:
    user, changed = make_end_user(), 0
    for number in range(100):
        draw = random.Random(number)
        path = written(tmp_path, damaged(SEEDS[PEOPLE[number % 4]], draw), draw)
        try:
            dump = dumps.read(path, "")
        except NotReadable:
            continue
        if dump is None:
            continue
        _, change = take_in(user, dump, actor="operator:test")
        assert take_in(user, dump, actor="operator:test")[1] is None, number
        if change:
            changed += 1
            undo_change(change, actor="operator:test")
        assert not Contact.objects.exists(), number
        assert not Memory.objects.exists(), number
    assert changed > 8
