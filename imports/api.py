"""The address book of an end user over HTTP: taken in, or first only looked at, and given out."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, inline_serializer
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.cells import atomic
from accounts.fields import Flag, Strict, Text
from accounts.models import EndUser
from contacts.address_books.book_formats import FILES, VCARD, write
from contacts.address_books.entries import Entry
from contacts.address_books.entry_matching import Matched, UnknownChoice
from imports import address_book, people_intake
from imports.dumps import book_file
from imports.models import Import
from imports.people_intake import Plan, plan
from imports.types import Dump, NotReadable

EXAMPLES = {
    form: write([Entry(1, "Anna Berg", ("Annie",), {"phone": ("+49 30 123456",)})], form)
    for form in FILES
}
OUTCOMES = ("new", "changed", "same", "undecided", "skipped")
COUNTS = ("entries", *OUTCOMES, "relations", "memories", "unreadable")


class Choices(serializers.DictField):
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
    format = serializers.ChoiceField(choices=[*FILES], default=VCARD)


Candidate = inline_serializer(
    "BookCandidate",
    {
        "id": serializers.CharField(help_text="What to answer in `choices`."),
        "name": serializers.CharField(),
    },
    many=True,
)
BookEntry = inline_serializer(
    "BookEntry",
    {
        "number": serializers.IntegerField(help_text="The place in the file, from 1."),
        "name": serializers.CharField(),
        "outcome": serializers.ChoiceField(choices=OUTCOMES),
        "contact": serializers.UUIDField(
            allow_null=True, help_text="Whom it means, or who was made of it."
        ),
        "why": serializers.CharField(help_text="Why it means them, or makes nobody."),
        "candidates": Candidate,
    },
    many=True,
)
BookImport = inline_serializer(
    "BookImport",
    {
        "format": serializers.ChoiceField(choices=[*FILES]),
        "dry_run": serializers.BooleanField(),
        "counts": inline_serializer(
            "BookCounts",
            {name: serializers.IntegerField() for name in COUNTS},
        ),
        "unreadable": serializers.ListField(
            child=serializers.CharField(),
            help_text="What of the file can't be read and is left out, by its line; the first 100.",
        ),
        "entries": BookEntry,
        "change_id": serializers.UUIDField(
            allow_null=True, help_text="Undo it with changes/{id}/undo/; null: nothing changed."
        ),
    },
)


class AnyAccept(DefaultContentNegotiation):
    """Errors are JSON, and what is asked for says ``format``, whatever a client accepts."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:  # noqa: ARG002
        return renderers[0], renderers[0].media_type


class AddressBook(UserView):
    content_negotiation_class = AnyAccept

    @documented(
        responses={(200, media): OpenApiTypes.STR for _, media in FILES.values()},
        parameters=[BookQuery],
        operation_id="address_book_retrieve",
        examples=[
            OpenApiExample(name, EXAMPLES[name], media_type=FILES[name][1], response_only=True)
            for name in FILES
        ],
        summary="The people of a user as an address book",
        description="A file: vCard 4.0, or a CSV that Google Contacts takes. Relations and notes "
        "go along, and what the format has no place for as fields of Mio's own.",
    )
    def get(self, request: Request, **_path: Any) -> HttpResponse:
        query = BookQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        return as_file(self.end_user, query.validated_data["format"])

    @documented(
        request=BookForm,
        responses={200: BookImport},
        operation_id="address_book_create",
        summary="Take in an address book",
        description="All of it or nothing, as one change. With `dry_run` nothing is written: each "
        "entry is shown with what would become of it. One that may mean several people is "
        "`undecided` and left out until `choices` say whom. The same file again changes nothing.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(BookForm)
        try:
            dump = book_file.of_bytes(asked["content"].encode())
        except NotReadable as error:
            raise serializers.ValidationError({"content": [str(error)]}) from error
        try:
            if asked["dry_run"]:
                known = self.find_user() or EndUser(app=self.app, external_id=self.external_id)
                return Response(_shown(plan(known, dump, asked["choices"]), dry_run=True))
            return Response(self._taken_in(dump, asked["choices"]))
        except UnknownChoice as error:
            raise serializers.ValidationError({f"choices.{error.number}": [str(error)]}) from error

    def _taken_in(self, dump: Dump, choices: dict[int, str]) -> dict[str, Any]:
        with atomic():
            end_user = self.end_user_for_writing()
            done = people_intake.take_in(end_user, dump, choices, actor=self.actor)
            if done.change:
                Import.note(end_user, dump.format, done.plan.counts, done.change)
        return _shown(done.plan, change_id=done.change.pk if done.change else None)


def as_file(end_user: EndUser, form: str) -> HttpResponse:
    """The address book as a file to keep."""
    name, media = FILES[form]
    text = write(address_book.entries_of(end_user), form)
    reply = HttpResponse(text.encode(), content_type=f"{media}; charset=utf-8")
    reply["Content-Disposition"] = f'attachment; filename="{name}"'
    reply["Cache-Control"] = "private, no-store"
    return reply


def _shown(wanted: Plan, *, dry_run: bool = False, change_id: Any = None) -> dict[str, Any]:
    counts = wanted.counts
    return {
        "format": wanted.dump.format,
        "dry_run": dry_run,
        "counts": {name: counts[name] for name in COUNTS},
        "unreadable": [str(reason) for reason in wanted.dump.skipped.named],
        "entries": [_entry(one) for one in wanted.matched],
        "change_id": change_id,
    }


def _entry(one: Matched) -> dict[str, Any]:
    contact = one.known.contact if one.known else None
    return {
        "number": one.entry.number,
        "name": one.entry.name,
        "outcome": one.outcome,
        "contact": contact.pk if contact else None,
        "why": str(one.why or ""),
        "candidates": [{"id": known.key, "name": known.name} for known in one.candidates],
    }
