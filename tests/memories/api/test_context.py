"""The context over HTTP: how little it asks of the database, and without a database that writes."""

from collections.abc import Callable, Iterator

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIRequestFactory

from accounts.models import ApiKey, EndUser
from memories.api.context import ContextView
from memories.context import build
from memories.context.request import ContextRequest
from memories.models import Edge, Injected, Memory, Retrieval
from memories.providers.factory import embedder
from tests.api import ApiClient
from tests.factories import make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db

WRITTEN = (
    "accounts_apikey",
    "memories_edge",
    "memories_injected",
    "memories_memory",
    "memories_retrieval",
)
QUESTION = "How is Greta doing, and what did she paint lately?"


@pytest.fixture
def zoe(client: ApiClient) -> EndUser:
    """Somebody whose friend Greta is known by eleven memories, from which edges were left to an
    archived one."""
    end_user = make_end_user(app=client.app, external_id="zoe", language="en")
    greta = make_contact(end_user, "Greta", gender="female")
    make_message(end_user, "Greta came by")
    contents = [f"Greta painted picture {n}" for n in range(11)]
    for content, vector in zip(contents, embedder().embed_passages(contents), strict=True):
        make_memory(end_user, content, greta, embedding=vector, said_at=timezone.now())
    painted = list(Memory.objects.of(end_user))
    gone = make_memory(end_user, "Greta dislikes frames", status="archived")
    Edge.objects.bulk_create(
        Edge(end_user=end_user, source=one, target=gone, kind="causes") for one in painted
    )
    return end_user


def reads_only() -> None:
    connection.check_constraints()  # what is checked at the end takes locks
    with connection.cursor() as cursor:
        cursor.execute("SET transaction_read_only = on")


def disk_is_full() -> None:
    """Every write fails as on a full disk."""
    with connection.cursor() as cursor:
        cursor.execute(
            """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"""
        )
        for table in WRITTEN:
            cursor.execute(
                f"""CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE OR DELETE ON {table}
                    FOR EACH STATEMENT EXECUTE FUNCTION full_disk()"""
            )


@pytest.mark.parametrize("history", [True, False])
def test_a_context_takes_few_statements(zoe: EndUser, history: bool) -> None:
    turns = [("user", "Greta came by")] if history else []
    with CaptureQueriesContext(connection) as queries:
        traced = build.trace(zoe, ContextRequest(QUESTION, history=turns))
    assert len(traced.injection.memories) == 10
    assert len(queries) <= (7 if history else 8)  # without: the turns of the conversation


@pytest.fixture
def kept_connection() -> Iterator[None]:
    """As Django's own test client has it: the end of a request leaves the connection open."""
    request_finished.disconnect(close_old_connections)
    yield
    request_finished.connect(close_old_connections)


@pytest.mark.usefixtures("kept_connection")
def test_what_was_injected_is_written_after_the_answer(client: ApiClient, zoe: EndUser) -> None:
    request = APIRequestFactory().post(
        "/", {"message": QUESTION}, "json", HTTP_AUTHORIZATION=f"Bearer {client.secret}"
    )
    answer = ContextView.as_view()(request, user="zoe")
    assert len(answer.data["memories"]) == 10
    assert not Injected.objects.exists()
    answer.close()
    assert Injected.objects.get().memory_ids == [one["id"] for one in answer.data["memories"]]
    assert Retrieval.objects.get().linked == 1
    assert Memory.objects.filter(access_count=1).count() == 10


@pytest.mark.parametrize("broken", [reads_only, disk_is_full])
def test_a_database_that_takes_no_write_answers_all_the_same(
    client: ApiClient, zoe: EndUser, broken: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    expected = build.trace(zoe, ContextRequest(QUESTION)).injection.system_prompt
    broken()
    for address, body in (
        ("users/zoe/context/", {"message": QUESTION}),
        ("users/zoe/search/", {"query": QUESTION}),
    ):
        caplog.clear()
        status, answer = client.post(address, body)
        assert status == 200, answer
        told = [record.getMessage() for record in caplog.records]
        assert sum(line.startswith("Removal of edges") for line in told) == 1
        assert sum(line.startswith("Use of API key") for line in told) == 1
        noted = [line for line in told if line.startswith("Use of the context")]
        assert len(noted) == ("context" in address)
        assert all(f"end user {zoe.pk}:" in line for line in noted)
        assert "Greta" not in "".join(told)
        if "context" in address:
            assert answer["system_prompt"] == expected
    assert not Injected.objects.exists()
    assert ApiKey.objects.get().last_used_at is None
