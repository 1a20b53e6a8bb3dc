"""Limits of keys, shared by processes, and pages of other origins."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import authentication
from accounts.models import ApiKey
from tests.api import ApiClient, assert_error

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> ApiClient:
    clock = [1_800_000_000.0]  # the start of a minute
    monkeypatch.setattr(authentication, "time", type("Clock", (), {"time": lambda: clock[0]}))
    client = ApiClient()
    client.clock = clock
    return client


def left(client: ApiClient) -> int:
    assert client.get("app/")[0] == 200
    return int(client.reply.headers["RateLimit-Remaining"])


@pytest.mark.parametrize("own", [True, False])
def test_a_key_may_send_so_many_requests_a_minute(
    client: ApiClient, settings: Any, own: bool
) -> None:
    settings.MIO_RATE_LIMIT = 7 if own else 3
    ApiKey.objects.update(rate_limit=3 if own else None)
    client.clock[0] += 48
    assert [left(client) for _ in range(3)] == [2, 1, 0]
    assert client.reply.headers["RateLimit-Policy"] == "3;w=60"
    for ask in (client.get("app/"), client.post("users/zoe/process/", {"wait": True})):
        assert_error(ask, 429, "throttled")
        assert (
            client.reply.headers["Retry-After"] == client.reply.headers["RateLimit-Reset"] == "12"
        )
    assert left(ApiClient(client.app)) == (6 if own else 2)  # another key of the app
    client.clock[0] += 12
    assert left(client) == 2


def test_a_key_without_a_limit_costs_no_statement(client: ApiClient) -> None:
    client.get("app/")  # notes the use of the key
    with CaptureQueriesContext(connection) as queries:
        client.get("app/")
    assert not [query for query in queries if "UPDATE" in query["sql"]]
    assert "RateLimit-Limit" not in client.reply.headers


def test_only_pages_of_the_origins_that_are_set_may_call(client: ApiClient, settings: Any) -> None:
    ours, page = "https://chat.example.org", {"HTTP_ACCESS_CONTROL_REQUEST_METHOD": "DELETE"}
    settings.CORS_ALLOWED_ORIGINS = [ours]
    for origin, address, allowed in (
        (ours, "users/zoe/", ours), ("https://evil.example.org", "users/zoe/", None),
        (ours, "/login/", None),
    ):  # fmt: skip
        client.call("OPTIONS", address, HTTP_ORIGIN=origin, HTTP_AUTHORIZATION="", **page)
        assert client.reply.headers.get("Access-Control-Allow-Origin") == allowed
    client.get("app/", HTTP_ORIGIN=ours)
    exposed = client.reply.headers["Access-Control-Expose-Headers"]
    assert "Retry-After" in exposed
