"""bin/mio consolidate --user U"""

from typing import Any

from accounts.management.command import MioCommand
from memories.pipeline import consolidate, run


class Command(MioCommand):
    help = "Takes what is new about an end user's contacts into their profiles."
    user_required = True

    def handle(self, *, user: str, app: str, json: bool, **_options: Any) -> None:
        end_user = self.find_user(app, user)
        due = consolidate.contacts_due(end_user.pk)
        runs = 0
        with self.bar(len(due), "contact", "consolidated") as bar:
            for several in consolidate.in_groups(due):
                runs += run.consolidate_contacts(end_user.pk, several)
                bar.update(len(several))
        left = len(consolidate.contacts_due(end_user.pk))
        self.report(json, contacts=len(due), runs=runs, left=left)
