"""bin/mio extract [--user U]"""

from typing import Any

from accounts.management.command import MioCommand
from memories.pipeline import catch_up, run


class Command(MioCommand):
    help = "Extracts all messages that wait, of one end user or of all of an app."
    user_required = False

    def handle(self, *, user: str | None, app: str, json: bool, **_options: Any) -> None:
        users = self.chosen_users(app, user)
        waiting = {one.pk: catch_up.pending(one.pk) for one in users}
        batches = left = 0
        with self.bar(sum(waiting.values()), "message", "extracted") as bar:
            for pk, before in waiting.items():
                now = before
                while run.extract_next(pk, everything=True):
                    batches += 1
                    previous, now = now, catch_up.pending(pk)
                    bar.update(max(0, previous - now))
                left += now
        self.report(json, users=len(users), batches=batches, pending=left)
