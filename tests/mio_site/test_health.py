"""What monitors and readers of the API see, all without a key."""

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.tasks import async_task
from prometheus_client.parser import text_string_to_metric_families

from accounts.scope import SETTINGS
from memories.jobs import sweep
from memories.models import Batch, ModelCall, Retrieval
from tests.factories import make_end_user, make_message

pytestmark = pytest.mark.django_db


def test_healthz_asks_nothing_of_the_database(
    client: Client, django_assert_num_queries: object
) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_readyz_is_200_when_every_migration_is_applied(client: Client) -> None:
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_readyz_is_503_in_json_while_a_migration_is_missing(client: Client) -> None:
    MigrationRecorder.Migration.objects.filter(app="memories").update(app="other")
    response = client.get("/readyz")
    MigrationRecorder.Migration.objects.filter(app="other").update(app="memories")
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "not_migrated"
    assert "memories." in response.json()["error"]["message"]


def metrics(client: Client) -> dict[str, float]:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain")
    return {
        " ".join(
            [sample.name, *(value for _, value in sorted(sample.labels.items()))]
        ): sample.value
        for family in text_string_to_metric_families(response.content.decode())
        for sample in family.samples
    }


def test_metrics_count_what_waits_and_what_was_done(client: Client) -> None:
    end_user = make_end_user()
    for _ in range(3):
        make_message(end_user)
    Batch.objects.create(end_user=end_user, first_seq=1, last_seq=1, state="quarantined")
    call = {"provider": "openai", "model": "m", "purpose": "extract", "latency_ms": 500}
    ModelCall.objects.create(end_user=end_user, **call, tokens_in=7, tokens_out=2, outcome="ok")
    ModelCall.objects.create(end_user=end_user, **call, tokens_in=1, outcome="transient")
    Retrieval.objects.create(end_user=end_user, day=timezone.localdate(), fallback=1)
    async_task("memories.tasks.embed", end_user.pk)

    seen = metrics(client)

    assert seen["mio_messages_waiting"] == 3
    assert seen["mio_users_waiting"] == 1
    assert seen["mio_queue_tasks"] == 1
    assert seen["mio_work batch quarantined"] == 1
    assert seen["mio_model_calls_total ok openai extract"] == 1
    assert seen["mio_model_calls_total transient openai extract"] == 1
    assert seen["mio_model_tokens_total in openai extract"] == 8
    assert seen["mio_model_seconds_total openai extract"] == 1
    assert seen["mio_retrievals_total fallback"] == 1
    assert seen["mio_retrievals_total linked"] == 0


def test_metrics_of_an_empty_database_are_zeros(client: Client) -> None:
    seen = metrics(client)
    assert seen["mio_messages_waiting"] == 0
    assert seen["mio_work batch quarantined"] == 0


def test_what_is_asked_for_every_minute_reads_no_work_that_is_over(client: Client) -> None:
    end_user = make_end_user()
    Batch.objects.bulk_create(
        Batch(end_user=end_user, first_seq=n, last_seq=n, state="done") for n in range(1, 2001)
    )
    with CaptureQueriesContext(connection) as queries:
        assert "mio_work batch done" not in metrics(client)
        sweep.sweep()
    asked = [q["sql"] for q in queries if "memories_batch" in q["sql"]]
    assert len(asked) > 2
    with connection.cursor() as cursor:
        for sql in asked:
            cursor.execute("EXPLAIN (FORMAT JSON) " + SETTINGS.sub("", sql))
            assert "Seq Scan" not in json.dumps(cursor.fetchone()[0]), sql


def test_the_schema_describes_every_endpoint_without_a_warning(client: Client) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")
    response = client.get("/api/schema/?format=json")
    assert response.status_code == 200
    schema = json.loads(response.content)
    paths = {path.removeprefix("/api/v1/users/{user}/") for path in schema["paths"]}
    assert {"messages/", "process/", "context/", "search/", "contacts/", "memories/",
            "memories/{memory_id}/move/", "changes/{change_id}/undo/", "export/",
            "forget/"} <= paths  # fmt: skip
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            assert any(code.startswith("4") for code in operation["responses"]), path
            assert operation["security"] == [{"ApiKey": []}], path


def test_the_docs_page_needs_no_other_site(client: Client) -> None:
    response = client.get("/api/docs/")
    assert response.status_code == 200
    page = response.content.decode()
    assert "swagger-ui" in page
    assert "https://" not in page
    assert "//cdn" not in page
