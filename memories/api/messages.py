"""Messages in, and the pipeline on request."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.errors import ApiError
from accounts.fields import Flag, PastMoment, Strict, Text
from memories import queue
from memories.models import Message
from memories.pipeline import buffer, catch_up

MAX_MESSAGES = 500
MAX_CONTENT = 100_000
# How long a client that waits is kept; whatever is left goes on in the background.
WAIT_SECONDS = 300.0


class MessageForm(Strict):
    """One chat turn. The same ``id`` twice is stored once."""

    id = Text(max_length=200, required=False, allow_null=True)
    role = serializers.ChoiceField(Message.Role.choices)
    content = Text(max_length=MAX_CONTENT)
    created_at = PastMoment(required=False, allow_null=True, help_text="Default: now.")
    session_id = Text(max_length=200, required=False, allow_null=True, allow_blank=True)


class MessagesForm(Strict):
    messages = serializers.ListField(
        child=MessageForm(), min_length=1, max_length=MAX_MESSAGES, help_text="In order."
    )


Received = inline_serializer(
    "Received", {"accepted": serializers.IntegerField(), "duplicates": serializers.IntegerField()}
)


def incoming(valid: Mapping[str, Any]) -> buffer.Incoming:
    """A validated message as the pipeline takes it."""
    return buffer.Incoming(
        role=valid["role"],
        content=valid["content"],
        id=valid.get("id"),
        created_at=valid.get("created_at"),
        session_id=valid.get("session_id") or "",
    )


class Messages(UserView):
    @documented(
        request=MessagesForm,
        responses={202: Received},
        operation_id="messages_create",
        summary="Send the messages of a conversation",
        description="All of them are taken, or none. They are read in the background.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        valid = self.body(MessagesForm)["messages"]
        with transaction.atomic():
            received = buffer.receive(self.app, self.external_id, [incoming(m) for m in valid])
            if received.extraction_due:
                queue.enqueue("extract", received.end_user.pk)
        return Response(
            {"accepted": received.accepted, "duplicates": received.duplicates},
            status=status.HTTP_202_ACCEPTED,
        )


class ProcessForm(Strict):
    wait = Flag(required=False, default=False, help_text="Answer when all is done.")


Processed = inline_serializer(
    "Processed",
    {
        "pending": serializers.IntegerField(help_text="Messages not extracted yet."),
        "extracted": serializers.IntegerField(help_text="Messages extracted meanwhile."),
        "consolidated": serializers.IntegerField(help_text="Profiles brought up to date."),
        "quarantined": serializers.IntegerField(help_text="Batches that wait for an operator."),
    },
)


class Process(UserView):
    @documented(
        request=ProcessForm,
        responses={
            200: Processed,
            202: inline_serializer("Queued", {"pending": serializers.IntegerField()}),
        },
        operation_id="process_create",
        summary="Extract, link and consolidate everything received so far",
        description="With `wait` it answers 200 when that is done, 503 when the model is not "
        f"to be had, and 504 after {WAIT_SECONDS:.0f} s. Without, 202 at once.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        wait = self.body(ProcessForm)["wait"]
        end_user = self.end_user
        if not wait:
            queue.enqueue("process", end_user.pk)
            return Response({"pending": catch_up.pending(end_user.pk)}, status=202)
        try:
            done = catch_up.catch_up(end_user.pk, until=time.monotonic() + WAIT_SECONDS)
        except catch_up.OutOfTime as error:
            raise ApiError(504, "timeout", str(error), retry_after=1) from error
        except catch_up.Postponed as error:
            raise ApiError(503, "postponed", str(error), retry_after=error.seconds) from error
        return Response(asdict(done))
