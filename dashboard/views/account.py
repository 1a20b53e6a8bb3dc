"""Signing in and out, and the light or dark theme."""

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username, get_cool_off
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from dashboard import feedback
from dashboard.context_processors import THEME

YEAR = 365 * 24 * 3600
# Failures from all addresses. Several times AXES_FAILURE_LIMIT, so that a stranger needs many
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


class SignIn(LoginView):
    template_name = "account/login.html"
    redirect_authenticated_user = True


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view(next_page="dashboard:login")


def locked(request: HttpRequest, *_args: object, **_kwargs: object) -> HttpResponse:
    """The page instead of the sign-in form after too many wrong passwords (429)."""
    wait = get_cool_off()
    minutes = round(wait.total_seconds() / 60) if wait else 0
    return render(request, "account/locked.html", {"minutes": minutes}, status=429)


def too_old(request: HttpRequest, **_reason: str) -> HttpResponse:
    """The page instead of an action whose CSRF token is from an earlier session (403)."""
    context = {"page": feedback.page_of(request)}
    return render(request, "403_csrf.html", context, status=403)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Stores the choice of light or dark in a cookie of this browser."""
    response = feedback.back(request, "dashboard:home")
    chosen = request.POST.get("theme", "")
    if chosen in ("light", "dark"):
        response.set_cookie(THEME, chosen, max_age=YEAR, samesite="Lax", httponly=True,
                            secure=request.is_secure())  # fmt: skip
    return response
