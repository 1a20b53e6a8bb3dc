"""The playground: what a chat model would be told before it answers, and why; and its reply."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import translation

from accounts.models import EndUser
from dashboard import access
from dashboard.forms import BY_HAND, QuestionForm
from dashboard.queries import playground as queries
from dashboard.queries.contacts import distinctions, tell_apart
from dashboard.queries.memories import linked
from memories.context import build
from memories.context.request import ContextRequest
from memories.context.types import Trace
from memories.context.who import stored_turns
from memories.providers.errors import ProviderError
from memories.providers.factory import chat_model
from memories.providers.interface import ChatMessage

if TYPE_CHECKING:
    from memories.providers.openai.chat import ChatModel

LINES = "application/x-ndjson"  # one JSON object per line: text, error, or done


@access.page
def show(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The playground before a question is asked."""
    return _page(request, end_user, QuestionForm())


@access.query_by_post
def ask(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Shows what would be injected for the message and why. Stores only calls of models."""
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _page(request, end_user, form, status=422)
    trace = build.trace(end_user, ContextRequest(**form.cleaned_data))
    return _page(request, end_user, form, trace=trace)


def _page(
    request: HttpRequest,
    end_user: EndUser,
    form: QuestionForm,
    trace: Trace | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    known = queries.sessions(end_user)
    context = {
        "end_user": end_user,
        "form": form,
        "sessions": known,
        "unnamed": any(not session.id for session in known),
        "by_hand": BY_HAND,
        "model": settings.MIO_LLM_MODEL if settings.MIO_LLM == "openai" else "",
        **more,
    }
    if trace is not None:
        context["answer"] = queries.answer(end_user, trace)
        context["near"] = near = queries.near(end_user, trace, form.cleaned_data)
        memories = [one["memory"] for one in context["answer"]["memories"]]
        memories += [one.row for one in near["memories"]]
        tell_apart([*linked(memories), *(one.row for one in near["people"])])
        names = [mention.person.name for mention in trace.mentions]
        context["apart"] = distinctions([end_user.pk], names)
    elif not form.is_bound:
        context["examples"] = queries.examples(end_user, known)
    name = "_play" if access.wants_part(request) else "page"
    return render(request, f"playground/{name}.html", context, status=status)


@access.action(token=False)
def reply(request: HttpRequest, end_user: EndUser) -> HttpResponse | StreamingHttpResponse:
    """Streams the model's reply as JSON lines to a script, or shows it on the page. Costs money."""
    form, chat = QuestionForm(request.POST), chat_model()
    if not form.is_valid() or chat is None:
        return _page(request, end_user, form, status=422)
    trace = build.trace(end_user, ContextRequest(**form.cleaned_data))
    messages = _conversation(end_user, form, trace.injection.system_prompt)
    if request.accepts(LINES) and not request.accepts("text/html"):
        lines = _reply_lines(chat, messages, translation.get_language())
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(lines, content_type=LINES, headers=headers)
    written, problem = "", ""
    try:
        for piece in chat.stream(messages):
            written += piece
    except ProviderError as error:
        problem = queries.refusal(error)
    return _page(request, end_user, form, trace=trace, reply=written, problem=problem)


def _conversation(end_user: EndUser, form: QuestionForm, prompt: str) -> list[ChatMessage]:
    """Returns the messages for the model: the prompt, the turns before, the question."""
    form_data = form.cleaned_data
    stored, _before = stored_turns(end_user, form_data["session_id"])
    earlier = form_data["history"] or [(turn.role, turn.text) for turn in stored]
    system = [ChatMessage("system", prompt)] if prompt else []
    turns = [
        ChatMessage(cast(Literal["user", "assistant"], role), text)
        for role, text in earlier
        if role in ("user", "assistant")
    ]
    return [*system, *turns, ChatMessage("user", form_data["message"])]


async def _reply_lines(
    chat: "ChatModel", messages: Sequence[ChatMessage], language: str
) -> AsyncIterator[str]:
    """Yields the reply as lines, each as it arrives; the last says that it is done, or what went
    wrong. A thread waits for the model, so that a slow one blocks nobody else."""
    pieces = iter(chat.stream(messages))
    last: dict[str, Any] = {"done": True}
    try:
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield _json_line(text=piece)
    except ProviderError as error:
        with translation.override(language):
            last = {"error": queries.refusal(error)}
    yield _json_line(**last)


def _json_line(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


urls = [
    path("u/<int:user>/playground/", access.form(show, ask), name="playground"),
    path("u/<int:user>/playground/reply/", access.form(show, reply), name="playground_reply"),
]
