"""Who is who, over HTTP: merge, split, not the same, resolve. Here, not beside the other
contact endpoints, since memories follow."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from uuid import UUID

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.errors import ApiError
from accounts.fields import BoundedList, Flag, Identifier, Strict, Text
from accounts.models import Change
from contacts import store
from contacts.api import OneContact
from contacts.edit import archive_contact
from contacts.merge import UnknownPerson, not_the_same
from contacts.models import Contact
from contacts.serializers import ChangedContact, Name, detail
from memories.api.requested import Forgotten
from memories.corrections import merge_contacts
from memories.erasure import erase
from memories.erasure.receipts import By

MAX_SPLIT = 5000


class _Reasoned(Strict):
    why = Text(max_length=500, allow_blank=True, required=False)


class MergeForm(_Reasoned):
    """``into``: the contact that stays."""

    into = Identifier()


class NotTheSameForm(_Reasoned):
    other = Identifier(help_text="The contact who is another person.")


class ArchiveForm(_Reasoned):
    archived = Flag(help_text="false brings the person back.")


class SplitForm(_Reasoned):
    """The memories that are about another person, and how that one is called."""

    memories = BoundedList(child=Identifier(), min_length=1, max_length=MAX_SPLIT)
    name = Name()
    relationship = Text(max_length=200, allow_blank=True, required=False)


class ResolveForm(_Reasoned):
    """One of the values that an attribute holds side by side, or that ``all`` of them are right."""

    key = Text(max_length=50)
    value = Text(max_length=500, required=False)
    all = serializers.BooleanField(default=False)

    described = {
        "oneOf": [
            {"required": ["value"], "properties": {"all": {"const": False}}},
            {
                "required": ["all"],
                "properties": {"all": {"const": True}},
                "not": {"required": ["value"]},
            },
        ]
    }

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if ("value" in asked) == asked["all"]:
            raise serializers.ValidationError("Give the right `value`, or say that `all` are.")
        return asked


class PersonView(UserView):
    """An endpoint about contacts."""

    def contact(self, pk: UUID | None = None, *, or_survivor: bool) -> Contact:
        """The contact of this id or of the address, or of a merged one the survivor. Raises a
        404."""
        pk = pk or self.kwargs["contact_id"]
        found = store.survivor(self.end_user, pk)
        if found is None:
            raise ApiError(404, "unknown_contact", "This user has no such contact.")
        return found if or_survivor else Contact.objects.of(self.end_user).get(pk=pk)

    def other(self, field: str, pk: UUID) -> UUID:
        """The id of another contact, given in the body. Raises ValidationError."""
        if not Contact.objects.of(self.end_user).filter(pk=pk).exists():
            raise serializers.ValidationError({field: ["This user has no such contact."]})
        return pk

    def changed(self, contact_id: UUID, change: Change | None, code: int = 200) -> Response:
        contact = Contact.objects.of(self.end_user).get(pk=contact_id)
        return Response({**detail(contact), "change_id": change and change.id}, status=code)


class Person(OneContact):
    @documented(
        responses={200: Forgotten},
        operation_id="contacts_destroy",
        summary="Erase a person for good",
        description="As `forget/` with `contact`: the memories and messages about them go too, and "
        "their names wherever they stand. This can't be undone; to keep the memories, `merge` or "
        "`split`.",
    )
    def delete(self, _request: Request, contact_id: UUID, **_path: Any) -> Response:
        try:
            return Response(asdict(erase.forget_contact(self.end_user, contact_id, By(self.actor))))
        except erase.NothingToForget as error:
            raise ApiError(404, "unknown_contact", str(error)) from error


class Merge(PersonView):
    @documented(
        request=MergeForm,
        responses={200: ChangedContact},
        operation_id="contacts_merge",
        summary="Say that two contacts are one person",
        description="All that is known of this contact becomes the other's, whose "
        "representation is the answer, also to this contact's id from then on. Values that "
        "contradict each other stay side by side; see resolve. 409 when one of them was "
        "merged already.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(MergeForm)
        loser = self.contact(or_survivor=False)
        survivor = self.other("into", asked["into"])
        with refusals():
            change = merge_contacts.merge(
                self.end_user, loser.id, survivor, actor=self.actor, why=asked.get("why", "")
            )
        return self.changed(survivor, change)


class Split(PersonView):
    @documented(
        request=SplitForm,
        responses={201: ChangedContact},
        operation_id="contacts_split",
        summary="Say that some memories are about another person",
        description="The answer is the new contact, which may be a namesake. What rests on "
        "these memories goes along, and no machine links them to this contact again.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(SplitForm)
        contact = self.contact(or_survivor=True)
        with refusals():
            new, change = merge_contacts.split(
                self.end_user,
                contact.id,
                asked["memories"],
                name=asked["name"],
                relationship=asked.get("relationship", ""),
                actor=self.actor,
                why=asked.get("why", ""),
            )
        return self.changed(new.id, change, status.HTTP_201_CREATED)


class NotTheSame(PersonView):
    @documented(
        request=NotTheSameForm,
        responses={200: ChangedContact},
        operation_id="contacts_not_the_same",
        summary="Say that two contacts are two people",
        description="They are never suggested for a merge again.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(NotTheSameForm)
        contact = self.contact(or_survivor=False)
        other = self.other("other", asked["other"])
        with refusals():
            change = not_the_same(
                self.end_user, contact.id, other, actor=self.actor, why=asked.get("why", "")
            )
        return self.changed(contact.id, change)


class Archive(PersonView):
    @documented(
        request=ArchiveForm,
        responses={200: ChangedContact},
        operation_id="contacts_archive",
        summary="Put a person into the archive, or bring them back",
        description="Who is archived is known by name as before, and in no list, suggestion or "
        "prompt. `change_id` is null where it was so already.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(ArchiveForm)
        contact = self.contact(or_survivor=True)
        with refusals():
            change = archive_contact(
                self.end_user,
                contact.id,
                actor=self.actor,
                why=asked.get("why", ""),
                archived=asked["archived"],
            )
        return self.changed(contact.id, change)


class Resolve(PersonView):
    @documented(
        request=ResolveForm,
        responses={200: ChangedContact},
        operation_id="contacts_resolve",
        summary="Say which of an attribute's values is right",
        description="It becomes the only one of an attribute that has one value at a time, "
        "else the first. With `all`, several values of it are no contradiction of this person "
        "any more.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(ResolveForm)
        contact = self.contact(or_survivor=True)
        with refusals():
            by = {"actor": self.actor, "why": asked.get("why", "")}
            _, change = (
                merge_contacts.keep_side_by_side(self.end_user, contact.id, asked["key"], **by)
                if asked["all"]
                else merge_contacts.resolve_attribute(
                    self.end_user, contact.id, asked["key"], asked["value"], **by
                )
            )
        return self.changed(contact.id, change)


@contextmanager
def refusals() -> Iterator[None]:
    """Answers with a 404 where there is no such person."""
    try:
        yield
    except UnknownPerson as error:
        raise ApiError(404, "unknown_contact", str(error)) from error
