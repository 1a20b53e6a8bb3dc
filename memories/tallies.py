"""What ledgers that only grow amount to: the sums of days that are over are kept, and what came since
is added to them, so that nobody adds up again all that ever was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from accounts.cells import atomic
from memories.models import ModelCall, Retrieval, Tally

FIRST = date(2000, 1, 1)
# A day is over for every time zone, and for whatever still writes to it.
OVER = timedelta(days=2)

Sums = Mapping[tuple[str, ...], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """``labels`` tell its sums apart, ``numbers`` are added up; ``since`` turns the beginning of a day
    into a value of the field ``at``."""

    name: str
    rows: Callable[[], QuerySet]
    labels: tuple[str, ...]
    numbers: tuple[Any, ...]
    at: str
    since: Callable[[date], date]

    def of(self, **days: date) -> QuerySet:
        """Its rows of these days (``gte``, ``lt``)."""
        bounds = {f"{self.at}__{name}": self.since(day) for name, day in days.items()}
        return self.rows().filter(**bounds)

    def summed(self, rows: QuerySet) -> dict[tuple[str, ...], list[float]]:
        """The sums of these rows by their labels."""
        named = {f"sum_{place}": number for place, number in enumerate(self.numbers)}
        if not self.labels:
            return {(): [number or 0 for number in rows.aggregate(**named).values()]}
        found = rows.order_by().values_list(*self.labels).annotate(**named)
        many = len(self.labels)
        return {tuple(row[:many]): [number or 0 for number in row[many:]] for row in found}


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
    """The sums of all that a ledger ever held, by its labels."""
    kept = Tally.objects.filter(ledger=ledger.name).first()
    since = {"gte": kept.until} if kept else {}
    return _added(kept.sums if kept else (), ledger.summed(ledger.of(**since)))


def keep() -> dict[str, int]:
    """Adds the days that are over to what is kept; returns how many rows of ledgers that were."""
    until = (timezone.now() - OVER).astimezone(UTC).date()
    added = 0
    for ledger in (MODEL_CALLS, RETRIEVALS):
        with atomic():
            Tally.objects.get_or_create(ledger=ledger.name, defaults={"until": FIRST})
            tally = Tally.objects.select_for_update().get(ledger=ledger.name)
            if tally.until < until:
                rows = ledger.of(gte=tally.until, lt=until)
                sums = _added(tally.sums, ledger.summed(rows))
                tally.sums = [[*labels, list(numbers)] for labels, numbers in sums.items()]
                tally.until = until
                tally.save()
                added += rows.count()
    return {"rows": added}


def _added(kept: Sequence[Sequence[Any]], more: Sums) -> Sums:
    """``kept`` is as a Tally has it: lists of labels, and the numbers last."""
    sums = {tuple(labels): list(numbers) for *labels, numbers in kept}
    for labels, numbers in more.items():
        held = sums.setdefault(labels, [0] * len(numbers))
        for place, number in enumerate(numbers):
            held[place] += number
    return sums
