"""The signed address of an end user's own page. Whoever has it may see and correct what is known
about them, so it is short-lived. It is not stored: it contains whose page it is, until when it is
valid, and how the page looks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core import signing
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers

from accounts import cells, placement
from accounts.api import UserView, Validated, operation
from accounts.fields import Strict, Text
from accounts.models import EndUser
from accounts.scope import all_users, user_scope

SALT = "mio.own-page"
MINUTES, MOST_MINUTES = 60, 24 * 60
# A host and a port, with encryption except for this machine: what frame-ancestors accepts.
_ORIGIN = r"^(https://[a-z0-9.-]+|http://(localhost|127\.0\.0\.1))(:[0-9]{1,5})?$"


class PageForm(Strict):
    """How the page is shown, and for how long its address opens it."""

    minutes = serializers.IntegerField(default=MINUTES, min_value=1, max_value=MOST_MINUTES)
    language = serializers.ChoiceField(["en", "zh"], required=False)
    name = Text(required=False, max_length=60)
    color = serializers.RegexField("^#[0-9A-Fa-f]{6}$", required=False)
    origin = serializers.RegexField(_ORIGIN, required=False, max_length=200)


class PageAddress(serializers.Serializer):
    url = serializers.URLField()
    expires_at = serializers.DateTimeField()


class PageState(serializers.Serializer):
    active = serializers.BooleanField()


class OwnPage(UserView):
    @operation("page_create", {201: PageAddress}, body=PageForm)
    def post(self, asked: Validated) -> Any:
        """Make an address of the user's own page

        There the user sees what is known, corrects it and has it forgotten. Whoever has the address
        may do so until it expires: give it to the user alone."""
        now = timezone.now()
        expires_at = now + timedelta(minutes=asked.pop("minutes"))
        times = {"made": now.timestamp(), "ends": expires_at.timestamp()}
        content = {"user": self.end_user.pk, "name": self.app.name, **times, **asked}
        token = signing.dumps(content, salt=SALT)
        url = self.request.build_absolute_uri(reverse("me", args=[token]))
        return {"url": url, "expires_at": expires_at}

    @operation("page_destroy", PageState)
    def delete(self) -> Any:
        """Revoke all addresses of the user's own page"""
        self.end_user.revoke_pages()
        return {"active": False}


class Void(Exception):
    """The address was never made here, has expired or was revoked, or the end user is gone."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Whose page an address opens, and how the application wants it shown."""

    end_user: EndUser
    token: str
    name: str
    ends: datetime
    language: str = ""
    color: str = ""
    origin: str = ""


@contextmanager
def opened(token: str, *, writes: bool) -> Iterator[Visit]:
    """Runs the block in the scope and time zone of the end user of an address. Raises Void, and
    Moving if their cell is unavailable, or it ``writes`` while they are moved to another cell."""
    try:
        content = signing.loads(token, salt=SALT)
    except signing.BadSignature as error:
        raise Void from error
    made, ends = (datetime.fromtimestamp(content.pop(name), UTC) for name in ("made", "ends"))
    if ends <= timezone.now():
        raise Void
    pk = content.pop("user")
    cell = placement.cell_of(pk)
    if cells.several() and (cells.is_away(cell) or (writes and placement.is_moving(pk))):
        raise cells.Moving
    with cells.entered(cell), all_users():
        rows = EndUser.objects.select_related("app").filter(app__archived_at=None)
        end_user = rows.filter(pk=pk).first()
    if end_user is None or (end_user.pages_void_until and made <= end_user.pages_void_until):
        raise Void
    with user_scope(end_user), timezone.override(end_user.zone):
        yield Visit(end_user, token, ends=ends, **content)
