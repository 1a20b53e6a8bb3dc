"""The key of a request that comes past Django's views, to an ASGI application beside them."""

from collections.abc import Mapping

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from accounts.authentication import note_use
from accounts.errors import ApiError
from accounts.models import ApiKey
from accounts.rate_limit import Quota, quota_of


def bearer(value: str) -> str:
    """The secret of an ``Authorization`` header, "" where it is of another scheme."""
    scheme, _, secret = value.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def key_of(headers: Mapping[str, str], secret: str) -> tuple[ApiKey, Quota | None]:
    """The key with this secret, with its app, and what is left of its limit after this request.

    Raises ApiError for a host that this server is not called by, an unknown key, and one that has
    sent its requests of this minute.
    """
    host = headers.get("host", "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        raise ApiError(400, "unknown_host", "This server is not called so: see ALLOWED_HOSTS.")
    key = ApiKey.objects.valid(secret).select_related("app").first() if secret else None
    if key is None:
        raise ApiError(401, "not_authenticated", "Send a valid key: Authorization: Bearer mio_…")
    note_use(key)
    allowed, quota = quota_of(key)
    if not allowed and quota is not None:
        raise ApiError(429, "throttled", "Too many requests.", retry_after=quota.reset)
    return key, quota
