"""Everything a chat model should know before it answers."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from rest_framework import serializers
from rest_framework.response import Response

from accounts import fields
from accounts.api import UserView, Validated, operation
from contacts.lookup import HISTORY, MOST_STAY
from memories.api.erasures import ForgettingSerializer
from memories.api.search import RELEVANCE
from memories.context import build, pace
from memories.context.render import InjectedMemory
from memories.context.request import ALL, ContextRequest
from memories.context.types import Injection
from memories.context.usage import note_use
from memories.models import Message
from understanding.statements.client_text import without_client_text

MAX_HISTORY = 500


class Turn(fields.Strict):
    role = serializers.ChoiceField(Message.Role.choices)
    content = fields.Text(max_length=Message.MAX_CONTENT, allow_blank=True)


class ContextForm(fields.Strict):
    """``history`` are the turns before the message; without any, the stored session is read."""

    message = fields.Text(max_length=Message.MAX_CONTENT)
    speaker = fields.Text(max_length=200, allow_blank=True, allow_null=True, required=False)
    session_id = fields.Text(max_length=200, allow_blank=True, allow_null=True, required=False)
    history = fields.BoundedList(child=Turn(), max_length=MAX_HISTORY, required=False)
    limit = fields.Whole(min_value=1, max_value=100, default=10)
    token_budget = fields.Whole(min_value=1, max_value=100_000, default=1500)
    keep_cards = fields.Whole(min_value=0, max_value=MOST_STAY, required=False)
    resolve = serializers.ChoiceField(["auto", "fast", "model"], required=False)
    resolve_budget_ms = fields.Whole(min_value=50, max_value=10_000, default=pace.BUDGET_MS)
    include = fields.BoundedList(
        child=serializers.ChoiceField(ALL), default=list(ALL), max_length=10
    )


InjectedMemories = type(
    fields.of_dataclass(
        InjectedMemory,
        relevance=serializers.FloatField(allow_null=True, help_text=RELEVANCE),
        said_on=serializers.DateField(),
        outdated_on=serializers.DateField(allow_null=True),
    )
)
Context = fields.of_dataclass(
    Injection,
    "Context",
    memories=InjectedMemories(many=True),
    forgetting=ForgettingSerializer(many=True),
)


class _Answer(Response):
    """A response that runs ``after`` once it is sent, in the thread of the request."""

    def __init__(self, body: Any, after: Callable[[], None]) -> None:
        super().__init__(body)
        self._after = after

    def close(self) -> None:
        try:
            self._after()
        finally:
            super().close()


class ContextView(UserView):
    reads = True

    @operation("context_create", Context, body=ContextForm)
    def post(self, asked: Validated) -> Any:
        """Who and what a message is about, as text for the system prompt"""
        message = without_client_text(asked["message"])
        if not message:
            return asdict(Injection())  # a client's own request, and no chat
        turns = [(turn["role"], turn["content"]) for turn in asked.get("history", [])]
        end_user, session_id = self.find_user(), asked.get("session_id") or ""
        if end_user is not None and (speaker := asked.get("speaker")):
            request = ContextRequest(
                message, limit=asked["limit"], token_budget=asked["token_budget"]
            )
            return asdict(build.trace_for_speaker(end_user, speaker, request).injection)
        asked |= {"message": message, "session_id": session_id, "history": turns[-HISTORY:]}
        asked.pop("speaker", None)
        traced = build.measured_trace(end_user, ContextRequest(**asked, heal=True))
        return _Answer(asdict(traced.injection), partial(note_use, end_user, traced, session_id))
