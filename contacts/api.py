"""Contacts over HTTP: list, create, correct."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, UUIDField
from rest_framework.response import Response

from accounts.api import UserView, Validated, operation
from accounts.cells import atomic
from accounts.errors import conflict
from accounts.paging import page, page_of
from contacts import edit, serializers
from contacts.models import Contact, ContactQuerySet

LISTED_MEMORY_IDS = 100  # that a list shows, as its description states; one contact shows all


class Contacts(UserView):
    @operation(
        "contacts_list", page_of(serializers.ContactSerializer), query=serializers.ContactQuery
    )
    def get(self, query: Validated) -> Response:
        """The people in a user's life, the last mentioned first

        `memory_ids` has the latest 100 that are linked, here; `memory_count` is how many memories
        about the person are valid now."""
        rows = Contact.objects.of(self.end_user)
        rows = rows.archived() if query["archived"] else rows.listed()
        if wanted := query.get("q"):
            rows = rows.found_by(self.end_user, wanted)
        return page(self.request, _for_list(rows), "last_mentioned_at", query, serializers.shown)

    @operation("contacts_create", {201: serializers.ChangedContact}, body=serializers.ContactForm)
    def post(self, asked: Validated) -> Any:
        """Add a person"""
        with atomic(), _conflict_if_taken():
            contact, change = edit.create_contact(
                self.end_user_for_writing(), asked.pop("name"), actor=self.actor, **asked
            )
        return serializers.detail(contact, change.id)


class NewContactList(UserView):
    @operation(
        "contacts_bulk_create", {201: serializers.CreatedContacts}, body=serializers.NewContacts
    )
    def post(self, asked: Validated) -> Any:
        """Add several people at once

        All of them are added, or none, as one change. `409 name_taken` if a name is taken or is twice
        in the list; `fields` names each by its place in the list."""
        with atomic(), _conflict_if_taken(listed=True):
            contacts, change = edit.create_contacts(
                self.end_user_for_writing(), asked["contacts"], **self.by(asked)
            )
        return serializers.created(contacts, change.id)


class OneContact(UserView):
    @operation(
        "contacts_update", serializers.ChangedContact, body=serializers.ContactForm, partial=True
    )
    def patch(self, asked: Validated, contact_id: UUID) -> Any:
        """Correct what is known about a person

        Only the fields given change. `attributes` are taken key by key: a string or a list of strings
        replaces the key's values, null removes it. A renamed contact keeps the old name as an alias
        unless `aliases` are given too."""
        options = {name: asked.pop(name) for name in ("why", "namesake") if name in asked}
        with _conflict_if_taken():
            contact, change = edit.edit_contact(
                self.end_user, contact_id, asked, actor=self.actor, **options
            )
        contact.refresh_from_db()
        return serializers.detail(contact, change.id)


@contextmanager
def _conflict_if_taken(*, listed: bool = False) -> Iterator[None]:
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


def _for_list(rows: ContactQuerySet) -> ContactQuerySet:
    """The rows with what a list shows, without the columns that grow with a contact's history."""
    latest = Func(
        F("memory_ids"),
        template=f"(%(expressions)s)[GREATEST(1, CARDINALITY(%(expressions)s) - "
        f"{LISTED_MEMORY_IDS - 1}):]",
        output_field=ArrayField(UUIDField()),
    )
    rows = rows.light().select_related("end_user__app")
    return rows.annotate(latest_memory_ids=latest).counted()
