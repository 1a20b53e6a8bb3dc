"""Metrics for Prometheus: counts from the database, and the times of this process's contexts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import Error, connections
from django.db.models import Count, F, Min, Q, Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_q.conf import Conf
from django_q.models import OrmQ
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from accounts import cells
from accounts.errors import envelope
from accounts.models import EndUser
from accounts.scope import all_users
from memories import tallies
from memories.context import pace
from memories.context.clock import SECONDS
from memories.models import Batch, Consolidation, Message, Outage, SlowModel, Work
from mio_site.management.commands.backup import LAST
from mio_site.readiness import still_seconds
from webhooks.models import Endpoint


class MioCollector(Collector):
    """Counts the rows of the database when it is asked, so that all processes report the same."""

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        yield from _by_cell() if cells.several() else _of_users()
        yield _metric("mio_queue_tasks", "Tasks queued.", OrmQ.objects.count())
        due = OrmQ.objects.filter(lock__lte=timezone.now()).aggregate(since=Min("lock"))
        text = "Seconds since the oldest task is due."
        yield _metric("mio_queue_lag_seconds", text, _age(due["since"]))
        text = "Seconds since tasks are due and none is taken; 0 while one is under way."
        yield _metric("mio_queue_still_seconds", text, still_seconds(connections[Conf.ORM]))
        with cells.entered(cells.SHARED):
            disabled = Q(disabled_at__isnull=False)
            states = Endpoint.objects.aggregate(
                active=Count("pk", filter=~disabled), disabled=Count("pk", filter=disabled)
            )
        yield _metric("mio_webhook_endpoints", "Endpoints by state.", states, "state")
        # The last backup made with this MIO_HOME; no sample before the first.
        last = settings.MIO_HOME / LAST
        ages = {(): timezone.now().timestamp() - last.stat().st_mtime} if last.exists() else {}
        yield _metric("mio_backup_age_seconds", "Seconds since the last backup.", ages)


def _metric(
    name: str,
    text: str,
    values: float | Mapping[Any, float],
    *labels: str,
    kind: type[GaugeMetricFamily] | type[CounterMetricFamily] = GaugeMetricFamily,
) -> Metric:
    """Returns a metric with one value, or with a sample for each key of ``values`` (its labels)."""
    metric = kind(name, text, labels=labels)
    for key, value in values.items() if isinstance(values, Mapping) else [((), values)]:
        metric.add_metric(key if isinstance(key, tuple) else (key,), value)
    return metric


def _by_cell() -> Iterable[Metric]:
    """Returns the metrics of end users, each with the label ``cell``, and which cells answer."""
    answering = cells.reachable()
    up = {cell: float(cell in answering) for cell in cells.names()}
    metrics = {"": _metric("mio_cell_up", "Whether a cell answers.", up, "cell")}
    for cell in answering:
        with cells.entered(cell):
            for metric in _of_users():
                all_cells = metrics.setdefault(metric.name, metric)
                samples = [s._replace(labels={"cell": cell, **s.labels}) for s in metric.samples]
                earlier = [] if all_cells is metric else all_cells.samples
                all_cells.samples = [*earlier, *samples]
    return metrics.values()


def _of_users() -> Iterator[Metric]:
    """Yields the metrics of the end users of a cell, and of the models asked for them."""
    unextracted = EndUser.objects.unextracted()
    waiting = unextracted.aggregate(
        messages=Sum(F("message_seq") - F("extracted_seq"), default=0), users=Count("pk")
    )
    yield _metric("mio_messages_waiting", "Messages in no batch yet.", waiting["messages"])
    yield _metric("mio_users_waiting", "Users with such messages.", waiting["users"])
    unread = Message.objects.filter(
        end_user__in=unextracted, seq__gt=F("end_user__extracted_seq")
    ).aggregate(since=Min("received_at"))
    text = "Seconds since the oldest such message came."
    yield _metric("mio_oldest_message_seconds", text, _age(unread["since"]))
    yield _open_work()
    yield from _model_calls()
    searches = tallies.total(tallies.RETRIEVALS).get((), (0, 0))
    retrievals = dict(zip(("linked", "fallback"), searches, strict=True))
    text = "Searches for a person's memories."
    yield _metric("mio_retrievals", text, retrievals, "answered_by", kind=CounterMetricFamily)
    away = {(one.provider, one.model): _age(one.since) for one in Outage.objects.all()}
    text = "Seconds since a model refuses whatever is asked."
    yield _metric("mio_model_away_seconds", text, away, "provider", "model")
    models = SlowModel.objects.values_list("model", flat=True)
    text = "1 for a model that answers too late whom messages mean, and is not asked for a while."
    alone = {model: float(pace.is_left_alone(model)) for model in models}
    yield _metric("mio_model_left_alone", text, alone, "model")


def _age(moment: datetime | None) -> float:
    """Returns the seconds since a moment; 0 for none."""
    return max(0.0, (timezone.now() - moment).total_seconds()) if moment else 0.0


def _open_work() -> Metric:
    counts: dict[tuple[str, ...], float] = {}
    for model in (Batch, Consolidation):
        rows = model.objects.filter(state__in=Work.OPEN).order_by()
        by_state = dict(rows.values_list("state").annotate(n=Count("pk")))
        for state in Work.OPEN:
            counts[str(model._meta.model_name), state] = by_state.get(state, 0)
    text = "Units of work that are not over, by state."
    return _metric("mio_work", text, counts, "kind", "state")


def _model_calls() -> Iterable[Metric]:
    calls: dict[tuple[str, ...], float] = {}
    tokens: dict[tuple[str, ...], float] = defaultdict(float)
    seconds: dict[tuple[str, ...], float] = defaultdict(float)
    for (provider, purpose, outcome), sums in tallies.total(tallies.MODEL_CALLS).items():
        calls[provider, purpose, outcome], tokens_in, tokens_out, latency_ms = sums
        tokens[provider, purpose, "in"] += tokens_in
        tokens[provider, purpose, "out"] += tokens_out
        seconds[provider, purpose] += latency_ms / 1000
    labels = ("provider", "purpose")
    for name, text, values, own_labels in (
        ("mio_model_calls", "Model calls.", calls, ("outcome",)),
        ("mio_model_tokens", "Tokens of model calls.", tokens, ("direction",)),
        ("mio_model_seconds", "Seconds spent in model calls.", seconds, ()),
    ):
        yield _metric(name, text, values, *labels, *own_labels, kind=CounterMetricFamily)


_registry = CollectorRegistry()
_registry.register(MioCollector())
_registry.register(SECONDS)


@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """Returns the metrics in Prometheus' text format."""
    try:
        with all_users():
            text = generate_latest(_registry)
    except Error:
        return JsonResponse(envelope("no_database", "The database does not answer."), status=503)
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)
