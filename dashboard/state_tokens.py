"""Optimistic locking of forms: signed tokens of the rows that a form showed, and the page that
answers an action on rows that were changed since.

Before the view runs, ``access`` compares the tokens with the current rows, which it locks, so that
an action overwrites nothing that its form did not show."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from django.apps import apps
from django.core import signing
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.models import Change, EndUser
from dashboard import feedback, words
from dashboard.queries import changes

# Names of the inputs: tokens of the rows that a form is about, and of rows that it offers as a
# choice, which are compared only if they are chosen.
SAW, SAW_CHOICE = "saw", "saw_choice"
MOST = 200  # tokens in one request
SHOWN_CHANGES = 5
SALT = "dashboard.state"
LONG = 80  # characters; a longer value gets a field of several lines
INITIAL = "initial-"  # prefix of a field's name: the value that it had when the form was shown
NAMED = words.FIELDS.keys() - words.SECRETS
TYPED = NAMED - {"kind"}
_CHOSEN = frozenset({"csrfmiddlewaretoken", SAW, SAW_CHOICE, "next"})

# The columns that a decision about a row depends on, unless the form names others.
COLUMNS: dict[str, tuple[str, ...]] = {
    "accounts.apikey": ("label", "rate_limit", "trusted", "revoked_at"),
    "accounts.app": ("name", "time_zone", "archived_at"),
    "accounts.change": ("id", "undone_at"),
    "accounts.enduser": ("time_zone", "calendar_digest"),
    "contacts.contact": (
        "name", "relationship", "gender", "personality", "archived_at", "merged_into_id",
    ),
    "contacts.relation": ("kind", "subject_id", "object_id"),
    "contacts.suggestion": ("state",),
    "imports.import": ("state", "looked_at"),
    "gateway.upstream": ("url", "placement", "key", "open_webui_secret"),
    "memories.edge": ("kind", "source_id", "target_id"),
    "memories.link": ("contact_id", "rejected", "made_by"),
    "memories.memory": ("content", "status", "merged_into_id"),
    "webhooks.endpoint": ("url", "disabled_at", "secret"),
}  # fmt: skip
# These columns are compared, but their values are never shown.
HIDDEN = frozenset({"calendar_digest", "key", "open_webui_secret", "secret"})


def token(label: str, row: Any, columns: Iterable[str] = (), **where: Any) -> str:
    """Returns a signed token of a row of the model ``label`` as it is now. ``where`` finds a row
    that may not exist yet. A part of a JSON column is named ``column.key``."""
    user = getattr(row, "end_user_id", None) or where.get("end_user")
    spec = {
        "model": label,
        "where": {name: str(value) for name, value in (where or {"pk": row.pk}).items()},
        "columns": list(columns) or COLUMNS[label],
        "user": row.pk if isinstance(row, EndUser) else user and int(user),
    }
    return _signed_token(spec, row)


def token_of_all(end_user: EndUser, label: str, columns: Iterable[str], **where: Any) -> str:
    """Returns a signed token of all rows that ``where`` finds; a new row changes it too."""
    conditions = {
        name: value if isinstance(value, bool) else str(value) for name, value in where.items()
    }
    spec = {"model": label, "where": conditions, "columns": list(columns), "all": True}
    spec["user"] = end_user.pk
    return _signed_token(spec, _current_rows(spec))


def _signed_token(spec: dict[str, Any], row: Any) -> str:
    """Returns a token of ``spec`` (model, conditions, columns), the row's digest and the time."""
    state = {"was": _digest(row, spec["columns"]), "at": timezone.now().isoformat()}
    return signing.dumps({**spec, **state}, salt=SALT, compress=True)


