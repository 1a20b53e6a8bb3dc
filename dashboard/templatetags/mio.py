"""How the dashboard shows people, words, scores and times."""

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
_TURNS = {"R", "AL", "AN"}  # kinds of characters that are written from right to left
# Django's Chinese calls a span of days 日, as if it were a date.
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
def seen(text: Any) -> str:
    """Words that somebody else wrote, where no element can stand: in an attribute, an option, a
    title. Without invisible characters, which a placeholder tells of, and with a direction of
    writing of their own where they need one (FSI and PDI of UAX #9)."""
    shown = visible(str(text)) if text else ""
    if not shown.strip():
        return _("(invisible)") if text else ""
    return f"\u2068{shown}\u2069" if any(bidirectional(c) in _TURNS for c in shown) else shown


@register.filter
def said(text: Any) -> SafeString:
    """Words that somebody else wrote, without invisible characters and of their own direction."""
    shown = visible(str(text if text is not None else ""))
    return format_html('<bdi class="said">{}</bdi>', shown if shown.strip() else seen(text))


@register.filter
def glance(text: str, width: int = WIDTH) -> SafeString:
    """The beginning of a long text."""
    return said(truncate(text, width))


@register.simple_tag
def aside(person: Any, distinction: str = "") -> str:
    """What stands beside a name: what tells the person apart from namesakes, else the relationship."""
    return distinction or getattr(person, "distinction", "") or person.relationship


@register.filter
def called(person: Contact, width: int = 60) -> SafeString:
    """The name, and beside it what tells the person apart from namesakes (``tell_apart``)."""
    distinction = getattr(person, "distinction", "")
    if not distinction:
        return glance(person.name, width)
    return format_html(
        '{} <span class="dim small">{}</span>', glance(person.name, width), glance(distinction, 60)
    )


@register.filter
def letter(name: str) -> str:
    """What stands on a person's disc."""
    return initial(name or "") or "?"


@register.filter
def hue(name: str) -> int:
    """A colour of the palette that stays with a name."""
    return zlib.crc32((name or "").encode()) % HUES


@register.filter
def percent(share: float | None) -> str:
    return "" if share is None else f"{round(share * 100)}%"


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """How long ago, with the exact time to hover over."""
    if moment is None:
        return mark_safe("—")
    if abs(timezone.now() - moment).total_seconds() < 60:
        text = _("just now")
    elif moment > timezone.now():
        text = _("in %(time)s") % {"time": timeuntil(moment, depth=1, time_strings=SPANS)}
    else:
        text = _("%(time)s ago") % {"time": timesince(moment, depth=1, time_strings=SPANS)}
    return _time(timezone.localtime(moment), text)


@register.filter
def due(moment: datetime | None) -> SafeString:
    """When something is to come; a time that is reached is now."""
    if moment is None or moment > timezone.now() + timedelta(minutes=1):
        return ago(moment)
    return _time(timezone.localtime(moment), _("any moment"))


@register.filter
def day(moment: datetime | str | None) -> SafeString:
    """The day, with the exact time to hover over; of a text, where it is an ISO time."""
    if isinstance(moment, str):
        moment = parse_datetime(moment)
    if moment is None:
        return mark_safe("—")
    local = timezone.localtime(moment)
    return _time(local, date(local, "DATE_FORMAT"))


@register.filter
def exactly(moment: datetime) -> SafeString:
    """The minute, with the time zone."""
    local = timezone.localtime(moment)
    return _time(local, _exact(local))


def _exact(local: datetime) -> str:
    return f"{date(local, 'DATETIME_FORMAT')} {local.isoformat()[-6:]}"


@register.filter
def told_on(row: Memory | Message) -> SafeString:
    """The day on which it was said, by the clock of whoever said it."""
    zone = timezone.get_current_timezone()
    local = row.said_there if isinstance(row, Memory) else row.said_in(zone)
    return _time(local, date(local, "DATE_FORMAT"))


def _time(local: datetime, text: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), _exact(local), text
    )


@register.filter
def happens_on(memory: Memory) -> str:
    """When it takes place, as precise as it is known: a day, a month, a year, two days."""
    at, until = memory.happens_there, memory.happens_until_there
    days = partial_dates.shown(at.date(), until and until.date()) if at else ""
    return "–".join(readable_date(day) for day in days.split("/"))


register.filter("event_day", readable_date)


@register.filter
def number(count: int | None) -> str:
    """A count with its thousands told apart."""
    return "" if count is None else f"{count:,}"


@register.filter
def told_by(text: str, actor: str) -> SafeString:
    """Why something was done: a machine's words translated, a person's as they are."""
    if actor.startswith((words.OPERATOR, words.APP)):
        return said(text)
    return machine_said(text)


@register.filter
def machine_said(text: Reason | str | None) -> SafeString:
    """What Mio itself says of what it did, in the reader's language."""
    return format_html("<bdi>{}</bdi>", visible(words.reason(text or "")))


@register.filter
def who(actor: str) -> SafeString:
    """Who said or did something: the end user, a machine, an app, an operator."""
    if actor.startswith((words.OPERATOR, words.APP)):
        return said(actor.partition(":")[2])
    named = words.ACTORS.get(actor) or words.ASKERS.get(actor)
    return format_html("{}", _(named)) if named else said(actor)


