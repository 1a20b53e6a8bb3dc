"""What needs a person now, whether the pipeline is well, and what a new installation lacks."""

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
CAUSES = 2  # shown of one state


def queues(users: QuerySet[EndUser]) -> dict[str, QuerySet]:
    """What waits beside the decisions of ``review``: memories that mention somebody and are linked to
    nobody (of at most MOST_USERS end users), batches in quarantine, forget requests."""
    # Asked for first: within the other statement, a planner reads everybody's memories for them.
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
    """How many ``times`` a model was asked in DAYS days whom a message means, how often it
    ``changed`` the answer or was ``late``. ``slow``: it is left alone now."""
    asks = settings.MIO_LLM == "openai" and settings.MIO_RESOLVE == "auto"
    slow = asks and pace.is_left_alone(settings.MIO_RESOLVE_MODEL)
    outcomes = ModelCall.Outcome
    return {"slow": slow} | _calls(users, today).filter(purpose=pace.PURPOSE).aggregate(
        times=Count("pk"),
        changed=Count("pk", Q(outcome=outcomes.CHANGED)),
        late=Count("pk", Q(outcome=outcomes.LATE)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Health:
    """``oldest`` is when the first unread message came, ``work`` how many batches or consolidations
    are in a state, on which ``page``, with the commonest errors and the next try. ``demo``: the demo
    conversation is not read yet."""

    oldest: datetime | None
    unread: int
    refusal: dict[str, Any] | None
    work: list[dict[str, Any]]
    demo: bool

    @property
    def failed(self) -> int:
        return sum(one["count"] for one in self.work if one["state"] in STUCK)


def health(users: QuerySet[EndUser]) -> Health:
    """How the pipeline is doing now."""
    behind = users.filter(message_seq__gt=F("extracted_seq")).order_by()
    unread = behind.aggregate(count=Sum(F("message_seq") - F("extracted_seq")))["count"] or 0
    first = Message.objects.filter(end_user__in=behind, seq=F("end_user__extracted_seq") + 1)
    oldest: datetime | None = first.order_by().aggregate(at=Min("received_at"))["at"]
    work: list[dict[str, Any]] = []
    refused = 0
    for page, model in (("pipeline", Batch), ("consolidations", Consolidation)):
        undone = model.objects.filter(end_user__in=users, state__in=Work.OPEN).order_by()
        groups = undone.values("state", "error").annotate(n=Count("pk"), next=Min("retry_at"))
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
            one = {"page": page, "state": state, "count": count, "errors": errors[:CAUSES]}
            work.append(one | {"next_at": min(tries, default=None)})
    # Why model servers refuse every request, and since when.
    refusal: dict[str, Any] | None = None
    if outages := list(Outage.objects.all()):
        causes = list(dict.fromkeys(outage.error for outage in outages))
        refusal = {"causes": causes, "since": outages[0].since, "waiting": refused}
    reading = Exists(Batch.objects.filter(end_user=OuterRef("pk"), state__in=Work.UNDER_WAY))
    waiting = Q(message_seq__gt=F("extracted_seq")) | reading
    demo_unread = users.filter(waiting, **demo.WHO).exists()
    return Health(oldest, unread, refusal, work, demo_unread)


def _days(today: date) -> list[date]:
    """The last DAYS days, the oldest first."""
    return [today - timedelta(days=n) for n in reversed(range(DAYS))]


def _calls(users: QuerySet[EndUser], today: date) -> QuerySet[ModelCall]:
    """The model calls of the last DAYS days."""
    start = timezone.make_aware(datetime.combine(_days(today)[0], time.min))
    return ModelCall.objects.filter(end_user__in=users, created_at__gte=start)


def figures(users: QuerySet[EndUser], today: date) -> dict[str, Any]:
    """Of each of the last ``days``: ``tokens`` of model calls, ``costs`` in US dollars (none where a
    price is unknown), the share of look-ups that needed the text ``fallback``. Of all: ``calls`` but those of embedders,
    ``failures``, ``messages`` read."""
    calls = _calls(users, today).annotate(day=TruncDate("created_at")).order_by()
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
    days = _days(today)
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
    """US dollars for these tokens by MIO_TOKEN_PRICES; None for a model without a price there."""
    price = settings.MIO_TOKEN_PRICES.get(model)
    if price is None:
        return None
    return (tokens_in * price[0] + tokens_out * price[1]) / 1_000_000


def first_steps(apps: QuerySet[App], users: QuerySet[EndUser]) -> list[tuple[str, bool]]:
    """The first steps by name, and whether each is done beside the demo; empty when all are."""
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
