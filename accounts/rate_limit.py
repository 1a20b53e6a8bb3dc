"""How many requests a key may send in a minute.

What a key has used stands in its row, which authentication reads anyway; each process notes there
what it let through, some requests at a time. So a request costs no statement of its own, and all
processes share the limit but for what each has not noted yet.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Case, F, When
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.best_effort import best_effort
from accounts.models import ApiKey

# A process notes its requests when they are this part of the limit.
SHARE = 50
WINDOW = 60  # seconds

_lock = threading.Lock()
# By key: the minute, and this process's requests in it that are not noted yet.
_unnoted: dict[int, tuple[int, int]] = {}


@dataclass(frozen=True, slots=True)
class Quota:
    """The requests that are left of a key's limit, and the seconds until it is whole again."""

    limit: int
    left: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Policy": f"{self.limit};w={WINDOW}",
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.left),
            "RateLimit-Reset": str(self.reset),
        }


class KeyLimit(BaseThrottle):
    """Refuses requests above the limit of their key until the minute is over; tells the view
    what is left as its ``quota``."""

    quota: Quota | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        allowed, quota = quota_of(cast(ApiKey, request.auth))
        if quota is not None:
            self.quota = view.quota = quota
        return allowed

    def wait(self) -> float | None:
        return self.quota.reset if self.quota else None


def quota_of(key: ApiKey) -> tuple[bool, Quota | None]:
    """Whether one more request of ``key`` is answered, and what is left; None without a limit."""
    limit = key.requests_a_minute
    if not limit:
        return True, None
    minute, second = divmod(int(time.time()), WINDOW)
    noted = key.used if key.minute == minute else 0
    with _lock:
        at, unnoted = _unnoted.get(key.pk, (minute, 0))
        unnoted = unnoted if at == minute else 0
        allowed = noted + unnoted < limit
        unnoted += allowed
        due = unnoted if unnoted >= max(1, limit // SHARE) else 0
        _unnoted[key.pk] = minute, unnoted - due
    if due:
        used = Case(When(minute=minute, then=F("used") + due), default=due)
        with best_effort("Use of API key", key.pk):
            ApiKey.objects.filter(pk=key.pk).update(used=used, minute=minute)
    return allowed, Quota(limit, max(0, limit - noted - unnoted), WINDOW - second)
