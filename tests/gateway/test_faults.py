"""Upstreams that stall, break off and refuse, and clients that leave: nobody waits for ever, what
was said is kept, and nothing is held meanwhile."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import openai
import pytest
from django.db import connection

from accounts import scope
from accounts.models import ApiKey, EndUser
from gateway import relay, upstreams
from memories.models import Message
from tests.factories import make_app
from tests.gateway.conftest import COUNTED, Door
from tests.gateway.upstream import MODEL, Step, Upstream, chunk, stream_of, whole
from tests.mio_site.waiting import eventually
from tests.processes import _OTHERS as OTHERS

pytestmark = pytest.mark.django_db(transaction=True)
HALF = [chunk({"content": "Half "}), chunk({"content": "an answer"})]
ASKED: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Hi."}]}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upstreams have a fifth of a second for each byte."""
    monkeypatch.setattr(relay, "TIMEOUT", httpx2.Timeout(5, read=0.2))
    monkeypatch.setattr("gateway.front.Gateway._client", lambda _self: relay.client())


def stream(door: Door) -> Iterator[str]:
    client = door.client(X_Mio_User="zoe")
    for part in client.chat.completions.create(**ASKED, stream=True):
        yield from (choice.delta.content or "" for choice in part.choices)


def stored() -> list[tuple[str, str]]:
    COUNTED.wait()
    return list(Message.objects.order_by("seq").values_list("role", "content"))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, b'{"error": {"message": "Slow down.", "type": "tokens", "code": "rate_limit"}}'),
        (500, b'{"error": {"message": "Oh.", "type": "server_error"}}'),
        (503, b"<html>upstream is away</html>"),
    ],
)
def test_the_upstreams_own_errors_pass_as_they_are(
    door: Door, upstream: Upstream, status: int, body: bytes
) -> None:
    upstream.script.append(Step([body], status, "application/json", headers={"retry-after": "7"}))
    answer = door.post({**ASKED, "stream": True}, X_Mio_User="zoe")
    assert (answer.status_code, answer.content) == (status, body)
    assert answer.headers["retry-after"] == "7"
    assert stored() == [("user", "Hi.")]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"choices": [null]}', b'{"choices": 3}'])
def test_an_answer_that_makes_no_sense_passes_and_is_not_stored(
    door: Door, upstream: Upstream, body: bytes
) -> None:
    upstream.script.append(Step([body], content_type="application/json"))
    assert door.post(ASKED, X_Mio_User="zoe").content == body
    COUNTED.wait()
    upstream.script.append(Step([b"data: " + body + b"\n\n", b"data: {\n\n"]))
    assert door.post(ASKED, X_Mio_User="zoe").content == b"data: " + body + b"\n\ndata: {\n\n"
    assert stored() == [("user", "Hi.")]


def test_a_stream_that_ends_early_is_passed_and_stored_as_far_as_it_came(
    door: Door, upstream: Upstream
) -> None:
    upstream.script.append(Step([*HALF, b"data: "]))
    answer = door.post({**ASKED, "stream": True}, X_Mio_User="zoe")
    assert answer.content == b"".join(HALF) + b"data: "
    assert stored() == [("user", "Hi."), ("assistant", "Half an answer")]


def test_a_stream_that_breaks_off_ends_with_an_error_that_the_client_raises(
    door: Door, upstream: Upstream
) -> None:
    upstream.script.append(Step([*HALF, b'data: {"choices": [{"ind'], then="break"))
    heard = []
    with pytest.raises(openai.APIError) as raised:
        heard += [text for text in stream(door)]  # noqa: C416 kept when it raises
    assert raised.value.code == "upstream_unreachable"
    assert stored() == [("user", "Hi."), ("assistant", "Half an answer")]


def test_an_answer_in_one_piece_that_breaks_off_is_a_502(door: Door, upstream: Upstream) -> None:
    half = whole({"role": "assistant", "content": "Noted."})[:40]
    upstream.script.append(Step([half], content_type="application/json", then="break"))
    answer = door.post(ASKED, X_Mio_User="zoe")
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_unreachable"


def test_a_long_answer_that_breaks_off_ends_the_connection(door: Door, upstream: Upstream) -> None:
    half = [b"a" * 60_000] * 100
    upstream.script.append(Step(half, content_type="application/json", then="break"))
    with pytest.raises(httpx2.RemoteProtocolError):
        door.post(ASKED, X_Mio_User="zoe")
    assert stored() == [("user", "Hi.")]


def test_a_line_without_an_end_that_breaks_off_is_followed_by_an_error_event(
    door: Door, upstream: Upstream
) -> None:
    half = [*HALF, *[b"a" * 60_000] * 20]
    upstream.script.append(Step(half, then="break"))
    answer = door.post({**ASKED, "stream": True}, X_Mio_User="zoe").content
    begun, _, event = answer.rpartition(b"\n\ndata: ")
    assert begun.startswith(b"".join(HALF) + b"aaa")
    assert json.loads(event)["error"]["code"] == "upstream_unreachable"
    assert stored() == [("user", "Hi."), ("assistant", "Half an answer")]


