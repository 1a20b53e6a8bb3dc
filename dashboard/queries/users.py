"""Queries about end users: lists, what is stored of one, and the apps with their keys."""

from typing import Any

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts import cells
from accounts.models import App, Change, EndUser
from contacts.models import Contact
from dashboard.queries.contacts import tell_apart
from dashboard.words import language_of
from memories import own_card
from memories.models import Corpus, Edge, Erasure, Link, Memory, Message
from understanding.attributes import label

UNDECIDED = 20  # latest erasures that are shown

#: Orders of the list of end users; the columns of each are unique together.
SORTS = {"recent": ("-spoke", "id"), "id": ("external_id", "id"), "waiting": ("-waiting", "id")}


def matching_end_users(users: QuerySet[EndUser], wanted: str, app: str) -> QuerySet[EndUser]:
    """Returns the end users whose id contains ``wanted``, of one app if given, with the numbers of
    their ``people``, current memories (``memory_count``) and ``waiting`` messages."""
    if wanted:
        users = users.filter(external_id__icontains=wanted)
    if app.isdecimal():
        users = users.filter(app=int(app))
    people = Contact.objects.filter(end_user=OuterRef("pk")).listed().order_by()
    sizes = Corpus.objects.filter(end_user=OuterRef("pk"), status=Memory.Status.ACTIVE)
    # Only hashes of profiles are greater: they have an index of their own.
    profiles = Memory.objects.active().filter(end_user=OuterRef("pk"), content_hash__gte="profile")
    profiles = profiles.order_by()
    return users.annotate(
        spoke=Coalesce("last_message_at", "created_at"),
        waiting=F("message_seq") - F("extracted_seq"),
        people=Subquery(people.values("end_user").annotate(n=Count("pk")).values("n")),
        memory_count=Subquery(sizes.values("size")[:1])
        - Coalesce(Subquery(profiles.values("end_user").annotate(n=Count("pk")).values("n")), 0),
    )


def row_counts(end_user: EndUser) -> list[tuple[str, int]]:
    """Returns the name and number of an end user's rows of each kind, without derived profiles."""
    kinds: list[QuerySet[Any]] = [
        Contact.objects.of(end_user),
        Memory.objects.of(end_user).facts(),
        *(model.objects.of(end_user) for model in (Message, Link, Edge, Change)),
    ]
    return [(str(rows.model._meta.verbose_name_plural), rows.order_by().count()) for rows in kinds]


def own_keys(end_user: EndUser) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Returns the user's own card: each key with its label and values (as in ``attributes``)."""
    known = own_card.current_attributes(end_user).items()
    return [(key, label(key, language_of()), values) for key, values in known]


def undecided(end_user: EndUser) -> list[tuple[Erasure, list[Message], list[Contact]]]:
    """Returns the latest erasures that left something to decide, with its messages and people."""
    erasures = Erasure.objects.of(end_user).exclude(unsure_message_ids=[], unsure_contact_ids=[])
    erasures = erasures.defer("words", "names")[:UNDECIDED]
    message_ids = [pk for erasure in erasures for pk in erasure.unsure_message_ids]
    contact_ids = [pk for erasure in erasures for pk in erasure.unsure_contact_ids]
    messages = Message.objects.of(end_user).in_bulk(message_ids)
    contacts = Contact.objects.of(end_user).light().in_bulk(contact_ids)
    tell_apart(contacts.values())
    return [
        (
            erasure,
            [messages[pk] for pk in erasure.unsure_message_ids if pk in messages],
            [contacts[pk] for pk in erasure.unsure_contact_ids if pk in contacts],
        )
        for erasure in erasures
    ]


def with_keys(apps: QuerySet[App]) -> list[App]:
    """Returns apps with keys; sets how many are ``in_use``, when ``last_used``, and ``users``."""
    users = Count("placements" if cells.several() else "end_users")
    # The role that reads end users may not read upstreams: these have a statement of their own.
    rows: list[Any] = list(apps.annotate(users=users).prefetch_related("keys", "upstream"))
    for app in rows:
        app.in_use = sum(key.revoked_at is None for key in app.keys.all())
        app.last_used = max(
            (key.last_used_at for key in app.keys.all() if key.last_used_at), default=None
        )
    return rows
