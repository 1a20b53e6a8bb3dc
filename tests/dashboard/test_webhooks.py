"""Webhooks at the dashboard: made, tried, stopped; the secret is shown once."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import App
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user
from webhooks import endpoints
from webhooks.models import Delivery, Endpoint

pytestmark = pytest.mark.django_db
PAGE = "dashboard:webhooks"


@pytest.fixture
def app() -> App:
    return make_app(name="chatter")


@pytest.fixture
def admin(app: App) -> Client:
    return signed_in("admin", [app])


def test_a_webhook_is_made_with_a_secret_that_only_the_answer_shows(
    admin: Client, app: App
) -> None:
    assert b"No webhooks yet" in admin.get(reverse(PAGE)).content
    sent = {"app": app.pk, "url": "https://a.example/", "types": ["user.processed"]}
    answer = admin.post(reverse("dashboard:new-webhook"), sent)
    assert answer.context["secret"] in answer.content.decode()
    endpoint = Endpoint.objects.get()
    assert endpoint.types == ["user.processed"]
    rotated = admin.post(reverse("dashboard:rotate-webhook", args=[endpoint.pk]))
    assert rotated.context["secret"] != answer.context["secret"]
    assert b"whsec_" not in admin.get(reverse(PAGE)).content


def test_an_address_that_is_none_is_refused_beside_the_field(admin: Client, app: App) -> None:
    sent = {"app": app.pk, "url": "http://127.0.0.1/"}
    answer = admin.post(reverse("dashboard:new-webhook"), sent)
    assert answer.status_code == 422
    assert b'role="alert"' in answer.content
    assert b"http://127.0.0.1/" in answer.content


def test_it_is_stopped_started_tried_and_sent_again(admin: Client, app: App) -> None:
    endpoint, _ = endpoints.create(app, "https://a.example/")
    switch = reverse("dashboard:switch-webhook", args=[endpoint.pk])
    admin.post(switch, {"enabled": ""})
    admin.post(reverse("dashboard:test-webhook", args=[endpoint.pk]))
    assert not Delivery.objects.exists()
    admin.post(switch, {"enabled": "1"})
    admin.post(reverse("dashboard:test-webhook", args=[endpoint.pk]))
    Delivery.objects.update(state="failed", error="timeout")
    assert b"no answer in time" in admin.get(reverse(PAGE)).content
    admin.post(reverse("dashboard:resend", args=[Delivery.objects.get().pk]))
    assert Delivery.objects.get().state == "pending"


def test_the_webhooks_of_other_apps_are_not_there(admin: Client) -> None:
    endpoint, _ = endpoints.create(make_app(), "https://other.example/")
    test = endpoints.send_test(endpoint)
    assert b"other.example" not in admin.get(reverse(PAGE)).content
    for name, pk in (("switch-webhook", endpoint.pk), ("test-webhook", endpoint.pk),
                     ("rotate-webhook", endpoint.pk), ("resend", test.pk)):  # fmt: skip
        assert admin.post(reverse(f"dashboard:{name}", args=[pk])).status_code == 404


def test_the_log_takes_as_many_statements_however_long_it_is(admin: Client, app: App) -> None:
    end_user = make_end_user(app=app)
    endpoints.create(app, "https://a.example/")
    counts = []
    for name in ("Anna", "Oda", "Per", "Tom"):
        make_contact(end_user, name)
        with CaptureQueriesContext(connection) as asked:
            admin.get(reverse(PAGE))
        counts.append(len(asked))
    assert len(set(counts[1:])) == 1
