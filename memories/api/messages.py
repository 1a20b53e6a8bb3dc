"""Messages over HTTP: sent, listed, erased, and processed on request."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Count, Max, Min
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import fields
from accounts.api import UserView, Validated, WaitingView, in_thread, operation
from accounts.cells import atomic
from accounts.errors import ApiError, first_or_404
from accounts.paging import PageQuery, listed, page, page_of
from contacts.serializers import Name
from memories import queue
from memories.api import waiting
from memories.api.serializers import Forgotten
from memories.erasure import erase
from memories.erasure.receipts import By
from memories.models import Message, MessageQuerySet, ProcessJob
from memories.pipeline import buffer, catch_up

MAX_MESSAGES = 500
# How long a client may wait; whatever is left goes on in the background.
WAIT_SECONDS = 300.0


class MessageForm(fields.Strict):
    """One chat turn. The same ``id`` twice is stored once."""

    id = fields.Text(max_length=200, required=False, allow_null=True)
    role = serializers.ChoiceField(Message.Role.choices)
    content = fields.Text(max_length=Message.MAX_CONTENT)
    speaker = Name(max_length=100, required=False, allow_null=True)
    created_at = fields.PastMoment(required=False, allow_null=True)
    session_id = fields.Text(max_length=200, required=False, allow_null=True, allow_blank=True)
    metadata = fields.Metadata(required=False)

    described = {
        "anyOf": [
            {"properties": {"speaker": {"type": "null"}}},
            {"properties": {"role": {"const": Message.Role.USER.value}}},
        ]
    }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("speaker") and attrs["role"] != Message.Role.USER:
            raise serializers.ValidationError({"speaker": "Only with the role user."})
        return attrs


class MessagesForm(fields.Strict):
    messages = fields.BoundedList(child=MessageForm(), min_length=1, max_length=MAX_MESSAGES)


Received = inline_serializer(
    "Received",
    {
        "accepted": serializers.IntegerField(),
        "duplicates": serializers.IntegerField(),
        "conflicts": serializers.ListField(child=serializers.CharField()),
    },
)


class MessageQuery(PageQuery):
    session_id = serializers.CharField(required=False, allow_blank=True, max_length=200)
    role = serializers.ChoiceField(Message.Role.choices, required=False)
    metadata = fields.MetadataQuery()


class MessageSerializer(serializers.ModelSerializer):
    """A message as it was sent; erased ones are not listed."""

    id = serializers.IntegerField()
    client_id = serializers.CharField(allow_null=True)
    metadata = fields.Metadata()

    class Meta:
        model = Message
        fields: ClassVar = [
            "id", "client_id", "role", "speaker", "content", "session_id", "created_at", "received_at",
            "metadata",
        ]  # fmt: skip


class SessionSerializer(serializers.Serializer):
    session_id = serializers.CharField()
    messages = serializers.IntegerField()
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()


class SessionQuery(fields.Strict):
    """Which session; a user's messages of no session are erased one by one."""

    session_id = serializers.CharField(max_length=200)


def incoming(valid: Mapping[str, Any]) -> buffer.Incoming:
    """Returns a validated message in the form that the pipeline takes."""
    return buffer.Incoming(**{name: value for name, value in valid.items() if value})


class Messages(UserView):
    @operation("messages_list", page_of(MessageSerializer), query=MessageQuery)
    def get(self, query: Validated) -> Any:
        """The messages of a user, the latest received first"""
        rows = Message.objects.of(self.end_user).not_erased()
        for column in ("session_id", "role"):
            if column in query:
                rows = rows.filter(**{column: query[column]})
        if "metadata" in query:
            rows = rows.noted(query["metadata"])
        return page(self.request, rows, "seq", query, listed(MessageSerializer))

    @operation("messages_destroy", Forgotten, query=SessionQuery)
    def delete(self, asked: Validated) -> Any:
        """Erase the messages of a session for good

        Memories that rest on them alone are erased too, and what profiles learnt from these.
        Contacts stay. This can't be undone."""
        session = Message.objects.of(self.end_user).filter(**asked)
        return asdict(erase.forget_messages(self.end_user, session, By(self.actor)))

    @operation("messages_create", {202: Received}, body=MessagesForm)
    def post(self, asked: Validated) -> Any:
        """Send the messages of a conversation

        All of them are stored, or none. They are read in the background. An `id` that was sent
        before is a duplicate if role, speaker and content are the same; if not, it is listed in
        `conflicts`, and what was sent first is kept."""
        with atomic():
            received = buffer.receive(
                self.app, self.external_id, [incoming(m) for m in asked["messages"]]
            )
            if received.extraction_due:
                queue.enqueue("extract", received.end_user.pk)
        return {name: getattr(received, name) for name in ("accepted", "duplicates", "conflicts")}


