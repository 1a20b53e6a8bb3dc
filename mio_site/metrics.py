"""What Prometheus asks: counts of the database at the moment of asking, and how contexts went out of
this process."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.conf import settings
from django.db import Error, connections
from django.db.models import Count, F, Min, Sum
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
from memories.context.measures import SECONDS
from memories.models import Batch, Consolidation, Message, Outage, SlowModel, Work
from mio_site.management.commands.backup import LAST
from mio_site.still_queue import still_seconds
from webhooks.models import Endpoint


class MioCollector(Collector):
    """Counts from the database at the moment of asking: all processes say the same."""

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        yield from _by_cell() if cells.several() else _of_users()
        yield GaugeMetricFamily("mio_queue_tasks", "Tasks queued.", OrmQ.objects.count())
        due = OrmQ.objects.filter(lock__lte=timezone.now())
        yield GaugeMetricFamily(
            "mio_queue_lag_seconds",
            "Since when the oldest task waits.",
            _age(due.aggregate(since=Min("lock"))["since"]),
        )
        yield GaugeMetricFamily(
            "mio_queue_still_seconds",
            "Since when tasks are due and none is taken; 0 while one is under way.",
            still_seconds(connections[Conf.ORM]),
        )
        with cells.entered(cells.SHARED):
            yield from list(_webhooks())
        yield from _backup()


def _by_cell() -> Iterable[Metric]:
    """The same of every cell, told apart by the label ``cell``, and which of them answer."""
    up = GaugeMetricFamily("mio_cell_up", "Whether a cell answers.", labels=["cell"])
    found: dict[str, Metric] = {}
    answering = cells.reachable()
    for cell in cells.names():
        up.add_metric([cell], cell in answering)
    for cell in answering:
        with cells.entered(cell):
            for metric in _of_users():
                told = [s._replace(labels={"cell": cell, **s.labels}) for s in metric.samples]
                metric.samples = [
                    *(found[metric.name].samples if metric.name in found else ()),
                    *told,
                ]
                found[metric.name] = metric
    return [up, *found.values()]


def _of_users() -> Iterator[Metric]:
    """What is counted of the end users of a cell, and of the models asked for them."""
    waiting = EndUser.objects.unextracted().aggregate(
        messages=Sum(F("message_seq") - F("extracted_seq")), users=Count("pk")
    )
    yield GaugeMetricFamily(
        "mio_messages_waiting", "Messages in no batch yet.", waiting["messages"] or 0
    )
    yield GaugeMetricFamily("mio_users_waiting", "Users with such messages.", waiting["users"])
    unread = Message.objects.filter(
        end_user__in=EndUser.objects.unextracted(), seq__gt=F("end_user__extracted_seq")
    )
    yield GaugeMetricFamily(
        "mio_oldest_message_seconds",
        "Since when the oldest such message waits.",
        _age(unread.aggregate(since=Min("received_at"))["since"]),
    )
    work = GaugeMetricFamily(
        "mio_work", "Units of work that are not over, by state.", labels=["kind", "state"]
    )
    for model in (Batch, Consolidation):
        rows = model.objects.filter(state__in=Work.OPEN).order_by()
        counts = dict(rows.values_list("state").annotate(n=Count("pk")))
        for state in Work.OPEN:
            work.add_metric([model._meta.model_name or "", state], counts.get(state, 0))
    yield work
    yield from _model_calls()
    retrievals = CounterMetricFamily(
        "mio_retrievals", "Searches for a person's memories.", labels=["answered_by"]
    )
    sums = tallies.total(tallies.RETRIEVALS).get((), (0, 0))
    for how, count in zip(("linked", "fallback"), sums, strict=True):
        retrievals.add_metric([how], count)
    yield retrievals
    yield from _outages()
    yield from _left_alone()


def _age(moment: datetime | None) -> float:
    """The seconds since then; 0 for none."""
    return max(0.0, (timezone.now() - moment).total_seconds()) if moment else 0.0


def _outages() -> Iterator[Metric]:
    away = GaugeMetricFamily(
        "mio_model_away_seconds",
        "Since when a model refuses whatever is asked.",
        labels=["provider", "model"],
    )
    for outage in Outage.objects.all():
        away.add_metric([outage.provider, outage.model], _age(outage.since))
    yield away


def _left_alone() -> Iterator[Metric]:
    alone = GaugeMetricFamily(
        "mio_model_left_alone",
        "1 for a model that answers too late whom messages mean, and is not asked for a while.",
        labels=["model"],
    )
    for model in SlowModel.objects.values_list("model", flat=True):
        alone.add_metric([model], pace.is_left_alone(model))
    yield alone


def _webhooks() -> Iterator[Metric]:
    endpoints = GaugeMetricFamily("mio_webhook_endpoints", "Endpoints by state.", labels=["state"])
    disabled = Endpoint.objects.exclude(disabled_at=None).count()
    endpoints.add_metric(["active"], Endpoint.objects.count() - disabled)
    endpoints.add_metric(["disabled"], disabled)
    yield endpoints


def _backup() -> Iterator[Metric]:
    """Of the last backup that was made with this MIO_HOME; no sample before there was one."""
    made = GaugeMetricFamily("mio_backup_age_seconds", "Since the last backup.", labels=[])
    last = settings.MIO_HOME / LAST
    if last.exists():
        made.add_metric([], timezone.now().timestamp() - last.stat().st_mtime)
    yield made


def _model_calls() -> Iterable[Metric]:
    calls = CounterMetricFamily(
        "mio_model_calls", "Model calls.", labels=["provider", "purpose", "outcome"]
    )
    tokens = CounterMetricFamily(
        "mio_model_tokens", "Tokens of model calls.", labels=["provider", "purpose", "direction"]
    )
    seconds = CounterMetricFamily(
        "mio_model_seconds", "Time spent in model calls.", labels=["provider", "purpose"]
    )
    sums: dict[tuple[str, str], list[float]] = {}
    for (provider, purpose, outcome), numbers in tallies.total(tallies.MODEL_CALLS).items():
        count, tokens_in, tokens_out, latency_ms = numbers
        calls.add_metric([provider, purpose, outcome], count)
        held = sums.setdefault((provider, purpose), [0, 0, 0.0])
        for place, value in enumerate((tokens_in, tokens_out, latency_ms / 1000)):
            held[place] += value
    for (provider, purpose), (tokens_in, tokens_out, spent) in sums.items():
        tokens.add_metric([provider, purpose, "in"], tokens_in)
        tokens.add_metric([provider, purpose, "out"], tokens_out)
        seconds.add_metric([provider, purpose], spent)
    return [calls, tokens, seconds]


_registry = CollectorRegistry()
_registry.register(MioCollector())
_registry.register(SECONDS)


@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """Prometheus' text format."""
    try:
        with all_users():
            text = generate_latest(_registry)
    except Error:
        return JsonResponse(envelope("no_database", "The database does not answer."), status=503)
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)
