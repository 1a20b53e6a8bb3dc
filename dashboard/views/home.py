"""Home: what needs a person now, and how the pipeline is doing."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import formats, timezone
from django.utils.translation import gettext as _

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


def _charts(users: object, today: object) -> dict[str, object]:
    days = queries.by_day(users, today)  # type: ignore[arg-type]
    fallback = queries.fallback_by_day(users, today)  # type: ignore[arg-type]
    tokens, failures = sum(day.tokens for day in days), sum(day.failures for day in days)
    heard = sum(day.messages for day in days)
    costs = [day.cost for day in days]
    latest = next((share for _day, share in reversed(fallback) if share), 0.0)
    known = None not in costs
    ends = (formats.date_format(days[0].day, "MONTH_DAY_FORMAT"), _("today"))
    cost = sum(cost for cost in costs if cost)
    return {
        "tokens": charts.bars(
            [(f"{formats.date_format(d.day)}: {d.tokens:,}", d.tokens) for d in days],
            _("%(count)s tokens in two weeks, %(each)s a message")
            % {"count": f"{tokens:,}", "each": f"{tokens / max(heard, 1):,.0f}"}
            if heard
            else _("%(count)s tokens in two weeks") % {"count": f"{tokens:,}"},
            "{:,.0f}",
            ends,
        ),
        "failures": charts.bars(
            [(f"{formats.date_format(d.day)}: {d.failures} / {d.calls}", d.failures) for d in days],
            _("%(count)s failed calls in two weeks") % {"count": f"{failures:,}"},
            "{:,.0f}",
            ends,
        ),
        "fallback": charts.bars(
            [(f"{formats.date_format(day)}: {share:.0%}", share) for day, share in fallback],
            _("%(share)s of look-ups fell back to text search lately") % {"share": f"{latest:.0%}"},
            "{:.0%}",
            ends,
        ),
        "cost": charts.bars(
            [(f"{formats.date_format(d.day)}: ${d.cost or 0:.2f}", d.cost or 0) for d in days],
            _("$%(cost)s in two weeks") % {"cost": f"{cost:,.2f}"},
            "${:,.2f}",
            ends,
        )
        if known and cost
        else None,
        "free": known and not cost,
    }


@access.page
def health(request: HttpRequest) -> HttpResponse:
    """The live part of home: how the pipeline is doing."""
    users = access.end_users_of(request)
    return render(request, "_health.html", {"health": queries.health(users)})


urls = [path("health/", health, name="health")]
