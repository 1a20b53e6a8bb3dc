"""manage.py refine [--user U]"""

from collections import Counter
from typing import Any

from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from memories.budget import Budget
from memories.pipeline import merge_duplicates, refine
from memories.providers.errors import ProviderError

# Of one step, after which the bar moves; what was done before a stop stays done.
CALLS, ROWS = 20, 500
STEPS: tuple[tuple[str, Any, Any, str], ...] = (
    ("refined", refine.refine_user, refine.users_due, "looked_at"),
    ("compared", merge_duplicates.merge_overlapping, merge_duplicates.users_due, "compared"),
)
COUNTED = ("looked_at", "split", "trimmed", "compared", "merged", "into", "discarded", "calls")


class Command(MioCommand):
    help = (
        "Splits and trims long memories and merges overlapping ones, for one end user or all "
        "of the app. Stopped, it goes on from there when it is run again."
    )
    user_required = False

    def handle(self, *, user: str | None, app: str, json: bool, **_options: Any) -> None:
        users = {end_user.pk for end_user in self.chosen_users(app, user)}
        done = Counter(dict.fromkeys(COUNTED, 0))
        visited: set[int] = set()
        try:
            for label, step, users_due, counted in STEPS:
                due = users & {*users_due()}
                visited |= due
                with self.bar(None, "memory", label) as bar:
                    for end_user_id in sorted(due):
                        while (effect := step(end_user_id, Budget(CALLS, ROWS)))[counted]:
                            done.update(effect)
                            bar.update(effect[counted])
                        done.update(effect)
        except ProviderError as error:
            raise CommandError(f"The model failed, run it again later: {error}") from error
        done["discarded"] += done.pop("refused", 0)
        done.pop("clusters", None)
        self.report(json, users=len(visited), **done)
