"""Clients that wait hold up nobody: a real web process, and a model server that hangs."""

import json
import select
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

import pytest
from django.db import DatabaseError, connection

from accounts.errors import exception_handler
from accounts.models import EndUser
from contacts.edit import create_contact
from memories.api import waiting
from memories.models import Batch, Memory, Message, ProcessJob
from memories.pipeline import catch_up
from tests.api import ApiClient, Reply, assert_error
from tests.factories import make_contact, make_end_user, make_memory, make_message
from tests.mio_site.waiting import eventually
from tests.processes import end_other_sessions, start, wait_until_blocked
from tests.servers import FakeOpenAI, Request

WEB = """
import socket
from mio_site.child import serve_web
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
serve_web(listener.fileno())
"""


@dataclass
class Web:
    """The web process."""

    port: int

    def ask(self, secret: str, address: str, body: object = None, timeout: float = 30) -> int:
        """The status of the answer; 0 when none came in time."""
        http = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
            http.request("POST" if body else "GET", address, json.dumps(body), headers)
            return http.getresponse().status
        except TimeoutError:
            return 0
        except ConnectionError:
            return -1
        finally:
            http.close()


@pytest.fixture
def models() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def web(models: FakeOpenAI) -> Iterator[Web]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {"MIO_LLM": "openai", "MIO_EMBEDDINGS": "openai", "OPENAI_API_KEY": "none"}
    process = start(WEB, port, **env, OPENAI_BASE_URL=models.base_url)
    site = Web(port)
    assert eventually(lambda: site.ask("", "/readyz") == 200)
    yield site
    process.kill()
    with connection.cursor() as cursor:
        end_other_sessions(cursor)


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_clients_that_wait_for_a_stuck_user_hold_up_nobody(web: Web, models: FakeOpenAI) -> None:
    models.hang(times=None)
    patient, other = ApiClient(), ApiClient()
    make_message(make_end_user(app=patient.app, external_id="stuck"))
    make_message(make_end_user(app=other.app, external_id="zoe"))
    process = "/api/v1/users/stuck/process/"
    said = b'{"wait": true}'
    head = (
        f"POST {process} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {patient.secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
    )

    def one_more() -> int:
        return web.ask(patient.secret, process, {"wait": True}, timeout=0.3)

    def others_are_answered() -> None:
        for _ in range(5):
            asked = "/api/v1/users/zoe/context/", {"message": "How is Greta?"}
            assert web.ask(other.secret, *asked, timeout=5) == 200
            assert web.ask("", "/readyz", timeout=5) == 200

    def refused() -> list[socket.socket]:
        answered, _, _ = select.select(waiters, [], [], 0)
        return [one for one in answered if b" 429 " in one.recv(30, socket.MSG_PEEK)]

    waiters = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(waiting.MOST + 1)]
    for waiter in waiters:
        waiter.sendall(head.encode() + said)
    assert eventually(lambda: len(refused()) == 1)
    assert models.arrived.acquire(timeout=10)
    others_are_answered()
    for waiter in waiters:
        waiter.close()
    assert eventually(lambda: one_more() == 0)  # it may wait again
    others_are_answered()
    assert Batch.objects.get().state == Batch.State.RUNNING  # one asked the model, for all


@pytest.mark.django_db
def test_waiting_ends_however_much_the_user_goes_on_to_say() -> None:
    end_user = make_end_user()
    make_message(end_user, "My friend Greta moved to Oslo.")

    def say_more(_pending: int) -> None:
        busy = EndUser.objects.get(pk=end_user.pk)
        assert busy.message_seq < 50, "it does not end"
        make_message(busy, f"My friend Greta visited {busy.message_seq} museums.")

    done = catch_up.catch_up(end_user.pk, say_more)
    assert (done.extracted, done.consolidated) == (1, 1)
    assert done.pending > 0


@contextmanager
def held(sql: str, *values: Any) -> Iterator[None]:
    """Rows that another session has locked; who waits for them here gives up soon."""
    holder = connection.copy()
    with holder.cursor() as lock, connection.cursor() as cursor:
        lock.execute(f"BEGIN; SET LOCAL mio.scope = 'all'; {sql} FOR UPDATE", values)
        cursor.execute("SET lock_timeout = '50ms'")
        yield
        cursor.execute("RESET lock_timeout")
    holder.close()


