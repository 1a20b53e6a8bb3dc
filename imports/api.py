"""Endpoints of an end user's address book: preview, import and export."""

from types import ModuleType
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, inline_serializer
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from accounts.api import UserView, Validated, operation
from accounts.cells import atomic
from accounts.fields import Flag, Strict, Text, undo_id
from accounts.models import EndUser
from imports import address_book, people_intake
from imports.dumps import BOOKS, read_book, vcard
from imports.entry_matching import EntryOutcome, UnknownChoice
from imports.people_intake import OUTCOMES, plan
from imports.types import Entry, NotReadable

ANNA = Entry(1, "Anna Berg", ("Annie",), {"phone": ("+49 30 123456",)})
COUNTS = ("entries", *OUTCOMES, "relations", "memories", "unreadable")


class Choices(serializers.DictField):
    """The choices for entries by their numbers, which become ints."""

    described = {"propertyNames": {"pattern": "^[0-9]{1,9}$"}}

    def to_internal_value(self, data: Any) -> dict[int, str]:
        chosen = super().to_internal_value(data)
        for number in chosen:
            if not (number.isascii() and number.isdecimal() and len(number) < 10):
                raise serializers.ValidationError(f"{number} is not the number of an entry.")
        return {int(number): choice for number, choice in chosen.items()}


class BookForm(Strict):
    content = serializers.CharField(
        trim_whitespace=False, help_text="The file as text: vCard, or a CSV of Google Contacts."
    )
    dry_run = Flag(default=False, help_text="Only say what would become of each entry.")
    choices = Choices(
        child=Text(max_length=60),
        default=dict,
        help_text="By the number of an entry: `new`, `skip`, or the id of a contact or candidate.",
    )


class BookQuery(Strict):
    format = serializers.ChoiceField(choices=[*BOOKS], default=vcard.NAME)


class BookCandidate(serializers.Serializer):
    id = serializers.CharField(source="key", help_text="What to answer in `choices`.")
    name = serializers.CharField(source="contact.name")


class BookEntry(serializers.Serializer):
    number = serializers.IntegerField(
        source="entry.number", help_text="The place in the file, from 1."
    )
    name = serializers.CharField(source="entry.name")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    contact = serializers.UUIDField(
        source="known.stored_id", allow_null=True, help_text="Whom it means, or who was made of it."
    )
    why = serializers.SerializerMethodField(help_text="Why it means them, or makes nobody.")
    candidates = BookCandidate(many=True)

    def get_why(self, matched: EntryOutcome) -> str:
        return str(matched.why or "")


class BookPlan(serializers.Serializer):
    format = serializers.ChoiceField(source="dump.format", choices=[*BOOKS])
    counts = inline_serializer("BookCounts", {name: serializers.IntegerField() for name in COUNTS})
    unreadable = serializers.ListField(
        source="dump.skipped.named",
        child=serializers.CharField(),
        help_text="What of the file can't be read and is left out, by its line; the first 100.",
    )
    entries = BookEntry(source="matched", many=True)


class BookImport(BookPlan):
    dry_run = serializers.BooleanField()
    change_id = undo_id("null: nothing changed")


class AnyAccept(DefaultContentNegotiation):
    """Ignores the Accept header: errors are JSON, and ``format`` names the kind of file."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:  # noqa: ARG002
        return renderers[0], renderers[0].media_type


class AddressBook(UserView):
    content_negotiation_class = AnyAccept

    @operation(
        "address_book_retrieve",
        {(200, form.MEDIA_TYPE): OpenApiTypes.STR for form in BOOKS.values()},
        query=BookQuery,
        examples=[
            OpenApiExample(name, form.write([ANNA]), media_type=form.MEDIA_TYPE, response_only=True)
            for name, form in BOOKS.items()
        ],
    )
    def get(self, query: Validated) -> HttpResponse:
        """The people of a user as an address book

        A file: vCard 4.0, or a CSV that Google Contacts takes. It includes relations and notes;
        what the format has no field for is in fields of Mio's own."""
        return as_file(self.end_user, BOOKS[query["format"]])

    @operation("address_book_create", BookImport, body=BookForm)
    def post(self, asked: Validated) -> Any:
        """Import an address book

        Imports all of it or nothing, as one change. With `dry_run` nothing is written: the answer
        shows what would become of each entry. An entry that may mean several people is `undecided`
        and left out until `choices` name one. The same file again changes nothing."""
        try:
            dump = read_book(asked["content"].encode())
        except NotReadable as error:
            raise serializers.ValidationError({"content": [str(error)]}) from error
        try:
            if asked["dry_run"]:
                user = self.find_user() or EndUser(app=self.app, external_id=self.external_id)
                planned = plan(user, dump, asked["choices"])
                return {**BookPlan(planned).data, "dry_run": True, "change_id": None}
            with atomic():
                end_user = self.end_user_for_writing()
                imported, change = people_intake.take_in(
                    end_user, dump, asked["choices"], actor=self.actor
                )
            change_id = change and change.pk
            return {**BookPlan(imported).data, "dry_run": False, "change_id": change_id}
        except UnknownChoice as error:
            raise serializers.ValidationError({f"choices.{error.number}": [str(error)]}) from error


def as_file(end_user: EndUser, form: ModuleType) -> HttpResponse:
    """Returns the address book as a file to download; ``form`` is a module of ``imports.dumps``."""
    text = form.write(address_book.entries_of(end_user))
    reply = HttpResponse(text.encode(), content_type=f"{form.MEDIA_TYPE}; charset=utf-8")
    reply["Content-Disposition"] = f'attachment; filename="{form.FILE}"'
    reply["Cache-Control"] = "private, no-store"
    return reply
