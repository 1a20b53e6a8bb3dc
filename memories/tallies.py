"""Totals of ledgers that only grow: the sums of past days are stored, and later rows are added to
them, so that no statement has to add up all rows again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from accounts.cells import atomic
from memories.models import ModelCall, Retrieval, Tally

FIRST = date(2000, 1, 1)
# After this a day is over in every time zone, and nothing writes to it any more.
OVER = timedelta(days=2)

Sums = Mapping[tuple[str, ...], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """A table to be summed: ``labels`` are the columns to group by, ``numbers`` the aggregates;
    ``since`` turns the beginning of a day into a value of the field ``at``."""

    name: str
    rows: Callable[[], QuerySet]
    labels: tuple[str, ...]
    numbers: tuple[Any, ...]
    at: str
    since: Callable[[date], date]

    def of(self, **days: date) -> QuerySet:
        """Returns its rows of these days (bounds ``gte`` and ``lt``)."""
        bounds = {f"{self.at}__{name}": self.since(day) for name, day in days.items()}
        return self.rows().filter(**bounds)

    def summed(self, rows: QuerySet) -> dict[tuple[str, ...], list[float]]:
        """Returns the sums of ``rows`` by their labels."""
        aggregates = {f"sum_{place}": number for place, number in enumerate(self.numbers)}
        if not self.labels:
            return {(): [number or 0 for number in rows.aggregate(**aggregates).values()]}
        groups = rows.order_by().values_list(*self.labels).annotate(**aggregates)
        width = len(self.labels)
        return {tuple(row[:width]): [number or 0 for number in row[width:]] for row in groups}


MODEL_CALLS = Ledger(
    "model_calls",
    ModelCall.objects.all,
    ("provider", "purpose", "outcome"),
    (Count("pk"), Sum("tokens_in"), Sum("tokens_out"), Sum("latency_ms")),
    "created_at",
    lambda day: datetime.combine(day, time.min, UTC),
)
RETRIEVALS = Ledger(
    "retrievals",
    Retrieval.objects.all,
    (),
    (Sum("linked"), Sum("fallback")),
    "day",
    lambda day: day,
)


def total(ledger: Ledger) -> Sums:
    """Returns the sums of all rows that a ledger ever had, by their labels."""
    tally = Tally.objects.filter(ledger=ledger.name).first()
    since = {"gte": tally.until} if tally else {}
    return _added(tally.sums if tally else (), ledger.summed(ledger.of(**since)))


def store_past_days() -> dict[str, int]:
    """Adds the days that are over to the stored sums; returns how many ``rows`` these had."""
    until = (timezone.now() - OVER).astimezone(UTC).date()
    added = 0
    for ledger in (MODEL_CALLS, RETRIEVALS):
        with atomic():
            locked = Tally.objects.select_for_update()
            tally, _ = locked.get_or_create(ledger=ledger.name, defaults={"until": FIRST})
            if tally.until < until:
                rows = ledger.of(gte=tally.until, lt=until)
                sums = _added(tally.sums, ledger.summed(rows))
                tally.sums = [[*labels, list(numbers)] for labels, numbers in sums.items()]
                tally.until = until
                tally.save()
                added += rows.count()
    return {"rows": added}


def _added(tally_rows: Sequence[Sequence[Any]], more: Sums) -> Sums:
    """Returns the sums of a Tally (rows of labels, with the list of numbers last) and ``more``."""
    sums = {tuple(labels): list(numbers) for *labels, numbers in tally_rows}
    for labels, numbers in more.items():
        sum_of_labels = sums.setdefault(labels, [0] * len(numbers))
        for place, number in enumerate(numbers):
            sum_of_labels[place] += number
    return sums
