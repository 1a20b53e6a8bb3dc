"""Serializer fields that accept a value as it is or refuse it: nothing is coerced or dropped."""

import json
from collections.abc import Collection, Mapping
from dataclasses import is_dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ParseError

from accounts.parsers import parse
from accounts.reasons import read
from accounts.time_zones import GREENWICH, stated_offset

# A client's clock may be wrong by hours or in another zone, not by days.
CLOCK_SKEW = timedelta(hours=24)
# UTC written as the clock of a place.
_GREENWICH = ("+00:00", "+0000", "+00")
# Facts may lie far back or ahead, but within what every calendar calculation can hold.
FACTS = range(1000, 3000)  # years
# What follows a year in the description: no leap second, which is RFC 3339 and no clock of ours.
_CLOCK = r"-\d\d-\d\d[Tt]\d\d:\d\d:[0-5]\d"

# Texts have no NUL, and more than white space unless they may be blank: in the description.
TEXT = r"^[^\u0000]*$"
NOT_BLANK = r"^\s*[^\s\u0000][^\u0000]*$"
METADATA_BYTES = 4096
METADATA_KEYS = 50
_METADATA = {"type": "object", "additionalProperties": True, "maxProperties": METADATA_KEYS}


class Strict(serializers.Serializer):
    """Refuses fields that it does not know, so that a misspelt one is not silently lost."""

    # JSON Schema that the description of the API adds to this form; fields have it too.
    described: ClassVar[dict[str, Any]] = {}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := sorted(data.keys() - self.fields.keys())):
            names = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            problem = f"Unknown field. Known are: {names}."
            raise serializers.ValidationError({str(name)[:100]: [problem] for name in unknown})
        return super().to_internal_value(data)


class Text(serializers.CharField):
    """A JSON string, kept as it is. Unless ``allow_blank``, more than white space."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if not self.allow_blank and not data.strip():
            self.fail("blank")
        return data


class Reasoned(Strict):
    """The body of a correction; ``why`` goes into the audit trail."""

    why = Text(max_length=500, allow_blank=True, required=False, help_text="For the audit trail.")


class WhyQuery(Reasoned):
    """The query string of a DELETE, whose body nobody may rely on."""


class RowSerializer(serializers.ModelSerializer):
    """Shows the columns of ``Meta.fields``, then the fields that are declared besides."""

    def get_field_names(self, declared_fields: Mapping[str, Any], info: Any) -> list[str]:  # noqa: ARG002
        columns = list(self.Meta.fields)
        return columns + [name for name in declared_fields if name not in columns]


def undo_id(null: str) -> serializers.UUIDField:
    """Returns a field for the id of the change that a correction made; ``null``: when it made none."""
    return serializers.UUIDField(
        allow_null=True, help_text=f"Undo it with changes/{{id}}/undo/; {null}."
    )


class BoundedList(serializers.ListField):
    """A list whose length is checked before any of its items."""

    def run_child_validation(self, data: Any) -> list[Any]:
        self.run_validators(data)
        return super().run_child_validation(data)


@extend_schema_field(_METADATA)
class Metadata(serializers.Field):
    """A JSON object of the app's own, of bounded size and without the keys in ``taken``."""

    default_error_messages = {
        "taken": "Mio keeps these itself: {keys}.",
        "invalid": "Give an object.",
        "many": f"Metadata has at most {METADATA_KEYS} keys.",
        "long": f"Metadata has at most {METADATA_BYTES} bytes of JSON.",
    }

    def __init__(self, taken: Collection[str] = (), **options: Any) -> None:
        super().__init__(**options)
        self.taken = taken
        self.described = {"propertyNames": {"not": {"enum": sorted(taken)}}} if taken else {}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        if refused := sorted(data.keys() & self.taken):
            self.fail("taken", keys=", ".join(refused))
        if len(data) > METADATA_KEYS:
            self.fail("many")
        if len(json.dumps(data, ensure_ascii=False).encode()) > METADATA_BYTES:
            self.fail("long")
        return data

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return value


class MetadataQuery(serializers.CharField):
    """The keys and values that metadata must contain, as a JSON object in a query string."""

    described = {"contentMediaType": "application/json", "contentSchema": _METADATA}

    def __init__(self, **options: Any) -> None:
        help_text = 'Only what holds all of this JSON object, such as {"channel": "wechat"}.'
        super().__init__(required=False, help_text=help_text, **options)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            return Metadata().to_internal_value(parse(text.encode()))
        except ParseError as error:
            raise serializers.ValidationError([str(error.detail)]) from error


