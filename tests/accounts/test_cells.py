"""The one door to connections and transactions."""

import subprocess
import sys

import pytest
from django.db import connections
from django.db import transaction as django_transaction

from accounts import cells

ASKED = "from django.db import {name}\n\nprint({name})\n"


@pytest.mark.parametrize("name", ["connection", "transaction"])
def test_nobody_but_the_door_asks_django_for_a_connection_or_a_transaction(name: str) -> None:
    ruff = [sys.executable, "-m", "ruff", "check", "--stdin-filename", "contacts/new.py", "-"]
    found = subprocess.run(ruff, input=ASKED.format(name=name), capture_output=True, text=True)
    assert "TID251" in found.stdout
    assert "accounts.cells" in found.stdout


@pytest.mark.django_db
def test_with_one_cell_the_connection_and_the_transaction_are_djangos_own() -> None:
    assert cells.connection.settings_dict is connections["default"].settings_dict
    with pytest.raises(ZeroDivisionError), cells.atomic():
        with cells.connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE gone (id int)")
        assert django_transaction.get_connection().savepoint_ids
        raise ZeroDivisionError
    with cells.connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('gone')")
        assert cursor.fetchone() == (None,)


@pytest.mark.django_db
def test_work_in_a_transaction_does_not_turn_to_another_cell() -> None:
    refused = pytest.raises(cells.CrossesCells, match="default is open")
    with cells.atomic(), refused, cells.entered("other"):
        pass
    assert cells.current() == "default"


def test_outside_of_a_transaction_work_turns_to_another_cell_and_back() -> None:
    with cells.entered("other"):
        assert cells.current() == "other"
    assert cells.current() == "default"
