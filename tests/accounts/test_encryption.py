"""Secrets at rest: what is encrypted comes back, also after SECRET_KEY was rotated."""

import pytest

from accounts.encryption import Undecryptable, decrypt, encrypt


def test_a_secret_comes_back_and_its_form_at_rest_tells_nothing() -> None:
    kept = encrypt("whsec_红红")
    assert decrypt(kept) == "whsec_红红"
    assert "whsec" not in kept
    assert encrypt("whsec_红红") != kept


def test_an_old_key_still_decrypts_while_it_is_a_fallback(settings) -> None:
    settings.SECRET_KEY = "old"
    kept = encrypt("secret")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", ["old"]
    assert decrypt(kept) == "secret"
    renewed = encrypt(decrypt(kept))
    settings.SECRET_KEY_FALLBACKS = []
    assert decrypt(renewed) == "secret"
    with pytest.raises(Undecryptable):
        decrypt(kept)


def test_text_that_was_never_encrypted_is_refused() -> None:
    with pytest.raises(Undecryptable):
        decrypt("secret")
