"""An end user of a size that hardly any has, made in big statements: for measuring pages."""

from datetime import timedelta
from itertools import chain, product
from typing import Any

from django.db import connection
from django.utils import timezone
from tqdm import tqdm

from accounts.models import App, EndUser
from contacts import store
from contacts.models import Contact, ContactKey
from memories.providers.factory import embedder
from memories.search import vectors
from tools.bench.synthetic import fill
from understanding import names

CHUNK = 2000
OTHERS = 1000  # end users beside the large one
MOST_KNOWN = 25  # of so many memories one is about the same person
DOUBTFUL = 20  # of so many links one is a guess
OUTDATED = 1000  # of so many memories one is outdated
CONTRADICTING = 100  # of so many people one has two values where one can be right
SUGGESTED = 10  # of so many people one may be somebody else
PER_CHANGE = 10  # so many memories to a change, a batch and a model call

_SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏水窦章"
_GIVEN = "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超霞平刚玲桂鹏辉峰琳雪梅晨浩宇轩博文思"
_WORK = ("腾讯", "协和医院", "Acme", "市一中", "律所")
_RELATIONSHIPS = ("朋友", "同事", "表姐", "客户", "")


def make(contacts: int, memories: int, *, progress: bool) -> EndUser:
    """The end user, among others of a few contacts, with a queue of everything to review."""
    app = App.objects.create(name="crowded")
    others = [EndUser(app=app, external_id=f"other {n}", language="zh") for n in range(OTHERS)]
    EndUser.objects.bulk_create(others)
    vectors.drop_other_indexes("")
    end_user = crowd(app, "crowded", contacts, memories, progress=progress)
    vectors.build_index(embedder().space)
    _run("VACUUM ANALYZE")
    return end_user


