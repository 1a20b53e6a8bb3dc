"""The gateway of an app at the dashboard: set up, tried, closed; secrets are never shown."""

import json
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.encryption import decrypt
from accounts.models import ApiKey, App
from gateway import upstreams
from gateway.models import Upstream
from tests.dashboard.signin import signed_in
from tests.factories import make_app
from tests.gateway.upstream import MODEL, Step, served
from tests.gateway.upstream import Upstream as ModelServer

pytestmark = pytest.mark.django_db
URL = "https://models.example/v1"


@pytest.fixture
def app() -> App:
    return make_app(name="chatter")


@pytest.fixture
def admin(app: App) -> Client:
    return signed_in("admin", [app])


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    stub = ModelServer()
    with served(stub) as address:
        stub.address = f"{address}/v1"
        yield stub


def page(app: App, name: str = "gateway") -> str:
    return reverse(f"dashboard:{name}", args=[app.pk])


def test_an_upstream_is_set_and_its_secrets_are_kept_and_never_shown(
    admin: Client, app: App
) -> None:
    assert b"Three steps set it up" in admin.get(page(app)).content
    secrets = {"key": " sk-one ", "open_webui_secret": "shh-two"}
    sent = {"url": f"{URL}/", "placement": "system", **secrets}
    assert admin.post(page(app), sent, follow=True).status_code == 200
    row = Upstream.objects.get()
    assert (row.app, row.url, row.placement) == (app, URL, "system")
    assert (decrypt(row.key), decrypt(row.open_webui_secret)) == ("sk-one", "shh-two")
    shown = admin.get(page(app)).content.decode()
    assert "sk-one" not in shown
    assert "shh-two" not in shown
    assert shown.count("kept; type to replace it") == 2
    assert URL in admin.get(reverse("dashboard:apps")).content.decode()


def test_what_is_left_empty_stays_and_what_is_ticked_goes(admin: Client, app: App) -> None:
    upstreams.configure(app, URL, key="sk", open_webui_secret="shh")
    admin.post(page(app), {"url": f"{URL}/other", "placement": "tail"})
    row = Upstream.objects.get()
    assert (row.url, decrypt(row.key)) == (f"{URL}/other", "sk")
    admin.post(page(app), {"url": URL, "no_key": "1", "no_open_webui_secret": "1"})
    row.refresh_from_db()
    assert (row.url, row.key, row.open_webui_secret) == (URL, "", "")


def test_a_kept_key_never_goes_to_another_server(admin: Client, app: App) -> None:
    upstreams.configure(app, URL, key="sk")
    elsewhere = {"url": "https://elsewhere.example/v1"}
    answer = admin.post(page(app), elsewhere)
    assert answer.status_code == 422
    assert b"for another server" in answer.content
    assert Upstream.objects.get().url == URL
    admin.post(page(app), elsewhere | {"key": "sk-2"})
    assert decrypt(Upstream.objects.get().key) == "sk-2"


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"url": "api.openai.com"}, "url-problem"),
        ({"url": ""}, "url-problem"),
        ({"url": URL, "key": "two words"}, "key-problem"),
        ({"url": URL, "key": "sk-é"}, "key-problem"),
    ],
)
def test_what_can_not_be_is_told_beside_its_field(
    admin: Client, app: App, sent: dict[str, str], told: str
) -> None:
    answer = admin.post(page(app), sent)
    assert answer.status_code == 422
    assert f'id="{told}" role="alert"' in answer.content.decode()
    assert "two words" not in answer.content.decode()
    assert not Upstream.objects.exists()


def test_the_connection_is_tried_with_the_kept_key(
    admin: Client, app: App, model_server: ModelServer
) -> None:
    upstreams.configure(app, model_server.address, key="sk-kept")
    shown = admin.post(page(app, "gateway-test")).content.decode()
    assert "It answers" in shown
    assert MODEL in shown
    assert model_server.asked[0].path == "/v1/models"
    assert model_server.asked[0].headers["authorization"] == "Bearer sk-kept"


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, {}, "refuses the key (401)"),
        (404, {}, "no /models below this address (404)"),
        (500, {}, "answers 500"),
        (200, [], "no list of models"),
        (200, {"data": "x"}, "no list of models"),
    ],
)
def test_a_connection_that_fails_says_why_and_what_to_do(
    admin: Client, app: App, model_server: ModelServer, status: int, body: object, told: str
) -> None:
    upstreams.configure(app, model_server.address, key="sk")
    step = Step([json.dumps(body).encode()], status, "application/json")
    model_server.script.append(step)
    assert told in admin.post(page(app, "gateway-test")).content.decode()


