"""Signs messages by Standard Webhooks (standardwebhooks.com): who sent a message, and when."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime

PREFIX = "whsec_"


def new_secret() -> str:
    """Returns a secret of 32 random bytes, in the form that the libraries of receivers take."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def headers(keys: Sequence[str], message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Returns the headers that prove a message to the holder of a secret, signed by each key."""
    stamp = str(int(at.timestamp()))
    signed = f"{message_id}.{stamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{_signature(key, signed)}" for key in keys),
    }


def _signature(key: str, signed: bytes) -> str:
    raw = base64.b64decode(key.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode()
