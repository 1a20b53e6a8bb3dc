#!/usr/bin/env python
"""The command line of Mio."""

import os
import sys

# Commands that only read the code need no database server.
OFFLINE = {"help", "makemessages", "compilemessages", "collectstatic", "spectacular"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
    from django.core.management import execute_from_command_line

    asks_help = {"-h", "--help", "--version"} & set(sys.argv[1:])
    if sys.argv[1:] and sys.argv[1] not in OFFLINE and not asks_help:
        from mio_site import database

        try:
            database.ensure_running()
        except database.ServerError as error:
            sys.exit(f"mio: {error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
