"""Secrets that Mio has to use again, such as those of webhooks, as they lie in the database.

Encrypted by Fernet under a key made from SECRET_KEY. Every key of SECRET_KEY_FALLBACKS still
decrypts, so the key is rotated by naming the old one there until all was encrypted anew
(``manage.py reencrypt``). A model names its encrypted columns in ``encrypted``.
"""

import base64
from collections.abc import Iterator

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
    """Decrypts a text that was encrypted under the current key or an older one.

    Raises Undecryptable when neither fits, or the text is none of ours.
    """
    try:
        return _keys().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise Undecryptable("Encrypted under another SECRET_KEY.") from error


def renewed(encrypted: str) -> str:
    """The same secret under SECRET_KEY. Raises Undecryptable."""
    try:
        return _keys().rotate(encrypted).decode()
    except InvalidToken as error:
        raise Undecryptable("Encrypted under another SECRET_KEY.") from error


def columns() -> Iterator[tuple[type[Model], str]]:
    """Every encrypted column: its model and its name."""
    for model in apps.get_models():
        for name in getattr(model, "encrypted", ()):
            yield model, name


def _keys() -> MultiFernet:
    """The first encrypts, all decrypt. Derived for this use alone, so that nothing else that
    SECRET_KEY signs can stand for a key."""
    names = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_derived(name)) for name in names])


def _derived(secret_key: str) -> bytes:
    derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"mio secrets at rest")
    return base64.urlsafe_b64encode(derived.derive(secret_key.encode()))
