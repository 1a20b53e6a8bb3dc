"""The export of what is remembered of the end user as readable text."""

from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.models import Contact, Relation
from dashboard.me import pages, visits
from dashboard.queries import users
from dashboard.words import language_of
from memories.api.own_page import Visit
from memories.models import Link, Memory, Message
from understanding.attributes import label


@visits.page
def export_text(_request: HttpRequest, visit: Visit) -> HttpResponse:
    """Returns the export as a text file to save."""
    return HttpResponse(
        "\n".join(lines(visit.end_user)),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="my-memory.txt"'},
    )


def lines(end_user: EndUser) -> Iterator[str]:
    """Yields the export: the user, each person with facts, relationships and memories, the other
    memories, and the user's own messages, without words of others."""
    memory_lines: dict[UUID | None, list[str]] = defaultdict(list)
    people_of: dict[UUID, list[UUID | None]] = defaultdict(list)
    links = Link.objects.of(end_user).standing()
    for memory_id, contact_id in links.values_list("memory", "contact"):
        people_of[memory_id].append(contact_id)
    for memory in pages.memories(end_user).order_by("said_at", "id"):
        for person in people_of.get(memory.pk, [None]):
            memory_lines[person].append(_memory_line(memory))
    relation_lines: dict[UUID, list[str]] = defaultdict(list)
    for row in Relation.objects.of(end_user).select_related("subject", "object").order_by("id"):
        sentence = _("{subject} · {of}'s {kind}").format(
            subject=row.subject.name, of=row.object.name, kind=row.kind
        )
        relation_lines[row.subject_id].append(f"- {sentence}")
        relation_lines[row.object_id].append(f"- {sentence}")

    yield from _heading(_("You"))
    for _key, name, values in users.own_keys(end_user):
        yield f"{name}: {_joined_values(values)}"
    yield from _heading(_("People in your life"))
    for one in pages.people(end_user).order_by("sort_key", "id"):
        yield ""
        yield from _person_lines(one)
        yield from relation_lines[one.pk]
        yield from memory_lines[one.pk]
    yield from _heading(_("What else you said"))
    yield from memory_lines[None]
    yield from _heading(_("Your messages"))
    for message in Message.objects.of(end_user).by_user().not_erased().order_by("seq").iterator():
        said_at = message.said_in(timezone.get_current_timezone())
        yield f"{date_format(said_at, 'DATETIME_FORMAT')}  {message.content}"


def _heading(title: str) -> Iterator[str]:
    yield from ("", title, "=" * 40)


def _person_lines(one: Contact) -> Iterator[str]:
    yield f"{one.name} ({one.relationship})" if one.relationship else one.name
    if one.aliases:
        yield _("also called") + " " + _(", ").join(one.aliases)
    for key, values in one.attributes.items():
        yield f"{label(key, language_of())}: {_joined_values(values)}"
    if one.personality:
        yield f"{_('Personality')}: {one.personality}"


def _joined_values(values: list[dict[str, str]]) -> str:
    return "; ".join(str(one["value"]) for one in values)


def _memory_line(memory: Memory) -> str:
    over = "" if memory.status == Memory.Status.ACTIVE else f" ({_('no longer true')})"
    return f"- {date_format(memory.said_there, 'DATE_FORMAT')}  {memory.displayed_content}{over}"
