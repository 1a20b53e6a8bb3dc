"""Encrypts secrets that Mio has to use again, such as those of webhooks, by Fernet under a key
derived from SECRET_KEY. Keys of SECRET_KEY_FALLBACKS still decrypt, until ``bin/mio reencrypt``
has run. A model names its encrypted columns in ``encrypted``."""

import base64
from collections.abc import Callable, Iterator

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.apps import apps
from django.conf import settings
from django.db.models import Model


class Undecryptable(Exception):
    """The secret was encrypted under a key that is none of SECRET_KEY and SECRET_KEY_FALLBACKS."""


def encrypt(secret: str) -> str:
    """Returns the secret encrypted under SECRET_KEY; another text each time."""
    return _keys().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Returns a secret, encrypted under the current key or an older one. Raises Undecryptable."""
    return _converted(_keys().decrypt, encrypted)


def renewed(encrypted: str) -> str:
    """Returns the secret encrypted again under SECRET_KEY. Raises Undecryptable."""
    return _converted(_keys().rotate, encrypted)


def _converted(read: Callable[[bytes], bytes], encrypted: str) -> str:
    """Returns what ``read`` makes of an encrypted text. Raises Undecryptable."""
    try:
        return read(encrypted.encode()).decode()
    except InvalidToken as error:
        raise Undecryptable("Encrypted under another SECRET_KEY.") from error


def columns() -> Iterator[tuple[type[Model], str]]:
    """Yields the model and the name of every encrypted column."""
    for model in apps.get_models():
        for name in getattr(model, "encrypted", ()):
            yield model, name


def _keys() -> MultiFernet:
    """Returns the keys; the first encrypts, all decrypt. They are derived, so that none of them is
    SECRET_KEY, which also signs."""
    keys = []
    for secret_key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"mio secrets at rest")
        keys.append(Fernet(base64.urlsafe_b64encode(derived.derive(secret_key.encode()))))
    return MultiFernet(keys)
