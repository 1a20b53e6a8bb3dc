"""What a model reads in messages from before an erasure makes nobody anew."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.erasure import name_hashes
from memories.models import Erasure
from memories.types import (
    ExtractedMemory,
    ExtractedPerson,
    ExtractedRelation,
    Extraction,
    MemoryType,
    Subtype,
    Turn,
)
from tests.factories import make_end_user

pytestmark = pytest.mark.django_db

NOW = timezone.now()
FOUND = Extraction(
    people=(
        ExtractedPerson("a", "小红", relationship="朋友"),
        ExtractedPerson("b", "王小红", relationship="同事"),
        ExtractedPerson("c", "小明", relationship="小红的哥哥"),
    ),
    memories=tuple(
        ExtractedMemory(content, MemoryType.PERSONAL, Subtype.FRIEND, (1,), people)
        for content, people in (
            ("小红住在柏林", ("a",)),
            ("王小红住在上海", ("b",)),
            ("小明想念小红", ("c",)),
            ("小明是护士", ("c",)),
        )
    ),
    relations=(ExtractedRelation("c", "哥哥", "a"), ExtractedRelation("c", "同事", "b")),
)


@pytest.mark.parametrize(
    ("said", "contents", "relationships"),
    [
        (NOW - timedelta(days=1), ["王小红住在上海", "小明是护士"], ["同事", ""]),
        (
            NOW + timedelta(hours=1),
            [memory.content for memory in FOUND.memories],
            ["朋友", "同事", "小红的哥哥"],
        ),
    ],
)
def test_only_who_is_spoken_of_again_is_met_again(
    said: object, contents: list[str], relationships: list[str]
) -> None:
    end_user = make_end_user(forgetting_until=NOW)
    hashes = name_hashes.hashes_of(end_user, ["小红"])
    assert "小红" not in hashes
    Erasure.objects.create(
        end_user=end_user, state="erased", name_hashes=hashes, requested_at=NOW, due_at=NOW
    )
    turn = Turn(1, "user", "我朋友小红住在柏林", said)  # type: ignore[arg-type]
    forgotten = name_hashes.forgotten(end_user)
    left = name_hashes.without_forgotten(end_user, FOUND, [turn], forgotten)
    assert [memory.content for memory in left.memories] == contents
    assert [person.relationship for person in left.people] == relationships
    assert len(left.relations) == (1 if len(left.people) == 2 else 2)
    other = make_end_user()
    nobody = name_hashes.forgotten(other)
    assert name_hashes.without_forgotten(other, FOUND, [turn], nobody) is FOUND
