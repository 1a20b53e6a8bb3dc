"""Important dates over HTTP: those that are near, and those that an app states."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts import fields
from accounts.api import UserView, Validated, operation
from accounts.cells import atomic
from accounts.errors import unknown
from accounts.models import EndUser
from accounts.paging import page_of
from memories.api.contacts import PersonView
from memories.api.serializers import TakenAway, with_change
from memories.corrections import edit_dates
from memories.corrections.edit_dates import ImportantDate
from understanding.dates.important_dates import LUNAR, SOLAR, yearly_day

MAX_DAYS = 366
MAX_LIMIT = 1000


class DatesQuery(fields.Strict):
    within = serializers.IntegerField(required=False, min_value=0, max_value=MAX_DAYS)
    contact = serializers.UUIDField(required=False)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LIMIT)


class _DayForm(fields.Reasoned):
    calendar = serializers.ChoiceField([SOLAR, LUNAR], default=SOLAR)
    year = fields.Whole(required=False, allow_null=True, min_value=1800, max_value=2200)
    month = fields.Whole(min_value=1, max_value=12)
    day = fields.Whole(min_value=1, max_value=31)
    leap_month = fields.Flag(default=False)


class NewDate(_DayForm):
    """``contact`` null: the user's own."""

    contact = fields.Identifier(required=False, allow_null=True)
    kind = fields.Text(max_length=40)


class DateEdit(_DayForm):
    """The whole day; fields left out keep their values."""


class DateSerializer(serializers.Serializer):
    id = serializers.UUIDField()
    contact = serializers.UUIDField(source="contact.pk", allow_null=True)
    name = serializers.CharField(source="contact.name", allow_null=True)
    kind = serializers.CharField()
    calendar = serializers.ChoiceField([SOLAR, LUNAR], source="day.calendar")
    year = serializers.IntegerField(source="day.year", allow_null=True)
    month = serializers.IntegerField(source="day.month")
    day = serializers.IntegerField(source="day.day")
    leap_month = serializers.BooleanField(source="day.leap")
    text = serializers.CharField()
    next_on = serializers.DateField(allow_null=True)
    in_days = serializers.IntegerField(allow_null=True)
    years = serializers.IntegerField(allow_null=True)
    sources = serializers.ListField(child=serializers.UUIDField())


class ChangedDate(DateSerializer):
    change_id = fields.undo_id("null where nothing changed")


class Dates(PersonView):
    @operation("dates_list", page_of(DateSerializer), query=DatesQuery)
    def get(self, query: Validated) -> Any:
        """Birthdays and other days that come back every year, the next first

        29 February is kept on the 28th where a year has none, a lunar 30th on the 29th where its
        month has none, a day of a leap month in the ordinary month of that number where a year has
        no such leap month. All of them are one page."""
        user = self.end_user
        whose = query.get("contact")
        contact = self.survivor(whose).pk if whose else None
        dates = edit_dates.dates_of(user, within=query.get("within"), contact=contact)
        shown = DateSerializer(dates[: query.get("limit")], many=True).data
        return {"count": len(dates), "next": None, "results": shown}

    @operation("dates_create", {201: ChangedDate}, body=NewDate)
    def post(self, values: Validated) -> Any:
        """State an important date

        It replaces the date of the same kind."""
        with atomic():
            user = self.end_user_for_writing()
            return _state_date(user, values.get("contact"), values["kind"], values, self.actor)


class OneDate(UserView):
    def date(self, date_id: UUID) -> ImportantDate:
        """Returns the date with this id. Raises a 404."""
        date = edit_dates.date_of_id(self.end_user, date_id)
        if date is None:
            raise unknown("unknown_date")
        return date

    @operation("dates_retrieve", DateSerializer)
    def get(self, date_id: UUID) -> Any:
        """One date"""
        return DateSerializer(self.date(date_id)).data

    @operation("dates_update", ChangedDate, body=DateEdit, partial=True)
    def patch(self, asked: Validated, date_id: UUID) -> Any:
        """Correct an important date

        Only the fields given change."""
        date = self.date(date_id)
        values = {**DateSerializer(date).data, **asked}
        contact = date.contact.pk if date.contact else None
        return _state_date(self.end_user, contact, date.kind, values, self.actor)

    @operation("dates_destroy", TakenAway, query=fields.WhyQuery)
    def delete(self, asked: Validated, date_id: UUID) -> Any:
        """Delete an important date

        Of a date of the user's own, the facts that state it are marked as no longer true."""
        date = self.date(date_id)
        whose = date.contact.pk if date.contact else None
        by = self.by(asked)
        change = edit_dates.set_date(self.end_user, whose, date.kind, None, **by)
        return with_change({}, change)


def _state_date(
    user: EndUser, contact: UUID | None, kind: str, values: dict[str, Any], actor: str
) -> dict[str, Any]:
    """Stores the date; returns it with the change. Raises ValidationError and UnknownContact."""
    month, year, leap = values["month"], values.get("year"), values["leap_month"]
    day = yearly_day(month, values["day"], year, values["calendar"], leap=leap)
    if day is None:
        raise serializers.ValidationError({"day": ["No calendar has this day."]})
    why = values.get("why", "")
    try:
        kind = edit_dates.kind_of(kind)
        change = edit_dates.set_date(user, contact, kind, day, actor=actor, why=why)
    except edit_dates.InvalidDate as error:
        raise serializers.ValidationError({"kind": [str(error)]}) from error
    whose = change.subjects[0] if contact and change else None
    dates = edit_dates.dates_of(user, contact=UUID(whose) if whose else None)
    (date,) = [one for one in dates if one.kind == kind and bool(one.contact) == bool(contact)]
    return with_change(DateSerializer(date).data, change)
