"""Which operator is on which row of the review queue."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Model
from django.utils import timezone

from accounts.models import EndUser
from memories.models import Claim

HELD_FOR = timedelta(minutes=15)


def of(rows: Sequence[Any]) -> dict[Any, Claim]:
    """Who is on each of these rows of a queue, by their primary keys. One statement."""
    stored: list[Any] = [row for row in rows if isinstance(row, Model)]
    names = {Claim.name_of(row): row.pk for row in stored}
    claims = Claim.objects.filter(
        end_user__in={row.end_user_id for row in stored},
        what__in=names,
        at__gt=timezone.now() - HELD_FOR,
    )
    return {names[claim.what]: claim for claim in claims}


def take(end_user: EndUser, what: str, operator: str) -> Claim:
    """Notes that the operator is on a row from now on; returns whose it is, which is somebody else's
    where they were there before."""
    now = timezone.now()
    Claim.objects.of(end_user).filter(at__lte=now - HELD_FOR).delete()
    claim, _made = Claim.objects.of(end_user).get_or_create(
        what=what, defaults={"end_user": end_user, "operator": operator, "at": now}
    )
    return claim


def leave(end_user: EndUser, what: str, operator: str) -> None:
    Claim.objects.of(end_user).filter(what=what, operator=operator).delete()
