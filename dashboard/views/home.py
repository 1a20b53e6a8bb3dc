"""Home: what needs a person now, and how the pipeline is doing."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import formats, timezone
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.models import Suggestion
from dashboard import access, cell_picker, charts, feedback
from dashboard.permissions import ADMINISTER
from dashboard.queries import home as queries
from dashboard.queries import review
from dashboard.queries.contacts import told_apart
from dashboard.queries.first_steps import first_steps
from memories.providers.factory import embedder, language_provider

FIRST = 5  # of each kind


@access.page
def home(request: HttpRequest) -> HttpResponse:
    """The queue of what waits for a decision; charts of the last two weeks."""
    users = access.end_users_of(request)
    today = timezone.localdate()
    quarantined, forgetting = queries.quarantined(users), queries.forgetting(users)
    queues = {
        **review.queues(users),
        "nobody": queries.of_nobody(users),
        "quarantined": quarantined,
        "forgetting": forgetting,
    }
    counts = review.capped(queues)
    tiles = _tiles(counts)
    context = {
        "tiles": [tile for tile in tiles if tile["count"]],
        "none": [tile for tile in tiles if not tile["count"]],
        "counts": counts,
        "total": sum(counts.values()),
        "elsewhere": review.elsewhere(queues),
        "away": cell_picker.away(),
        **(first := {name: rows[:FIRST] for name, rows in queues.items()}),
        "apart": _apart(first["merges"]),
        "health": queries.health(users),
        "asked_who": queries.asked_who(users, today),
        "resolve_model": settings.MIO_RESOLVE_MODEL,
        "provider": language_provider(),
        "embedder": embedder(),
        "offline": settings.MIO_LLM == "offline",
        "latest": users.exclude(last_message_at=None).order_by("-last_message_at", "pk")[:FIRST],
        **_charts(users, today),
        "first_steps": first_steps(access.apps_of(request), users)
        if request.user.has_perm(ADMINISTER)
        else [],
    }
    return render(request, "home.html", context)


def _tiles(counts: dict[str, int]) -> list[dict[str, Any]]:
    """Each queue with how many decisions wait in it and the address of its page."""
    kinds = [
        (_("One person or two?"), counts["merges"], reverse("dashboard:review"), "r"),
        (_("Doubtful links"), counts["links"], reverse("dashboard:links"), ""),
        (_("Contradictions"), counts["conflicts"] + counts["contradictions"],
         reverse("dashboard:conflicts"), ""),
        (_("Memories without a person"), counts["nobody"], "#of-nobody", ""),
        (_("Batches in quarantine"), counts["quarantined"],
         reverse("dashboard:pipeline") + "?state=quarantined", ""),
        (_("Forget requests"), counts["forgetting"], "#forgetting", ""),
    ]  # fmt: skip
    return [dict(zip(("name", "count", "at", "key"), kind, strict=True)) for kind in kinds]


def _apart(pairs: Iterable[Suggestion]) -> dict[UUID, str]:
    """What tells people of one name in these pairs apart."""
    both = [person for pair in pairs for person in (pair.first, pair.second)]
    return told_apart([one.end_user_id for one in both], [one.name for one in both])


@access.question
def cell(request: HttpRequest) -> HttpResponse:
    """Has the pages show another cell, from the one on that it was chosen on."""
    cell_picker.choose(request, request.POST.get("cell", ""))
    return feedback.back(request, "dashboard:home")


def _charts(users: QuerySet[EndUser], today: date) -> dict[str, object]:
    days, fallback = queries.by_day(users, today), queries.fallback_by_day(users, today)
    ends = (formats.date_format(days[0].day, "MONTH_DAY_FORMAT"), _("today"))
    names = [formats.date_format(day.day) for day in days]

    def chart(shown: str, values: Sequence[float], summary: str, form: str) -> charts.Chart:
        titles = [
            f"{name}: {shown.format(day, value)}"
            for name, day, value in zip(names, days, values, strict=True)
        ]
        return charts.bars(list(zip(titles, values, strict=True)), summary, form, ends)

    tokens, failures = sum(day.tokens for day in days), sum(day.failures for day in days)
    messages = sum(day.messages for day in days)
    summary_of_tokens = _("%(count)s tokens in two weeks")
    if messages:
        summary_of_tokens = _("%(count)s tokens in two weeks, %(each)s a message")
    summary_of_tokens %= {"count": f"{tokens:,}", "each": f"{tokens / max(messages, 1):,.0f}"}
    failed = _("%(count)s failed calls in two weeks") % {"count": f"{failures:,}"}
    latest = next((share for share in reversed(fallback) if share), 0.0)
    fell_back = _("%(share)s of look-ups fell back to text search lately") % {
        "share": f"{latest:.0%}"
    }
    known, costs = all(day.cost is not None for day in days), [day.cost or 0.0 for day in days]
    paid = _("$%(cost)s in two weeks") % {"cost": f"{sum(costs):,.2f}"}
    return {
        "tokens": chart("{1:,}", [day.tokens for day in days], summary_of_tokens, "{:,.0f}"),
        "failures": chart("{1} / {0.calls}", [d.failures for d in days], failed, "{:,.0f}"),
        "fallback": chart("{1:.0%}", fallback, fell_back, "{:.0%}"),
        "cost": chart("${1:.2f}", costs, paid, "${:,.2f}") if known and any(costs) else None,
        "free": known and not any(costs),
    }


@access.page
def health(request: HttpRequest) -> HttpResponse:
    """The live part of home: how the pipeline is doing."""
    users = access.end_users_of(request)
    return render(request, "_health.html", {"health": queries.health(users)})


urls = [path("health/", health, name="health")]
