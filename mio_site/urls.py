"""Every address of the product."""

from django.urls import include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from accounts import errors
from memories.api import calendar_feed
from mio_site import metrics, readiness

# The user id may contain slashes, so the nouns after it select the endpoint: every path has one
# reading, since ids of rows are UUIDs.
api = [
    path("", include("accounts.urls")),
    path("", include("contacts.urls")),
    path("", include("imports.urls")),
    path("", include("memories.urls")),
    path("", include("webhooks.urls")),
]

urlpatterns = [
    path("healthz", readiness.healthz),
    path("readyz", readiness.readyz),
    path("metrics", metrics.metrics),
    path("calendar.ics", calendar_feed.feed, name="calendar-feed"),
    path("api/v1/", include(api)),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    # Its script is a file of ours, not a part of the page, which the Content-Security-Policy blocks.
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("api/docs", RedirectView.as_view(pattern_name="docs", query_string=True)),
    re_path("^api/", errors.unknown_address),
    path("i18n/", include("django.conf.urls.i18n")),
    path("me/", include("dashboard.me.verbs")),
    path("", include("dashboard.urls")),
]

handler400 = errors.bad_request
handler404 = errors.not_found
handler500 = errors.server_error
