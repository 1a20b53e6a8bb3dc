"""What the programs of peers share: plain Python, run by an interpreter of their own."""

import os
from urllib.request import Request, urlopen

EMBEDDER = os.environ["PEER_EMBEDDER"]  # the base URL, without /v1
DATABASE = os.environ["PEER_DATABASE"]  # postgres://… of an empty database
MODEL_URL = os.environ.get("PEER_MODEL_URL", "")  # "" for no model
MODEL, MODEL_KEY = os.environ.get("PEER_MODEL", ""), os.environ.get("PEER_MODEL_KEY", "none")
RESULTS = 10


def kind(name: str) -> None:
    """Says that what is embedded from now on are ``query`` or ``passage`` texts."""
    with urlopen(Request(f"{EMBEDDER}/kind", name.encode())) as answer:
        answer.read()


def line(role: str, text: str, at: str = "") -> str:
    """A message as it is stored and shown."""
    return f"[{at[:10]}] {role}: {text}" if at else f"{role}: {text}"
