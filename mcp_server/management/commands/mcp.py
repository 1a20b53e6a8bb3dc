"""bin/mio mcp --app NAME --user U"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import App
from mcp_server.caller import Caller, caller
from mcp_server.knowledge import server


class Command(BaseCommand):
    help = "Serves one end user's memory over MCP on standard input and output, for local clients."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--app", required=True, help="the name of the app")
        parser.add_argument("--user", required=True, help="the app's own id for the end user")
        parser.add_argument(
            "--address",
            default="http://127.0.0.1:8000",
            help="where the dashboard is, for the links of what is found",
        )

    def handle(self, *, app: str, user: str, address: str, **_options: Any) -> None:
        owner = App.objects.filter(name=app, archived_at=None).first()
        if owner is None:
            raise CommandError(f"There is no app {app!r}. See: bin/mio create_app")
        caller.set(Caller(owner, user, address))
        server.run("stdio")
