"""What Citus demands of us, shown on PostgreSQL alone: tables under the names of shards, scopes sent
before a statement instead of with it, and its way of telling what went wrong."""

import re

import pytest
from django.db import IntegrityError, OperationalError, connection, models
from django.test.utils import CaptureQueriesContext, isolate_apps

from accounts import citus, row_security, scope
from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Corpus, Edge, Memory, Posting, Vector
from memories.portability import move_user
from tests.factories import make_contact, make_end_user, make_memory
from webhooks.models import Delivery, Endpoint

pytestmark = pytest.mark.django_db


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def on_citus(monkeypatch: pytest.MonkeyPatch) -> None:
    key = ("default", connection.settings_dict["NAME"])
    execute("SET LOCAL ROLE NONE")
    monkeypatch.setattr(row_security, "_logins", {key: row_security.Login("", apart=True)})


@pytest.fixture
def shards() -> None:
    """Every table has a shard."""
    execute(
        "CREATE TEMP TABLE pg_dist_shard (logicalrelid regclass, shardid bigint)",
        """INSERT INTO pg_dist_shard SELECT oid, 100000 + row_number() OVER () FROM pg_class
           WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
               AND NOT relispartition""",
    )


def rename_to_shards() -> None:
    """Every table gets the name of its shard, and a view its own, as clients know it."""
    execute(
        """DO $$ DECLARE one record; BEGIN
           FOR one IN SELECT logicalrelid::text AS name, shardid FROM pg_dist_shard LOOP
               EXECUTE format('ALTER TABLE %I RENAME TO %I', one.name, one.name || '_' || one.shardid);
               EXECUTE format('CREATE VIEW %I AS SELECT * FROM %I',
                              one.name, one.name || '_' || one.shardid);
           END LOOP;
           DROP TABLE pg_dist_shard;
        END $$"""
    )


def test_triggers_find_the_shards_of_the_tables_that_they_keep(
    on_citus: None, shards: None
) -> None:
    assert citus.bind_triggers(connection) > 10
    assert citus.bind_triggers(connection) == 0
    rename_to_shards()
    end_user = make_end_user()
    endpoint = Endpoint.objects.create(app=end_user.app, url="https://a.example/")
    contact = make_contact(end_user)
    first = make_memory(end_user, "Anna moved to Berlin", contact)
    second = make_memory(end_user, "Anna is a nurse", contact)
    execute(
        # A shard gives no numbers of itself.
        "INSERT INTO memories_edge (id, end_user_id, source_id, target_id, kind, inverse, reason, "
        f"confidence, created_at) VALUES (nextval('memories_edge_id_seq'), {end_user.pk}, "
        f"'{first.pk}', '{second.pk}', 'causes', false, '', 1, now())"
    )
    contact.refresh_from_db()
    assert set(contact.memory_ids) == {first.pk, second.pk}
    assert Edge.both_ways.of(end_user).count() == 2
    assert Corpus.objects.of(end_user).get().size == 2
    assert Posting.objects.of(end_user).exists()
    execute(f"DELETE FROM memories_memory WHERE id = '{second.pk}'")
    assert Edge.both_ways.of(end_user).count() == 0
    assert not Vector.objects.of(end_user).filter(memory=second).exists()
    told = set(Delivery.objects.filter(endpoint=endpoint).values_list("type", flat=True))
    assert told == {"contact.created", "memory.created", "memory.forgotten"}


def test_triggers_name_the_tables_again_that_are_no_shards_any_more(
    on_citus: None, shards: None
) -> None:
    citus.bind_triggers(connection)
    execute("DELETE FROM pg_dist_shard")
    assert citus.bind_triggers(connection) > 10
    end_user = make_end_user()
    make_memory(end_user, "Anna is a nurse")
    assert Corpus.objects.of(end_user).get().size == 1


