"""The addresses of the dashboard. What belongs to an end user lies below ``u/ID/``."""

from django.urls import path

from dashboard.views import (
    account,
    activity,
    chat_gateway,
    contacts,
    dates,
    home,
    imports,
    memories,
    pipeline,
    playground,
    review,
    users,
    webhooks,
)

app_name = "dashboard"

urlpatterns = [
    path("", home.home, name="home"),
    path("login/", account.sign_in, name="login"),
    path("logout/", account.sign_out, name="logout"),
    path("theme/", account.theme, name="theme"),
    path("cell/", home.cell, name="cell"),
    *home.urls,
    *activity.urls,
    *users.urls,
    *dates.urls,
    *contacts.urls,
    *review.urls,
    *memories.urls,
    *playground.urls,
    *pipeline.urls,
    *webhooks.urls,
    *chat_gateway.urls,
    *imports.urls,
]
