"""Whatever is sent, the answer is JSON in one form, with the right status."""

import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import ApiKey, EndUser
from accounts.urls import urlpatterns as account_urls
from contacts.urls import urlpatterns as contact_urls
from imports.urls import urlpatterns as import_urls
from memories.api.messages import Messages
from memories.models import Message
from memories.urls import urlpatterns as memory_urls
from tests.api import ENDPOINTS, ApiClient, assert_error, user_address

pytestmark = pytest.mark.django_db

MESSAGES = "users/zoe/messages/"


def one(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hello", **fields}]}


def days(count: float) -> str:
    return (datetime.now(UTC) + timedelta(days=count)).isoformat()


DEEP = b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
TWICE = b'{"messages":[{"role":"user","content":"good","content":"hello"}]}'
FORTY_DEEP = b'{"messages":' + b"[" * 40 + b"]" * 40 + b"}"

# kind -> (what is sent, the field that is named, if any)
BAD_MESSAGES: dict[str, tuple[dict[str, Any], str | None]] = {
    "not JSON": ({"raw": b"{nope"}, None),
    "nothing": ({"raw": b""}, "messages"),
    "a list": ({"body": []}, ""),
    "a number": ({"body": 7}, ""),
    "null": ({"raw": b"null"}, None),
    "no messages": ({"body": {}}, "messages"),
    "messages null": ({"body": {"messages": None}}, "messages"),
    "messages an object": ({"body": {"messages": {}}}, "messages"),
    "no message at all": ({"body": {"messages": []}}, "messages"),
    "501 messages": ({"body": {"messages": one()["messages"] * 501}}, "messages"),
    "a message a string": ({"body": {"messages": ["hi"]}}, "messages[0]"),
    "a field too many": ({"body": one() | {"user": "zoe"}}, "user"),
    "a misspelt field": ({"body": one(sesion_id="s")}, "messages[0].sesion_id"),
    "role missing": ({"body": {"messages": [{"content": "x"}]}}, "messages[0].role"),
    "role unknown": ({"body": one(role="wizard")}, "messages[0].role"),
    "role a number": ({"body": one(role=1)}, "messages[0].role"),
    "content missing": ({"body": {"messages": [{"role": "user"}]}}, "messages[0].content"),
    "content a number": ({"body": one(content=5)}, "messages[0].content"),
    "content a boolean": ({"body": one(content=True)}, "messages[0].content"),
    "content an object": ({"body": one(content={"text": "x"})}, "messages[0].content"),
    "content empty": ({"body": one(content="")}, "messages[0].content"),
    "content only space": ({"body": one(content=" \n\u3000\t")}, "messages[0].content"),
    "content of a megabyte": ({"body": one(content="x" * 1_000_000)}, "messages[0].content"),
    "NUL in content": ({"body": one(content="a\u0000b")}, "messages[0].content"),
    "NUL in an id": ({"body": one(id="\u0000")}, "messages[0].id"),
    "NUL in a key": ({"body": {"a\u0000": 1}}, ""),
    "lone surrogate": ({"raw": rb'{"messages":[{"role":"user","content":"\ud800"}]}'},
                       "messages[0].content"),
    "lone surrogate in a session": ({"body": one(session_id="\udfff")}, "messages[0].session_id"),
    "lone surrogate in a key": ({"raw": rb'{"\udead":1}'}, ""),
    "not UTF-8": ({"raw": b'{"messages":[{"role":"user","content":"\xff\xfe"}]}'}, None),
    "UTF-16": ({"raw": json.dumps(one()).encode("utf-16")}, None),
    "id a number": ({"body": one(id=12)}, "messages[0].id"),
    "id of 201 characters": ({"body": one(id="i" * 201)}, "messages[0].id"),
    "id blank": ({"body": one(id="")}, "messages[0].id"),
    "session of 201 characters": ({"body": one(session_id="s" * 201)}, "messages[0].session_id"),
    "session a list": ({"body": one(session_id=[])}, "messages[0].session_id"),
    "time not a time": ({"body": one(created_at="yesterday")}, "messages[0].created_at"),
    "time a number": ({"body": one(created_at=1700000000)}, "messages[0].created_at"),
    "time of no calendar": ({"body": one(created_at="2026-02-30T10:00:00Z")},
                            "messages[0].created_at"),
    "time in two days": ({"body": one(created_at=days(2))}, "messages[0].created_at"),
    "time in 1969": ({"body": one(created_at="1969-12-31T23:59:59Z")}, "messages[0].created_at"),
    "time in year 1": ({"body": one(created_at="0001-01-01T00:00:00+14:00")},
                       "messages[0].created_at"),
    "time in year 9999": ({"body": one(created_at="9999-12-31T23:59:59-14:00")},
                          "messages[0].created_at"),
    "the same key twice": ({"raw": TWICE}, None),
    "NaN": ({"raw": b'{"messages":[NaN]}'}, None),
    "Infinity": ({"raw": b'{"messages":[-Infinity]}'}, None),
    "a number too large": ({"raw": b'{"messages":[1e999]}'}, None),
    "a number of 5,000 digits": ({"raw": b'{"messages":[' + b"9" * 5000 + b"]}"}, None),
    "100,000 brackets": ({"raw": DEEP}, None),
    "40 brackets": ({"raw": FORTY_DEEP}, None),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_MESSAGES)
def test_bad_messages_are_refused_whole_with_the_field_named(kind: str) -> None:
    sent, field = BAD_MESSAGES[kind]
    client = ApiClient()

    error = assert_error(client.call("POST", MESSAGES, **sent), 400)

    if field:
        assert field in error["fields"]
        assert error["message"].startswith(f"{field}: ")
    assert not Message.objects.exists()
    assert not EndUser.objects.exists()


def test_one_bad_message_among_good_ones_stores_none() -> None:
    client = ApiClient()
    messages = [*one()["messages"] * 3, {"role": "user", "content": ""}]

    error = assert_error(client.post(MESSAGES, {"messages": messages}), 400, "invalid")

    assert list(error["fields"]) == ["messages[3].content"]
    assert not Message.objects.exists()


def test_every_problem_is_told_at_once() -> None:
    messages = [{"role": "x", "content": "a"}, {"role": "user"}, {"role": "user", "content": "b"}]

    error = assert_error(ApiClient().post(MESSAGES, {"messages": messages}), 400)

    assert list(error["fields"]) == ["messages[0].role", "messages[1].content"]


def test_other_content_types_are_415() -> None:
    client = ApiClient()
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        reply = client.call("POST", MESSAGES, raw=b"messages=1", content_type=kind)
        assert_error(reply, 415, "unsupported_media_type")
    assert not EndUser.objects.exists()


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_body_above_the_limit_is_413() -> None:
    reply = ApiClient().post(MESSAGES, one(content="x" * 1000))
    assert_error(reply, 413, "too_large")
    assert not EndUser.objects.exists()


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_chunked_body_is_read_and_limited_like_any_other() -> None:
    client = ApiClient()
    for size, status in ((10, 202), (1000, 413)):
        body = json.dumps(one(content="x" * size)).encode()
        headers = {
            "authorization": f"Bearer {client.secret}",
            "content-type": "application/json",
            "transfer-encoding": "chunked",
        }
        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/api/v1/{MESSAGES}",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        response = Messages.as_view()(ASGIRequest(scope, BytesIO(body)), user="zoe")
        assert response.status_code == status, response.data


@pytest.mark.parametrize(
    "address", ["/api/", "/api/v2/", "/api/v1/nothing/", "users/zoe/messages", "users/zoe/contacts/7/"]
)  # fmt: skip
@override_settings(DEBUG=True)
def test_unknown_addresses_below_api_are_json_404s(address: str) -> None:
    for method in ("GET", "POST"):
        assert_error(ApiClient().call(method, address), 404, "not_found")


def test_a_method_that_an_address_does_not_take_is_405() -> None:
    client = ApiClient()
    assert_error(client.patch(MESSAGES), 405, "method_not_allowed")
    assert_error(client.call("DELETE", "users/zoe/contacts/"), 405, "method_not_allowed")


def test_a_client_that_takes_no_json_is_told_in_json() -> None:
    assert_error(ApiClient().get("app/", HTTP_ACCEPT="image/png"), 406)


def test_an_unforeseen_error_is_a_500_that_tells_nobody_what_was_said(caplog: Any) -> None:
    client = ApiClient()
    client.http.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memories_message ADD CHECK (content <> 'private words')")

    error = assert_error(client.post(MESSAGES, one(content="private words")), 500, "internal")

    assert "CHECK" not in str(error).upper()
    assert "IntegrityError" in caplog.text
    assert "buffer.py" in caplog.text
    assert "private words" not in caplog.text
    assert not EndUser.objects.exists()


@pytest.mark.parametrize(
    "external_id",
    ["a b", "zoë@example.org", "小红", "auth0|1", "a/b", "/", "100%", "a?b#c", "..a", "👩‍👩‍👧", "x" * 200, "contacts"],
)  # fmt: skip
def test_a_user_id_may_be_anything_printable(external_id: str) -> None:
    client = ApiClient()
    address = user_address(external_id, "messages/")
    assert client.post(address, one())[0] == 202
    assert EndUser.objects.get().external_id == external_id
    assert client.get(user_address(external_id, "contacts/"))[0] == 200


@pytest.mark.parametrize("quoted", ["x" * 201, "a%00b", "a%1Fb", "a%EF%BF%BDb", "%C2%85"])
def test_a_user_id_that_is_none_is_refused(quoted: str) -> None:
    client = ApiClient()
    assert_error(client.post(f"users/{quoted}/messages/", one()), 400, "invalid_user")
    assert not EndUser.objects.exists()


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer mio_wrong", "Basic bWlvOng=", "Bearer ü", "mio_x"]
)
def test_no_key_or_a_wrong_one_is_401(header: str) -> None:
    client = ApiClient()
    headers = {"HTTP_AUTHORIZATION": header}
    assert_error(client.get("app/", **headers), 401)
    assert client.reply.headers["WWW-Authenticate"].startswith("Bearer")
    # Who may not come in is not told whether what they sent was well-formed.
    assert_error(client.call("POST", MESSAGES, raw=b"{", **headers), 401)


