"""Dates as precise as they are known: 2024, 2024-05, 2024-05-17, a time of day, or a stretch of
days (2024-05-17/2024-05-20), as ISO 8601 writes them (reduced forms and intervals)."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

YEARS = range(1800, 2201)  # what a date in somebody's life may be
LARGEST_OFFSET = timedelta(hours=14)  # from UTC: Kiribati
DAY = timedelta(days=1)
_REDUCED = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2]))?")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date: ``start`` is its first moment; ``last`` the beginning of its last day if it is longer
    than a day (a year, a month, a stretch), else None."""

    start: datetime
    last: datetime | None = None

    @property
    def after(self) -> datetime:
        """The first moment after it; for a time of day or a single day ``start`` itself."""
        return self.last + DAY if self.last else self.start


def read(text: str | None, zone: tzinfo | None) -> PartialDate | None:
    """Reads a date, in ``zone`` if the text names no valid one; None if it can't be read or its
    year is not in ``YEARS``."""
    if not text:
        return None
    first, _, second = text.strip().partition("/")
    begin = _read_one(first.strip(), zone)
    if begin is None or not second:
        return begin
    end = _read_one(second.strip(), zone)
    if end is None or end.start < begin.start:
        return begin
    last = (end.last or end.start).replace(hour=0, minute=0, second=0, microsecond=0)
    return PartialDate(begin.start, last if last > begin.start else begin.last)


def _read_one(text: str, zone: tzinfo | None) -> PartialDate | None:
    if reduced := _REDUCED.fullmatch(text):
        return _reduced(int(reduced[1]), int(reduced[2] or 0), zone)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.year not in YEARS:
        return None
    offset = moment.utcoffset()
    if offset is None or abs(offset) > LARGEST_OFFSET:
        moment = moment.replace(tzinfo=zone)
    return PartialDate(moment)


def _reduced(year: int, month: int, zone: tzinfo | None) -> PartialDate | None:
    """A year, or a month of it unless ``month`` is 0."""
    if year not in YEARS:
        return None
    start = datetime(year, month or 1, 1, tzinfo=zone)
    last_month = month or 12
    return PartialDate(start, start.replace(month=last_month, day=monthrange(year, last_month)[1]))


def shown(start: date, last: date | None) -> str:
    """Writes a date as precisely as it is known, as ``read`` reads it: 2024, 2024-05,
    2024-05-17/2024-05-20; a single day with its time if it has one."""
    if last is None:
        if isinstance(start, datetime) and start.time() != time.min:
            return start.isoformat(timespec="minutes")
        return _iso_day(start)
    months = last.month - start.month + 1 + 12 * (last.year - start.year)
    if start.day == 1 and (last + DAY).day == 1:
        if months == 1:
            return f"{start.year:04}-{start.month:02}"
        if start.month == 1 and months == 12:
            return f"{start.year:04}"
    return f"{_iso_day(start)}/{_iso_day(last)}"


def _iso_day(at: date) -> str:
    return at.strftime("%Y-%m-%d").zfill(10)
