"""bin/mio create_app NAME"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.cells import atomic
from accounts.management.command import MioCommand
from accounts.models import ApiKey, App
from gateway import upstreams


class Command(MioCommand):
    help = "Makes an app and prints its API key, which is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the app is called, at most 100 characters")
        parser.add_argument(
            "--new-key", action="store_true", help="another key for an app that exists"
        )
        parser.add_argument(
            "--user", default="", help="the id of the only end user whose memory the key opens"
        )
        parser.add_argument(
            "--trusted",
            action="store_true",
            help="the key's client may name end users by the plain headers of chat clients",
        )
        parser.add_argument("--upstream-url", metavar="URL", help=upstreams.URL_HELP)
        super().add_arguments(parser)

    @atomic()
    def handle(
        self,
        *,
        name: str,
        new_key: bool,
        user: str,
        trusted: bool,
        json: bool,
        upstream_url: str | None = None,
        **_options: Any,
    ) -> None:
        name = name.strip()
        if not name or len(name) > 100 or not name.isprintable():
            raise CommandError("An app's name has 1 to 100 printable characters.")
        if len(user) > 200 or not user.isprintable():
            raise CommandError("A user id has at most 200 printable characters.")
        app, created = App.objects.get_or_create(name=name)
        if not created and not new_key:
            raise CommandError(f"There is an app {name!r}. Use --new-key for another key of it.")
        if upstream_url is not None:
            try:
                upstreams.configure(app, upstream_url)
            except upstreams.NotAnUpstream as error:
                raise CommandError(str(error)) from error
        _, secret = ApiKey.issue(app, external_id=user, trusted=trusted)
        if json:
            self.report(json, app=name, key=secret)
        else:
            self.stdout.write(secret)