def test_every_endpoint_asks_for_a_key() -> None:
    client = ApiClient()
    for name, methods in ENDPOINTS.items():
        for method, body in methods.items():
            kwargs = _kwargs(name)
            address = reverse(name, kwargs={"user": "zoe", **kwargs})
            assert_error(client.call(method, address, body, HTTP_AUTHORIZATION=""), 401)


def _kwargs(name: str) -> dict[str, object]:
    """Arguments of the right form for an endpoint, the user's id left out."""
    everywhere = (*contact_urls, *memory_urls, *account_urls, *import_urls)
    pattern = next(p for p in everywhere if p.name == name)
    made = {"UUIDConverter": uuid4(), "IntConverter": 1}
    return {
        argument: made[type(converter).__name__]
        for argument, converter in pattern.pattern.converters.items()
        if argument != "user"
    }


def test_a_revoked_key_is_401_and_another_key_of_the_app_still_works() -> None:
    client = ApiClient()
    ApiKey.issue(client.app)
    other = ApiClient(client.app)
    ApiKey.objects.valid(client.secret).get().revoke()
    assert_error(client.get("app/"), 401, "authentication_failed")
    assert other.get("app/")[1]["name"] == client.app.name


def test_the_use_of_a_key_is_noted_at_most_once_a_minute() -> None:
    client = ApiClient()
    client.get("app/")
    key = ApiKey.objects.valid(client.secret).get()
    first = key.last_used_at
    assert first is not None
    with CaptureQueriesContext(connection) as queries:
        client.get("app/")
    assert len(queries) == 1
    key.refresh_from_db()
    assert key.last_used_at == first
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=first - timedelta(minutes=2))
    client.get("app/")
    key.refresh_from_db()
    assert key.last_used_at > first


def test_a_database_that_may_only_be_read_is_said_to_be_away_for_now() -> None:
    client = ApiClient()
    connection.check_constraints()  # what is checked at the end takes locks
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL transaction_read_only = on")
    assert_error(client.post(MESSAGES, one()), 503, "no_database")
    assert client.reply.headers["Retry-After"] == "5"