def _read_tokens(tokens: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the specs in these tokens, at most MOST, without tokens of a wrong signature."""
    specs = []
    for one in tokens[:MOST]:
        with suppress(signing.BadSignature):
            specs.append(signing.loads(one, salt=SALT))
    return specs


def carried(request: HttpRequest) -> bool:
    """Whether the form of this request carries a token."""
    sent = request.POST
    return bool(_read_tokens(sent.getlist(SAW)) or _read_tokens(sent.getlist(SAW_CHOICE)))


def changed(request: HttpRequest) -> list[dict[str, Any]]:
    """Locks and returns the rows that differ from what the form showed: a token's spec (``seen``)
    and the ``row``. Each, or the end user who owns it, stays locked until the transaction ends."""
    sent = request.POST
    chosen = {value for _, values in sent.lists() for value in values}
    choices = _read_tokens(sent.getlist(SAW_CHOICE))
    specs = _read_tokens(sent.getlist(SAW))
    specs += [one for one in choices if not chosen.isdisjoint(one["where"].values())]
    for pk in sorted({one["user"] for one in specs if one["user"]}):
        EndUser.objects.lock(pk)
    now = [{"seen": one, "row": _current_rows(one)} for one in specs]
    return [one for one in now if _digest(one["row"], one["seen"]["columns"]) != one["seen"]["was"]]


def _current_rows(spec: dict[str, Any]) -> Any:
    """Returns the row of a token, locked unless its end user is, or None; or a list of all rows."""
    rows = apps.get_model(spec["model"])._base_manager.filter(**spec["where"])
    if spec.get("all"):
        return list(rows.filter(end_user=spec["user"]).only(*spec["columns"]).order_by("pk"))
    return (rows if spec["user"] else rows.select_for_update(no_key=True)).first()


def _changes_since(spec: dict[str, Any], row: Any) -> list[Change]:
    """Returns the latest changes of a row, or of a whole end user, since the form showed it."""
    about = {*spec["where"].values()}
    about |= {str(getattr(row, name, "")) for name in ("contact_id", "memory_id", "source_id")}
    rows = Change.objects.filter(end_user=spec["user"], created_at__gte=parse_datetime(spec["at"]))
    latest = list(rows.defer("rows").order_by("-created_at")[: SHOWN_CHANGES * 10])
    if not isinstance(row, (Change, list)):
        latest = [one for one in latest if not about.isdisjoint(one.subjects)]
    return latest[:SHOWN_CHANGES]


def _digest(row: Any, columns: Sequence[str]) -> str:
    values: Any = None
    if row is not None:
        rows = row if isinstance(row, list) else [row]
        values = [[_column(one, name) for name in columns] for one in rows]
    return hashlib.sha256(json.dumps(values, cls=DjangoJSONEncoder).encode()).hexdigest()[:24]


def _column(row: Any, name: str) -> Any:
    """Returns a column or a part of one; of attributes only what is shown: values and ``since``."""
    column, _, key = name.partition(".")
    value: Any = getattr(row, column, None)
    if column == "attributes":
        shown = {k: [[e["value"], e.get("since")] for e in entries] for k, entries in value.items()}
        return shown.get(key, []) if key else shown
    return value


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_as_text(one[0] if isinstance(one, list) else one) for one in value)
    return "" if value is None else str(value)


def changed_page(request: HttpRequest, changed: Sequence[dict[str, Any]]) -> HttpResponse:
    """Shows what was changed, by whom and what it is now, and the form with what was typed (409).
    ``changed`` is what the function of this name returned."""
    shown, texts = list[dict[str, Any]](), dict[str, str]()
    for one in changed:
        spec, row = one["seen"], one["row"]
        names = [name for name in spec["columns"] if name not in HIDDEN]
        current = (
            {name: _as_text(_column(row, name)) for name in names} if isinstance(row, Model) else {}
        )
        texts |= current
        shown.append({
            "gone": row is None,
            "changes": _changes_since(spec, row),
            "shown": [(words.field(name) if name in NAMED else name.partition(".")[2], value)
                      for name, value in current.items() if value and (name in NAMED or "." in name)],
        })  # fmt: skip
    secret = {name for one in changed for name in HIDDEN.intersection(one["seen"]["columns"])}
    sent = {name: values for name, values in request.POST.lists() if name not in _CHOSEN}
    typed: list[dict[str, Any]] = []  # fields to check again
    resent = [(SAW, _signed_token(one["seen"], one["row"])) for one in changed]  # hidden ones
    for name, values in sent.items():
        if name.startswith(INITIAL):
            resent += [(name, texts.get(name.removeprefix(INITIAL), value)) for value in values]
        elif sent.get(INITIAL + name) == values and name in texts:
            resent.append((name, texts[name]))
        elif name in secret:
            typed += [{"name": name, "label": words.field(name), "secret": True}] * any(values)
        elif name in TYPED and len(values) == 1:
            field: dict[str, Any] = {"name": name, "label": words.field(name), "value": values[0],
                     "long": len(values[0]) > LONG or "\n" in values[0]}  # fmt: skip
            part = next((name for name in texts if "." in name), "")
            column = {"limit": "rate_limit", "new": part}.get(name, name)
            typed.append(field | ({"now": texts[column]} if column in texts else {}))
        else:
            resent += [(name, value) for value in values]
    resent += [("next", value) for value in request.POST.getlist("next")]
    latest = [change for one in shown for change in one["changes"]]
    context = {
        "changed": shown,
        "about": changes.about(latest, words.language_of()),
        "typed": typed,
        "kept": resent,
        "back": feedback.page_of(request),
    }
    return render(request, "changed_meanwhile.html", context, status=409)
