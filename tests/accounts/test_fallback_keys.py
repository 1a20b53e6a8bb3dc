"""A new SECRET_KEY: what the old one encrypted, hashed and signed goes on."""

import pytest
from django.utils import timezone

from memories.erasure import name_hashes, redact_messages
from tests.factories import make_end_user
from understanding.names import name_key

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keys(settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "old", []


def rotate(settings, *before: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", list(before)


def test_forgotten_names_and_ids_are_known_while_the_old_key_is_a_fallback(settings) -> None:
    end_user = make_end_user(forgetting_until=timezone.now())
    held = name_hashes.hashes_of(end_user, ["小红"])
    emptied = name_hashes.hash_of(end_user, "m-1")
    rotate(settings, "old")
    assert name_hashes.named_in(end_user, "我和小红去了成都", held) == {*held}
    assert redact_messages.erased_ids(end_user, ["m-1"])[emptied] == "m-1"
    assert name_hashes.hash_of(end_user, name_key("小红")) not in held
    rotate(settings)
    assert not name_hashes.named_in(end_user, "我和小红去了成都", held)
