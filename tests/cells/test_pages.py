"""The dashboard, probes and figures with several cells, also while one is away."""

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts import cells, scope
from accounts.models import App, EndUser, Placement
from contacts.models import Contact, Suggestion
from memories.models import Outage
from tests.api import ApiClient, user_address
from tests.deploy.monitored import unserved
from tests.deploy.test_monitoring import something_of_everything
from tests.factories import make_app
from webhooks.models import Endpoint


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
         "/pipeline/", "/pipeline/jobs/", "/find/?q=ann",
         "/activity/", "/activity/?person=ann", "/activity/csv/", "/receipts/"]  # fmt: skip


def test_every_page_opens_and_shows_the_cell_that_was_chosen(operator: Client, app: App) -> None:
    for name in cells.names():
        assert operator.post("/cell/", {"cell": name}).status_code == 302
        for page in PAGES:
            answer = operator.get(page)
            assert answer.status_code in (200, 302), (name, page)
        shown = operator.get("/").content.decode()
        pressed = re.findall(r'value="(\w+)" aria-pressed="true"', shown)
        assert set(pressed) == {name}


def test_an_upload_for_a_user_of_one_cell_deletes_none_of_another(
    operator: Client, app: App, settings: LazySettings, tmp_path: Path
) -> None:
    settings.MIO_HOME = tmp_path
    users = list(Placement.objects.filter(app=app).values_list("user_pk", flat=True))
    for pk in users:
        file = SimpleUploadedFile("chat.txt", b"hello")
        assert operator.post(f"/u/{pk}/imports/upload/", {"file": file}).status_code == 302
    kept = [path for path in (tmp_path / "imports").iterdir() if not path.suffix]
    assert len(kept) == len(users) == 2


def test_a_users_own_page_is_of_their_cell_and_is_not_written_to_while_they_move(app: App) -> None:
    api = ApiClient(app)
    for user, other in (("ann", "ben"), ("ben", "ann")):
        _, made = api.post(user_address(user, "page/"), {})
        page = made["url"].removeprefix("http://testserver")
        shown = Client().get(page).content.decode()
        assert f"{user}的同事" in shown
        assert f"{other}的同事" not in shown
    moving = Placement.objects.filter(app=app, external_id="ben")
    moving.update(moving_to="c1")
    sent = {"key": "pet", "new": "a cat"}
    assert Client().post(f"{page}do/own/", sent).status_code == 503
    assert Client().get(page).status_code == 200
    moving.update(moving_to="")
    assert Client().post(f"{page}do/own/", sent).status_code == 302


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


def people_of(api: ApiClient, spread: dict[str, int]) -> None:
    """Each user with a colleague who was mentioned so often, and a memory of them."""
    for user, mentions in spread.items():
        _, made = api.post(user_address(user, "contacts/"), {"name": "小红", "aliases": [user]})
        api.post(user_address(user, "memories/"), {"content": f"小红和{user}一起学大提琴"})
        held = Placement.objects.get(app=api.app, external_id=user)
        with cells.entered(held.cell), scope.user_scope(held.user_pk):
            Contact.objects.filter(pk=made["id"]).update(mention_count=mentions)


def test_a_search_asks_every_cell_and_leads_to_where_the_user_is(operator: Client) -> None:
    api = ApiClient(make_app())
    people_of(api, {"ann": 3, "ben": 9, "eva": 5, "zoe": 7})
    placed = dict(Placement.objects.filter(app=api.app).values_list("user_pk", "external_id"))
    for name in cells.names():
        operator.post("/cell/", {"cell": name})
        answer = operator.get("/find/?q=hong")
        found = answer.context["found"]["people"]
        assert [placed[one.end_user_id] for one in found] == ["ben", "zoe", "eva", "ann"]
        memories = operator.get("/find/?q=大提琴").context["found"]["memories"]
        assert {placed[one.end_user_id] for one in memories} == {*placed.values()}
        for one in found:
            address = reverse("dashboard:contact", args=[one.end_user_id, one.pk])
            assert address in answer.content.decode()
            assert placed[one.end_user_id] in operator.get(address).content.decode()
        assert [u.external_id for u in operator.get("/find/?q=ann").context["found"]["users"]] == [
            "ann"
        ]


