"""When a memory and its facts held, as a provider sees it: by the clock where it was said."""

from datetime import date, datetime, timedelta, timezone

from accounts.models import EndUser
from memories.models import Memory
from memories.models.memory import fact_row
from memories.types import StoredFact
from tests.factories import make_memory

SHANGHAI = timezone(timedelta(hours=8))
MIDNIGHT = datetime(2025, 4, 14, tzinfo=SHANGHAI)


def test_the_day_is_the_one_there(zoe: EndUser) -> None:
    fact = fact_row(StoredFact("company", "Zalando", None, MIDNIGHT, None))
    made = make_memory(zoe, "Ben works at Zalando.", facts=[fact], valid_from=MIDNIGHT)
    Memory.objects.filter(pk=made.pk).update(said_offset=480)
    stored = Memory.objects.get(pk=made.pk).as_stored()
    assert stored.valid_from
    assert stored.valid_from.date() == date(2025, 4, 14)
    [held] = stored.facts
    assert held.valid_from
    assert held.valid_from.date() == date(2025, 4, 14)
