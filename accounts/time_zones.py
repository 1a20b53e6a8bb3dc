"""Time zones by their IANA names, and the local times of people.

An offset is the number of minutes that a clock is ahead of UTC. An offset that no place has counts
as none, and so does that of a time in UTC (``Z``), which says nothing about a place."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

# The meaning of a +00:00 that is written out: the clock of Greenwich, and not only UTC.
GREENWICH = timezone(timedelta(0), "UTC+00:00")
_PLACES = range(-12 * 60, 14 * 60 + 1)
# The offsets that may be stored: those that a datetime can have.
OFFSETS = (1 - 24 * 60, 24 * 60 - 1)
MAX_NAME = 64


@cache
def names() -> tuple[str, ...]:
    """Returns the IANA names of all time zones, sorted."""
    return tuple(sorted(available_timezones()))


def check(name: str) -> None:
    """Raises ValidationError unless this is the IANA name of a time zone."""
    if name not in names():
        raise ValidationError(
            _("There is no time zone of this name. Example: Asia/Shanghai."), code="time_zone"
        )


def fixed(offset: int) -> tzinfo:
    """Returns the zone whose clocks are always this number of minutes ahead of UTC."""
    return timezone(timedelta(minutes=offset))


def minutes(moment: datetime) -> int:
    """Returns the offset of an aware moment."""
    return int((moment.utcoffset() or timedelta(0)).total_seconds() // 60)


def stated_offset(moment: datetime) -> int | None:
    """Returns the offset that an aware moment states; None if it says nothing about a place."""
    offset = minutes(moment)
    return None if moment.tzinfo is UTC or offset not in _PLACES else offset


def local(moment: datetime, offset: int | None, zone: tzinfo) -> datetime:
    """Returns ``moment`` in ``zone``, or by the clock with ``offset`` if that shows another time."""
    in_zone = moment.astimezone(zone)
    if offset is None or minutes(in_zone) == offset:
        return in_zone
    return moment.astimezone(fixed(offset))
