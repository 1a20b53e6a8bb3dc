"""A new SECRET_KEY: what the old one encrypted, hashed and signed goes on."""

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import encryption
from accounts.encryption import Undecryptable, decrypt, encrypt
from gateway.models import Upstream
from memories.erasure import name_hashes, redact_messages
from tests.commands import run_json
from tests.factories import make_app, make_end_user
from understanding.names import name_key
from webhooks.models import Endpoint

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keys(settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "old", []


def rotate(settings, *before: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", list(before)


def test_every_secret_is_under_the_new_key_alone_afterwards(settings) -> None:
    app = make_app()
    Upstream.objects.create(app=app, url="http://127.0.0.1/v1", key=encrypt("sk-1"))
    Endpoint.objects.create(app=app, secret=encrypt("whsec_1"), old_secret=encrypt("whsec_0"))
    rotate(settings, "old")
    Endpoint.objects.create(app=app, secret=encrypt("whsec_2"))
    assert run_json("reencrypt") == {"reencrypted": 4, "unreadable": []}
    settings.SECRET_KEY_FALLBACKS = []
    upstream, (first, second) = Upstream.objects.get(), Endpoint.objects.order_by("created_at")
    assert (decrypt(upstream.key), upstream.open_webui_secret) == ("sk-1", "")
    assert [decrypt(one) for one in (first.secret, first.old_secret)] == ["whsec_1", "whsec_0"]
    assert decrypt(second.secret) == "whsec_2"


def test_what_no_key_reads_is_named_and_left_and_the_rest_is_done(settings) -> None:
    app = make_app()
    lost = Endpoint.objects.create(app=app, secret=encrypt("whsec_1"))
    rotate(settings)
    settings.SECRET_KEY = "between"
    kept = Endpoint.objects.create(app=app, secret=encrypt("whsec_2"))
    rotate(settings, "between")
    with pytest.raises(CommandError, match="1 secrets are under a key that is neither"):
        call_command("reencrypt")
    settings.SECRET_KEY_FALLBACKS = []
    kept.refresh_from_db()
    assert decrypt(kept.secret) == "whsec_2"
    before = lost.secret
    lost.refresh_from_db()
    assert lost.secret == before
    with pytest.raises(Undecryptable):
        decrypt(lost.secret)


def test_models_name_all_columns_that_hold_what_was_encrypted() -> None:
    assert {(model._meta.label, name) for model, name in encryption.columns()} == {
        ("gateway.Upstream", "key"),
        ("gateway.Upstream", "open_webui_secret"),
        ("webhooks.Endpoint", "secret"),
        ("webhooks.Endpoint", "old_secret"),
    }


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
