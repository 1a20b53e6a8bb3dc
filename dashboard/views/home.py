"""The home page: what needs a person now and how the pipeline is doing; and the search box."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import formats, timezone
from django.utils.translation import gettext as _

from accounts import cells
from accounts.models import EndUser
from dashboard import access, feedback
from dashboard.forms import typed
from dashboard.models import ADMINISTER
from dashboard.queries import home as queries
from dashboard.queries import review
from dashboard.queries.contacts import tell_apart
from dashboard.queries.everywhere import search_everywhere
from memories.providers.factory import embedder, language_provider

FIRST = 5  # rows that are shown of each queue
WIDTH, HEIGHT, GAP, LEAST = 280.0, 56.0, 2.0, 1.5  # of a chart; between bars; least bar above zero


@access.page
def home(request: HttpRequest) -> HttpResponse:
    """The home page: what waits for a decision, and charts of the last two weeks."""
    users = access.end_users_of(request)
    today = timezone.localdate()
    queues = {**review.queues(users), **queries.queues(users)}
    counts = review.capped(queues)
    first = {name: list(rows[:FIRST]) for name, rows in queues.items()}
    pairs = [person for one in first["merges"] for person in (one.first, one.second)]
    tell_apart([*pairs, *(link.contact for link in first["links"]), *first["conflicts"]])
    tiles = _tiles(counts)
    steps = []
    if request.user.has_perm(ADMINISTER):
        steps = queries.first_steps(access.apps_of(request), users)
    context = {
        "tiles": [tile for tile in tiles if tile["count"] > FIRST],
        "none": [tile for tile in tiles if not tile["count"]],
        "counts": counts,
        "total": sum(counts.values()),
        "elsewhere": review.elsewhere(queues),
        **first,
        "health": queries.health(users),
        "asked_who": queries.asked_who(users, today),
        "resolve_model": settings.MIO_RESOLVE_MODEL,
        "provider": language_provider(),
        "embedder": embedder(),
        "offline": settings.MIO_LLM == "offline",
        "latest": users.exclude(last_message_at=None).order_by("-last_message_at", "pk")[:FIRST],
        **_figures(users, today),
        "first_steps": steps,
        "steps_done": sum(done for _name, done in steps),
    }
    return render(request, "home.html", context)


def _tiles(counts: dict[str, int]) -> list[dict[str, Any]]:
    """Returns each queue with the number of decisions in it and the address of its page."""
    kinds = [
        (_("Duplicates"), counts["merges"], reverse("dashboard:review"), "r"),
        (_("Unclear person"), counts["links"], reverse("dashboard:links"), ""),
        (_("Contradictions"), counts["conflicts"] + counts["contradictions"],
         reverse("dashboard:conflicts"), ""),
        (_("Memories without a person"), counts["nobody"], "#of-nobody", ""),
        (_("Batches in quarantine"), counts["quarantined"],
         reverse("dashboard:pipeline") + "?state=quarantined", ""),
        (_("Forget requests"), counts["forgetting"], "#forgetting", ""),
    ]  # fmt: skip
    return [dict(zip(("name", "count", "at", "key"), kind, strict=True)) for kind in kinds]


@access.query_by_post
def cell(request: HttpRequest) -> HttpResponse:
    """Has the pages show another cell from now on."""
    if (name := request.POST.get("cell", "")) in cells.names():
        request.session[access.CELL] = name
    return feedback.back(request, "dashboard:home")


def bars(
    values: Sequence[float], names: Sequence[str], summary: str, form: str, tone: str = ""
) -> dict[str, Any]:
    """Returns a bar chart for an SVG of WIDTH × HEIGHT: a bar per value, in order; the highest
    fills the box, one above zero is visible. ``form`` formats a value."""
    most = max(values, default=0.0)
    step = WIDTH / max(len(values), 1)
    drawn = []
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        height = round(max(HEIGHT * value / most, LEAST), 2) if most and value else 0.0
        box = {"x": place * step, "y": HEIGHT - height, "width": step - GAP, "height": height}
        drawn.append(box | {"title": f"{name}: {form.format(value)}"})
    size = {"width": WIDTH, "height": HEIGHT, "top": form.format(most) if most else ""}
    return {"bars": drawn, "summary": summary, "tone": tone} | size


def _figures(users: QuerySet[EndUser], today: date) -> dict[str, Any]:
    """Returns the figures of the last two weeks, with a chart of each that is not zero."""
    figures = queries.figures(users, today)
    names = [formats.date_format(day) for day in figures["days"]]
    tokens, costs, fallback = (figures[name] for name in ("tokens", "costs", "fallback"))
    used = _("%(count)s tokens in 14 days (embeddings included)")
    if figures["messages"]:
        used = _("%(count)s tokens in 14 days, %(each)s per message (embeddings included)")
    each = sum(tokens) / max(figures["messages"], 1)
    used %= {"count": f"{sum(tokens):,}", "each": f"{each:,.0f}"}
    paid = _("$%(cost)s in the last 14 days") % {"cost": f"{sum(costs):,.2f}"}
    latest = next((share for share in reversed(fallback) if share), 0.0)
    fell_back = _("%(share)s of look-ups fell back to text search lately")
    charts = [
        (tokens, used, "{:,.0f}", ""),
        (costs, paid, "${:,.2f}", ""),
        (fallback, fell_back % {"share": f"{latest:.0%}"}, "{:.0%}", "soft"),
    ]
    return {
        "charts": [
            bars(values, names, *how) | {"days": sum(map(bool, values))}
            for values, *how in charts
            if any(values)
        ],
        "ends": (formats.date_format(figures["days"][0], "MONTH_DAY_FORMAT"), _("today")),
        "calls": figures["calls"],
        "failures": figures["failures"],
        "free": bool(costs) and not any(costs),
    }


@access.page
def health(request: HttpRequest) -> HttpResponse:
    """The part of home that updates itself: how the pipeline is doing."""
    users = access.end_users_of(request)
    return render(request, "_health.html", {"health": queries.health(users)})


@access.page
def find(request: HttpRequest) -> HttpResponse:
    """The page of what a search finds in the operator's apps, by kind."""
    q = typed(request)
    visible = access.end_users_of(request)
    with cells.everywhere():
        results = search_everywhere(visible, q)
    kinds = {"people": _("People"), "users": _("End users"), "memories": _("Memories")}
    empty = [name for kind, name in kinds.items() if not results[kind]]
    context = {"q": q, "found": results, "empty": empty}
    template = "_found.html" if access.target(request) == "found" else "find.html"
    return render(request, template, context)


urls = [path("health/", health, name="health"), path("find/", find, name="find")]
