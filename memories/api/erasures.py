"""What users asked in a chat to forget: the list, and erasing it without waiting."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.errors import ApiError, conflict
from accounts.fields import Strict
from accounts.paging import Page, PageQuery, page
from memories.context import build
from memories.erasure import due
from memories.models import Erasure

STATES = ["hidden", "erased", "cancelled"]


class ForgettingSerializer(serializers.Serializer):
    """Something that a user asked in a chat to forget."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(STATES, help_text="cancelled: the hiding was undone.")
    memories = serializers.IntegerField(help_text="How many.")
    contacts = serializers.IntegerField(help_text="How many.")
    requested_at = serializers.DateTimeField()
    erased_after = serializers.DateTimeField(help_text="When it is, or was, erased for good.")
    change_id = serializers.UUIDField(
        allow_null=True, help_text="Undo it with changes/{id}/undo/; null when nothing is hidden."
    )


class ForgettingPage(Page):
    results = ForgettingSerializer(many=True)


class NoBody(Strict):
    """Nothing, or an empty object."""


def _shown(rows: Sequence[Erasure]) -> list[dict[str, Any]]:
    found = [asdict(build.forgetting(row)) for row in rows]
    return list(ForgettingSerializer(found, many=True).data)


class Forgettings(UserView):
    @documented(
        responses={200: ForgettingPage},
        parameters=[PageQuery],
        operation_id="forgetting_list",
        summary="What the user asked in a chat to forget, the latest first",
    )
    def get(self, request: Request, **_path: Any) -> Response:
        rows = Erasure.objects.of(self.end_user).defer("words", "message_ids")
        return page(request, rows, "requested_at", self.query(PageQuery), _shown)


class Erase(UserView):
    @documented(
        request=NoBody,
        responses={200: ForgettingSerializer},
        operation_id="forgetting_erase",
        summary="Erase now what the user asked to forget",
        description="This can't be undone. 409 when the hiding was undone before; what is "
        "erased already stays so.",
    )
    def post(self, _request: Request, erasure_id: UUID, **_path: Any) -> Response:
        self.body(NoBody)
        rows = Erasure.objects.of(self.end_user)
        if not rows.filter(pk=erasure_id).exists():
            raise ApiError(404, "unknown_forgetting", "This user has asked for no such thing.")
        due.erase(erasure_id)
        found = rows.get(pk=erasure_id)
        if found.state == Erasure.State.CANCELLED:
            raise conflict("The hiding was undone, so nothing is to be erased.")
        return Response(_shown([found])[0])
