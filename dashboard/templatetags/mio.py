"""Template filters and tags that show people, quoted text, scores and times."""

import re
import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from unicodedata import bidirectional

from django import template
from django.db.models import Model
from django.template.defaultfilters import date
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts.models import Contact, Relation, Suggestion
from dashboard import state_tokens, words
from dashboard.state_tokens import SAW, SAW_CHOICE
from memories.graph import Step
from memories.models import Claim, Edge, Link, Memory, Message
from memories.models.memory import readable_date
from understanding.dates import partial_dates
from understanding.text import initial, truncate, visible
from understanding.types import Person

register = template.Library()

HUES = 8
_RTL = {"R", "AL", "AN"}  # classes of characters that are written from right to left
# Django's Chinese translation calls a number of days 日, as if it were a date.
SPANS: dict[str, Any] = {
    "year": ngettext_lazy("%(num)d year", "%(num)d years", "num"),
    "month": ngettext_lazy("%(num)d month", "%(num)d months", "num"),
    "week": ngettext_lazy("%(num)d week", "%(num)d weeks", "num"),
    "day": ngettext_lazy("%(num)d day", "%(num)d days", "num"),
    "hour": ngettext_lazy("%(num)d hour", "%(num)d hours", "num"),
    "minute": ngettext_lazy("%(num)d minute", "%(num)d minutes", "num"),
}
WIDTH = 280  # graphemes of a memory in a list


@register.filter
def plain_quoted(text: Any) -> str:
    """Returns somebody else's text for places that take no element: an attribute, an option, a
    title. Without invisible characters ("(invisible)" if the text has no others); text with
    right-to-left characters is isolated (FSI and PDI of UAX #9)."""
    shown = visible(str(text)) if text else ""
    if not shown.strip():
        return _("(invisible)") if text else ""
    return f"\u2068{shown}\u2069" if any(bidirectional(c) in _RTL for c in shown) else shown


@register.filter
def quoted(text: Any) -> SafeString:
    """Returns somebody else's text as a ``<bdi>`` element, without invisible characters."""
    shown = visible(str(text if text is not None else ""))
    return format_html('<bdi class="said">{}</bdi>', shown if shown.strip() else plain_quoted(text))


@register.filter
def glance(text: str, width: int = WIDTH) -> SafeString:
    """Returns the beginning of a long text as a ``<bdi>`` element; ``width`` is in graphemes."""
    return quoted(truncate(text, width))


@register.simple_tag
def aside(person: Any, distinction: str = "") -> str:
    """Returns what to show beside a name: what distinguishes namesakes, else the relationship."""
    return distinction or getattr(person, "distinction", "") or person.relationship


@register.filter
def name_with_distinction(person: Contact, width: int = 60) -> SafeString:
    """Returns the name, followed by what tells the person apart from namesakes (``tell_apart``)."""
    distinction = getattr(person, "distinction", "")
    if not distinction:
        return glance(person.name, width)
    return format_html(
        '{} <span class="dim small">{}</span>', glance(person.name, width), glance(distinction, 60)
    )


@register.filter
def letter(name: str) -> str:
    """Returns the letter on a person's disc: the initial of the name, else "?"."""
    return initial(name or "") or "?"


@register.filter
def hue(name: str) -> int:
    """Returns the number of a colour of the palette, always the same for a name."""
    return zlib.crc32((name or "").encode()) % HUES


@register.filter
def percent(share: float | None) -> str:
    return "" if share is None else f"{round(share * 100)}%"


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """Returns how long ago or in how long a moment is, with the exact time as its tooltip."""
    if moment is None:
        return mark_safe("—")
    if abs(timezone.now() - moment).total_seconds() < 60:
        text = _("just now")
    elif moment > timezone.now():
        text = _("in %(time)s") % {"time": timeuntil(moment, depth=1, time_strings=SPANS)}
    else:
        text = _("%(time)s ago") % {"time": timesince(moment, depth=1, time_strings=SPANS)}
    return _time_element(timezone.localtime(moment), text)


@register.filter
def due(moment: datetime | None) -> SafeString:
    """Returns when something will happen: "in …", or "any moment" once that time is reached."""
    if moment is None or moment > timezone.now() + timedelta(minutes=1):
        return ago(moment)
    return _time_element(timezone.localtime(moment), _("any moment"))


