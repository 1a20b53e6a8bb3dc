"""The dashboard, probes and figures with several cells, also while one is away."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from accounts import cells
from accounts.models import App, Placement
from tests.api import ApiClient, user_address
from tests.factories import make_app


@pytest.fixture
def operator() -> Client:
    person, _ = User.objects.get_or_create(username="cells-admin", is_superuser=True, is_staff=True)
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def app() -> App:
    """An app with a user in each of two cells, who know somebody."""
    api = ApiClient(make_app())
    for user in ("ann", "ben"):
        api.post(user_address(user, "contacts/"), {"name": f"{user}的同事"})
    assert set(Placement.objects.filter(app=api.app).values_list("cell", flat=True)) == {"c1", "c2"}
    return api.app


PAGES = ["/", "/users/", "/apps/", "/webhooks/", "/review/", "/review/links/", "/review/conflicts/",
         "/pipeline/", "/pipeline/jobs/", "/find/?q=ann"]  # fmt: skip


def test_every_page_opens_and_shows_the_cell_that_was_chosen(operator: Client, app: App) -> None:
    for name in cells.names():
        assert operator.post("/cell/", {"cell": name}).status_code == 302
        for page in PAGES:
            answer = operator.get(page)
            assert answer.status_code in (200, 302), (name, page)
        shown = operator.get("/").content.decode()
        pressed = re.findall(r'value="(\w+)" aria-pressed="true"', shown)
        assert set(pressed) == {name}


def test_a_user_is_shown_from_their_own_cell_whatever_was_chosen(
    operator: Client, app: App
) -> None:
    operator.post("/cell/", {"cell": "c1"})
    listed = operator.get(f"/users/?app={app.pk}").content.decode()
    assert "ann" in listed
    assert "ben" in listed
    for held in Placement.objects.filter(app=app):
        page = operator.get(reverse("dashboard:contacts", args=[held.user_pk]))
        assert f"{held.external_id}的同事" in page.content.decode()


def test_the_admin_shows_the_chosen_cell(operator: Client, app: App) -> None:
    for name in ("c1", "c2"):
        operator.post("/cell/", {"cell": name})
        [held] = Placement.objects.filter(app=app, cell=name)
        found = operator.get(f"/admin/accounts/enduser/?q={held.external_id}")
        assert found.status_code == 200
        assert str(held.user_pk) in found.content.decode()
    assert operator.get("/admin/accounts/placement/").status_code == 200


def test_figures_are_told_cell_by_cell(app: App) -> None:
    told = Client().get("/metrics").content.decode()
    for name in cells.names():
        assert f'mio_users_waiting{{cell="{name}"}}' in told
        assert f'mio_cell_up{{cell="{name}"}} 1.0' in told
    assert re.search(r"^mio_queue_tasks \d", told, re.M)


def test_one_cell_away_is_named_and_the_rest_goes_on(
    operator: Client, app: App, stopped_second: None
) -> None:
    for page in PAGES:
        assert operator.get(page).status_code in (200, 302), page
    assert "does not answer" in operator.get("/").content.decode()
    for held in Placement.objects.filter(app=app):
        status = operator.get(reverse("dashboard:contacts", args=[held.user_pk])).status_code
        assert status == (302 if held.cell == "c2" else 200)
    told = Client().get("/metrics").content.decode()
    assert 'mio_cell_up{cell="c2"} 0.0' in told
    assert 'mio_users_waiting{cell="c1"}' in told
    ready = Client().get("/readyz?parts=database,migrations,cells")
    assert ready.status_code == 503
    assert "c2" in ready.json()["parts"]["cells"]
    assert ready.json()["parts"]["database"] == "ok"


def test_with_all_cells_there_the_part_is_ready() -> None:
    ready = Client().get("/readyz?parts=cells")
    assert (ready.status_code, ready.json()["parts"]) == (200, {"cells": "ok"})
