"""bin/mio rescore [--user U]"""

from typing import Any

from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from accounts.reasons import read
from memories.jobs import rescore, runner
from memories.models import JobRun


class Command(MioCommand):
    help = (
        "Brings the importance of memories up to date: for one end user, or for all of every "
        "app, going on where the last run stopped."
    )
    user_required = False

    def handle(self, *, user: str | None, app: str, json: bool, **_options: Any) -> None:
        if user is not None:
            changed = rescore.rescore(self.find_user(app, user))
            self.report(json, users=1, changed=changed)
            return
        users = changed = 0
        with self.bar(len(rescore.users_due()), "user", "rescored") as bar:
            try:
                while True:
                    run = runner.run("rescore", visited=bar.update)
                    users += run.effect.get("users", 0)
                    changed += run.effect.get("changed", 0)
                    if run.state != JobRun.State.DONE or not run.cursor:
                        break
            except runner.AlreadyRunning as error:
                raise CommandError("It is being done already: see bin/mio maintain.") from error
        if run.state != JobRun.State.DONE:
            raise CommandError(str(read(run.error)) or "Another run took over.")
        self.report(json, users=users, changed=changed)
