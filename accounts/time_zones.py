"""Time zones by their IANA names, and the clock that somebody reads where they are.

An offset is the number of minutes that a clock is ahead of UTC. One that no place has is none, and so
is that of a time written in UTC (``Z``), which says nothing of a place.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

# What +00:00 says when it is written out: the clock of Greenwich, and not only UTC.
GREENWICH = timezone(timedelta(0), "UTC+00:00")
_PLACES = range(-12 * 60, 14 * 60 + 1)
# What may be stored: what a datetime can be ahead or behind.
OFFSETS = (1 - 24 * 60, 24 * 60 - 1)
MAX_NAME = 64


@cache
def names() -> tuple[str, ...]:
    """The IANA names of all time zones, sorted."""
    return tuple(sorted(available_timezones()))


def check(name: str) -> None:
    """Raises ValidationError unless this is the IANA name of a time zone."""
    if name not in names():
        raise ValidationError(
            _("There is no time zone of this name. Example: Asia/Shanghai."), code="time_zone"
        )


def fixed(offset: int) -> tzinfo:
    """The zone whose clocks are always so many minutes ahead of UTC."""
    return timezone(timedelta(minutes=offset))


def minutes(moment: datetime) -> int:
    """The offset of an aware moment, in minutes ahead of UTC."""
    return int((moment.utcoffset() or timedelta(0)).total_seconds() // 60)


def stated_offset(moment: datetime) -> int | None:
    """The offset that an aware moment was told with; None where it says nothing of a place."""
    offset = minutes(moment)
    return None if moment.tzinfo is UTC or offset not in _PLACES else offset


def local(moment: datetime, offset: int | None, zone: tzinfo) -> datetime:
    """``moment`` by the clock it was told by; in ``zone`` where both clocks show the same."""
    here = moment.astimezone(zone)
    if offset is None or minutes(here) == offset:
        return here
    return moment.astimezone(fixed(offset))