@register.filter
def day(moment: datetime | str | None) -> SafeString:
    """Returns the day, with the exact time as tooltip; "—" for None or a text that is no time."""
    if isinstance(moment, str):
        moment = parse_datetime(moment)
    if moment is None:
        return mark_safe("—")
    local = timezone.localtime(moment)
    return _time_element(local, date(local, "DATE_FORMAT"))


@register.filter
def exactly(moment: datetime) -> SafeString:
    """Returns the date and time to the minute, with the offset from UTC."""
    local = timezone.localtime(moment)
    return _time_element(local, _with_offset(local))


def _with_offset(local: datetime) -> str:
    return f"{date(local, 'DATETIME_FORMAT')} {local.isoformat()[-6:]}"


@register.filter
def said_on_day(row: Memory | Message) -> SafeString:
    """Returns the day on which it was said, in the time zone of the person who said it."""
    zone = timezone.get_current_timezone()
    local = row.said_there if isinstance(row, Memory) else row.said_in(zone)
    return _time_element(local, date(local, "DATE_FORMAT"))


def _time_element(local: datetime, text: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), _with_offset(local), text
    )


@register.filter
def happens_on(memory: Memory) -> str:
    """Returns when a memory's event is, as precisely as known: a day, month, year, two days."""
    at, until = memory.happens_there, memory.happens_until_there
    days = partial_dates.shown(at.date(), until and until.date()) if at else ""
    return "–".join(readable_date(day) for day in days.split("/"))


register.filter("event_day", readable_date)


@register.filter
def number(count: int | None) -> str:
    """Returns a count with thousands separators."""
    return "" if count is None else f"{count:,}"


@register.filter
def reason_by_actor(text: str, actor: str) -> SafeString:
    """Returns the reason of a change: translated if a machine gave it, else as it was written."""
    if actor.startswith((words.OPERATOR, words.APP)):
        return quoted(text)
    return machine_said(text)


@register.filter
def machine_said(text: Reason | str | None) -> SafeString:
    """Returns a reason that Mio itself gave, in the reader's language."""
    return format_html("<bdi>{}</bdi>", visible(words.reason(text or "")))


@register.filter
def who(actor: str) -> SafeString:
    """Returns the name of an actor: the end user, a machine, an app or an operator."""
    if actor.startswith((words.OPERATOR, words.APP)):
        return quoted(actor.partition(":")[2])
    named = words.ACTORS.get(actor) or words.ASKERS.get(actor)
    return format_html("{}", _(named)) if named else quoted(actor)


@register.simple_tag
def relation_sentence(relation: Relation, here: Contact, token: str = "") -> SafeString:
    """Returns a relation as a sentence; people except ``here`` are links (``token``: own page)."""

    def linked_name(person: Contact) -> SafeString:
        if person.pk == here.pk:
            return glance(person.name, 60)
        route = ("me-person", token) if token else ("dashboard:contact", here.end_user_id)
        address = reverse(route[0], args=[route[1], person.pk])
        return format_html('<a href="{}">{}</a>', address, name_with_distinction(person))

    return format_html(
        _("{subject} · {of}'s {kind}"),
        subject=linked_name(relation.subject),
        kind=format_html('<span class="badge">{}</span>', glance(relation.kind, 50)),
        of=linked_name(relation.object),
    )


@register.simple_tag
def marked(text: str, spans: Iterable[tuple[int, int]]) -> SafeString:
    """Returns the text with these spans (start and end in code points) highlighted."""
    at, parts = 0, []
    for start, end in sorted(spans):
        if start >= at:
            parts.append((visible(text[at:start]), visible(text[start:end])))
            at = end
    body = format_html_join("", "{}<mark>{}</mark>", parts)
    return format_html('<bdi class="said">{}{}</bdi>', body, visible(text[at:]))


@register.simple_tag
def finding(text: str, names: Sequence[str]) -> SafeString:
    """Returns the text with these names highlighted, in any case; longer names are tried first."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    hits = re.finditer(pattern, text, re.IGNORECASE) if pattern else ()
    return marked(text, [hit.span() for hit in hits])


@register.simple_tag
def icon(name: str) -> SafeString:
    """Returns an icon of the sprite, hidden from screen readers."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        static("dashboard/icons.svg"),
        name,
    )


