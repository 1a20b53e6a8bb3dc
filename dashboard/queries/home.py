"""Queries of the home page: what waits, how the pipeline is doing, and what is left to set up."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from accounts.models import ApiKey, App, Change, EndUser
from contacts.models import Contact
from dashboard.words import OPERATOR
from gateway.models import Upstream
from memories import demo
from memories.context import pace
from memories.models import (
    Batch,
    Consolidation,
    Erasure,
    Memory,
    Message,
    ModelCall,
    Outage,
    Retrieval,
    Work,
)
from memories.models.work import REFUSED

DAYS = 14
MOST_USERS = 101  # each has at least one memory, and more than 100 are never counted
STUCK = [Work.State.FAILED, Work.State.QUARANTINED]
CAUSES = 2  # errors that are shown of one state


def queues(users: QuerySet[EndUser]) -> dict[str, QuerySet]:
    """Returns the queues besides those of ``review``: memories that mention somebody and are linked
    to nobody (of at most MOST_USERS end users), batches in quarantine, forget requests."""
    # Read first: in one statement, the planner would read the memories of all end users.
    few = users.filter(has_unlinked=True).order_by("pk").values_list("pk", flat=True)[:MOST_USERS]
    nobody = Memory.objects.of_nobody(list(few)).defer("tokens", "embedding").order_by("-pk")
    quarantined = Batch.objects.filter(end_user__in=users, state=Work.State.QUARANTINED)
    forgetting = Erasure.objects.filter(end_user__in=users, state=Erasure.State.PENDING)
    waiting: dict[str, QuerySet] = {
        "nobody": nobody,
        "quarantined": quarantined.order_by("pk"),
        "forgetting": forgetting.order_by("due_at", "pk"),
    }
    return {name: rows.select_related("end_user__app") for name, rows in waiting.items()}


def asked_who(users: QuerySet[EndUser], today: date) -> dict[str, Any]:
    """Returns how often (``times``) in DAYS days a model was asked whom a message refers to,
    ``changed`` the answer or was ``late``. ``slow``: it is not asked for now."""
    asks = settings.MIO_LLM == "openai" and settings.MIO_RESOLVE == "auto"
    slow = asks and pace.is_left_alone(settings.MIO_RESOLVE_MODEL)
    outcomes = ModelCall.Outcome
    return {"slow": slow} | _latest_calls(users, today).filter(purpose=pace.PURPOSE).aggregate(
        times=Count("pk"),
        changed=Count("pk", Q(outcome=outcomes.CHANGED)),
        late=Count("pk", Q(outcome=outcomes.LATE)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the pipeline: when the ``oldest`` unread message came; how many batches or
    consolidations (``work``) are in each state, on which ``page``, with errors and next try;
    ``refusal``: why model servers refuse; ``demo``: the demo conversation is still unread."""

    oldest: datetime | None
    unread: int
    refusal: dict[str, Any] | None
    work: list[dict[str, Any]]
    demo: bool

    @property
    def failed(self) -> int:
        """How many batches and consolidations failed or are in quarantine."""
        return sum(one["count"] for one in self.work if one["state"] in STUCK)


def health(users: QuerySet[EndUser]) -> Health:
    """Returns the current state of the pipeline."""
    lagging = users.filter(message_seq__gt=F("extracted_seq")).order_by()
    unread = lagging.aggregate(count=Sum(F("message_seq") - F("extracted_seq")))["count"] or 0
    first = Message.objects.filter(end_user__in=lagging, seq=F("end_user__extracted_seq") + 1)
    oldest: datetime | None = first.order_by().aggregate(at=Min("received_at"))["at"]
    work: list[dict[str, Any]] = []
    refused = 0
    for page, model in (("pipeline", Batch), ("consolidations", Consolidation)):
        unfinished = model.objects.filter(end_user__in=users, state__in=Work.OPEN).order_by()
        groups = unfinished.values("state", "error").annotate(n=Count("pk"), next=Min("retry_at"))
        by_state: dict[str, list[Mapping[str, Any]]] = {}
        for row in sorted(groups, key=lambda row: (Work.OPEN[::-1].index(row["state"]), -row["n"])):
            if row["state"] == Work.State.FAILED and row["error"].startswith(REFUSED):
                refused += row["n"]
            else:
                by_state.setdefault(row["state"], []).append(row)
        for state, rows in by_state.items():
            errors = [row["error"] for row in rows if row["error"] and state in STUCK]
            tries = [row["next"] for row in rows if row["next"]]
            count = sum(row["n"] for row in rows)
            group = {"page": page, "state": state, "count": count, "errors": errors[:CAUSES]}
            work.append(group | {"next_at": min(tries, default=None)})
    # Why model servers refuse every request, and since when.
    refusal: dict[str, Any] | None = None
    if outages := list(Outage.objects.all()):
        causes = list(dict.fromkeys(outage.error for outage in outages))
        refusal = {"causes": causes, "since": outages[0].since, "waiting": refused}
    reading = Exists(Batch.objects.filter(end_user=OuterRef("pk"), state__in=Work.UNDER_WAY))
    waiting = Q(message_seq__gt=F("extracted_seq")) | reading
    demo_unread = users.filter(waiting, **demo.WHO).exists()
    return Health(oldest, unread, refusal, work, demo_unread)


