"""What monitors ask: is it alive, is it ready, how is it doing."""

from collections.abc import Iterable

from django.db import Error
from django.db.models import Count, F, Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from django_q.models import OrmQ
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from accounts.cells import connection
from accounts.errors import envelope
from accounts.models import EndUser
from accounts.schema import missing_migrations
from accounts.scope import all_users
from memories.models import Batch, Consolidation, ModelCall, Retrieval


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """The database answers and has every migration. It is asked over a connection of its own, so
    that a pool whose connections are all in use does not look like a database that is gone."""
    own = connection.copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    try:
        missing = missing_migrations(own)
    except Error:
        return JsonResponse(envelope("no_database", "The database does not answer."), status=503)
    finally:
        own.close()
    if missing:
        message = f"Migrations are missing: {', '.join(missing)}. Run manage.py migrate."
        return JsonResponse(envelope("not_migrated", message), status=503)
    return JsonResponse({"status": "ok"})


class MioCollector(Collector):
    """Counts from the database at the moment of asking: all processes say the same."""

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        waiting = EndUser.objects.unextracted().aggregate(
            messages=Sum(F("message_seq") - F("extracted_seq")), users=Count("pk")
        )
        yield GaugeMetricFamily(
            "mio_messages_waiting", "Messages in no batch yet.", waiting["messages"] or 0
        )
        yield GaugeMetricFamily("mio_users_waiting", "Users with such messages.", waiting["users"])
        yield GaugeMetricFamily("mio_queue_tasks", "Tasks queued.", OrmQ.objects.count())
        work = GaugeMetricFamily("mio_work", "Units of work by state.", labels=["kind", "state"])
        for model in (Batch, Consolidation):
            counts = model.objects.order_by().values_list("state").annotate(n=Count("pk"))
            for state, count in counts:
                work.add_metric([model._meta.model_name or "", state], count)
        yield work
        yield from _model_calls()
        found = Retrieval.objects.aggregate(linked=Sum("linked"), fallback=Sum("fallback"))
        retrievals = CounterMetricFamily(
            "mio_retrievals", "Searches for a person's memories.", labels=["answered_by"]
        )
        for how, count in found.items():
            retrievals.add_metric([how], count or 0)
        yield retrievals


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
    for provider, purpose, outcome, count, tokens_in, tokens_out, latency_ms in (
        ModelCall.objects.order_by()
        .values_list("provider", "purpose", "outcome")
        .annotate(Count("pk"), Sum("tokens_in"), Sum("tokens_out"), Sum("latency_ms"))
    ):
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


@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """Prometheus' text format."""
    try:
        with all_users():
            text = generate_latest(_registry)
    except Error:
        return JsonResponse(envelope("no_database", "The database does not answer."), status=503)
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)
