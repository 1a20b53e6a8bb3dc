"""Clients that are signed in at the dashboard."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import App
from dashboard import state_tokens
from dashboard.models import Operator
from dashboard.state_tokens import SAW, SAW_CHOICE


class Browser(Client):
    """A client whose forms were opened a moment ago: where a test says nothing of what one saw, it
    carries a token of something that did not change."""

    def post(self, path: str, data: Any = None, *args: Any, **more: Any) -> Any:
        data = {} if data is None else data
        if isinstance(data, dict) and not {SAW, SAW_CHOICE} & data.keys():
            data = {**data, SAW: state_tokens.token("accounts.app", None, pk=0)}
        return super().post(path, data, *args, **more)


def signed_in(role: str = "admin", apps: list[App] | None = None, name: str = "") -> Browser:
    """A client of an operator with this role; with ``apps``, limited to these."""
    user = get_user_model().objects.create_user(name or f"{role}-{len(apps or [])}", password="x")
    user.groups.add(Group.objects.get(name=role))
    if apps is not None:
        Operator.objects.create(user=user).apps.set(apps)
    client = Browser()
    client.force_login(user)
    return client
