"""The identity of a memory's content."""

import hashlib

from contacts.text import folded


def content_hash(content: str) -> str:
    """SHA-256 of the normalised content: equal for what differs only in case, width, accents,
    traditional or simplified script, or white space."""
    return hashlib.sha256(folded(content).encode()).hexdigest()