@register.inclusion_tag("_undo.html", takes_context=True)
def undo_of(context: template.Context, tags: str) -> dict[str, Any]:
    """Shows the Undo button of a message that ``feedback.done`` left, by the message's tags."""
    parts = (tags or "").split()
    has_undo = len(parts) >= 3 and parts[0] == "undo"
    return {
        "end_user": parts[1] if has_undo else "",
        "changes": parts[2:] if has_undo else [],
        "csrf_token": context.get("csrf_token"),
        "request": context["request"],
    }


@register.filter
def item(mapping: Any, key: Any) -> Any:
    return mapping.get(key) if mapping else None


@register.filter
def row_name(row: Any) -> str:
    """Returns the name under which operators claim a row of a queue (``Claim.name_of``)."""
    return Claim.name_of(getattr(row, "subject", row))


def _state_input(label: str, row: Any, columns: Iterable[str] = (), **where: Any) -> SafeString:
    """Returns the hidden input with the state of a row as the form showed it (``state_tokens``)."""
    return _hidden_input(SAW, state_tokens.token(label, row, columns, **where))


def _hidden_input(name: str, token: str) -> SafeString:
    return format_html('<input type="hidden" name="{}" value="{}">', name, token)


@register.simple_tag
def saw(row: Model, *columns: str, choice: bool = False) -> SafeString:
    """Returns the hidden input with a row's state; ``choice``: of one of several to choose from."""
    token = state_tokens.token(row._meta.label_lower, row, columns)
    return _hidden_input(SAW_CHOICE if choice else SAW, token)


@register.simple_tag
def saw_pair(suggestion: Suggestion | None, one: Contact, other: Contact) -> SafeString:
    """Returns the hidden input with the state of two people's merge suggestion, if there is one."""
    first, second = sorted((one.pk, other.pk))
    return _state_input("contacts.suggestion", suggestion, first=first, second=second)


@register.simple_tag
def saw_all(end_user: EndUser, model: str, columns: str, **where: Any) -> SafeString:
    """Returns the hidden input with ``columns`` (by blanks) of all rows that ``where`` finds."""
    return _hidden_input(SAW, state_tokens.token_of_all(end_user, model, columns.split(), **where))


@register.simple_tag
def saw_latest(end_user: EndUser) -> SafeString:
    """Returns the hidden input with the end user's latest change: any later one is a conflict."""
    latest = Change.objects.of(end_user).only("undone_at", "end_user").first()
    return _state_input("accounts.change", latest, end_user=end_user.pk)


@register.simple_tag
def saw_names(end_user: EndUser, person: Person) -> SafeString:
    """Returns the hidden input with the name and aliases of a person."""
    names = ("name", "aliases")
    return _state_input("contacts.contact", person, names, pk=person.id, end_user=end_user.pk)


@register.simple_tag
def saw_link(memory: Memory, person: Contact) -> SafeString:
    """Returns the hidden input with the link of a person and a memory, one of several to choose."""
    link = Link(end_user_id=memory.end_user_id, contact=person, rejected=False)
    ends = {"memory": memory.pk, "contact": person.pk}
    columns = ("contact_id", "rejected")
    return _hidden_input(SAW_CHOICE, state_tokens.token("memories.link", link, columns, **ends))


@register.simple_tag
def saw_edge(end_user: EndUser, step: Step) -> SafeString:
    """Returns the hidden input with the state of the edge between two memories."""
    ends = [step.target, step.source] if step.inverse else [step.source, step.target]
    edge = Edge(end_user=end_user, kind=step.kind, source_id=ends[0], target_id=ends[1])
    return _state_input("memories.edge", edge, pk=step.edge)


@register.simple_tag
def key(name: str) -> SafeString:
    """Returns a keyboard key to show beside its action; not digits and O, which look like
    counts."""
    reads_as_count = str(name).isdigit() or name == "O"
    return format_html("" if reads_as_count else '<kbd aria-hidden="true">{}</kbd>', name)


register.filter(words.edge_phrase)

# Names of verbs, maintenance jobs, purposes of model calls, counts and what was erased.
for _name, _table in (
    ("verb", words.VERBS),
    ("job", words.JOBS),
    ("job_name", words.JOB_NAMES),
    ("purpose", words.PURPOSES),
    ("count_of", words.COUNTS),
    ("erased", words.ERASED),
):
    register.filter(_name, partial(words.in_words, _table))