def test_while_a_user_is_moved_triggers_rest_under_the_names_that_shards_have(
    on_citus: None, shards: None
) -> None:
    move_user._disable_triggers("default")
    with connection.cursor() as cursor:
        cursor.execute("SELECT unnest(current_setting('pgtrigger.ignore')::text[])")
        resting = [name for (name,) in cursor.fetchall()]
    assert len(resting) > 10
    assert all(re.fullmatch(r"pgtrigger_\w+_[0-9a-f]{4,5}_1000\d\d", name) for name in resting)


def test_the_scope_goes_before_a_statement_and_binds_it(on_citus: None) -> None:
    mine, others = make_end_user(), make_end_user()
    for end_user in (mine, others):
        make_contact(end_user)
    with scope.undeclared(), scope.user_scope(mine):
        with CaptureQueriesContext(connection) as sent:
            assert [contact.end_user_id for contact in Contact.objects.all()] == [mine.pk]
        assert "SET LOCAL" not in sent.captured_queries[0]["sql"]
        assert Contact.objects.update(name="x") == 1


def test_policies_in_the_form_that_citus_takes_show_the_same_rows(on_citus: None) -> None:
    with scope.all_users_of_session(connection):
        row_security.protect(connection)
    forms = row_security.user_tables(on_citus=True)
    assert not any("SELECT" in shown for shown in forms.values())
    mine, others = make_end_user(), make_end_user()
    for end_user in (mine, others):
        make_memory(end_user, "x", make_contact(end_user))
    with scope.undeclared():
        with scope.user_scope(mine):
            assert Memory.objects.get().end_user_id == mine.pk
            assert EndUser.objects.get() == mine
        with scope.app_scope(others.app_id):
            assert others in EndUser.objects.all()
            assert not Contact.objects.exists()
        with scope.all_users():
            assert Memory.objects.count() == 2


@isolate_apps("accounts")
def test_migrations_send_one_command_at_a_time(on_citus: None) -> None:
    class OfATest(models.Model):
        class Meta:
            app_label = "accounts"
            db_table = "of_a_test"

        def __str__(self) -> str:
            return str(self.pk)

    with connection.schema_editor() as editor, CaptureQueriesContext(connection) as sent:
        editor.execute("CREATE TABLE of_a_test (id bigint); -- one\nDROP INDEX IF EXISTS a; ")
        editor.execute("ALTER TABLE of_a_test ALTER COLUMN id SET STORAGE PLAIN")
        field = models.PositiveIntegerField(default=1)
        field.set_attributes_from_name("count")
        editor.add_field(OfATest, field)
    commands = [query["sql"] for query in sent.captured_queries]
    assert not any(";" in command.rstrip(" ;") for command in commands)
    assert not any("STORAGE" in command for command in commands)
    with pytest.raises(IntegrityError) as broken:
        execute("INSERT INTO of_a_test (id, count) VALUES (1, -1)")
    assert citus.broken_constraint(broken.value) == "of_a_test_count_check"


def test_a_constraint_is_known_by_what_is_said_of_its_shard() -> None:
    with pytest.raises(IntegrityError) as error:
        execute(
            """DO $$ BEGIN RAISE unique_violation USING MESSAGE =
            'duplicate key value violates unique constraint "memory_once_102050"'; END $$"""
        )
    assert citus.broken_constraint(error.value) == "memory_once"


def test_a_commit_that_failed_at_a_node_may_be_tried_again() -> None:
    with pytest.raises(OperationalError):
        execute(
            """DO $$ BEGIN RAISE internal_error USING MESSAGE =
            'could not commit transaction for shard 102011 on at least one active node'; END $$"""
        )


def test_deferred_constraints_are_checked_on_demand(on_citus: None) -> None:
    gone = make_contact(make_end_user())
    execute(f"UPDATE contacts_contactkey SET end_user_id = 0 WHERE contact_id = '{gone.pk}'")
    with pytest.raises(IntegrityError):
        connection.check_constraints()
