"""Authentication of an app by one of its keys."""

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.best_effort import best_effort
from accounts.models import ApiKey, App

if TYPE_CHECKING:  # REST framework's views import this module
    from rest_framework.views import APIView

# How exact "last used" is: a write for every request would cost more than the request.
USE_NOTED_EVERY = timedelta(minutes=1)


class ApiKeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer mio_…``; the request's user is the app, its auth the key."""

    def authenticate(self, request: Request) -> tuple[App, ApiKey] | None:
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        key = ApiKey.objects.valid(secret.strip()).select_related("app").first()
        if key is None:
            raise AuthenticationFailed("This API key is unknown or was revoked.")
        note_use(key)
        return key.app, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 part of the interface
        return 'Bearer realm="mio"'


def note_use(key: ApiKey) -> None:
    """Notes that a key was used, about once a minute."""
    now = timezone.now()
    stale = now - USE_NOTED_EVERY
    if key.last_used_at is None or key.last_used_at < stale:
        due = Q(last_used_at=None) | Q(last_used_at__lt=stale)
        with best_effort("Use of API key", key.pk):
            ApiKey.objects.filter(due, pk=key.pk).update(last_used_at=now)


class HasApp(BasePermission):
    """Only callers with a valid key."""

    def has_permission(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002
        return isinstance(request.auth, ApiKey)
