"""How often contacts are usually mentioned, and for how long they have not been: for operators and
apps to see, never injected."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from accounts.cells import fetch
from accounts.models import EndUser
from accounts.sql_files import sql_pieces

MOST_MEMORIES = 300  # of each contact, the latest
LEAST_DAYS = 5  # with a mention, before there is a rhythm
# Quiet: not mentioned for two weeks and for three times as long as usual.
QUIET_DAYS, QUIET_TIMES = 14, 3
_SQL = sql_pieces(__file__)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """``usual_days`` is the median number of days between two days with a mention, ``silent_days``
    the number since the last one. ``quiet``: much longer than usual."""

    usual_days: int
    silent_days: int

    @property
    def quiet(self) -> bool:
        return self.silent_days >= max(QUIET_DAYS, QUIET_TIMES * self.usual_days)

    @property
    def silent_weeks(self) -> int:
        """The number of full weeks since the last mention."""
        return self.silent_days // 7


def rhythms(end_user: EndUser, contact_ids: Collection[UUID]) -> dict[UUID, Rhythm]:
    """Returns the rhythm of each of these contacts that has one. One statement in all."""
    params = [list(contact_ids), end_user.pk, MOST_MEMORIES, end_user.today, LEAST_DAYS]
    return {
        pk: Rhythm(max(1, round(usual)), max(0, silent))
        for pk, usual, silent in fetch(_SQL["days"], params)
    }