@pytest.mark.django_db(transaction=True)
def test_context_waits_for_nobody_who_writes_to_a_memory() -> None:
    client = ApiClient()
    end_user = make_end_user(app=client.app, external_id="zoe")
    greta = make_contact(end_user, "Greta")
    taken, free = (make_memory(end_user, f"Greta {does}.", greta) for does in ("sings", "hums"))
    with held("SELECT FROM memories_memory WHERE id = %s", taken.pk):
        status, body = client.post("users/zoe/context/", {"message": "How is Greta?"})
    assert (status, len(body["memories"])) == (200, 2)
    counts = Memory.objects.in_bulk([taken.pk, free.pk])
    assert [counts[one.pk].access_count for one in (taken, free)] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_a_write_to_a_user_that_is_locked_is_refused_for_now() -> None:
    client = ApiClient()
    end_user = make_end_user(app=client.app, external_id="zoe")
    with held("SELECT FROM accounts_enduser WHERE id = %s", end_user.pk):
        assert_error(client.post("users/zoe/contacts/", {"name": "Bob"}), 503, "busy")
    assert client.reply.headers["Retry-After"] == "2"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("erased", "status", "code"),
    [
        (["accounts_change"], 404, "not_found"),
        (["accounts_change", "contacts_contactkey", "contacts_contact", "accounts_enduser"],
         409, "conflict"),
    ],
)  # fmt: skip
def test_what_is_erased_while_a_verb_waits_for_the_user_is_no_error_of_ours(
    erased: list[str], status: int, code: str
) -> None:
    client = ApiClient()
    end_user = make_end_user(app=client.app, external_id="zoe")
    _, change = create_contact(end_user, "Greta", actor="app:chat")

    def undo() -> Reply:
        try:
            return client.post(f"users/zoe/changes/{change.pk}/undo/")
        finally:
            connection.close()

    eraser = connection.copy()
    with eraser.cursor() as cursor, ThreadPoolExecutor(1) as threads:
        deleted = "; ".join(f"DELETE FROM {table}" for table in erased)
        cursor.execute("BEGIN; SET LOCAL mio.scope = 'all'")
        cursor.execute(f"SELECT FROM accounts_enduser FOR UPDATE; {deleted}")
        reply = threads.submit(undo)
        wait_until_blocked(cursor)
        cursor.execute("COMMIT")
        assert_error(reply.result(), status, code)
    eraser.close()


@pytest.mark.django_db(transaction=True)
def test_who_writes_while_their_user_is_erased_is_waited_for_and_erased_too() -> None:
    client = ApiClient()
    end_user = make_end_user(app=client.app, external_id="zoe")
    make_contact(end_user, "Greta")

    def forget() -> Reply:
        try:
            return client.post("users/zoe/forget/", {"everything": True})
        finally:
            connection.close()

    with (
        closing(connection.copy()) as writer,
        writer.cursor() as cursor,
        ThreadPoolExecutor(1) as threads,
    ):
        cursor.execute("BEGIN; SET LOCAL mio.scope = 'all'")
        cursor.execute("SELECT FROM contacts_contact FOR UPDATE")
        reply = threads.submit(forget)
        wait_until_blocked(cursor)  # its calls are deleted, its contact and itself not yet
        cursor.execute(
            "INSERT INTO memories_modelcall (end_user_id, provider, model, purpose, tokens_in,"
            " tokens_out, latency_ms, outcome, answer, created_at)"
            f" VALUES ({end_user.pk}, 'openai', 'm', 'extract', 1, 1, 1, 'ok', '', now())"
        )
        cursor.execute("COMMIT")
        assert reply.result()[0] == 200
    assert not EndUser.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "write",
    [
        EndUser.issue_calendar,
        lambda user: ProcessJob.objects.create(end_user_id=user.pk, up_to_seq=1),
    ],
)
def test_a_write_to_a_user_who_was_erased_meanwhile_finds_nobody(
    write: Callable[[EndUser], object],
) -> None:
    end_user = make_end_user()
    EndUser.objects.filter(pk=end_user.pk).delete()
    with pytest.raises(DatabaseError) as raised:
        write(end_user)
    assert exception_handler(raised.value, {}).status_code == 404


@pytest.mark.django_db
def test_a_job_that_was_erased_meanwhile_is_followed_to_its_end() -> None:
    job = catch_up.begin(make_end_user().pk)
    ProcessJob.objects.all().delete()
    assert catch_up.follow(job)["state"] == "done"


@pytest.mark.django_db(transaction=True)
def test_a_message_erased_while_it_is_read_leaves_a_process_that_ends_well(
    models: FakeOpenAI, settings: Any
) -> None:
    settings.MIO_LLM, settings.OPENAI_BASE_URL = "openai", models.base_url
    client = ApiClient()
    said = [{"role": "user", "content": words} for words in ("Nora sings.", "Otto hums.")]
    client.post("users/ann/messages/", {"messages": said})
    first = Message.objects.order_by("seq").values_list("pk", flat=True)[0]
    erased: list[Reply] = []

    def answer(request: Request) -> Any:
        if not erased:
            try:
                erased.append(ApiClient(client.app).delete(f"users/ann/messages/{first}/"))
            finally:
                connection.close()
        turns = request.data.get("turns", ())
        memories = [{"content": t["text"], "turns": [t["n"]], "quote": t["text"]} for t in turns]
        empty: dict[str, Any] = {"people": [], "resolutions": []}
        return {**empty, "memories": memories}

    models.answer_with = answer
    status, done = client.post("users/ann/process/", {"wait": True})
    assert (erased[0][0], status, done["pending"]) == (200, 200, 0)
    assert list(Memory.objects.values_list("content", flat=True)) == ["Otto hums."]
