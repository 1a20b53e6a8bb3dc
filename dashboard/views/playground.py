"""What a chat model would be told before it answers a message, and why; and its reply."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Literal, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import translation

from accounts.models import EndUser
from dashboard import access
from dashboard.forms import BY_HAND, QuestionForm
from dashboard.queries import left_out
from dashboard.queries import playground as queries
from dashboard.queries.contacts import distinctions, tell_apart
from dashboard.queries.memories import linked
from memories.context import build
from memories.context.build import Trace
from memories.context.request import ContextRequest
from memories.context.who import stored_turns
from memories.providers.errors import ProviderError
from memories.providers.factory import chat_model
from memories.providers.openai.chat import ChatMessage, ChatModel

LINES = "application/x-ndjson"  # a JSON object a line: text, error, or done


@access.page
def show(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The playground before anything was asked."""
    return _page(request, end_user, QuestionForm())


@access.question
def ask(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """What would be injected for the message, with its reasons. Leaves no trace."""
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _page(request, end_user, form, status=422)
    return _page(
        request,
        end_user,
        form,
        trace=build.trace(end_user, ContextRequest(**form.cleaned_data)),
    )


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
        context["near"] = near = left_out.near(end_user, trace, form.cleaned_data)
        memories = [one.memory for one in context["answer"].memories]
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
    """The model's reply with what is injected: line by line as it is written for a script
    that asks so, else on the page when it is complete. It costs money, so not for viewers."""
    form, chat = QuestionForm(request.POST), chat_model()
    if not form.is_valid() or chat is None:
        return _page(request, end_user, form, status=422)
    trace = build.trace(end_user, ContextRequest(**form.cleaned_data))
    messages = _conversation(end_user, form, trace.injection.system_prompt)
    if request.accepts(LINES) and not request.accepts("text/html"):
        return _streamed(chat, messages)
    written, problem = "", ""
    try:
        for piece in chat.stream(messages):
            written += piece
    except ProviderError as error:
        problem = queries.refusal(error)
    return _page(request, end_user, form, trace=trace, reply=written, problem=problem)


def _conversation(end_user: EndUser, form: QuestionForm, prompt: str) -> list[ChatMessage]:
    asked = form.cleaned_data
    stored, _before = stored_turns(end_user, asked["session_id"])
    before = asked["history"] or [(turn.role, turn.text) for turn in stored]
    system = [ChatMessage("system", prompt)] if prompt else []
    turns = [
        ChatMessage(cast(Literal["user", "assistant"], role), text)
        for role, text in before
        if role in ("user", "assistant")
    ]
    return [*system, *turns, ChatMessage("user", asked["message"])]


def _streamed(chat: ChatModel, messages: Sequence[ChatMessage]) -> StreamingHttpResponse:
    lines = partial(_lines, chat, messages, translation.get_language())
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(_read_aside(lines), content_type=LINES, headers=headers)


def _lines(chat: ChatModel, messages: Sequence[ChatMessage], language: str) -> Iterator[str]:
    """The reply as lines; the last says that it is done, or what went wrong."""
    try:
        with closing(cast(Any, chat.stream(messages))) as pieces:
            for piece in pieces:
                yield _line(text=piece)
    except ProviderError as error:
        with translation.override(language):
            yield _line(error=queries.refusal(error))
    else:
        yield _line(done=True)


def _line(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


async def _read_aside(lines: Callable[[], Iterator[str]]) -> AsyncIterator[str]:
    """The lines, each as soon as it is there, read in a thread of their own: a model that is
    slow holds up nobody else. When nobody listens any more, the reading ends."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[str | None] = asyncio.Queue()
    unheard = threading.Event()

    def hand_over(line: str | None) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(waiting.put_nowait, line)

    def read() -> None:
        try:
            with closing(cast(Any, lines())) as written:
                for line in written:
                    if unheard.is_set():
                        break
                    hand_over(line)
        finally:
            hand_over(None)

    threading.Thread(target=read, name="reply", daemon=True).start()
    try:
        while (line := await waiting.get()) is not None:
            yield line
    finally:
        unheard.set()


urls = [
    path("u/<int:user>/playground/", access.form(show, ask), name="playground"),
    path("u/<int:user>/playground/reply/", access.form(show, reply), name="playground_reply"),
]