def _last_days(today: date) -> list[date]:
    """Returns the last DAYS days, the oldest first."""
    return [today - timedelta(days=n) for n in reversed(range(DAYS))]


def _latest_calls(users: QuerySet[EndUser], today: date) -> QuerySet[ModelCall]:
    """Returns the model calls of the last DAYS days."""
    start = timezone.make_aware(datetime.combine(_last_days(today)[0], time.min))
    return ModelCall.objects.filter(end_user__in=users, created_at__gte=start)


def figures(users: QuerySet[EndUser], today: date) -> dict[str, Any]:
    """Returns for each of the last ``days`` the ``tokens`` of model calls, their ``costs`` in US
    dollars ([] if a price is unknown) and the share of look-ups that needed text search
    (``fallback``); in total the ``calls`` except embeddings, ``failures`` and ``messages`` read."""
    calls = _latest_calls(users, today).annotate(day=TruncDate("created_at")).order_by()
    rows = calls.values("day", "model").annotate(
        calls=Count("pk", ~Q(purpose="embed")),
        failures=Count("pk", ~Q(outcome__in=ModelCall.FINE)),
        read=Sum("tokens_in"),
        written=Sum("tokens_out"),
        heard=Sum("messages"),
    )
    tokens, costs, all_days = Counter[date](), defaultdict[date, float](float), Counter[str]()
    priced = True
    for row in rows:
        cost = cost_of(row["model"], row["read"], row["written"])
        priced = priced and cost is not None
        tokens[row["day"]] += row["read"] + row["written"]
        costs[row["day"]] += cost or 0.0
        all_days.update(calls=row["calls"], failures=row["failures"], messages=row["heard"])
    days = _last_days(today)
    retrievals = Retrieval.objects.filter(end_user__in=users, day__gte=days[0]).order_by()
    sums = retrievals.values("day").annotate(linked=Sum("linked"), fallback=Sum("fallback"))
    shares = {row["day"]: row["fallback"] / max(row["linked"] + row["fallback"], 1) for row in sums}
    return {
        "days": days,
        "tokens": [tokens[day] for day in days],
        "costs": [costs[day] for day in days] if priced else [],
        "fallback": [shares.get(day, 0.0) for day in days],
        **{name: all_days[name] for name in ("calls", "failures", "messages")},
    }


def cost_of(model: str, tokens_in: int, tokens_out: int) -> float | None:
    """Returns the US dollars for these tokens by MIO_TOKEN_PRICES, None without a price there."""
    price = settings.MIO_TOKEN_PRICES.get(model)
    if price is None:
        return None
    return (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000


def first_steps(apps: QuerySet[App], users: QuerySet[EndUser]) -> list[tuple[str, bool]]:
    """Returns the first steps, each with whether it is done (outside the demo); [] if all are."""
    apps = apps.exclude(name=demo.APP)
    real_users = users.exclude(app__name=demo.APP).order_by()
    written = real_users.filter(message_seq__gt=0).exists()
    person = Contact.objects.filter(end_user__in=real_users.values("pk")).exists()
    corrected = Change.objects.filter(
        end_user__in=real_users.values("pk"), actor__startswith=OPERATOR
    )
    steps = [
        ("key", ApiKey.objects.filter(app__in=apps, revoked_at=None).exists()),
        ("messages", written or Upstream.objects.filter(app__in=apps).exists()),
        # Whoever has people without a model has chosen to do without.
        ("model", settings.MIO_LLM == "openai" or person),
        ("person", person),
        ("correction", corrected.exists()),
    ]
    return [] if all(done for _name, done in steps) else steps
