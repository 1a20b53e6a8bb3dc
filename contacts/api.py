"""Contacts over HTTP: list, create, correct."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, UUIDField
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.cells import atomic
from accounts.errors import conflict
from accounts.paging import page, page_of
from contacts import edit, serializers
from contacts.models import Contact, ContactQuerySet

# Ids in a list stay a glance; one contact shows them all.
LISTED_MEMORY_IDS = 100


class Contacts(UserView):
    @documented(
        responses={200: page_of(serializers.ContactSerializer)},
        parameters=[serializers.ContactQuery],
        operation_id="contacts_list",
        summary="The people in a user's life, the last mentioned first",
        description=f"`memory_ids` holds the latest {LISTED_MEMORY_IDS} that are linked, here; "
        "`memory_count` says how many memories about the person hold now.",
    )
    def get(self, request: Request, **_path: Any) -> Response:
        query = self.query(serializers.ContactQuery)
        rows = Contact.objects.of(self.end_user)
        rows = rows.archived() if query["archived"] else rows.listed()
        if wanted := query.get("q"):
            rows = rows.found_by(self.end_user, wanted)
        return page(request, _glance(rows), "last_mentioned_at", query, serializers.shown)

    @documented(
        request=serializers.ContactForm,
        responses={201: serializers.ChangedContact},
        operation_id="contacts_create",
        summary="Add a person",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        values = self.body(serializers.ContactForm)
        with atomic(), _names_taken():
            contact, change = edit.create_contact(
                self.end_user_for_writing(), values.pop("name"), actor=self.actor, **values
            )
        return Response(serializers.detail(contact, change.id), status=status.HTTP_201_CREATED)


class NewContactList(UserView):
    @documented(
        request=serializers.NewContacts,
        responses={201: serializers.CreatedContacts},
        operation_id="contacts_bulk_create",
        summary=f"Add up to {serializers.MAX_NEW} people at once",
        description="All of them are added, or none, as one change. `409 name_taken` where a name "
        "is taken or stands twice in the list; `fields` names each by its place in the list.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        values = self.body(serializers.NewContacts)
        with atomic(), _names_taken(listed=True):
            contacts, change = edit.create_contacts(
                self.end_user_for_writing(), values["contacts"], **self.by(values)
            )
        return Response(serializers.created(contacts, change.id), status=status.HTTP_201_CREATED)


class OneContact(UserView):
    @documented(
        request=serializers.ContactForm,
        responses={200: serializers.ChangedContact},
        operation_id="contacts_update",
        summary="Correct what is known of a person",
        description="Only the fields given change. `attributes` are taken key by key: a string "
        "or a list of strings replaces the key's values, null removes it. A renamed contact "
        "keeps the old name as an alias unless `aliases` are given too.",
    )
    def patch(self, _request: Request, contact_id: UUID, **_path: Any) -> Response:
        values = self.body(serializers.ContactForm, partial=True)
        options = {name: values.pop(name) for name in ("why", "namesake") if name in values}
        with _names_taken():
            contact, change = edit.edit_contact(
                self.end_user, contact_id, values, actor=self.actor, **options
            )
        contact.refresh_from_db()
        return Response(serializers.detail(contact, change.id))


@contextmanager
def _names_taken(*, listed: bool = False) -> Iterator[None]:
    """Answers 409 `name_taken` with the contacts that have these names already."""
    try:
        yield
    except edit.NameTaken as error:
        if not listed:
            raise conflict(f"{error} The other is {error.holder}.", "name_taken") from error
        fields = {
            f"contacts[{place}].name": [f"{error} The other is {holder or 'in the list'}."]
            for place, holder in error.holders.items()
        }
        path, (problem,) = next(iter(fields.items()))
        raise conflict(f"{path}: {problem}", "name_taken", {"fields": fields}) from error


def _glance(rows: ContactQuerySet) -> ContactQuerySet:
    """Without the columns that grow with a contact's history."""
    latest = Func(
        F("memory_ids"),
        template=f"(%(expressions)s)[GREATEST(1, CARDINALITY(%(expressions)s) - "
        f"{LISTED_MEMORY_IDS - 1}):]",
        output_field=ArrayField(UUIDField()),
    )
    rows = rows.light().select_related("end_user__app")
    return rows.annotate(latest_memory_ids=latest).counted()