class OneMessage(UserView):
    @operation("messages_retrieve", MessageSerializer)
    def get(self, message_id: int) -> Any:
        """One message"""
        message = first_or_404(self._rows_of(message_id), "unknown_message")
        return MessageSerializer(message).data

    @operation("messages_destroy_one", Forgotten)
    def delete(self, message_id: int) -> Any:
        """Erase a message for good

        With the memories that rest on it alone. This can't be undone."""
        row = self._rows_of(message_id)
        first_or_404(row, "unknown_message")
        return asdict(erase.forget_messages(self.end_user, row, By(self.actor)))

    def _rows_of(self, message_id: int) -> MessageQuerySet:
        return Message.objects.of(self.end_user).not_erased().filter(pk=message_id)


class Sessions(UserView):
    @operation("sessions_list", page_of(SessionSerializer), query=PageQuery)
    def get(self, query: Validated) -> Any:
        """The sessions of a user, the most recent first

        `DELETE messages/?session_id=` erases one."""
        rows = Message.objects.of(self.end_user).not_erased().order_by().values("session_id").annotate(
            messages=Count("pk"), first_at=Min("created_at"), last_at=Max("created_at"),
            last_seq=Max("seq"),
        )  # fmt: skip
        show = listed(SessionSerializer)
        return page(self.request, rows, "last_seq", query, show, tie="session_id")


class ProcessForm(fields.Strict):
    wait = fields.Flag(required=False, default=False)


Processed = fields.of_dataclass(catch_up.CaughtUp, "Processed")
Queued = inline_serializer(
    "Queued", {"pending": serializers.IntegerField(), "job": serializers.UUIDField()}
)


class Process(WaitingView):
    @operation("process_create", {200: Processed, 202: Queued}, body=ProcessForm)
    async def post(self, _request: Request, **_path: Any) -> Response:
        """Extract, link and consolidate everything received so far

        With `wait` it answers 200 when that is done, 503 if the model is unavailable, and 504 after
        300 s. Without, 202 at once. What is sent meanwhile is not waited for. `jobs/{id}/` of `job`
        shows the progress. At most 32 requests of an app wait at a time; one more is refused with
        429."""
        end_user_id, queued = await in_thread(self._begin)
        if queued is not None:
            return Response(queued, status=status.HTTP_202_ACCEPTED)
        try:
            done = await waiting.until_done(self.app.pk, end_user_id, WAIT_SECONDS)
        except waiting.TooMany as error:
            raise ApiError(429, "too_many_wait", str(error), retry_after=5) from error
        except waiting.OutOfTime as error:
            raise ApiError(504, "timeout", str(error), retry_after=1) from error
        except catch_up.Postponed as error:
            raise ApiError(503, "postponed", str(error), retry_after=error.seconds) from error
        return Response(asdict(done))

    def _begin(self) -> tuple[int, dict[str, Any] | None]:
        """Returns the end user's id and, unless the client waits, the answer with a new job."""
        wait, end_user_id = self.body(ProcessForm)["wait"], self.end_user.pk
        if wait:
            return end_user_id, None
        with atomic():
            job = catch_up.begin(end_user_id)
            queue.enqueue("process", end_user_id)
        return end_user_id, {"pending": catch_up.pending(end_user_id), "job": job.pk}


Job = fields.of_dataclass(
    catch_up.CaughtUp,
    "Job",
    state=serializers.ChoiceField(["queued", "running", "postponed", "done"]),
    retry_after=serializers.IntegerField(allow_null=True),
    id=serializers.UUIDField(),
    created_at=serializers.DateTimeField(),
    finished_at=serializers.DateTimeField(allow_null=True),
)


class OneJob(UserView):
    @operation("jobs_retrieve", Job)
    def get(self, job_id: UUID) -> Any:
        """The progress of a processing job

        Started by `process/` without `wait`, for what was sent before. Kept for 30 days."""
        job = first_or_404(ProcessJob.objects.of(self.end_user).filter(pk=job_id), "unknown_job")
        done = catch_up.follow(job)
        shown = {"id": job.pk, "created_at": job.created_at, "finished_at": job.finished_at}
        return {**shown, **done}
