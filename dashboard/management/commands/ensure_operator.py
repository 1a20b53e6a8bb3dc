"""The first operator, so that a fresh installation can be entered."""

import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from dashboard import permissions

NAME = "admin"


class Command(BaseCommand):
    help = (
        f"Make the roles, and the operator {NAME} if there is no administrator, with MIO_OPERATOR_PASSWORD or "
        "a generated password that is printed this once."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        permissions.install()
        users = get_user_model().objects
        if users.filter(is_superuser=True).exists():
            return
        password = settings.MIO_OPERATOR_PASSWORD or secrets.token_urlsafe(12)
        users.create_superuser(NAME, password=password)
        shown = "MIO_OPERATOR_PASSWORD" if settings.MIO_OPERATOR_PASSWORD else password
        self.stdout.write(f"mio: operator {NAME}, password {shown} (shown this once)")