def test_headers_of_the_upstream_that_speak_for_mio_are_kept_back(
    door: Door, upstream: Upstream
) -> None:
    headers = {
        "access-control-allow-origin": "*", "x-mio-memory": "injected", "x-mio-other": "a",
        "set-cookie": "a=b", "x-own": "kept",
    }  # fmt: skip
    upstream.script.append(Step([b"{}"], content_type="application/json", headers=headers))
    answer = door.post(ASKED, X_Mio_User="zoe")
    assert answer.headers["x-mio-memory"] == "none"
    passed = {name for name in headers if name in answer.headers}
    assert passed == {"x-mio-memory", "x-own"}


@pytest.mark.parametrize("first", ["chat/completions", "embeddings"])
def test_no_cookie_of_an_upstream_goes_anywhere(door: Door, upstream: Upstream, first: str) -> None:
    other = make_app(name="other")
    upstreams.configure(other, f"{upstream.address}/other", key="sk-other")
    theirs = Door(other, door.address, ApiKey.issue(other)[1])
    cookie = {"set-cookie": "session=of-one-app; Path=/"}
    upstream.script.append(Step([b"{}"], content_type="application/json", headers=cookie))
    for one, path in ((door, first), (door, "chat/completions"), (theirs, "chat/completions")):
        assert one.post(ASKED, path, X_Mio_User="zoe").status_code == 200
    assert [asked.headers["authorization"] for asked in upstream.asked[1:]] == [
        "Bearer sk-upstream", "Bearer sk-other"
    ]  # fmt: skip
    assert not any("cookie" in asked.headers for asked in upstream.asked)


def test_a_redirect_of_the_upstream_is_not_followed(door: Door, upstream: Upstream) -> None:
    away = {"location": f"{upstream.address}/elsewhere"}
    upstream.script.append(Step([b"{}"], 307, "application/json", headers=away))
    assert door.post(ASKED, X_Mio_User="zoe").status_code == 307
    assert len(upstream.asked) == 1


def test_a_scheme_that_signs_a_connection_in_is_not_passed_on(
    door: Door, upstream: Upstream
) -> None:
    upstreams.configure(door.app, upstream.address, key="")
    for sent in ("Negotiate abc", "NTLM abc", "Bearer abc"):
        door.post(ASKED, X_Mio_User="zoe", X_Mio_Key=door.secret, Authorization=sent)
    passed = [asked.headers.get("authorization") for asked in upstream.asked]
    assert passed == [None, None, "Bearer abc"]


def test_a_stall_is_an_error_in_its_place(door: Door, upstream: Upstream, impatient: None) -> None:
    upstream.script.append(Step([], content_type="application/json", then="stall"))
    answer = door.post(ASKED, X_Mio_User="zoe")
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timeout")
    upstream.script.append(Step(HALF, then="stall"))
    with pytest.raises(openai.APIError) as raised:
        list(stream(door))
    assert raised.value.code == "upstream_timeout"
    assert upstream.left.wait(30)


def test_an_upstream_that_is_not_there_is_a_502(door: Door) -> None:
    upstreams.configure(door.app, "http://127.0.0.1:9/v1")
    with pytest.raises(openai.InternalServerError) as raised:
        list(stream(door))
    assert raised.value.status_code == 502
    assert raised.value.code == "upstream_unreachable"


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_when_the_client_leaves_the_upstream_is_left_too(
    door: Door, upstream: Upstream, kind: str
) -> None:
    pieces = HALF if kind == "text/event-stream" else []
    upstream.script.append(Step(pieces, content_type=kind, then="stall"))
    headers = {"Authorization": f"Bearer {door.secret}", "X-Mio-User": "zoe"}
    address = f"{door.address}/chat/completions"
    with httpx2.Client(trust_env=False) as http:
        if pieces:
            with http.stream("POST", address, json=ASKED, headers=headers) as answer:
                assert next(answer.iter_bytes()) == HALF[0]
        else:
            with pytest.raises(httpx2.ReadTimeout):
                http.post(address, json=ASKED, headers=headers, timeout=2)
    assert upstream.left.wait(30)
    (said, *heard) = stored()
    assert said == ("user", "Hi.")
    # As far as it came before the client was missed.
    assert (
        heard in ([("assistant", "Half")], [("assistant", "Half an answer")])
        if pieces
        else not heard
    )


