"""Everything a chat model should know before it answers."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, operation
from accounts.fields import BoundedList, Strict, Text, Whole
from contacts.lookup import HISTORY, MOST_STAY
from memories.api.erasures import ForgettingSerializer
from memories.api.messages import MAX_CONTENT
from memories.api.serializers import RELEVANCE
from memories.context import build, measures, pace
from memories.context.request import ALL, ContextRequest
from memories.context.result import Injection
from memories.context.use import note_use
from memories.models import Message
from understanding.statements.client_text import without_client_text

MAX_HISTORY = 500


class Turn(Strict):
    role = serializers.ChoiceField(Message.Role.choices)
    content = Text(max_length=MAX_CONTENT, allow_blank=True)


class ContextForm(Strict):
    """``history`` are the turns before the message; without any, the stored session is read."""

    message = Text(max_length=MAX_CONTENT)
    speaker = Text(
        max_length=200,
        allow_blank=True,
        allow_null=True,
        required=False,
        help_text="Who else than the user wrote it: they get what they told themselves, and nothing "
        "that the user did.",
    )
    session_id = Text(max_length=200, allow_blank=True, allow_null=True, required=False)
    history = BoundedList(child=Turn(), max_length=MAX_HISTORY, required=False)
    limit = Whole(min_value=1, max_value=100, default=10, help_text="Memories at most.")
    token_budget = Whole(min_value=1, max_value=100_000, default=1500)
    keep_cards = Whole(
        min_value=0,
        max_value=MOST_STAY,
        required=False,
        help_text="For how many messages the card of somebody who was meant stays, in short.",
    )
    resolve = serializers.ChoiceField(
        ["auto", "fast", "model"],
        required=False,
        help_text="`auto`: where it is unsure who is meant, a model is asked, unless it turned out "
        "too slow here; `model`: however slow; `fast`: none is. Default: as Mio is set.",
    )
    resolve_budget_ms = Whole(
        min_value=50,
        max_value=10_000,
        default=pace.BUDGET_MS,
        help_text="For so long; after it, what was found without a model is the answer.",
    )
    include = BoundedList(child=serializers.ChoiceField(ALL), default=list(ALL), max_length=10)


Context = inline_serializer(
    "Context",
    {
        "system_prompt": serializers.CharField(help_text="Empty when there is nothing to say."),
        "user_card": serializers.CharField(
            allow_blank=True, help_text="The user's own card, which the prompt begins with."
        ),
        "contacts": inline_serializer(
            "InjectedContact",
            {
                "id": serializers.UUIDField(),
                "name": serializers.CharField(),
                "matched_by": serializers.CharField(
                    help_text="`conversation`: meant in the last turns, not in this message. "
                    "`memories`: not named, but what is known of them fits; `matched_text` is "
                    "the memory that fits best. `reference`: by what the user calls them. "
                    "`model`: a model was asked."
                ),
                "matched_text": serializers.CharField(),
                "confidence": serializers.FloatField(),
                "card": serializers.CharField(),
            },
            many=True,
        ),
        "memories": inline_serializer(
            "InjectedMemory",
            {
                "id": serializers.UUIDField(),
                "content": serializers.CharField(),
                "score": serializers.FloatField(help_text="What they are ordered by, 0 to 1."),
                "relevance": serializers.FloatField(allow_null=True, help_text=RELEVANCE),
                "reason": serializers.CharField(),
                "said_on": serializers.DateField(),
                "outdated_on": serializers.DateField(
                    allow_null=True, help_text="Since then it is no longer true."
                ),
                "speaker": serializers.CharField(
                    allow_blank=True, help_text="Who said it, where it is a quote."
                ),
                "ended": serializers.ListField(
                    child=serializers.CharField(), help_text="What of it is no longer true."
                ),
            },
            many=True,
        ),
        "forgetting": ForgettingSerializer(
            many=True, help_text="What the user asked in a chat to forget, the latest first."
        ),
        "dates": inline_serializer(
            "InjectedDate",
            {
                "contact": serializers.UUIDField(
                    allow_null=True, help_text="None: the user's own date, without a name."
                ),
                "name": serializers.CharField(allow_blank=True),
                "kind": serializers.CharField(),
                "on": serializers.DateField(),
                "years": serializers.IntegerField(allow_null=True),
            },
            many=True,
        ),
        "timing_ms": serializers.FloatField(),
        "resolved": serializers.CharField(
            help_text="Who said who is meant: `fast` (no model was wanted, or there is none), "
            "`sure` (there was nothing to ask), `model`, or `late` and `failed` (a model was "
            "asked, and what was found without it is the answer)."
        ),
        "searched": serializers.CharField(
            help_text="Whether memories were searched: `yes`, `words` (the message could not be "
            "embedded, words alone decided), `late` (it took longer than `MIO_CONTEXT_DEADLINE_MS`, "
            "and cards and linked memories went out without it), or `no` (not asked for, or a "
            "greeting)."
        ),
        "timing": serializers.DictField(
            child=serializers.FloatField(), help_text="Milliseconds by step; `model` if asked."
        ),
    },
)


class _Answer(Response):
    """A response with something left to do ``after`` it: a server closes it once it is sent, in
    the thread and with the connection of the request."""

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
    def post(self, _request: Request, **_path: Any) -> Response:
        """Who and what a message is about, as text for the system prompt"""
        asked = self.body(ContextForm)
        message = without_client_text(asked["message"])
        if not message:
            return Response(asdict(Injection()))  # a client's own request, and no chat
        turns = [(turn["role"], turn["content"]) for turn in asked.get("history", [])]
        end_user, session_id = self.find_user(), asked.get("session_id") or ""
        if end_user is not None and (speaker := asked.get("speaker")):
            bounds = {"limit": asked["limit"], "token_budget": asked["token_budget"]}
            traced = build.trace_for_speaker(end_user, speaker, message, **bounds)
            return Response(asdict(traced.injection))
        traced = measures.measured_trace(
            end_user,
            ContextRequest(
                message,
                session_id=session_id,
                history=turns[-HISTORY:],
                limit=asked["limit"],
                token_budget=asked["token_budget"],
                include=asked["include"],
                keep_cards=asked.get("keep_cards"),
                resolve=asked.get("resolve"),
                resolve_budget_ms=asked["resolve_budget_ms"],
                heal=True,
            ),
        )
        return _Answer(asdict(traced.injection), partial(note_use, end_user, traced, session_id))
