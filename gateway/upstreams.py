"""Sets the upstream of an app, and tries whether it answers. Operators name it and are trusted:
loopback is allowed, since many have models that run on the same machine."""

import json
from urllib.parse import urlsplit

import httpx2

from accounts.encryption import Undecryptable, decrypt, encrypt
from accounts.models import App
from gateway.models import MAX_URL, Upstream

MAX_SECRET = 2000
TIMEOUT = httpx2.Timeout(10)
MOST_READ = 2_000_000  # bytes of a list of models

URL_HELP = (
    "the server of the OpenAI protocol that answers the app's chats, such as "
    "https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
)


NO_URL = (
    "Give an address that begins with http:// or https://, without a user, a query or a blank, and "
    "ends where /chat/completions begins."
)


class NotAnUpstream(ValueError):
    """The address can't be that of a server of the OpenAI protocol."""


class NotASecret(ValueError):
    """No header can contain the key."""


class NotAnswered(Exception):
    """There is no list of models: ``code`` says why, ``status`` is the server's, if it answered."""

    def __init__(self, code: str, status: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.status = status


def configure(
    app: App,
    url: str,
    *,
    key: str | None = None,
    open_webui_secret: str | None = None,
    placement: str = "",
) -> Upstream:
    """Sets the given values; "" removes a secret. Raises NotAnUpstream, and NotASecret for a key."""
    changed: dict[str, str] = {"url": check(url)}
    if key is not None:
        changed["key"] = encrypt(_checked_key(key)) if key else ""
    if open_webui_secret is not None:
        changed["open_webui_secret"] = encrypt(open_webui_secret) if open_webui_secret else ""
    if placement:
        changed["placement"] = Upstream.Placement(placement)
    upstream, _ = Upstream.objects.update_or_create(app=app, defaults=changed)
    return upstream


def remove(app: App) -> None:
    """Closes the gateway of an app."""
    Upstream.objects.filter(app=app).delete()


def check(url: str) -> str:
    """Returns ``url`` without a slash at its end. Raises NotAnUpstream."""
    url = url.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise NotAnUpstream(NO_URL) from error
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    writable = len(url) <= MAX_URL and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not (parts.hostname and plain and writable):
        raise NotAnUpstream(NO_URL)
    return url


def of_other_server(upstream: Upstream, url: str) -> bool:
    """Whether ``url`` leads to another server, which its key is not for. Raises NotAnUpstream."""
    current, new = urlsplit(upstream.url), urlsplit(check(url))
    return (current.scheme, current.netloc) != (new.scheme, new.netloc)


def _checked_key(key: str) -> str:
    if not (key.isascii() and key.isprintable()) or " " in key or len(key) > MAX_SECRET:
        raise NotASecret("A key is one word of ASCII characters.")
    return key


def models_of(upstream: Upstream) -> list[str]:
    """Returns the ids of the upstream's models, which clients ask for first, by its own key if it
    has one. Raises NotAnswered: ``secret`` (the key is of another SECRET_KEY), ``timeout``,
    ``unreachable``, ``key``, ``address``, ``status`` or ``form``."""
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    body = bytearray()
    try:
        if upstream.key:
            headers["Authorization"] = f"Bearer {decrypt(upstream.key)}"
        with (
            httpx2.Client(trust_env=False, timeout=TIMEOUT) as http,
            http.stream("GET", f"{upstream.url}/models", headers=headers) as answer,
        ):
            status = answer.status_code
            for piece in answer.iter_raw():
                body += piece
                if len(body) > MOST_READ:
                    break
    except Undecryptable as error:
        raise NotAnswered("secret") from error
    except httpx2.TimeoutException as error:
        raise NotAnswered("timeout") from error
    except httpx2.HTTPError as error:
        raise NotAnswered("unreachable") from error
    if status != 200:
        code = "key" if status in (401, 403) else "address" if status in (404, 405) else "status"
        raise NotAnswered(code, status)
    try:
        listed = json.loads(body)["data"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise NotAnswered("form", status) from error
    if not isinstance(listed, list):
        raise NotAnswered("form", status)
    ids = (model.get("id") for model in listed if isinstance(model, dict))
    return [one for one in ids if isinstance(one, str)]
