"""One door to the rows of end users, and the database behind it as a second wall."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import Error, ProgrammingError, connection, transaction

from accounts import encryption, row_security, scope
from accounts.models import ApiKey, App, EndUser
from contacts.models import Contact
from gateway.models import Upstream
from memories import tasks
from memories.doctor import invariants
from memories.models import Memory, Vector
from tests.factories import make_contact, make_end_user, make_memory, make_message
from webhooks.models import Endpoint

pytestmark = pytest.mark.django_db


def rows(sql: str, *params: int) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


@pytest.fixture
def two() -> Iterator[tuple[EndUser, EndUser]]:
    """Two end users with a person and a memory each; nothing is declared any more."""
    mine, others = make_end_user(), make_end_user()
    for end_user in (mine, others):
        make_memory(end_user, f"about {end_user.pk}", make_contact(end_user))
        make_message(end_user)
    with scope.undeclared():
        yield mine, others


READS = {
    "all": lambda: list(Memory.objects.all()),
    "count": Contact.objects.count,
    "iterator": lambda: list(Memory.objects.iterator()),
    "raw": lambda: rows("SELECT 1 FROM memories_link"),
    "update": lambda: Contact.objects.update(name="x"),
    "end users": EndUser.objects.first,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_without_a_scope_nothing_is_even_sent(read: Callable[[], object]) -> None:
    with scope.undeclared(), pytest.raises(scope.Unscoped, match="say whose"):
        read()


IDS = {"end_user_id": 1, "contact_id": str(uuid4()), "change_id": str(uuid4()),
       "erasure_id": str(uuid4())}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "of"),
    [
        (task, of)
        for name, task in inspect.getmembers(tasks, inspect.isfunction)
        if task.__module__ == tasks.__name__ and not name.startswith("_")
        for of in inspect.signature(task).parameters
        if of in IDS
    ],
)
def test_a_task_says_whose_rows_it_is_about(task: Callable[[Any], None], of: str) -> None:
    with scope.undeclared():
        task(IDS[of])


def test_raw_sql_in_a_scope_shows_the_rows_of_one_end_user(two: tuple[EndUser, EndUser]) -> None:
    mine, others = two
    for end_user in two:
        with scope.user_scope(end_user):
            for table in ("memories_memory", "memories_link", "memories_posting"):
                found = rows(f"SELECT DISTINCT end_user_id FROM {table}")
                assert found == [(end_user.pk,)], table
            assert rows("SELECT id FROM accounts_enduser") == [(end_user.pk,)]
    with scope.user_scope(mine):
        assert not Memory.objects.filter(end_user=others).update(content="x")
        assert not Contact.objects.filter(end_user=others).delete()[0]
        with pytest.raises(Error, match="row-level security"), transaction.atomic():
            rows(
                "INSERT INTO memories_corpus (end_user_id, status, size, length) "
                "VALUES (%s, 'active', 1, 1) RETURNING 1",
                others.pk,
            )
        assert len(list(Contact.objects.iterator())) == 1
    with scope.app_scope(others.app_id):
        assert [one.pk for one in EndUser.objects.all()] == [others.pk]
        assert not Memory.objects.exists()
    with scope.all_users():
        assert Memory.objects.filter(content__startswith="about").count() == 2


def test_a_scope_holds_for_its_block_also_within_a_transaction(
    two: tuple[EndUser, EndUser],
) -> None:
    mine, others = two
    with transaction.atomic():
        with scope.user_scope(mine):
            assert Memory.objects.get().end_user_id == mine.pk
            with pytest.raises(scope.CrossesUsers), scope.user_scope(others):
                pass
        with pytest.raises(scope.Unscoped):
            Memory.objects.get()
        with scope.user_scope(others.pk):
            assert Memory.objects.get().end_user_id == others.pk


@pytest.mark.django_db(transaction=True)
def test_nothing_of_a_scope_stays_with_the_connection(two: tuple[EndUser, EndUser]) -> None:
    with scope.user_scope(two[0]):
        assert len(list(Memory.objects.iterator())) == 1  # a cursor that outlives its transaction
    asked = "SELECT current_setting('mio.end_user', true), current_user = session_user"
    assert rows(asked) in ([("", True)], [(None, True)])


@pytest.mark.django_db(transaction=True)
def test_patience_is_of_its_statements_and_does_not_stay_with_the_connection(
    two: tuple[EndUser, EndUser],
) -> None:
    limits = "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"
    before = rows(limits)
    with scope.user_scope(two[0]), scope.patient(480):
        assert rows(limits) == [("0", "8min")]
        assert len(Memory.objects.all()) == 1
    assert rows(limits) == before


def test_every_table_with_an_end_user_has_its_policy() -> None:
    tables = row_security.user_tables()
    columns = rows(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'end_user_id' "
        "AND table_schema = 'public'"
    )
    partitions = {name for (name,) in rows("SELECT inhrelid::regclass::text FROM pg_inherits")}
    assert {name for (name,) in columns} - partitions == set(tables) - {"accounts_enduser"}
    assert list(row_security.unprotected(connection)) == []
    assert row_security.login_of(connection).role == "mio_app"


RIGHTS = """
SELECT relname, attname, string_agg(granted, ' ' ORDER BY place)
FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped,
    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) WITH ORDINALITY asked(granted, place)
WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    AND has_column_privilege('mio_app', c.oid, attnum, granted)
GROUP BY 1, 2
"""
REMOVABLE = """
SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    AND has_table_privilege('mio_app', oid, 'DELETE')
"""
OTHER_RIGHTS = {
    "accounts_app": "SELECT",
    "accounts_cell": "SELECT UPDATE",
    "accounts_placement": "SELECT UPDATE",
    "dashboard_operator": "SELECT",
    "dashboard_operator_apps": "SELECT",
    "django_q_ormq": "SELECT INSERT",
    "memories_outage": "SELECT INSERT",
    "memories_slowmodel": "SELECT",
    "webhooks_endpoint": "SELECT",
}


def test_the_role_of_a_scope_may_do_nothing_with_what_is_not_of_end_users() -> None:
    users = row_security.user_tables()
    expected = dict.fromkeys(users, "SELECT INSERT UPDATE") | OTHER_RIGHTS
    secret = {(model._meta.db_table, name) for model, name in encryption.columns()}
    columns = rows(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'public'"
    )
    allowed = {(table, column): rights for table, column, rights in rows(RIGHTS)}
    assert allowed == {
        (table, column): expected[table]
        for table, column in columns
        if table in expected and (table, column) not in secret
    }
    assert {table for (table,) in rows(REMOVABLE)} == set(users)


FORBIDDEN = {
    "hashes of keys": lambda: list(ApiKey.objects.values_list("digest")),
    "a user of the dashboard": lambda: get_user_model().objects.update(is_superuser=True),
    "sessions": lambda: list(Session.objects.all()),
    "secrets of webhooks": lambda: list(Endpoint.objects.values_list("secret")),
    "keys of upstreams": lambda: list(Upstream.objects.all()),
    "an app": lambda: App.objects.update(time_zone="Asia/Tokyo"),
}


@pytest.mark.parametrize("statement", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_is_not_of_end_users_is_refused_in_a_scope(
    two: tuple[EndUser, EndUser], statement: Callable[[], object]
) -> None:
    with (
        scope.user_scope(two[0]),
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
    ):
        statement()
    statement()  # outside, in the same transaction, it is the owner's
    with scope.all_users():
        statement()
        with pytest.raises(ProgrammingError, match="permission denied"):
            list(EndUser.objects.values_list("app__keys__digest"))


def test_a_table_without_its_policy_is_found_and_mended() -> None:
    table = Vector._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        cursor.execute("ALTER TABLE memories_vector_3 DISABLE ROW LEVEL SECURITY")
        cursor.execute("DROP POLICY mio_scope ON contacts_contact")
    findings = list(invariants.tables_have_their_policy())
    assert {one.subject for one in findings} == {table, "memories_vector_3", "contacts_contact"}
    mend = invariants.CHECKS[invariants.tables_have_their_policy]
    assert mend
    mend(findings)
    assert not list(invariants.tables_have_their_policy())


def test_a_database_whose_role_may_make_none_works_without_and_says_so(
    two: tuple[EndUser, EndUser], monkeypatch: pytest.MonkeyPatch
) -> None:
    ownerless = row_security.Login("", apart=False)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")
    key = ("default", connection.settings_dict["NAME"])
    monkeypatch.setattr(row_security, "_logins", {key: ownerless})
    with scope.all_users():
        (warning,) = row_security.warnings(connection)
        assert not list(invariants.tables_have_their_policy())  # its owner is bound all the same
    assert "no role that owns nothing" in warning
    with scope.user_scope(two[0]):
        assert Memory.objects.get().end_user_id == two[0].pk
