"""A database of the first release, with what its users had told, becomes one of this release."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from accounts.models import EndUser
from accounts.scope import all_users_of_session
from contacts.models import Contact
from memories.models import Edge, Link, Memory, Message
from memories.models.memory import content_hash
from memories.pipeline import run
from memories.search.tokens import tokenise
from mio_site.postgres.dump import scratch_database
from tests.commands import run_json
from understanding.names import name_key

FIRST = [
    ("accounts", "0001_initial"),
    ("contacts", "0002_same_user_keys"),
    ("memories", "0002_same_user_keys"),
]
USERS = 2
THEN = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SAID = [
    "小梅在华为当工程师。",
    "小梅住在东莞，养了一只狗。",
    "我妈喜欢跳舞。",
    "My colleague Oliver moved to Madrid.",
]
ABOUT = ["小梅", "小梅", "妈妈", "Oliver"]


def migrate_to_the_first_release() -> Callable[[str, str], Any]:
    """Returns the models as they were then."""
    with all_users_of_session(connection):
        executor = MigrationExecutor(connection)
        # One by one, as they were then, not those that replace them in a new database.
        executor.loader.replace_migrations = False
        executor.loader.build_graph()
        executor.migrate(FIRST)
        return executor.loader.project_state(FIRST).apps.get_model


def fill(model: Callable[[str, str], Any]) -> None:
    """Users with everything that the first release could hold: people, two memories of one
    person behind a profile, one that replaced another, a merge, a batch that failed, messages
    that wait, a key."""
    app = model("accounts", "App").objects.create(name="chat")
    model("accounts", "ApiKey").objects.create(app=app, prefix="mio_abcdef", digest="d" * 64)
    for number in range(USERS):
        end_user = model("accounts", "EndUser").objects.create(
            app=app, external_id=f"user-{number}", language="zh", message_seq=6, extracted_seq=4,
            activity_days=2, last_message_at=THEN,
        )  # fmt: skip
        for seq, text in enumerate([*SAID, "我喜欢喝茶。", "小梅升职了。"], 1):
            model("memories", "Message").objects.create(
                end_user=end_user, seq=seq, role="user", content=text, client_id=f"m{seq}",
                created_at=THEN + timedelta(minutes=seq),
            )  # fmt: skip
        batch = model("memories", "Batch").objects.create(
            end_user=end_user, first_seq=1, last_seq=4, state="done" if number else "quarantined",
            finished_at=THEN,
        )  # fmt: skip
        people = {
            name: model("contacts", "Contact").objects.create(
                end_user=end_user, name=name, name_key=name_key(name), mention_count=1
            )
            for name in {*ABOUT, "梅梅"}
        }
        model("contacts", "Contact").objects.filter(pk=people["梅梅"].pk).update(
            merged_into=people["小梅"]
        )
        profile = memory(model, end_user, "小梅：华为工程师，住在东莞", kind="profile")
        told = [
            memory(
                model, end_user, text, batch=batch, source_message_ids=[seq],
                consolidated_into=profile if name == "小梅" else None,
                importance=0.05 if name == "小梅" else 0.5,
            )
            for seq, (text, name) in enumerate(zip(SAID, ABOUT, strict=True), 1)
        ]  # fmt: skip
        old = memory(model, end_user, "Oliver lives in Leeds.", status="outdated")
        model("memories", "Edge").objects.create(
            end_user=end_user, source=told[3], target=old, kind="supersedes"
        )
        for one, name in [*zip(told, ABOUT, strict=True), (profile, "小梅"), (old, "Oliver")]:
            model("memories", "Link").objects.create(
                end_user=end_user, contact=people[name], memory=one, made_by="extractor",
                consolidated_at=THEN if name == "小梅" else None,
            )  # fmt: skip


def memory(model: Callable[[str, str], Any], end_user: Any, content: str, **fields: Any) -> Any:
    return model("memories", "Memory").objects.create(
        end_user=end_user, content=content, content_hash=content_hash(content),
        tokens=tokenise(content), type="personal", subtype="friend", said_at=THEN, **fields,
    )  # fmt: skip


@pytest.mark.release
@pytest.mark.django_db(transaction=True)
def test_a_filled_database_of_the_first_release_is_upgraded_and_works() -> None:
    with scratch_database():
        with all_users_of_session(connection):
            model = migrate_to_the_first_release()
            fill(model)
        call_command("migrate", verbosity=0)

        # Nothing is lost, and nothing is doubled.
        assert EndUser.objects.count() == USERS
        assert Message.objects.count() == 6 * USERS
        assert Memory.objects.count() == 6 * USERS
        assert Contact.objects.count() == 4 * USERS
        assert Link.objects.count() == 6 * USERS
        assert Edge.objects.filter(kind="supersedes").count() == USERS
        mei = Contact.objects.standing().filter(name="小梅").first()
        assert mei is not None
        assert len(mei.memory_ids) == 3
        told = run_json("context", "--user", "user-1", "--app", "chat", "How is Ollie doing?")
        assert [c["name"] for c in told["contacts"]] == ["Oliver"]

        # What is derived is made anew, and the work goes on where it was.
        call_command("install_schedules", stdout=StringIO())
        for end_user in EndUser.objects.all():
            run.process(end_user.pk)
        call_command("doctor", fix=True, stdout=StringIO())
        assert Memory.objects.filter(content__contains="喝茶").count() == USERS
        told = run_json("context", "--user", "user-1", "--app", "chat", "小梅最近怎么样了")
        assert [c["name"] for c in told["contacts"]] == ["小梅"]
        assert "东莞" in told["system_prompt"]


# What each table, constraint, index and trigger is, one row each. PostgreSQL keeps the names of old
# columns in the names of its own constraints, and functions without a trigger do nothing.
_SCHEMA = """
SELECT 'column', format('%s.%s', attrelid::regclass, attname),
    format('%s %s %s %s %s', format_type(atttypid, atttypmod), attnotnull, attstorage,
        attidentity, pg_get_expr(adbin, adrelid))
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid AND relkind IN ('r', 'p')
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'table', oid::regclass::text,
    format('%s %s %s', reloptions, relrowsecurity, pg_get_partkeydef(oid))
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
UNION ALL SELECT 'constraint', conname, format('%s %s', conrelid::regclass, pg_get_constraintdef(oid))
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
UNION ALL SELECT 'index', indexrelid::regclass::text, pg_get_indexdef(indexrelid)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT 'trigger', tgname, format('%s %s', pg_get_triggerdef(pg_trigger.oid), prosrc)
FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE NOT tgisinternal
"""


def schema() -> dict[tuple[str, str], str | list[str]]:
    """Each definition in the database; of an index its words and comparisons, sorted, since the parts
    of a condition may come in another order."""
    with connection.cursor() as cursor:
        cursor.execute(_SCHEMA)
        return {
            (kind, name): (
                sorted(re.findall(r"\w+|[<>=!]+", definition)) if kind == "index" else definition
            )
            for kind, name, definition in cursor.fetchall()
        }


@pytest.mark.release
@pytest.mark.django_db(transaction=True)
def test_an_upgraded_database_has_the_tables_of_a_new_one() -> None:
    with scratch_database():
        call_command("migrate", verbosity=0)
        new = schema()
    with scratch_database():
        migrate_to_the_first_release()
        call_command("migrate", verbosity=0)
        upgraded = schema()
    assert {kind for kind, _ in new} == {"column", "table", "constraint", "index", "trigger"}
    assert upgraded == new