class StoredReason(serializers.CharField):
    """A column with words or a stored reason, in English. Read only."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)

    def to_representation(self, value: str) -> str:
        return str(read(value))


class _Uncoerced(serializers.Field):
    """A field that accepts JSON values of these types only."""

    takes: tuple[type, ...]

    def to_internal_value(self, data: Any) -> Any:
        if type(data) not in self.takes:
            self.fail("invalid", input=data, value=data)
        return super().to_internal_value(data)


class Whole(_Uncoerced, serializers.IntegerField):
    """A JSON number without a fraction: 2 or 2.0."""

    takes = (int,)

    def to_internal_value(self, data: Any) -> Any:
        is_whole = type(data) is float and data.is_integer()
        return super().to_internal_value(int(data) if is_whole else data)


class Number(_Uncoerced, serializers.FloatField):
    """A JSON number."""

    takes = (int, float)


class Flag(_Uncoerced, serializers.BooleanField):
    """true or false."""

    takes = (bool,)


class Identifier(_Uncoerced, serializers.UUIDField):
    """A UUID as a JSON string."""

    takes = (str,)


class Moment(_Uncoerced, serializers.DateTimeField):
    """An ISO 8601 string, in the offset that it states; in UTC if it states none that a place has."""

    takes = (str,)
    years = FACTS
    ahead: timedelta | None = None  # of now, at most
    described = {"pattern": rf"^[12]\d{{3}}{_CLOCK}"}  # FACTS
    default_error_messages = {
        "invalid": "Use ISO 8601, such as 2026-03-02T09:30:00Z.",
        "far": "This is further away than Mio can follow.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(default_timezone=UTC, **options)

    def enforce_timezone(self, value: datetime) -> datetime:
        return super().enforce_timezone(value) if value.tzinfo is None else value

    def to_internal_value(self, data: Any) -> datetime:
        moment: datetime = super().to_internal_value(data)
        if moment.tzinfo is UTC and data.rstrip().endswith(_GREENWICH):
            moment = moment.replace(tzinfo=GREENWICH)
        if moment.year not in self.years:
            self.fail("far")
        if self.ahead is not None and moment > timezone.now() + self.ahead:
            self.fail("future")
        # The database takes no offset that no place has.
        return moment.astimezone(UTC) if stated_offset(moment) is None else moment


class LocalMoment(serializers.DateTimeField):
    """A moment in the offset in which it was stated. Read only."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)

    def enforce_timezone(self, value: datetime) -> datetime:
        return value


class PastMoment(Moment):
    """When something was said: since 1970, and not in the future."""

    described = {"pattern": rf"^(?:19[7-9]|2\d\d)\d{_CLOCK}"}
    years = range(1970, FACTS.stop)
    ahead = CLOCK_SKEW
    default_error_messages = {
        "far": "This is before 1970, or further away than Mio can follow.",
        "future": "This is more than 24 hours in the future.",
    }


class PastInstant(Moment):
    """A past moment with its time zone: an hour earlier, other things may have been known."""

    ahead = timedelta(0)
    default_error_messages = {
        "zone": "Name the time zone, as in 2026-03-02T09:30:00Z (a + is %2B in an address).",
        "future": "This is in the future.",
    }

    def enforce_timezone(self, value: datetime) -> datetime:
        if timezone.is_naive(value):
            self.fail("zone")
        return value


_FIELD_OF: dict[Any, type[serializers.Field]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    UUID: serializers.UUIDField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
}


def of_dataclass(cls: type, name: str = "", **others: Any) -> Any:
    """Returns a serializer for a dataclass as ``asdict`` shows it; ``others`` replace or add fields."""
    hints = {key: others.pop(key, hint) for key, hint in get_type_hints(cls).items()}
    return inline_serializer(
        name or cls.__name__, {key: _field_of(hint) for key, hint in (hints | others).items()}
    )


def _field_of(hint: Any, **options: Any) -> serializers.Field:
    if isinstance(hint, serializers.Field):
        return hint
    origin, parts = get_origin(hint), get_args(hint)
    if type(None) in parts:
        return _field_of(parts[0], **options, allow_null=True)
    if origin is Mapping:
        return serializers.DictField(child=_field_of(parts[1]))
    if origin in (tuple, list) and is_dataclass(parts[0]):
        return type(of_dataclass(cast("type", parts[0])))(many=True)
    if origin in (tuple, list):
        return serializers.ListField(child=_field_of(parts[0]))
    return _FIELD_OF[hint](**options)
