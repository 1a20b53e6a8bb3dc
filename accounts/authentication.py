"""Finds the API key of a request, and counts the requests of each key per minute."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.db.models import Case, F, Q, When
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.best_effort import best_effort
from accounts.errors import ApiError
from accounts.models import ApiKey, App

if TYPE_CHECKING:  # REST framework's views import this module
    from rest_framework.views import APIView

# How exact "last used" is: a write for every request would cost more than the request.
USE_NOTED_EVERY = timedelta(minutes=1)
WINDOW = 60  # seconds


class ApiKeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer mio_…``; the request's user is the app, its auth the key."""

    def authenticate(self, request: Request) -> tuple[App, ApiKey] | None:
        header = get_authorization_header(request).decode("latin-1")
        if header.partition(" ")[0].lower() != "bearer":
            return None
        key = _valid_key(bearer(header))
        if key is None:
            raise AuthenticationFailed("This API key is unknown or was revoked.")
        return key.app, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 part of the interface
        return 'Bearer realm="mio"'


def bearer(value: str) -> str:
    """Returns the secret of an ``Authorization`` header, "" for another scheme."""
    scheme, _, secret = value.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _valid_key(secret: str) -> ApiKey | None:
    """Returns the valid key with this secret, with its app; else None. Notes its use every minute."""
    key = ApiKey.objects.valid(secret).select_related("app").first()
    now = timezone.now()
    stale = now - USE_NOTED_EVERY
    if key is not None and (key.last_used_at is None or key.last_used_at < stale):
        due = Q(last_used_at=None) | Q(last_used_at__lt=stale)
        with best_effort("Use of API key", key.pk):
            ApiKey.objects.filter(due, pk=key.pk).update(last_used_at=now)
    return key


class HasApp(BasePermission):
    """Allows callers with a valid key only."""

    def has_permission(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002
        return isinstance(request.auth, ApiKey)


@dataclass(frozen=True, slots=True)
class Quota:
    """The requests that are left of a key's limit, and the seconds until it begins anew."""

    limit: int
    left: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Policy": f"{self.limit};w={WINDOW}",
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.left),
            "RateLimit-Reset": str(self.reset),
        }


class KeyLimit(BaseThrottle):
    """Refuses requests above the limit of their key, and sets the view's ``quota``."""

    quota: Quota | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        allowed, self.quota = quota_of(cast(ApiKey, request.auth))
        view.quota = self.quota
        return allowed

    def wait(self) -> float | None:
        return self.quota.reset if self.quota else None


def quota_of(key: ApiKey) -> tuple[bool, Quota | None]:
    """Counts a request of ``key``. Returns whether it is allowed, and what is left (None: no limit)."""
    limit = key.requests_a_minute
    if not limit:
        return True, None
    minute, second = divmod(int(time.time()), WINDOW)
    used = key.used if key.minute == minute else 0
    allowed = used < limit
    if allowed:
        counted = Case(When(minute=minute, then=F("used") + 1), default=1)
        with best_effort("Use of API key", key.pk):
            ApiKey.objects.filter(pk=key.pk).update(used=counted, minute=minute)
    return allowed, Quota(limit, max(0, limit - used - allowed), WINDOW - second)


def key_of(headers: Mapping[str, str], secret: str) -> tuple[ApiKey, Quota | None]:
    """Returns the key with this secret and what is left of its limit, for ASGI applications that are
    no views of Django. Raises ApiError for an unknown host or key, or a limit that is used up."""
    host = headers.get("host", "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        raise ApiError(400, "unknown_host", "This server is not called so: see ALLOWED_HOSTS.")
    key = _valid_key(secret) if secret else None
    if key is None:
        raise ApiError(401, "not_authenticated", "Send a valid key: Authorization: Bearer mio_…")
    allowed, quota = quota_of(key)
    if not allowed and quota is not None:
        raise ApiError(429, "throttled", "Too many requests.", retry_after=quota.reset)
    return key, quota