def test_while_answers_stream_no_connection_and_no_thread_is_held(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    upstream.script += [Step(HALF, then="stall")] * 30
    before = threading.active_count()
    headers = {"Authorization": f"Bearer {door.secret}", "X-Mio-User": "zoe"}
    asked = {**ASKED, "messages": [{"role": "user", "content": "How is Kim?"}]}
    with httpx2.Client(trust_env=False, timeout=60) as http:
        streams = [
            http.send(
                http.build_request(
                    "POST", f"{door.address}/chat/completions", json=asked, headers=headers
                ),
                stream=True,
            )
            for _ in range(30)
        ]
        assert {answer.headers["x-mio-memory"] for answer in streams} == {"injected"}
        assert eventually(lambda: sessions() == 0)
        # Those of the gateway's own pools, which wait for work.
        assert threading.active_count() <= before + 10
        for answer in streams:
            answer.close()
    assert stored()[0] == ("user", "How is Kim?")


@scope.undeclared()
def sessions() -> int:
    """Connections to the database that others hold."""
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")
        cursor.execute(f"SELECT count(*) FROM ({OTHERS})")
        return cursor.fetchone()[0]


def test_no_answer_is_stored_for_a_user_who_was_erased_meanwhile(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    upstream.script.append(Step(HALF, then="stall"))
    headers = {"Authorization": f"Bearer {door.secret}", "X-Mio-User": "zoe"}
    with (
        httpx2.Client(trust_env=False) as http,
        http.stream("POST", f"{door.address}/chat/completions", json=ASKED, headers=headers) as _,
    ):
        assert eventually(lambda: Message.objects.filter(role="user").exists())
        EndUser.objects.all().delete()
    assert stored() == []
    assert not EndUser.objects.exists()


# The requests of chat clients, as their public sources send them


def open_webui() -> tuple[str, dict[str, str], dict[str, Any]]:
    headers = {"X-OpenWebUI-User-Id": "u-1", "X-OpenWebUI-User-Name": "Zo%C3%AB",
               "X-OpenWebUI-User-Email": "zoe@example.com", "X-OpenWebUI-User-Role": "user",
               "X-OpenWebUI-Chat-Id": "chat-1"}  # fmt: skip
    body = {"stream": True, "stream_options": {"include_usage": True}}
    return "/v1/chat/completions", headers, body


def librechat() -> tuple[str, dict[str, str], dict[str, Any]]:
    headers = {"X-LibreChat-User-Id": "u-1", "X-LibreChat-Conversation-Id": "chat-1",
               "X-Stainless-Lang": "js"}  # fmt: skip
    return "/v1/chat/completions", headers, {"stream": True, "user": "66f0", "temperature": 1}


def lobechat() -> tuple[str, dict[str, str], dict[str, Any]]:
    body = {"stream": True, "user": "u-1", "top_p": 1, "presence_penalty": 0}
    return "/v1/chat/completions", {}, body


def cherry_studio() -> tuple[str, dict[str, str], dict[str, Any]]:
    headers = {"X-Mio-User": "u-1", "HTTP-Referer": "https://cherry-ai.com",
               "X-Title": "Cherry Studio"}  # fmt: skip
    return "/v1/chat/completions", headers, {"stream": True, "enable_thinking": False}


def chatbox() -> tuple[str, dict[str, str], dict[str, Any]]:
    return "/v1/chat/completions", {}, {"stream": True, "max_tokens": 4096}


def nextchat() -> tuple[str, dict[str, str], dict[str, Any]]:
    body = {"stream": True, "temperature": 0.5, "presence_penalty": 0, "frequency_penalty": 0}
    return "/v1/chat/completions", {"Accept": "application/json"}, body


@pytest.mark.parametrize(
    "client", [open_webui, librechat, lobechat, cherry_studio, chatbox, nextchat]
)
def test_each_client_is_known_and_answered(
    door: Door, upstream: Upstream, client: Callable[[], tuple[str, dict[str, str], dict[str, Any]]]
) -> None:
    path, headers, body = client()
    bound = client in (chatbox, nextchat)
    _, secret = ApiKey.issue(
        door.app, external_id="u-1" if bound else "", trusted=client in (open_webui, librechat)
    )
    messages = [{"role": "system", "content": "You are helpful."}, *ASKED["messages"]]
    with httpx2.Client(trust_env=False) as http:
        answer = http.post(
            door.address.removesuffix("/v1") + path,
            json={"model": MODEL, "messages": messages, **body},
            headers={"Authorization": f"Bearer {secret}", **headers},
        )
    assert answer.content == b"".join(stream_of("Noted."))
    assert stored() == [("user", "Hi."), ("assistant", "Noted.")]
    message = Message.objects.select_related("end_user").first()
    assert message is not None
    assert message.end_user.external_id == "u-1"
    assert (message.session_id == "chat-1") == (client in (open_webui, librechat))
    assert b"u-1" not in upstream.asked[0].raw


def test_pages_of_other_origins_may_call_where_they_are_allowed(door: Door) -> None:
    asked = {"Origin": "https://chat.example", "Access-Control-Request-Method": "POST"}
    with httpx2.Client(trust_env=False) as http:
        answer = http.options(f"{door.address}/chat/completions", headers=asked)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "chat/completions"), ("POST", "models"), ("GET", "responses/r/input_items")],
)
def test_what_is_not_here_says_what_is(door: Door, method: str, path: str) -> None:
    with httpx2.Client(trust_env=False) as http:
        answer = http.request(method, f"{door.address}/{path}")
    assert answer.status_code == 404
    assert "/v1/chat/completions" in answer.json()["error"]["message"]
