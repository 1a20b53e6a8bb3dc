"""What belongs to end users is in their cell, and nothing turns from one cell to another."""

import pytest
from django.db import OperationalError, connections

from accounts import cells, placement, row_security, scope
from accounts.models import App, Cell, EndUser
from contacts.models import Contact
from memories.models import Message
from tests.commands import run_json
from tests.factories import make_app, make_contact


def rows_in(cell: str, table: str) -> int:
    with cells.entered(cell), cells.connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])


def test_a_row_is_written_where_the_work_is() -> None:
    app = make_app()
    before = {cell: rows_in(cell, "accounts_enduser") for cell in cells.names()}
    with cells.entered("c2"):
        app.copy_to("c2")
        end_user = EndUser.objects.create(app=app, external_id="here")
        make_contact(end_user)
    after = {cell: rows_in(cell, "accounts_enduser") for cell in cells.names()}
    assert after == before | {"c2": before["c2"] + 1}
    assert end_user._state.db == "c2"
    assert App.objects.get(pk=app.pk)._state.db == "default"
    assert rows_in("c1", "contacts_contact") == rows_in("default", "contacts_contact") == 0


def test_ids_of_cells_are_of_ranges_of_their_own_that_every_client_can_hold() -> None:
    app, ids = make_app(), []
    for cell in ("c1", "c2"):
        with cells.entered(cell):
            app.copy_to(cell)
            end_user = EndUser.objects.create(app=app, external_id="numbered", message_seq=1)
            message = Message.objects.create(end_user=end_user, seq=1, role="user", content="Hi")
            ids.append((end_user.pk, message.pk))
    numbers = dict(Cell.objects.values_list("name", "number"))
    assert sorted(numbers.values()) == [0, 1, 2]
    for cell, pair in zip(("c1", "c2"), ids, strict=True):
        assert {pk >> cells.COUNTED_BITS for pk in pair} == {numbers[cell]}
        assert max(pair) < 2**53


def test_without_a_cell_no_statement_on_rows_of_end_users_is_sent() -> None:
    with pytest.raises(cells.NoCell, match="contacts_contact is in every cell"):
        Contact.objects.count()


def test_a_statement_for_another_cell_is_refused() -> None:
    with cells.entered("c1"):
        with pytest.raises(cells.CrossesCells, match="of c2 by work in c1"):
            EndUser.objects.using("c2").count()
        with pytest.raises(cells.CrossesCells), connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1 FROM memories_memory")


def test_the_scope_of_an_end_user_is_in_the_cell_that_they_were_read_from() -> None:
    app = make_app()
    with cells.entered("c2"):
        app.copy_to("c2")
        end_user = EndUser.objects.create(app=app, external_id="scoped")
    with scope.undeclared(), scope.user_scope(end_user):
        assert cells.current() == "c2"
        assert EndUser.objects.get() == end_user
    refused = pytest.raises(cells.CrossesCells, match="c1 is open")
    with cells.entered("c1"), cells.atomic(), refused, scope.user_scope(end_user):
        pass


def test_every_cell_has_its_policies_and_tables_of_its_own() -> None:
    tables = {}
    for cell in cells.names():
        assert list(row_security.unprotected(connections[cell])) == []
        with connections[cell].cursor() as cursor:
            cursor.execute(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') "
                "AND relnamespace = current_schema()::regnamespace"
            )
            tables[cell] = {name for (name,) in cursor.fetchall()}
    assert tables["c1"] == tables["c2"]
    assert set(row_security.user_tables()) <= tables["c2"]
    assert not {"auth_user", "django_session", "django_q_ormq"} & tables["c2"]
    assert tables["c2"] < tables["default"]


def test_what_all_cells_hold_of_an_app_follows_it() -> None:
    app = make_app()
    assert {App.objects.using(cell).get(pk=app.pk).name for cell in cells.names()} == {app.name}
    app.settle("Asia/Tokyo")
    assert {str(App.objects.using(cell).get(pk=app.pk).zone) for cell in cells.names()} == {
        "Asia/Tokyo"
    }
    App.objects.filter(pk=app.pk).update(name="renamed past save")
    placement.bring_copies("c2")
    assert App.objects.using("c2").get(pk=app.pk).name == "renamed past save"


def test_the_list_of_cells_says_what_each_is() -> None:
    found = {row["cell"]: row for row in run_json("cells", "list")["cells"]}
    assert [found[cell]["state"] for cell in cells.names()] == ["shared", "ready", "ready"]
    assert found["c2"]["schema"] == "cell_02"
    assert found["c1"]["server"] != found["default"]["server"]


def test_a_cell_that_does_not_answer_is_said_to_be_away(
    stopped_second: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert cells.reachable() == ("default", "c1")
    assert "the cell c2 is away" in caplog.text
    found = {row["cell"]: row["state"] for row in run_json("cells", "list")["cells"]}
    assert found == {"default": "shared", "c1": "ready", "c2": "away"}
    with pytest.raises(OperationalError), cells.entered("c2"):
        EndUser.objects.count()
