"""bin/mio gateway APP"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from accounts.models import App
from gateway import upstreams
from gateway.models import Upstream

FILE = "a file with nothing else in it, - for standard input; an empty one takes it away"


class Command(MioCommand):
    help = "Sets where the chats of an app go that come through the gateway, and shows it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("app", help="the app's name")
        parser.add_argument("--upstream-url", metavar="URL", help=upstreams.URL_HELP)
        # Not as arguments: those of a process are anybody's to read.
        parser.add_argument(
            "--upstream-key-file",
            metavar="FILE",
            help=f"its key; without one, the caller's own is passed through: {FILE}",
        )
        parser.add_argument(
            "--open-webui-secret-file",
            metavar="FILE",
            help=f"FORWARD_USER_INFO_HEADER_JWT_SECRET of Open WebUI: {FILE}",
        )
        parser.add_argument(
            "--placement",
            choices=Upstream.Placement.values,
            default="",
            help="tail: before the user's words; system: at the end of the system prompt",
        )
        parser.add_argument("--remove", action="store_true", help="close the gateway of this app")
        super().add_arguments(parser)

    def handle(self, *, app: str, json: bool, **options: Any) -> None:
        owner = App.objects.filter(name=app).first()
        if owner is None:
            raise CommandError(f"There is no app {app!r}: make one with create_app.")
        if options["remove"]:
            upstreams.remove(owner)
        upstream = Upstream.objects.filter(app=owner).first()
        url = options["upstream_url"] or (upstream.url if upstream else "")
        if url and not options["remove"]:
            try:
                upstream = upstreams.configure(
                    owner,
                    url,
                    key=_secret(options["upstream_key_file"]),
                    open_webui_secret=_secret(options["open_webui_secret_file"]),
                    placement=options["placement"],
                )
            except (upstreams.NotAnUpstream, upstreams.NotASecret) as error:
                raise CommandError(str(error)) from error
        self.report(
            json,
            app=owner.name,
            upstream=upstream.url if upstream else None,
            key="kept" if upstream and upstream.key else "passed through",
            placement=upstream.placement if upstream else None,
        )


def _secret(file: str | None) -> str | None:
    if file is None:
        return None
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} can't be read: {type(error).__name__}.") from error
    return text.strip()
