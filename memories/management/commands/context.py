"""bin/mio context --user U "message" """

import json as jsonlib
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from rest_framework.utils.encoders import JSONEncoder

from accounts.management.command import MioCommand
from memories.context import build
from memories.context.request import ContextRequest


class Command(MioCommand):
    help = "Prints what a chat model should know before it answers a message."
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("message")
        parser.add_argument("--session", default="", help="whose turns pronouns reach back to")
        super().add_arguments(parser)

    def handle(
        self, *, message: str, user: str, app: str, session: str, json: bool, **_options: Any
    ) -> None:
        request = ContextRequest(message, session_id=session)
        injection = build.build(self.find_user(app, user), request)
        if json:
            body = asdict(injection)
            self.stdout.write(jsonlib.dumps(body, ensure_ascii=False, cls=JSONEncoder))
            return
        for contact in injection.contacts:
            self.stdout.write(
                f"# {contact.name}: {contact.matched_by} {contact.matched_text!r}, "
                f"confidence {contact.confidence}"
            )
        self.stdout.write(injection.system_prompt or "(nothing)")
