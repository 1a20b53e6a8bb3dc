"""The page instead of a decision on rows that were changed since the form showed them."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from dashboard import feedback
from dashboard.queries import changes as queries
from dashboard.state_tokens import SAW, SAW_CHOICE, Changed
from dashboard.words import language_of

LONG = 80  # characters of a field of several lines
INITIAL = "initial-"  # before the name of a field: what stood in it at first
_CHOSEN = frozenset({"csrfmiddlewaretoken", SAW, SAW_CHOICE, "next"})


def labels() -> dict[str, str]:
    """How columns and fields that hold words are called."""
    return {
        "name": _("Name"),
        "relationship": _("Relationship"),
        "gender": _("Gender"),
        "personality": _("Personality"),
        "note": _("Note"),
        "aliases": _("Also called"),
        "content": _("What it says"),
        "new": _("New value"),
        "label": _("What it is for"),
        "limit": _("Requests a minute"),
        "rate_limit": _("Requests a minute"),
        "time_zone": _("Time zone"),
        "url": _("Address"),
        "state": _("State"),
        "status": _("State"),
        "why": _("Reason"),
        "kind": _("Kind"),
        "disabled_at": _("Stopped"),
        "archived_at": _("Archived"),
        "revoked_at": _("Revoked"),
        "placement": _("Placement"),
    }


def page(request: HttpRequest, changed: Sequence[Changed]) -> HttpResponse:
    """What was changed, by whom, what it is now, and the form with what was typed: 409."""
    now = {name: value for one in changed for name, value in one.now.items()}
    sent = {name: values for name, values in request.POST.lists() if name not in _CHOSEN}
    called, secret = labels(), {name for one in changed for name in one.secret}
    typed: list[dict[str, Any]] = []
    kept = [(SAW, one.token) for one in changed]
    for name, values in sent.items():
        if name.startswith(INITIAL):
            kept += [(name, now.get(name.removeprefix(INITIAL), value)) for value in values]
        elif sent.get(INITIAL + name) == values and name in now:
            kept.append((name, now[name]))
        elif name in secret:
            typed += [{"name": name, "label": _secrets()[name], "secret": True}] * any(values)
        elif name in called and name != "kind" and len(values) == 1:
            column = _column_of(name, now)
            field: dict[str, Any] = {"name": name, "label": called[name], "value": values[0]}
            field["long"] = len(values[0]) > LONG or "\n" in values[0]
            typed.append(field | ({"now": now[column]} if column in now else {}))
        else:
            kept += [(name, value) for value in values]
    kept += [("next", value) for value in request.POST.getlist("next")]
    rows = [change for one in changed for change in one.changes]
    context = {
        "changed": [
            {
                "gone": one.gone,
                "changes": one.changes,
                "shown": [(called.get(name, name.partition(".")[2]), value)
                          for name, value in one.now.items()
                          if value and (name in called or "." in name)],
            }
            for one in changed
        ],
        "about": queries.about(rows[0].end_user, rows, language_of()) if rows else {},
        "typed": typed,
        "kept": kept,
        "back": feedback.page_of(request),
    }  # fmt: skip
    return render(request, "changed_meanwhile.html", context, status=409)


def _secrets() -> dict[str, str]:
    """What fields are called whose words are not repeated."""
    return {"key": _("Its key"), "open_webui_secret": _("Secret of Open WebUI")}


def _column_of(field: str, now: dict[str, Any]) -> str:
    """The column that a field of a form stands for."""
    if field == "new":
        return next((name for name in now if "." in name), "")
    return {"limit": "rate_limit"}.get(field, field)