@register.simple_tag
def bond(relation: Relation, here: Contact, token: str = "") -> SafeString:
    """Who is what of whom; others than ``here`` as links, on the own page by its ``token``."""

    def shown(person: Contact) -> SafeString:
        if person.pk == here.pk:
            return glance(person.name, 60)
        place = ("me-person", token) if token else ("dashboard:contact", here.end_user_id)
        at = reverse(place[0], args=[place[1], person.pk])
        return format_html('<a href="{}">{}</a>', at, called(person))

    return format_html(
        _("{subject} · {of}'s {kind}"),
        subject=shown(relation.subject),
        kind=format_html('<span class="badge">{}</span>', glance(relation.kind, 50)),
        of=shown(relation.object),
    )


@register.simple_tag
def marked(text: str, spans: Iterable[tuple[int, int]]) -> SafeString:
    """The text with these stretches (start and end in code points) highlighted."""
    at, parts = 0, []
    for start, end in sorted(spans):
        if start >= at:
            parts.append((visible(text[at:start]), visible(text[start:end])))
            at = end
    body = format_html_join("", "{}<mark>{}</mark>", parts)
    return format_html('<bdi class="said">{}{}</bdi>', body, visible(text[at:]))


@register.simple_tag
def finding(text: str, names: Sequence[str]) -> SafeString:
    """The text with these names highlighted, whatever their case; of two the longer one."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    hits = re.finditer(pattern, text, re.IGNORECASE) if pattern else ()
    return marked(text, [hit.span() for hit in hits])


@register.simple_tag
def icon(name: str) -> SafeString:
    """A picture of the sprite, for the eye only."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        static("dashboard/icons.svg"),
        name,
    )


@register.inclusion_tag("_undo.html", takes_context=True)
def undo_of(context: template.Context, tags: str) -> dict[str, Any]:
    """The Undo of a message that ``feedback.done`` left."""
    parts = (tags or "").split()
    there = len(parts) >= 3 and parts[0] == "undo"
    return {
        "end_user": parts[1] if there else "",
        "changes": parts[2:] if there else [],
        "csrf_token": context.get("csrf_token"),
        "request": context["request"],
    }


@register.filter
def item(mapping: Any, key: Any) -> Any:
    return mapping.get(key) if mapping else None


@register.filter
def row_name(row: Any) -> str:
    """How a claim calls a row of a queue."""
    return Claim.name_of(getattr(row, "subject", row))


def _saw(label: str, row: Any, columns: Iterable[str] = (), **where: Any) -> SafeString:
    """The input by which a form tells what it saw of a row (``dashboard.state_tokens``)."""
    return _input(SAW, state_tokens.token(label, row, columns, **where))


def _input(name: str, token: str) -> SafeString:
    return format_html('<input type="hidden" name="{}" value="{}">', name, token)


@register.simple_tag
def saw(row: Model, *columns: str, choice: bool = False) -> SafeString:
    """What a form saw of a row, or of one that is a ``choice`` among several."""
    token = state_tokens.token(row._meta.label_lower, row, columns)
    return _input(SAW_CHOICE if choice else SAW, token)


@register.simple_tag
def saw_pair(suggestion: Suggestion | None, one: Contact, other: Contact) -> SafeString:
    """What is suggested, or not, of two people."""
    first, second = sorted((one.pk, other.pk))
    return _saw("contacts.suggestion", suggestion, first=first, second=second)


@register.simple_tag
def saw_all(end_user: EndUser, model: str, columns: str, **where: Any) -> SafeString:
    """What it saw of all rows of a model that ``where`` finds; ``columns`` by blanks."""
    return _input(SAW, state_tokens.token_of_all(end_user, model, columns.split(), **where))


@register.simple_tag
def saw_latest(end_user: EndUser) -> SafeString:
    """Up to which change of an end user's rows it saw them."""
    latest = Change.objects.of(end_user).only("undone_at", "end_user").first()
    return _saw("accounts.change", latest, end_user=end_user.pk)


@register.simple_tag
def saw_names(end_user: EndUser, person: Person) -> SafeString:
    """What somebody is called."""
    names = ("name", "aliases")
    return _saw("contacts.contact", person, names, pk=person.id, end_user=end_user.pk)


@register.simple_tag
def saw_link(memory: Memory, person: Contact) -> SafeString:
    """That a memory, one of several to choose, is about a person."""
    link = Link(end_user_id=memory.end_user_id, contact=person, rejected=False)
    of = {"memory": memory.pk, "contact": person.pk}
    columns = ("contact_id", "rejected")
    return _input(SAW_CHOICE, state_tokens.token("memories.link", link, columns, **of))


@register.simple_tag
def saw_edge(end_user: EndUser, step: Step) -> SafeString:
    """How two memories stand to each other."""
    ends = [step.target, step.source] if step.inverse else [step.source, step.target]
    edge = Edge(end_user=end_user, kind=step.kind, source_id=ends[0], target_id=ends[1])
    return _saw("memories.edge", edge, pk=step.edge)


@register.simple_tag
def key(name: str) -> SafeString:
    """A key of the keyboard, shown beside what it does; a digit, and the O that looks like one, would
    read as a count, and stands in the list of keys alone."""
    reads_as_count = str(name).isdigit() or name == "O"
    return format_html("" if reads_as_count else '<kbd aria-hidden="true">{}</kbd>', name)


register.filter(words.stands)

# What a change did, a maintenance job does, a model was asked for, what is counted and was erased.
for _name, _table in (
    ("verb", words.VERBS),
    ("job", words.JOBS),
    ("job_name", words.JOB_NAMES),
    ("purpose", words.PURPOSES),
    ("count_of", words.COUNTS),
    ("erased", words.ERASED),
):
    register.filter(_name, partial(words.in_words, _table))
