"""The settings that point chat clients to the gateway (``chat_clients.toml``)."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

KEY = "mio_…"


@dataclass(frozen=True, slots=True)
class ChatClient:
    """``key`` is which kind of key it takes: "signed" or "trusted" say who the user is in headers,
    "app" in the body, "bound" in no way. ``settings`` has places for {base} and {key}."""

    name: str
    key: str
    settings: str

    def filled(self, base: str, secret: str) -> str:
        """The settings for a site at ``base``, without a slash at its end."""
        return self.settings.replace("{base}", base).replace("{key}", secret)


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CLIENTS = tuple(ChatClient(**client) for client in _TABLES["client"])
