"""bin/mio refine [--user U]"""

from collections import Counter
from typing import Any

from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from memories.budget import Budget
from memories.pipeline.refine import refine_user, users_due
from memories.providers.errors import ProviderError

# The budget of one step, after which the bar moves; what was done before a stop stays done.
CALLS, ROWS = 20, 500
COUNTED = ("looked_at", "split", "trimmed", "merged", "into", "discarded", "calls")


class Command(MioCommand):
    help = (
        "Splits and trims long memories and merges overlapping ones, for one end user or all "
        "of the app. Stopped, it goes on from there when it is run again."
    )
    user_required = False

    def handle(self, *, user: str | None, app: str, json: bool, **_options: Any) -> None:
        users = {end_user.pk for end_user in self.chosen_users(app, user)} & {*users_due()}
        done = Counter(dict.fromkeys(COUNTED, 0))
        try:
            with self.bar(None, "memory", "refined") as bar:
                for end_user_id in sorted(users):
                    while (effect := refine_user(end_user_id, Budget(CALLS, ROWS)))["looked_at"]:
                        done.update(effect)
                        bar.update(effect["looked_at"])
        except ProviderError as error:
            raise CommandError(f"The model failed, run it again later: {error}") from error
        self.report(json, users=len(users), **done)
