"""The alerts and the dashboard that are shipped ask for metrics that there are."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from memories.models import Batch, Outage
from tests.deploy.test_files import ROOT
from tests.factories import make_end_user, make_message
from webhooks.models import Endpoint

pytestmark = pytest.mark.django_db
NAME = re.compile(r"\bmio_\w+")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    return json.loads((ROOT / "deploy/grafana/mio.json").read_text())


def samples(client: Client) -> dict[tuple[str, ...], float]:
    text = client.get("/metrics").content.decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def known(client: Client) -> set[str]:
    families = list(text_string_to_metric_families(client.get("/metrics").content.decode()))
    return {f.name + ("_total" if f.type == "counter" else "") for f in families}


def test_every_metric_of_the_alerts_and_the_dashboard_is_there(client: Client) -> None:
    asked = [rule["expr"] for rule in rules()]
    asked += [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    named = {name for expression in asked for name in NAME.findall(expression)}
    assert len(named) > 8
    assert named - known(client) == set()


def test_every_alert_says_what_to_do_and_whom_to_wake() -> None:
    for rule in rules():
        assert rule["annotations"]["summary"], rule["alert"]
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_panels_do_not_lie_over_each_other() -> None:
    places = [tuple(panel["gridPos"].values()) for panel in dashboard()["panels"]]
    assert len(set(places)) == len(places)


def test_what_alerts_watch_is_counted(client: Client) -> None:
    ago = timezone.now() - timedelta(hours=1)
    end_user = make_end_user()
    message = make_message(end_user)
    type(message).objects.filter(pk=message.pk).update(received_at=ago)
    Batch.objects.create(end_user=end_user, first_seq=9, last_seq=9, state="quarantined")
    Outage.objects.create(provider="openai", model="m", error="")
    Outage.objects.update(since=ago)
    for disabled_at in (None, ago):
        Endpoint.objects.create(app=end_user.app, url="https://a.example/", disabled_at=disabled_at)
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
