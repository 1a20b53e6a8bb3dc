"""Stores events for important dates before they come; no change of a row causes these."""

import uuid

from accounts.models import EndUser
from memories.budget import Budget
from memories.corrections.edit_dates import dates_of
from webhooks.models import Delivery, Endpoint

TYPE = "date.upcoming"
DAYS_AHEAD = 7
# Namespace of the ids by which each occurrence of a date is reported once.
_SPACE = uuid.UUID("5a3a0c1e-5d0f-4c62-9d0a-0b6f3a1f7c55")


def users_due() -> list[int]:
    """Returns the ids of the end users of apps that want these events."""
    apps = {endpoint.app_id for endpoint in Endpoint.objects.enabled() if _wants(endpoint)}
    return sorted(EndUser.objects.filter(app__in=apps).values_list("pk", flat=True))


def tell(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Stores deliveries for a user's dates of the next week, once per occurrence and endpoint."""
    end_user = EndUser.objects.select_related("app").filter(pk=end_user_id).first()
    if end_user is None:
        return {}
    endpoints = [e for e in Endpoint.objects.enabled().filter(app=end_user.app) if _wants(e)]
    deliveries = [
        Delivery(
            endpoint=endpoint,
            end_user=end_user,
            type=TYPE,
            subject=uuid.uuid5(_SPACE, f"{one.id} {one.next_on}"),
            data={
                "user": end_user.external_id,
                "id": one.id,
                "contact": one.contact and one.contact.pk,
                "kind": one.kind,
                "on": one.next_on,
            },
        )
        for one in (dates_of(end_user, within=DAYS_AHEAD) if endpoints else ())
        for endpoint in endpoints
    ]
    stored = Delivery.objects.filter(
        transaction=0, type=TYPE, subject__in={one.subject for one in deliveries}
    )
    known = set(stored.values_list("endpoint", "subject")) if deliveries else set()
    new = [one for one in deliveries if (one.endpoint_id, one.subject) not in known]
    Delivery.objects.bulk_create(new, ignore_conflicts=True)  # another run may store the same
    budget.spend(rows=len(new))
    return {"dates": len(new)}


def _wants(endpoint: Endpoint) -> bool:
    return not endpoint.types or TYPE in endpoint.types