def crowd(app: App, name: str, contacts: int, memories: int, *, progress: bool) -> EndUser:
    """The rows of one end user."""
    end_user = EndUser.objects.create(
        app=app, external_id=name, language="zh", last_message_at=timezone.now()
    )
    _people(end_user, contacts, progress)
    fill({end_user: memories}, embedder().space, embedder().dimensions, progress=progress)
    _run("ANALYZE")  # without it the links take a plan for tables of a few rows
    _links(end_user)
    _queue(end_user)
    _ledger(end_user, memories // PER_CHANGE)
    return end_user


def _people(end_user: EndUser, count: int, progress: bool) -> None:
    now = timezone.now()
    full = chain(product(_SURNAMES, _GIVEN, _GIVEN), product(_SURNAMES, _GIVEN, _GIVEN, _GIVEN))
    called = map("".join, full)
    bar = tqdm(total=count, desc="people", disable=not progress)
    for start in range(0, count, CHUNK):
        rows = []
        for n in range(start, min(start + CHUNK, count)):
            name = next(called)
            work: list[dict[str, Any]] = [{"value": _WORK[n % 5], "sources": [], "since": None}]
            if n % CONTRADICTING == 0:
                work.append({"value": _WORK[(n + 1) % 5], "sources": [], "since": None})
            rows.append(
                Contact(
                    end_user=end_user,
                    name=name,
                    name_key=names.name_key(name),
                    relationship=_RELATIONSHIPS[n % 5],
                    attributes={"company": work},
                    card=f"### {name}\n公司：{work[0]['value']}",
                    mention_count=1 + n % 97,
                    last_mentioned_at=now - timedelta(minutes=n),
                )
            )
        Contact.objects.bulk_create(rows)
        ContactKey.objects.bulk_create(
            (
                ContactKey(end_user=end_user, contact=row, key=k.key, how=k.how, text=k.text)
                for row in rows
                for k in store.all_keys_of(row)
            ),
            batch_size=CHUNK * 2,
            ignore_conflicts=True,
        )
        bar.update(len(rows))


def _run(sql: str, **values: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)


def _links(end_user: EndUser) -> None:
    """Every memory is about one person, one of MOST_KNOWN about the same."""
    _run(
        """
        WITH people AS (
            SELECT id, row_number() OVER (ORDER BY last_mentioned_at DESC) - 1 AS place
            FROM contacts_contact WHERE end_user_id = %(user)s),
        facts AS (
            SELECT id, row_number() OVER (ORDER BY said_at) AS place
            FROM memories_memory WHERE end_user_id = %(user)s)
        INSERT INTO memories_link
            (end_user_id, contact_id, memory_id, made_by, confidence, rejected, created_at)
        SELECT %(user)s, people.id, facts.id, 'extractor',
            CASE WHEN facts.place %% %(doubtful)s = 0 THEN 0.5 ELSE 0.9 END, false, now()
        FROM facts JOIN people ON people.place =
            CASE WHEN facts.place %% %(known)s = 0 THEN 0 ELSE facts.place %% %(size)s END
        """,
        user=end_user.pk,
        doubtful=DOUBTFUL,
        known=MOST_KNOWN,
        size=Contact.objects.of(end_user).count(),
    )
    _run(
        """
        UPDATE memories_memory SET status = 'outdated', outdated_at = now()
        WHERE id IN (
            SELECT id FROM (
                SELECT id, row_number() OVER (ORDER BY said_at) AS place
                FROM memories_memory WHERE end_user_id = %(user)s) facts
            WHERE place %% %(outdated)s = 0)
        """,
        user=end_user.pk,
        outdated=OUTDATED,
    )


def _queue(end_user: EndUser) -> None:
    _run(
        """
        WITH people AS (
            SELECT id, row_number() OVER (ORDER BY id) AS place
            FROM contacts_contact WHERE end_user_id = %(user)s)
        INSERT INTO contacts_suggestion
            (end_user_id, first_id, second_id, verdict, confidence, evidence, state, decided_by,
             created_at, updated_at)
        SELECT %(user)s, one.id, other.id, 'likely', 0.5 + (one.place %% 40) / 100.0,
            '[]', 'open', '', now(), now()
        FROM people one JOIN people other ON other.place = one.place + 1
        WHERE one.place %% %(suggested)s = 0
        """,
        user=end_user.pk,
        suggested=SUGGESTED,
    )


def _ledger(end_user: EndUser, count: int) -> None:
    """Changes (of who was mentioned last, whose page is measured, and others), batches, calls."""
    _run(
        """
        INSERT INTO accounts_change
            (id, end_user_id, verb, actor, why, rows, subjects, created_at, undone_by)
        SELECT gen_random_uuid(), %(user)s, 'edit', 'operator:admin', '', '[]',
            jsonb_build_array(link.contact_id, link.memory_id), now() - n * interval '1 minute', ''
        FROM (SELECT contact_id, memory_id, row_number() OVER () AS n
              FROM memories_link WHERE end_user_id = %(user)s
              ORDER BY contact_id = (SELECT id FROM contacts_contact
                  WHERE end_user_id = %(user)s ORDER BY last_mentioned_at DESC LIMIT 1) DESC
              LIMIT %(count)s) link
        """,
        user=end_user.pk,
        count=count,
    )
    _run(
        """
        INSERT INTO memories_batch
            (end_user_id, first_seq, last_seq, state, attempts, error, provider, result,
             created_at, started_at, finished_at)
        SELECT %(user)s, n * 10 + 1, n * 10 + 10,
            CASE WHEN n %% 5000 = 0 THEN 'quarantined' ELSE 'done' END, 1, '', 'offline', '{}',
            at, at, at + interval '1 second'
        FROM (SELECT n, now() - (%(count)s - n) * interval '1 minute' AS at
              FROM generate_series(1, %(count)s) n) work
        """,
        user=end_user.pk,
        count=count,
    )
    _run(
        """
        INSERT INTO memories_modelcall
            (end_user_id, purpose, provider, model, outcome, tokens_in, tokens_out, latency_ms,
             created_at)
        SELECT %(user)s, 'extract', 'offline', 'learned-1', 'ok', 100, 50, 12,
            now() - n * interval '1 minute'
        FROM generate_series(1, %(count)s) n
        """,
        user=end_user.pk,
        count=count,
    )
