"""The page that answers an action on rows that were changed since its form showed them."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard import feedback, words
from dashboard.queries import changes as queries
from dashboard.state_tokens import SAW, SAW_CHOICE, Changed
from dashboard.words import language_of

LONG = 80  # characters of a field of several lines
INITIAL = "initial-"  # before the name of a field: what stood in it at first
SHOWN = words.FIELDS.keys() - words.SECRETS
TYPED = SHOWN - {"kind"}
_CHOSEN = frozenset({"csrfmiddlewaretoken", SAW, SAW_CHOICE, "next"})


def page(request: HttpRequest, changed: Sequence[Changed]) -> HttpResponse:
    """What was changed, by whom, what it is now, and the form with what was typed: 409."""
    now = {name: value for one in changed for name, value in one.now.items()}
    sent = {name: values for name, values in request.POST.lists() if name not in _CHOSEN}
    secret = {name for one in changed for name in one.secret}
    typed: list[dict[str, Any]] = []  # fields to check again
    resent = [(SAW, one.token) for one in changed]  # hidden ones
    for name, values in sent.items():
        if name.startswith(INITIAL):
            resent += [(name, now.get(name.removeprefix(INITIAL), value)) for value in values]
        elif sent.get(INITIAL + name) == values and name in now:
            resent.append((name, now[name]))
        elif name in secret:
            typed += [{"name": name, "label": words.field(name), "secret": True}] * any(values)
        elif name in TYPED and len(values) == 1:
            field: dict[str, Any] = {"name": name, "label": words.field(name), "value": values[0]}
            field["long"] = len(values[0]) > LONG or "\n" in values[0]
            column = _column_of(name, now)
            typed.append(field | ({"now": now[column]} if column in now else {}))
        else:
            resent += [(name, value) for value in values]
    resent += [("next", value) for value in request.POST.getlist("next")]
    context = {
        "changed": [
            {
                "gone": one.gone,
                "changes": one.changes,
                "shown": [(words.field(name) if name in SHOWN else name.partition(".")[2], value)
                          for name, value in one.now.items()
                          if value and (name in SHOWN or "." in name)],
            }
            for one in changed
        ],
        "about": queries.about([change for one in changed for change in one.changes], language_of()),
        "typed": typed,
        "kept": resent,
        "back": feedback.page_of(request),
    }  # fmt: skip
    return render(request, "changed_meanwhile.html", context, status=409)


def _column_of(field: str, now: dict[str, Any]) -> str:
    """The column that a field of a form stands for."""
    if field == "new":
        return next((name for name in now if "." in name), "")
    return {"limit": "rate_limit"}.get(field, field)
