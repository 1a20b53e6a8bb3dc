"""Secrets that Mio has to use again, such as those of webhooks: encrypted by Fernet under a key made
from SECRET_KEY. Keys of SECRET_KEY_FALLBACKS still decrypt, until ``manage.py reencrypt`` has run. A
model names its encrypted columns in ``encrypted``.
"""

import base64
from collections.abc import Callable, Iterator

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.apps import apps
from django.conf import settings
from django.db.models import Model


class Undecryptable(Exception):
    """Encrypted under a key that is none of SECRET_KEY and SECRET_KEY_FALLBACKS."""


def encrypt(secret: str) -> str:
    """The secret, readable only to who holds SECRET_KEY; another text each time."""
    return _keys().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """The secret, encrypted under the current key or an older one. Raises Undecryptable."""
    return _opened(_keys().decrypt, encrypted)


def renewed(encrypted: str) -> str:
    """The same secret under SECRET_KEY. Raises Undecryptable."""
    return _opened(_keys().rotate, encrypted)


def _opened(read: Callable[[bytes], bytes], encrypted: str) -> str:
    try:
        return read(encrypted.encode()).decode()
    except InvalidToken as error:
        raise Undecryptable("Encrypted under another SECRET_KEY.") from error


def columns() -> Iterator[tuple[type[Model], str]]:
    """Every encrypted column: its model and its name."""
    for model in apps.get_models():
        for name in getattr(model, "encrypted", ()):
            yield model, name


def _keys() -> MultiFernet:
    """The first encrypts, all decrypt. Derived, so that nothing else that SECRET_KEY signs is a key."""
    keys = []
    for name in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"mio secrets at rest")
        keys.append(Fernet(base64.urlsafe_b64encode(derived.derive(name.encode()))))
    return MultiFernet(keys)
