"""Messages in, and the pipeline on request."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, WaitingView, documented, in_thread
from accounts.errors import ApiError
from accounts.fields import Flag, PastMoment, Strict, Text
from memories import queue
from memories.api import waiting
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


class Process(WaitingView):
    @documented(
        request=ProcessForm,
        responses={
            200: Processed,
            202: inline_serializer("Queued", {"pending": serializers.IntegerField()}),
        },
        operation_id="process_create",
        summary="Extract, link and consolidate everything received so far",
        description="With `wait` it answers 200 when that is done, 503 when the model is not "
        f"to be had, and 504 after {WAIT_SECONDS:.0f} s. Without, 202 at once. What is sent "
        f"meanwhile is not waited for. At most {waiting.MOST} requests of an app wait at a time; "
        "one more is refused with 429.",
    )
    async def post(self, _request: Request, **_path: Any) -> Response:
        end_user_id, pending = await in_thread(self._asked)
        if pending is not None:
            return Response({"pending": pending}, status=status.HTTP_202_ACCEPTED)
        try:
            done = await waiting.until_done(self.app.pk, end_user_id, WAIT_SECONDS)
        except waiting.TooMany as error:
            raise ApiError(429, "too_many_wait", str(error), retry_after=5) from error
        except catch_up.OutOfTime as error:
            raise ApiError(504, "timeout", str(error), retry_after=1) from error
        except catch_up.Postponed as error:
            raise ApiError(503, "postponed", str(error), retry_after=error.seconds) from error
        return Response(asdict(done))

    def _asked(self) -> tuple[int, int | None]:
        """The end user, and how many messages are pending if nobody waits for them."""
        wait, end_user_id = self.body(ProcessForm)["wait"], self.end_user.pk
        if wait:
            return end_user_id, None
        queue.enqueue("process", end_user_id)
        return end_user_id, catch_up.pending(end_user_id)
