"""A contact as JSON, in both directions."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.fields import NOT_BLANK, BoundedList, Flag, Reasoned, RowSerializer, Text, undo_id
from accounts.paging import PageQuery
from contacts import store
from contacts.models import Contact
from understanding.attributes import is_key

MAX_ALIASES = 50
MAX_KEYS = 100
MAX_VALUES = 50
MAX_VALUE = 500
MAX_NEW = 500  # contacts in one request
_ONE = {"type": "string", "pattern": NOT_BLANK, "maxLength": MAX_VALUE}


@extend_schema_field(
    {"oneOf": [_ONE, {"type": "array", "items": _ONE, "maxItems": MAX_VALUES}], "nullable": True}
)
class Values(serializers.Field):
    """One value, a list of values, or null for none; parsed to a list."""

    default_error_messages = {
        "invalid": "Give a string, a list of strings, or null to remove the attribute.",
        "blank": "A value can't be blank.",
        "long": f"A value has at most {MAX_VALUE} characters.",
        "many": f"An attribute has at most {MAX_VALUES} values.",
    }

    def to_internal_value(self, data: Any) -> list[str]:
        values = data if isinstance(data, list) else [data]
        if len(values) > MAX_VALUES:
            self.fail("many")
        for value in values:
            if not isinstance(value, str):
                self.fail("invalid")
            if not value.strip():
                self.fail("blank")
            if len(value) > MAX_VALUE:
                self.fail("long")
        return list(dict.fromkeys(values))


class Name(Text):
    """The name of a person as it is stored: it has a letter, a digit or a picture."""

    described = {
        "pattern": r"^[^\u0000]*[^\u0000-/:-@\[-`{-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf"
        r"\u02b9-\u036f\u037e\u0384\u0385\u0387\u0600-\u061f\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
        r"\u1680\u16eb-\u16ed\u17b4\u17b5\u180b-\u180f\u1fbd-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf"
        r"\u1fed-\u1fef\u1ffd-\u206f\u207d\u207e\u208d\u208e\u2219-\u22c5\u2800\u2e00-\u303f"
        r"\u309b\u309c\u30fb\u3164\ufc5e-\ufc63\ufe00-\ufe7f\ufeff-\uff0f\uff1a-\uff20\uff3b-\uff40"
        r"\uff5b-\uff65\uffa0\uffe0-\uffff][^\u0000]*$"
    }

    def __init__(self, max_length: int = 200, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)

    def run_validation(self, data: Any = serializers.empty) -> str | None:
        name = super().run_validation(data)
        try:
            return store.clean_name(name) if name else name
        except store.InvalidContact as error:
            raise serializers.ValidationError(str(error)) from error


class Attributes(serializers.DictField):
    """``{"company": "…", "interests": ["…", "…"], "location": null}``"""

    described = {"maxProperties": MAX_KEYS, "propertyNames": {"pattern": "^[a-z][a-z0-9_]{0,49}$"}}
    default_error_messages = {
        "key": "An attribute's key is in lower_snake_case, at most 50 characters.",
        "many": f"A contact has at most {MAX_KEYS} attributes.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(child=Values(allow_null=True), **options)

    def to_internal_value(self, data: Any) -> dict[str, list[str]]:
        values = super().to_internal_value(data)
        if len(values) > MAX_KEYS:
            self.fail("many")
        if not all(map(is_key, values)):
            self.fail("key")
        return {key: given or [] for key, given in values.items()}


class ContactForm(Reasoned):
    """The fields of a contact that can be given. ``why`` goes into the audit trail."""

    name = Name()
    aliases = BoundedList(child=Name(), max_length=MAX_ALIASES, required=False)
    relationship = Text(max_length=200, allow_blank=True, required=False)
    gender = serializers.ChoiceField(["female", "male", ""], required=False)
    personality = Text(max_length=2000, allow_blank=True, required=False)
    attributes = Attributes(required=False)
    namesake = Flag(required=False, help_text="Allow another person of a name that is taken.")


class NewContact(ContactForm):
    """One of several contacts; ``why`` is given once for all."""

    why = None  # type: ignore[assignment]  # how a serializer drops an inherited field


class NewContacts(Reasoned):
    contacts = BoundedList(
        child=NewContact(), min_length=1, max_length=MAX_NEW, help_text="All are added, or none."
    )


class ContactQuery(PageQuery):
    q = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text="Part of a name or an alias."
    )
    archived = serializers.BooleanField(
        default=False, help_text="Those in the archive instead of the others."
    )


class Named(serializers.ModelSerializer):
    """The id and name of a contact."""

    class Meta:
        model = Contact
        fields = ["id", "name"]


class TimelineEntry(serializers.Serializer):
    text = serializers.CharField()
    at = serializers.CharField(help_text="As precise as known: 2024, 2024-05, 2024-05-17 or empty.")
    sources = serializers.ListField(child=serializers.UUIDField())


class ContactSerializer(RowSerializer):
    """A contact as clients see it."""

    attributes = serializers.SerializerMethodField()
    attribute_sources = serializers.SerializerMethodField()
    timeline = TimelineEntry(many=True)
    references = serializers.SerializerMethodField(
        help_text="Phrases by which the user may mean them, found by a model."
    )
    card = serializers.CharField(source="card_today")
    memory_ids = serializers.ListField(child=serializers.UUIDField())
    memory_count = serializers.IntegerField(
        help_text="Memories that hold now, as `memories/?contact=` lists them."
    )

    class Meta:
        model = Contact
        fields: ClassVar = [
            "id", "name", "aliases", "relationship", "gender", "attributes", "attribute_sources",
            "personality", "timeline", "references", "memory_ids", "memory_count",
            "first_mentioned_at", "last_mentioned_at", "mention_count", "archived_at", "card",
            "created_at", "updated_at",
        ]  # fmt: skip

    def get_attributes(self, contact: Contact) -> dict[str, str | list[str]]:
        return store.flat_attributes(contact)

    def get_references(self, contact: Contact) -> list[str]:
        return [entry["text"] for entry in contact.references]

    def get_attribute_sources(self, contact: Contact) -> dict[str, list[dict[str, Any]]]:
        return contact.attributes


class ContactDetail(ContactSerializer):
    """One contact, with every memory id and the ids that were merged into it."""

    merged_from = serializers.SerializerMethodField()

    def get_merged_from(self, contact: Contact) -> list[UUID]:
        merged = Contact.objects.of(contact.end_user_id).all_merged_into([contact.pk])
        return [one.pk for one in merged]


class ChangedContact(ContactDetail):
    change_id = undo_id("null when nothing was to be changed")


class CreatedContacts(serializers.Serializer):
    contacts = ContactSerializer(many=True, help_text="In the order of the request.")
    change_id = serializers.UUIDField(help_text="Undo it with changes/{id}/undo/.")


def shown(contacts: Sequence[Contact]) -> list[dict[str, Any]]:
    """Returns contacts of a list as JSON, with their ``latest_memory_ids`` and ``memory_count``."""
    for contact in contacts:
        contact.memory_ids = contact.latest_memory_ids
    return list(ContactSerializer(contacts, many=True).data)


def created(contacts: Sequence[Contact], change_id: UUID) -> dict[str, Any]:
    """Returns contacts that were just created together as JSON."""
    for contact in contacts:
        contact.memory_count = 0
    return {"contacts": ContactSerializer(contacts, many=True).data, "change_id": change_id}


def detail(contact: Contact, change_id: UUID | None = None) -> dict[str, Any]:
    """Returns one contact in full as JSON, with ``change_id`` if a change has just been made."""
    counts = Contact.objects.of(contact.end_user_id).filter(pk=contact.pk).memory_counts()
    contact.memory_count = counts[contact.pk]
    changed = {} if change_id is None else {"change_id": change_id}
    return {**ContactDetail(contact).data, **changed}
