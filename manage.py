#!/usr/bin/env python
"""The command line of Mio."""

import os
import sys

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from mio_site import database

# Commands that only read the code need no database server.
OFFLINE = {"help", "makemessages", "compilemessages", "spectacular"}
# These see to the schema themselves, or are about it.
SCHEMA = {"migrate", "makemigrations", "showmigrations", "sqlmigrate", "prepare", "serve", "check"}

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")


def main() -> None:
    asks_help = {"-h", "--help", "--version"} & set(sys.argv[1:])
    try:
        if sys.argv[1:] and sys.argv[1] not in OFFLINE and not asks_help:
            prepare_database(migrate=sys.argv[1] not in SCHEMA)
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, database.ServerError) as error:
        sys.exit(f"mio: {error}")
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell says of a command that Ctrl-C ended


def prepare_database(*, migrate: bool) -> None:
    """Has the server run, and the embedded one hold the schema of this code."""
    django.setup()
    database.ensure_running()
    if migrate and settings.MIO_EMBEDDED_POSTGRES:
        database.ensure_migrated()


if __name__ == "__main__":
    main()
