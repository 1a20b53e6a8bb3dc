"""Setting the upstream of an app. Operators name it and are trusted: loopback is meant to work, as
models that run on the same machine are what many have."""

from urllib.parse import urlsplit

from accounts.encryption import encrypt
from accounts.models import App
from gateway.models import MAX_URL, Upstream

MAX_SECRET = 2000


URL_HELP = (
    "the server of the OpenAI protocol that answers the app's chats, such as "
    "https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
)


class NotAnUpstream(ValueError):
    """The address is none that a server of the OpenAI protocol can have."""

    def __init__(self) -> None:
        super().__init__(
            "Give an address that begins with http:// or https://, without a user, a query or "
            "a blank, and ends where /chat/completions begins."
        )


class NotASecret(ValueError):
    """No header can carry the key."""

    def __init__(self) -> None:
        super().__init__("A key is one word of ASCII characters.")


def configure(
    app: App,
    url: str,
    *,
    key: str | None = None,
    open_webui_secret: str | None = None,
    placement: str = "",
) -> Upstream:
    """Sets what is given, and leaves the rest as it is; "" takes a secret away. Raises
    NotAnUpstream, NotASecret of a key."""
    changed: dict[str, str] = {"url": check(url)}
    if key is not None:
        changed["key"] = encrypt(_header(key)) if key else ""
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
    """``url`` without the slash at its end. Raises NotAnUpstream."""
    url = url.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise NotAnUpstream from error
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise NotAnUpstream
    if len(url) > MAX_URL or not url.isprintable() or " " in url:
        raise NotAnUpstream
    return url


def of_other_server(upstream: Upstream, url: str) -> bool:
    """Whether ``url`` leads to another server than the upstream's, which its key is not for. Raises
    NotAnUpstream."""
    here, there = urlsplit(upstream.url), urlsplit(check(url))
    return (here.scheme, here.netloc) != (there.scheme, there.netloc)


def _header(key: str) -> str:
    if not (key.isascii() and key.isprintable()) or " " in key or len(key) > MAX_SECRET:
        raise NotASecret
    return key
