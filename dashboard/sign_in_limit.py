"""How many wrong passwords a name may get before nobody can sign in with it for a while."""

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

# From all addresses together. Several times AXES_FAILURE_LIMIT, so that a stranger needs many
# addresses to lock an operator out; still under 3,000 guesses a day.
FROM_ANYWHERE = 30


class SignInLimit(AxesDatabaseHandler):
    """Locks a name for one address after AXES_FAILURE_LIMIT wrong passwords, and for all
    addresses after FROM_ANYWHERE within AXES_COOLOFF_TIME."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        from_here: int = super().get_failures(request, credentials)
        tries = AccessAttempt.objects.filter(
            username=get_client_username(request, credentials),
            attempt_time__gte=get_cool_off_threshold(request),
        )
        failures = tries.aggregate(all=Sum("failures_since_start"))["all"] or 0
        return max(from_here, failures * settings.AXES_FAILURE_LIMIT // FROM_ANYWHERE)
