"""What is no chat is handed on to the upstream as it comes, and to no other address than was meant."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from accounts.models import ApiKey, EndUser
from gateway import bodies, upstreams
from memories.models import Message
from tests.gateway.conftest import COUNTED, Door
from tests.gateway.upstream import Step, Upstream, stream_of

pytestmark = pytest.mark.django_db(transaction=True)


def send(door: Door, path: str, method: str = "POST", **more: Any) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {door.secret}", "X-Mio-User": "zoe"}
    with httpx2.Client(trust_env=False, timeout=30) as client:
        answer = client.request(
            method, f"{door.address}/{path}", headers=headers | more.pop("headers", {}), **more
        )
    COUNTED.wait()
    return answer


@pytest.mark.parametrize("raw", [b'{"model":"m", "input": "\\ud800"}', b"no JSON"])
def test_a_request_reaches_the_upstream_as_the_same_bytes_and_so_does_the_answer(
    door: Door, zoe: EndUser, upstream: Upstream, raw: bytes
) -> None:
    told = Step([b'{"data"', b": []}"], 201, "application/json", headers={"x-own": "kept"})
    upstream.script.append(told)
    answer = send(door, "embeddings?a=%20b&c=+", content=raw, headers={"Content-Type": "text/x"})
    assert (answer.status_code, answer.content) == (201, b'{"data": []}')
    assert answer.headers["x-own"] == "kept"
    assert "x-mio-memory" not in answer.headers
    [asked] = upstream.asked
    assert (asked.path, asked.query, asked.raw) == ("/v1/embeddings", "a=%20b&c=+", raw)
    assert asked.headers["authorization"] == "Bearer sk-upstream"
    assert asked.headers["content-length"] == str(len(raw))
    assert asked.headers["content-type"] == "text/x"
    assert not {name for name in asked.headers if name.startswith("x-mio")}
    assert not Message.objects.exists()


def test_files_go_up_and_streams_and_sounds_come_back(door: Door, upstream: Upstream) -> None:
    sound = b"\0\xff" * 100_000
    upstream.script += [
        Step([sound[:70_000], sound[70_000:]], content_type="audio/mpeg"), Step(stream_of("Hi."))
    ]  # fmt: skip
    answer = send(door, "audio/speech", files={"file": ("a.wav", sound)})
    assert answer.content == sound
    assert sound in upstream.asked[0].raw
    assert upstream.asked[0].headers["content-type"].startswith("multipart/form-data; boundary=")
    assert send(door, "completions", json={}).content == b"".join(stream_of("Hi."))


def test_other_methods_are_handed_on(door: Door, upstream: Upstream) -> None:
    upstream.script.append(Step([b"{}"], content_type="application/json"))
    assert send(door, "files/file-1", "DELETE").status_code == 200
    assert upstream.asked[0].method == "DELETE"


def test_what_breaks_off_and_what_is_too_large_are_errors(
    door: Door, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.script.append(Step([b"{"], content_type="application/json", then="break"))
    assert send(door, "embeddings", json={}).status_code == 502
    monkeypatch.setattr(bodies, "MAX_HANDED_ON", 100_000)
    upstream.asked.clear()
    assert send(door, "embeddings", content=b"a" * 100_001).status_code == 413
    assert upstream.asked == []
    pieces = (b"a" * 60_000 for _ in range(2))  # without its length
    assert send(door, "embeddings", content=pieces).json()["error"]["code"] == "too_large"


def test_keys_are_the_same_as_of_chats(door: Door, upstream: Upstream) -> None:
    _, bound = ApiKey.issue(door.app, external_id="kai")
    theirs = Door(door.app, door.address, bound)
    assert send(theirs, "embeddings", json={}).json()["error"]["code"] == "key_of_one_user"
    mine = {"X-Mio-User": "kai"}
    assert send(theirs, "files", "GET", headers=mine).json()["error"]["code"] == "key_of_one_user"
    assert send(Door(door.app, door.address, "mio_no"), "embeddings", json={}).status_code == 401
    assert upstream.asked == []
    upstream.script.append(Step([b"{}"], content_type="application/json"))
    assert send(theirs, "embeddings", json={}, headers=mine).status_code == 200
    upstreams.remove(door.app)
    assert send(door, "embeddings", json={}).json()["error"]["code"] == "no_upstream"


TRICKS = [
    "/v1/../admin", "/v1/..", "/v1/x/../../admin", "/v1/%2e%2e/admin", "/v1/x/%2E%2E/%2e%2e/admin",
    "/v1/..%2fadmin", "/v1/x%2f..%2f..%2fadmin", "/v1/%252e%252e/admin", "/v1/..\\admin", "/v1/x/./y",
    "/v1/x//y", "/v1/http://other.example/x", "/v1/x%00", "/v1/x%0d%0aHost:%20other", "/v1/x;y",
    "/v1/x%3fa", "/v1/x%23a", "/v1/Responses/resp_1", "/v1//responses/resp_1/input_items",
    "/v1/responses%2Fresp_1%2Finput_items", "/v1/models/../files", "/v1/models/%2e%2e/files",
    "/v1/chat/completions/1", "/v1/",
]  # fmt: skip


@pytest.mark.parametrize("target", TRICKS)
def test_no_address_leads_out_of_the_upstream_or_to_what_mio_answers(
    door: Door, upstream: Upstream, target: str
) -> None:
    server = urlsplit(door.address)
    client = http.client.HTTPConnection(str(server.hostname), server.port, timeout=30)
    client._validate_path = lambda url: None  # type: ignore[attr-defined]
    client.request(
        "GET", target, headers={"Authorization": f"Bearer {door.secret}", "X-Mio-User": "zoe"}
    )
    answer = client.getresponse()
    assert (answer.status, json.load(answer)["error"]["code"]) == (404, "not_found")
    client.close()
    assert upstream.asked == []


def test_an_absolute_address_is_none_of_the_gateways(door: Door, upstream: Upstream) -> None:
    server = urlsplit(door.address)
    client = http.client.HTTPConnection(str(server.hostname), server.port, timeout=30)
    headers = {"Authorization": f"Bearer {door.secret}"}
    client.request("GET", f"{upstream.address}/files", headers=headers)
    assert client.getresponse().status == 404
    client.close()
    assert upstream.asked == []


def test_the_id_of_a_request_is_mios_whoever_answers_it(door: Door, upstream: Upstream) -> None:
    upstream.script += [Step([b"{}"], content_type="application/json") for _ in range(3)]
    chosen = send(door, "rerank", json={}, headers={"X-Request-ID": "mine-1"})
    assert chosen.headers["x-request-id"] == upstream.asked[0].headers["x-request-id"] == "mine-1"
    forged = [send(door, "rerank", json={}, headers={"X-Request-ID": "a b"}) for _ in range(2)]
    refused = send(door, "nothing//here", json={})
    ids = [answer.headers["x-request-id"] for answer in (*forged, refused)]
    assert len(set(ids) - {"", "a b", "up-1"}) == 3