def test_nobody_there_and_a_key_that_is_not_readable_are_told(admin: Client, app: App) -> None:
    upstreams.configure(app, "http://127.0.0.1:9/v1")
    assert b"Nobody answers" in admin.post(page(app, "gateway-test")).content
    Upstream.objects.update(key="of another installation")
    assert b"another SECRET_KEY" in admin.post(page(app, "gateway-test")).content


def test_closing_takes_the_secrets_away(admin: Client, app: App) -> None:
    upstreams.configure(app, URL, key="sk")
    admin.post(page(app, "gateway-close"))
    assert not Upstream.objects.exists()
    assert admin.post(page(app, "gateway-test")).status_code == 404


def test_the_headers_of_a_key_are_believed_and_no_longer(admin: Client, app: App) -> None:
    key, _ = ApiKey.issue(app)
    trust = reverse("dashboard:trust-key", args=[key.pk])
    for trusted in ("1", ""):
        admin.post(trust, {"trusted": trusted})
        key.refresh_from_db()
        assert key.trusted == bool(trusted)


def test_a_new_key_stands_once_and_in_the_settings_of_the_clients(admin: Client, app: App) -> None:
    new = page(app, "gateway-key")
    for kind, expected in (
        ("app", (False, "")),
        ("trusted", (True, "")),
        ("bound", (False, "ann")),
    ):
        answer = admin.post(new, {"kind": kind, "user": "ann" if kind == "bound" else ""})
        made = ApiKey.objects.latest("pk")
        assert (made.trusted, made.external_id) == expected
        assert answer.content.decode().count(answer.context["secret"]) == 9
    assert answer.context["secret"] not in admin.get(page(app)).content.decode()
    refused = admin.post(new, {"kind": "bound"})
    assert refused.status_code == 422
    assert b"Say whose memory" in refused.content
    refused = admin.post(new, {"kind": "app", "user": "ann"})
    assert refused.status_code == 422
    assert "or leave this empty" in refused.content.decode()
    assert ApiKey.objects.count() == 3


def test_the_settings_have_the_address_that_the_client_takes(admin: Client, app: App) -> None:
    answer = admin.get(page(app), headers={"host": "localhost"})
    settings = {client["name"]: text for client, text in answer.context["clients"]}
    for name in ("Open WebUI", "LibreChat", "LobeChat", "openai (Python)"):
        assert "http://localhost/v1" in settings[name]
    for name in ("Cherry Studio", "Chatbox", "NextChat"):  # these add /v1 themselves
        assert "http://localhost\n" in settings[name]
    assert 'X-LibreChat-User-Id: "{{LIBRECHAT_USER_ID}}"' in settings["LibreChat"]


def test_only_admins_of_the_app_come_here(app: App) -> None:
    key, _ = ApiKey.issue(app)
    addresses = [page(app), *(page(app, f"gateway-{name}") for name in ("test", "close", "key"))]
    addresses.append(reverse("dashboard:trust-key", args=[key.pk]))
    for client, status in (
        (signed_in("reviewer", [app], "reviewer"), 403),
        (signed_in("admin", [make_app()], "stranger"), 404),
    ):
        assert client.get(page(app)).status_code == status
        assert {client.post(at, {"url": URL}).status_code for at in addresses} == {status}
    assert not Upstream.objects.exists()


def test_the_page_takes_as_many_statements_however_many_keys(admin: Client, app: App) -> None:
    counts = []
    for _number in range(3):
        ApiKey.issue(app)
        with CaptureQueriesContext(connection) as asked:
            admin.get(page(app))
        counts.append(len(asked))
    assert len(set(counts[1:])) == 1
