"""bin/mio ingest --user U FILE.jsonl"""

import codecs
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rest_framework.exceptions import APIException

from accounts.api import check_external_id
from accounts.cells import atomic
from accounts.errors import described
from accounts.management.command import MioCommand
from accounts.models import App, EndUser
from accounts.parsers import parse
from memories import queue
from memories.api.messages import MAX_MESSAGES, MessageForm, incoming
from memories.pipeline import buffer, catch_up


class Command(MioCommand):
    help = (
        "Reads messages, one JSON object a line, as the API takes them. Each chunk of "
        f"{MAX_MESSAGES} lines is stored whole or not at all; messages with ids that are "
        "there already are skipped, so a file may be read again."
    )
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="JSON lines, or - for the standard input")
        parser.add_argument(
            "--wait", action="store_true", help="extract and consolidate everything, here"
        )
        super().add_arguments(parser)

    def handle(
        self, *, file: str, user: str, app: str, wait: bool, json: bool, **_options: Any
    ) -> None:
        started = time.perf_counter()
        try:
            check_external_id(user)
        except APIException as error:
            raise CommandError(f"--user: {described(error)}") from error
        lines = _lines(file)
        owner, _ = App.objects.get_or_create(name=app)
        figures = dict.fromkeys(("accepted", "duplicates", "conflicts"), 0)
        with self.bar(len(lines), "message", "received") as bar:
            for start in range(0, len(lines), MAX_MESSAGES):
                chunk = lines[start : start + MAX_MESSAGES]
                messages = [_message(number, line) for number, line in chunk]
                with atomic():
                    received = buffer.receive(owner, user, messages)
                    if received.extraction_due and not wait:
                        queue.enqueue("extract", received.end_user.pk)
                figures["accepted"] += received.accepted
                figures["duplicates"] += received.duplicates
                figures["conflicts"] += len(received.conflicts)
                bar.update(len(chunk))
        if wait and lines:
            figures |= self._catch_up(owner, user)
        self.report(json, **figures, seconds=round(time.perf_counter() - started, 3))

    def _catch_up(self, app: App, user: str) -> dict[str, int]:
        end_user = EndUser.objects.get(app=app, external_id=user)
        total = catch_up.pending(end_user.pk)
        with self.bar(total, "message", "extracted") as bar:
            try:
                done = catch_up.catch_up(
                    end_user.pk, lambda pending: bar.update(total - pending - bar.n)
                )
            except catch_up.Postponed as error:
                raise CommandError(str(error)) from error
            bar.update(total - bar.n)
        if done.quarantined:
            self.stderr.write(f"{done.quarantined} batches are in quarantine; see the admin.")
        return {"extracted": done.extracted, "consolidated": done.consolidated}


def _lines(file: str) -> list[tuple[int, bytes]]:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CommandError(f"{file} can't be read: {error.strerror}.") from error
    # Windows editors begin a file with a byte order mark.
    numbered = enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1)
    return [(number, line) for number, line in numbered if line.strip()]


def _message(number: int, line: bytes) -> buffer.Incoming:
    try:
        form = MessageForm(data=parse(line))
        form.is_valid(raise_exception=True)
    except APIException as error:
        raise CommandError(f"line {number}: {described(error)}") from error
    return incoming(form.validated_data)
