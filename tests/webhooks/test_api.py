"""The webhooks of an app over HTTP: managed by its keys, unseen by others."""

import pytest

from accounts.models import ApiKey
from tests.api import ApiClient
from tests.factories import make_contact, make_end_user
from webhooks.models import Endpoint

pytestmark = pytest.mark.django_db


def test_an_app_makes_changes_rotates_and_deletes_its_webhook() -> None:
    client = ApiClient()
    status, made = client.post(
        "webhooks/", {"url": "https://a.example/", "types": ["user.processed"]}
    )
    assert status == 201
    assert made["secret"].startswith("whsec_")
    assert made["secret"] not in Endpoint.objects.get().secret
    at = f"webhooks/{made['id']}/"
    status, rotated = client.post(f"{at}rotate/")
    assert status == 200
    assert rotated["secret"] != made["secret"]
    status, shown = client.patch(at, {"enabled": False, "label": "x"})
    assert (shown["enabled"], shown["disabled_because"], shown["label"]) == (False, "asked", "x")
    assert client.post(f"{at}test/")[1]["error"]["code"] == "conflict"
    assert client.patch(at, {"enabled": True})[1]["enabled"]
    assert client.get("webhooks/")[1]["results"] == [client.get(at)[1]]
    assert "secret" not in client.get(at)[1]
    assert client.delete(at)[0] == 200
    assert client.get(at)[0] == 404


def test_deliveries_are_listed_tested_and_sent_again() -> None:
    end_user = make_end_user()
    client = ApiClient(end_user.app)
    _, made = client.post("webhooks/", {"url": "https://a.example/"})
    make_contact(end_user, "Anna")
    at = f"webhooks/{made['id']}/"
    assert client.post(f"{at}test/")[0] == 202
    _, listed = client.get(f"{at}deliveries/")
    assert {row["type"] for row in listed["results"]} == {"contact.created", "webhook.test"}
    status, again = client.post(f"{at}deliveries/{listed['results'][0]['id']}/resend/")
    assert (status, again["state"]) == (202, "pending")


def test_what_is_wrong_is_said_in_the_form_of_every_error() -> None:
    client = ApiClient()
    for body, field in (
        ({"url": "http://127.0.0.1/"}, "url"),
        ({"url": "https://a.example/", "types": ["x"]}, "types[0]"),
        ({"types": []}, "url"),
        ({"url": "https://a.example/", "x": 1}, "x"),
    ):
        status, answer = client.post("webhooks/", body)
        assert (status, next(iter(answer["error"]["fields"]))) == (400, field)
    for _ in range(20):
        client.post("webhooks/", {"url": "https://a.example/"})
    assert client.post("webhooks/", {"url": "https://a.example/"})[0] == 409


def test_another_app_and_a_key_of_one_user_reach_nothing() -> None:
    owner = ApiClient()
    _, made = owner.post("webhooks/", {"url": "https://a.example/"})
    at = f"webhooks/{made['id']}/"
    stranger = ApiClient()
    for method, address in (
        ("GET", at), ("PATCH", at), ("DELETE", at), ("POST", f"{at}rotate/"), ("POST", f"{at}test/"),
        ("GET", f"{at}deliveries/"), ("POST", f"{at}deliveries/{made['id']}/resend/"),
    ):  # fmt: skip
        assert stranger.call(method, address, {} if method == "PATCH" else None)[0] == 404
    assert stranger.get("webhooks/")[1]["count"] == 0
    _, bound = ApiKey.issue(owner.app, "", "zoe")
    assert owner.get("webhooks/", HTTP_AUTHORIZATION=f"Bearer {bound}")[0] == 403