def test_a_search_asks_each_cell_as_much_however_much_is_found(operator: Client) -> None:
    api = ApiClient(make_app())
    people_of(api, {"ann": 1, "ben": 1})

    def statements() -> list[int]:
        operator.get("/find/?q=hong")  # the user in hand and the cells are known from here on
        with ExitStack() as stack:
            asked = [
                stack.enter_context(CaptureQueriesContext(connections[name]))
                for name in cells.names()
            ]
            operator.get("/find/?q=hong", headers={"HX-Request": "true", "HX-Target": "found"})
        return [len(one) for one in asked]

    few = statements()
    people_of(api, {f"user {number}": 1 for number in range(6)})
    assert statements() == few


def test_activity_and_receipts_are_of_every_cell(operator: Client, app: App) -> None:
    api = ApiClient(app)
    changes = operator.get("/activity/", {"person": "ann"}).context
    assert [row.end_user.external_id for row in changes["page"].rows] == ["ann"]
    rows = operator.get("/activity/").context
    assert {row.end_user.external_id for row in rows["page"].rows} == {"ann", "ben"}
    assert all(rows["about"][row.pk]["people"] for row in rows["page"].rows)
    receipts = set()
    for user in ("ann", "ben"):
        _, gone = api.delete(user_address(user, ""))
        receipts.add(gone["receipt"])
        assert operator.get("/receipts/", {"q": user}).status_code == 200
        assert operator.get(f"/receipts/{gone['receipt']}/").status_code == 200
    listed = operator.get("/receipts/").context["page"].rows
    assert receipts <= {str(receipt.pk) for receipt in listed}


def test_when_a_cell_has_nothing_to_review_the_next_one_that_has_is_offered(
    operator: Client,
) -> None:
    api = ApiClient(make_app())
    for user in ("ann", "ben"):
        for name in ("Liz Hartmann", "Elizabeth Hartmann"):
            api.post(user_address(user, "contacts/"), {"name": name})
    held = Placement.objects.get(app=api.app, external_id="ann")
    with cells.entered(held.cell), scope.user_scope(held.user_pk):
        one, other = sorted(Contact.objects.filter(end_user=held.user_pk), key=lambda each: each.pk)
        Suggestion.objects.create(
            end_user_id=held.user_pk, first=one, second=other, verdict="likely", confidence=0.8
        )
    other_cell = next(name for name in ("c1", "c2") if name != held.cell)
    operator.post("/cell/", {"cell": other_cell})
    empty = operator.get("/review/")
    assert empty.context["elsewhere"] == [(held.cell, 1)]
    assert operator.get("/review/links/").context["elsewhere"] == []
    # A queue of one user is that of their cell, whatever was chosen.
    assert operator.get(f"/review/?user={held.user_pk}").context["at"] is not None
    led = operator.post("/cell/", {"cell": held.cell, "next": "/review/"}, follow=True)
    assert led.redirect_chain == [("/review/", 302)]
    assert led.context["at"].first_id == one.pk
    away = operator.post("/cell/", {"cell": held.cell, "next": "https://elsewhere.example/"})
    assert away["Location"] == "/"


def test_figures_are_told_cell_by_cell(app: App) -> None:
    told = Client().get("/metrics").content.decode()
    for name in cells.names():
        assert f'mio_users_waiting{{cell="{name}"}}' in told
        assert f'mio_cell_up{{cell="{name}"}} 1.0' in told
    assert re.search(r"^mio_queue_tasks \d", told, re.M)


def test_what_the_alerts_ask_for_is_there_for_every_cell(
    app: App, settings: Any, tmp_path: Path
) -> None:
    settings.MIO_HOME = tmp_path
    (tmp_path / "last_backup").touch()
    api = ApiClient(app)
    assert api.post(user_address("ann", "context/"), {"message": "Hello"})[0] == 200
    for held in Placement.objects.filter(app=app):
        with cells.entered(held.cell), scope.all_users():
            something_of_everything(EndUser.objects.get(pk=held.user_pk))
    try:
        assert unserved(Client()) == set()
    finally:
        for name in cells.names():
            with cells.entered(name), scope.all_users():
                Outage.objects.all().delete()
        with cells.entered(cells.SHARED):
            Endpoint.objects.all().delete()


def test_one_cell_away_is_named_and_the_rest_goes_on(
    operator: Client, app: App, stopped_second: None
) -> None:
    for page in PAGES:
        assert operator.get(page).status_code in (200, 302), page
    said = "c2: nothing that is there is shown until it answers again."
    for page in ("/", "/find/?q=ann"):
        assert said in operator.get(page).content.decode()
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
