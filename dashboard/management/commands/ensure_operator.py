"""Creates the first operator and app, so that a fresh installation can be used."""

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from accounts.management.command import DEFAULT_APP
from accounts.models import App
from dashboard.models import install_roles

NAME = "admin"
FILE = "operator_password"  # in MIO_HOME


class Command(BaseCommand):
    help = (
        f"Make the roles and, if there is no administrator, the app {DEFAULT_APP} and the operator "
        f"{NAME} with MIO_OPERATOR_PASSWORD or a generated password, which is kept in {FILE} "
        "in MIO_HOME and printed this once to a terminal, never into a log."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        install_roles()
        users = get_user_model().objects
        if users.filter(is_superuser=True).exists():
            return
        App.objects.get_or_create(name=DEFAULT_APP)
        password, where = settings.MIO_OPERATOR_PASSWORD, "as MIO_OPERATOR_PASSWORD says"
        if not password:
            password = secrets.token_urlsafe(12)
            where = f"in {_write_password(password)}"
            if self.stdout.isatty():
                where = f"{password} (also {where})"
        users.create_superuser(NAME, password=password)
        self.stdout.write(f"mio: operator {NAME}, password {where}")
        self.stdout.flush()


def _write_password(password: str) -> Path:
    """Writes the password to a file that only this user may read; returns the file."""
    file: Path = settings.MIO_HOME / FILE
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(f"{password}\n")
    except OSError as error:
        raise CommandError(
            f"The first password can't be kept in {file} ({error.strerror}): "
            "choose one by MIO_OPERATOR_PASSWORD."
        ) from error
    return file
