"""The alerts and the dashboard that are shipped ask for metrics that there are."""

import os
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import EndUser
from memories.context import clock
from memories.models import Batch, ModelCall, Outage
from tests.api import ApiClient, user_address
from tests.deploy.monitored import dashboard, expressions, rules, unserved
from tests.factories import make_end_user, make_message
from webhooks.models import Endpoint

pytestmark = pytest.mark.django_db


def samples(client: Client) -> dict[tuple[str, ...], float]:
    text = client.get("/metrics").content.decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def something_of_everything(end_user: EndUser) -> None:
    """Rows of all that is counted, told an hour ago."""
    ago = timezone.now() - timedelta(hours=1)
    message = make_message(end_user)
    type(message).objects.filter(pk=message.pk).update(received_at=ago)
    Batch.objects.create(end_user=end_user, first_seq=9, last_seq=9, state="quarantined")
    Outage.objects.create(provider="openai", model="m", error="")
    Outage.objects.update(since=ago)
    for disabled_at in (None, ago):
        Endpoint.objects.create(app=end_user.app, url="https://a.example/", disabled_at=disabled_at)
    ModelCall.objects.create(
        end_user=end_user, provider="openai", model="m", purpose="extract", outcome="ok",
        tokens_in=3, tokens_out=2, latency_ms=9,
    )  # fmt: skip


def test_every_metric_and_label_of_the_alerts_and_the_dashboard_is_there(
    client: Client, settings: Any, tmp_path: Any
) -> None:
    settings.MIO_HOME = tmp_path
    (tmp_path / "last_backup").touch()
    api = ApiClient()
    assert api.post(user_address("ann", "context/"), {"message": "Hello"})[0] == 200
    something_of_everything(make_end_user(app=api.app))
    assert len(expressions()) > 20
    assert unserved(client) == {"mio_cell_up"}  # which is told where there are several


def test_every_alert_says_what_to_do_and_whom_to_wake() -> None:
    for rule in rules():
        assert rule["annotations"]["summary"], rule["alert"]
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_panels_do_not_lie_over_each_other() -> None:
    places = [tuple(panel["gridPos"].values()) for panel in dashboard()["panels"]]
    assert len(set(places)) == len(places)


def test_what_alerts_watch_is_counted(client: Client) -> None:
    something_of_everything(make_end_user())
    seen = samples(client)
    assert 3600 <= seen["mio_oldest_message_seconds",] < 3700
    assert 3600 <= seen["mio_model_away_seconds", "m", "openai"] < 3700
    assert seen["mio_work", "batch", "quarantined"] == 1
    assert seen["mio_webhook_endpoints", "active"] == seen["mio_webhook_endpoints", "disabled"] == 1


def test_the_age_of_a_backup_is_known_once_there_was_one(
    client: Client, settings: Any, tmp_path: Any
) -> None:
    settings.MIO_HOME = tmp_path
    assert ("mio_backup_age_seconds",) not in samples(client)
    (tmp_path / "last_backup").touch()
    assert samples(client)["mio_backup_age_seconds",] < 60


def test_contexts_are_counted_by_what_became_of_them(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted() -> Counter[str]:
        own = [
            (key[1], value)
            for key, value in samples(client).items()
            if key[0] == "mio_context_seconds_count" and key[2] == str(os.getpid())
        ]
        return Counter({outcome: int(value) for outcome, value in own})

    api, asked = ApiClient(), {"message": "How is Anna in Berlin?"}
    api.post(user_address("ann", "contacts/"), {"name": "Anna"})
    before = counted()
    assert api.post(user_address("ann", "context/"), asked)[1]["searched"] == "yes"
    monkeypatch.setattr(clock, "is_warm", True)
    settings.MIO_CONTEXT_DEADLINE_MS = 0.001
    assert api.post(user_address("ann", "context/"), asked)[1]["searched"] == "late"
    settings.MIO_CONTEXT_DEADLINE_MS = "soon"
    with pytest.raises(TypeError):
        api.post(user_address("ann", "context/"), asked)
    assert counted() - before == {"yes": 1, "late": 1, "failed": 1}
