"""A streamed reply from a real server, and every way in which one breaks."""

import json
import logging
import traceback

import pytest

from memories.providers.errors import OutputError, PermanentError, ProviderError, TransientError
from memories.providers.interface import ChatMessage
from memories.providers.openai.chat import ChatModel
from memories.providers.openai.transport import ModelServer
from tests.memories.providers.openai.examples import KEY

SAID = "My sister Ilse is ill."
ASKED = [ChatMessage("system", "Be kind."), ChatMessage("user", SAID)]
REPLY = "我很难过听到这个消息，wish her well 👩‍🚀!"


@pytest.fixture
def chat(server, slept):
    return ChatModel(
        ModelServer(KEY, server.base_url, timeout_s=5, sleep=slept.append), "any-model"
    )


def broken(chat: ChatModel) -> tuple[str, ProviderError]:
    """What came of a reply before it broke, and with what error."""
    pieces: list[str] = []
    with pytest.raises(ProviderError) as caught:
        for piece in chat.stream(ASKED):
            pieces.append(piece)
    return "".join(pieces), caught.value


def test_a_reply_comes_in_pieces_that_make_the_whole(server, chat):
    server.reply_text(REPLY)
    pieces = list(chat.stream(ASKED))
    assert "".join(pieces) == REPLY
    assert len(pieces) > 1
    sent = server.requests[0].json
    assert sent["stream"] is True
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


def test_a_rate_limit_is_waited_for_before_the_first_piece(server, chat, slept):
    server.fail(429, retry_after=3)
    server.reply_text(REPLY)
    assert "".join(chat.stream(ASKED)) == REPLY
    assert 3 <= slept[0] < 4


def test_a_lasting_rate_limit_is_a_transient_error(server, chat):
    server.fail(429, times=None)
    assert isinstance(broken(chat)[1], TransientError)
    assert len(server.requests) == 2


def test_a_wrong_key_is_a_permanent_error(server, chat):
    server.fail(401, times=None)
    assert isinstance(broken(chat)[1], PermanentError)
    assert len(server.requests) == 1


def test_a_stream_that_is_cut_keeps_what_came_and_is_not_begun_again(server, chat):
    server.cut_stream(REPLY)
    came, error = broken(chat)
    assert isinstance(error, TransientError)
    assert came
    assert REPLY.startswith(came)
    assert came != REPLY
    assert len(server.requests) == 1


def test_a_stream_that_goes_silent_ends_in_a_timeout(server, slept):
    server.cut_stream(REPLY, stall=True)
    impatient = ChatModel(
        ModelServer(KEY, server.base_url, timeout_s=0.3, sleep=slept.append), "any-model"
    )
    came, error = broken(impatient)
    assert isinstance(error, TransientError)
    assert REPLY.startswith(came)
    assert came


@pytest.mark.parametrize("event", ["{", "7", "[]", '{"choices": 5}', '{"choices": [{"delta": 1}]}'])
def test_an_event_out_of_form_is_an_output_error(server, chat, event):
    server.garble_stream(REPLY, event)
    came, error = broken(chat)
    assert isinstance(error, OutputError)
    assert REPLY.startswith(came)


def test_an_error_in_the_middle_of_a_stream_is_transient(server, chat):
    server.garble_stream(REPLY, '{"error": {"message": "overloaded", "code": "server_error"}}')
    assert isinstance(broken(chat)[1], TransientError)


@pytest.mark.parametrize(
    ("reason", "kind"), [("length", OutputError), ("content_filter", PermanentError)]
)
def test_a_reply_that_the_model_did_not_finish_says_so(server, chat, reason, kind):
    server.reply_text(REPLY, finish_reason=reason)
    came, error = broken(chat)
    assert came == REPLY
    assert isinstance(error, kind)


def test_a_page_instead_of_a_stream_is_an_error(server, chat):
    server.reply_body("<html>Hello</html>")
    assert isinstance(broken(chat)[1], ProviderError)


def test_a_reader_that_leaves_early_closes_the_stream(server, chat):
    server.reply_text(REPLY * 50)
    stream = chat.stream(ASKED)
    next(stream)
    stream.close()
    server.reply_text("again")
    assert "".join(chat.stream(ASKED)) == "again"


@pytest.mark.parametrize("kind", ["status", "cut", "garbage", "error"])
def test_no_error_or_log_shows_the_chat_or_the_key(server, chat, caplog, kind):
    caplog.set_level(logging.DEBUG)
    echo = f"{KEY} said {SAID}"
    if kind == "status":
        server.fail(400, message=echo, times=None)
    elif kind == "cut":
        server.cut_stream(echo)
    elif kind == "garbage":
        server.garble_stream(REPLY, "{" + echo)
    else:
        server.garble_stream(REPLY, json.dumps({"error": {"message": echo}}))
    _, error = broken(chat)
    shown = "".join(traceback.format_exception(error)) + caplog.text
    assert KEY not in shown
    assert "Ilse" not in shown
