"""A cell is closed to new end users, and opened again."""

import pytest
from django.core.management.base import CommandError
from django.db import connections
from django.db import transaction as django_transaction

from accounts import cells, placement
from accounts.models import App, Cell, Placement
from tests.api import ApiClient, user_address
from tests.cells.reached import cells_setting
from tests.commands import run, run_json
from tests.factories import make_app
from tests.processes import start, wait_until_blocked

CLOSE = """
from django.core.management import call_command
call_command("cells", "close", "c1")
"""


@pytest.fixture
def app() -> App:
    return make_app()


def cells_of(app: App) -> dict[str, str]:
    return dict(Placement.objects.filter(app=app).values_list("external_id", "cell"))


def say_hello(app: App, *users: str) -> None:
    hello = {"messages": [{"role": "user", "content": "hello"}]}
    for user in users:
        assert ApiClient(app).post(user_address(user, "messages/"), hello)[0] == 202


def test_a_closed_cell_takes_no_new_users_until_it_is_opened(app: App) -> None:
    say_hello(app, "ann", "ben")
    assert run_json("cells", "close", "c1")["state"] == "closed"
    say_hello(app, "cleo", "dora", "emil")
    assert [cell for cell in cells_of(app).values() if cell == "c1"] == ["c1"]
    say_hello(app, *cells_of(app))  # whoever is there stays
    states = {row["cell"]: row["state"] for row in run_json("cells", "list")["cells"]}
    assert states == {"default": "shared", "c1": "closed", "c2": "ready"}
    run("cells", "close", "c2")
    say_hello(app, "finn")
    assert cells_of(app)["finn"] == "default"
    run("cells", "open", "c1")
    say_hello(app, "gina")
    assert cells_of(app)["gina"] == "c1"


def test_work_that_chose_a_cell_before_it_was_closed_puts_nobody_there(app: App) -> None:
    with cells.entered("c1"):
        placement.first_seen(app, "ann")
        run("cells", "close", "c1")
        with pytest.raises(cells.Moving):
            placement.first_seen(app, "ben")
        assert placement.first_seen(app, "ann")
    assert cells_of(app) == {"ann": "c1"}


def test_a_cell_is_closed_after_the_user_who_is_being_placed_in_it(app: App) -> None:
    with cells.entered("c1"), django_transaction.atomic(cells.SHARED):
        placement.first_seen(app, "ann")
        closing = start(CLOSE, MIO_CELLS=cells_setting())
        with connections["default"].cursor() as cursor:
            wait_until_blocked(cursor)
    closing.finish()
    assert cells_of(app) == {"ann": "c1"}
    assert Cell.objects.get(name="c1").closed


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("close", "c9"), "no cell 'c9'"),
        (("open", "default"), "open another cell"),
    ],
)
def test_what_cannot_be_is_refused_with_words_and_changes_nothing(
    asked: tuple[str, ...], told: str
) -> None:
    with pytest.raises(CommandError, match=told):
        run("cells", *asked)
    assert not Cell.objects.filter(closed=True).exists()
