"""Clients that are signed in at the dashboard."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import App
from dashboard.models import Operator


def signed_in(role: str = "admin", apps: list[App] | None = None, name: str = "") -> Client:
    """A client of an operator with this role; with ``apps``, limited to these."""
    user = get_user_model().objects.create_user(name or f"{role}-{len(apps or [])}", password="x")
    user.groups.add(Group.objects.get(name=role))
    if apps is not None:
        Operator.objects.create(user=user).apps.set(apps)
    client = Client()
    client.force_login(user)
    return client
