"""The Python client against a Mio server, and against servers that break on purpose."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest
from mio_client import AsyncMio, Mio, MioError
from mio_client import types as t

from tests.clients.answers import differences

OK = (200, {}, {"results": []})
LATER = {"error": {"code": "busy", "message": "Another request writes to this user."}}
Step = tuple[int, dict[str, str], Any] | None


class Scripted(ThreadingHTTPServer):
    """Answers with one step a request; None closes the connection without a word."""

    def __init__(self, *steps: Step) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps = list(steps)
        self.asked: list[tuple[str, str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Scripted

    def log_message(self, *_: object) -> None:
        pass

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, body))
        step = self.server.steps.pop(0)
        if step is None:
            self.close_connection = True
            return
        status, headers, answer = step
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815


@contextmanager
def scripted(*steps: Step) -> Iterator[tuple[Scripted, Mio]]:
    server = Scripted(*steps)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    with server, Mio(server.url, "mio_key") as mio:
        yield server, mio
        server.shutdown()


def test_an_address_book_goes_in_and_comes_out_as_the_text_of_a_file(mio: Mio) -> None:
    told = mio.import_address_book("ann", content="First Name,Last Name\nZoe,Park\n")
    assert told["counts"]["new"] == 1
    book = mio.export_address_book("ann", format="google-csv")
    assert mio.import_address_book("ann", content=book, dry_run=True)["counts"]["same"] == 1
    assert "FN:Zoe Park" in mio.export_address_book("ann")


def test_a_conversation_is_stored_read_and_comes_back_as_a_prompt(mio: Mio) -> None:
    said = {"role": "user", "content": "My friend Zoe Park is a nurse in Oslo.", "id": "m1"}
    assert mio.add_messages("ann@example.com/1", messages=[said])["accepted"] == 1
    assert mio.add_messages("ann@example.com/1", messages=[said])["duplicates"] == 1
    assert mio.process("ann@example.com/1", wait=True)["pending"] == 0
    [zoe] = mio.list_contacts("ann@example.com/1", q="zoe")["results"]
    context = mio.context("ann@example.com/1", message="How is Zoe?")
    assert [one["id"] for one in context["contacts"]] == [zoe["id"]]
    assert "nurse" in context["system_prompt"]
    for answer, kind in (
        (context, t.Context),
        (mio.get_contact("ann@example.com/1", zoe["id"]), t.PersonDetail),
        (mio.list_contacts("ann@example.com/1"), t.ContactPage),
        (mio.list_memories("ann@example.com/1"), t.MemoryPage),
        (mio.list_messages("ann@example.com/1"), t.MessagePage),
        (mio.search("ann@example.com/1", query="Zoe"), t.SearchResults),
        (mio.list_changes("ann@example.com/1"), t.ChangePage),
    ):
        assert list(differences(answer, kind)) == []


def test_both_faces_send_the_same_and_read_every_page(mio: Mio, address: str, key: str) -> None:
    day = datetime(2027, 5, 3, 12, tzinfo=UTC)
    for n in range(5):
        mio.add_memory(
            "ann", content=f"The user keeps {n} bees.", happens_at=day, metadata={"n": n}
        )
    paged = list(mio.each(mio.list_memories, "ann", limit=2))
    assert [one["metadata"]["n"] for one in paged] == [4, 3, 2, 1, 0]
    assert {one["happens_at"] for one in paged} == {"2027-05-03T12:00:00Z"}

    async def awaited() -> None:
        async with AsyncMio(address, key) as other:
            assert [one async for one in other.each(other.list_memories, "ann", limit=2)] == paged
            [third] = (await other.list_memories("ann", metadata={"n": 2}))["results"]
            assert third == await other.get_memory("ann", third["id"])
            gone = await other.delete_memory("ann", third["id"])
            assert gone["memories"] == 1

    asyncio.run(awaited())


def test_a_correction_can_be_undone(mio: Mio) -> None:
    wrong, right = mio.add_contact("ann", name="Kim"), mio.add_contact("ann", name="Tom")
    memory = mio.add_memory("ann", content="Kim sings.", contacts=[wrong["id"]])
    moved = mio.move_memory("ann", memory["id"], from_=wrong["id"], to=right["id"])
    assert moved["contacts"] == [right["id"]]
    mio.undo_change("ann", str(moved["change_id"]))
    assert mio.get_memory("ann", memory["id"])["contacts"] == [wrong["id"]]


def test_an_error_has_the_code_the_message_and_the_fields_of_the_api(mio: Mio) -> None:
    with pytest.raises(MioError) as refused:
        mio.add_messages("ann", messages=[{"role": "user", "content": ""}])
    error = refused.value
    assert (error.status, error.code) == (400, "invalid")
    assert list(error.fields) == ["messages[0].content"]
    assert "messages[0].content" in str(error)
    mio.add_contact("ann", name="Kim")
    with pytest.raises(MioError, match="unknown_memory"):
        mio.get_memory("ann", str(uuid4()))
    with Mio(str(mio._http.base_url), "mio_wrong") as stranger, pytest.raises(MioError) as shut:
        stranger.app()
    assert (shut.value.status, shut.value.code) == (401, "authentication_failed")


def test_a_misspelt_field_or_a_missing_part_is_refused_before_anything_is_sent(mio: Mio) -> None:
    with pytest.raises(TypeError, match="no field mesage"):
        mio.context("ann", mesage="hello")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes user, memory_id"):
        mio.get_memory("ann")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes user"):
        mio.search("ann", "bees")  # type: ignore[call-arg]


def test_a_client_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIO_KEY", raising=False)
    with pytest.raises(ValueError, match="create_app"):
        Mio("http://127.0.0.1:1")
    monkeypatch.setenv("MIO_KEY", "mio_x")
    monkeypatch.setenv("MIO_URL", "http://127.0.0.1:1")
    with Mio(retries=0) as mio, pytest.raises(MioError) as lost:
        mio.app()
    assert (lost.value.status, lost.value.code) == (None, "unreachable")


ONE = {"role": "user", "content": "Hello", "id": "m1"}


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (lambda mio: mio.list_memories("ann"), 2),
        (lambda mio: mio.search("ann", query="bees"), 2),
        (lambda mio: mio.context("ann", message="Hello"), 2),
        (lambda mio: mio.add_messages("ann", messages=[ONE]), 2),
        (lambda mio: mio.add_messages("ann", messages=[ONE, {**ONE, "id": None}]), 1),
        (lambda mio: mio.add_memory("ann", content="Bees."), 1),
        (lambda mio: mio.update_memory("ann", "x", content="Bees."), 1),
        (lambda mio: mio.delete_memory("ann", "x"), 1),
    ],
)
def test_only_what_may_be_sent_twice_is_sent_again(call: Any, times: int) -> None:
    with scripted(None, OK) as (server, mio):
        if times == 2:
            assert call(mio) == OK[2]
        else:
            with pytest.raises(MioError, match="unreachable"):
                call(mio)
        assert len(server.asked) == times
        assert len(set(server.asked)) == 1


def test_a_server_that_says_when_is_asked_again_then() -> None:
    with scripted((503, {"Retry-After": "1"}, LATER), OK) as (server, mio):
        began = time.monotonic()
        assert mio.list_users() == OK[2]
        assert 1 <= time.monotonic() - began < 10
        assert len(server.asked) == 2


def test_who_asks_for_more_patience_than_there_is_is_not_waited_for() -> None:
    with scripted((429, {"Retry-After": "3600"}, LATER)) as (_, mio):
        with pytest.raises(MioError) as busy:
            mio.list_users()
        assert (busy.value.code, busy.value.retry_after) == ("busy", 3600)


def test_retries_end_and_what_is_wrong_for_good_is_not_repeated() -> None:
    passing = (503, {"Retry-After": "0"}, LATER)
    with scripted(passing, passing, passing, OK) as (server, mio):
        with pytest.raises(MioError, match="busy"):
            mio.list_users()
        assert len(server.asked) == 3
    with scripted((500, {}, b"<html>"), OK) as (server, mio):
        with pytest.raises(MioError) as odd:
            mio.list_users()
        assert (odd.value.status, odd.value.code) == (500, "not_mio")
        assert len(server.asked) == 1
    with (
        scripted((200, {}, b"<html>")) as (_, mio),
        pytest.raises(MioError, match="address of a Mio"),
    ):
        mio.list_users()


def test_the_async_face_repeats_and_fails_alike() -> None:
    async def asked(url: str) -> Any:
        async with AsyncMio(url, "mio_key") as mio:
            return await mio.list_users()

    with scripted(None, (503, {"Retry-After": "0"}, LATER), OK) as (server, _):
        assert asyncio.run(asked(server.url)) == OK[2]
    with scripted(None, None, None) as (server, _), pytest.raises(MioError, match="unreachable"):
        asyncio.run(asked(server.url))
