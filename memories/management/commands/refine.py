"""manage.py refine [--user U]"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from accounts.management.command import MioCommand
from memories.budget import Budget
from memories.pipeline import merge_duplicates, refine
from memories.providers.errors import ProviderError

# Of one step, after which the bar moves; what was done before a stop stays done.
CALLS, ROWS = 20, 500
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
        verbose, uncompared = (
            [*users & {*due()}] for due in (refine.users_due, merge_duplicates.users_due)
        )
        try:
            with self.bar(None, "memory", "refined") as bar:
                for end_user_id in sorted(verbose):
                    self._work(refine.refine_user, end_user_id, "looked_at", done, bar)
            with self.bar(None, "memory", "compared") as bar:
                for end_user_id in sorted(uncompared):
                    self._work(
                        merge_duplicates.merge_overlapping, end_user_id, "compared", done, bar
                    )
        except ProviderError as error:
            raise CommandError(f"The model failed, run it again later: {error}") from error
        done["discarded"] += done.pop("refused", 0)
        done.pop("clusters", None)
        self.report(json, users=len({*verbose, *uncompared}), **done)

    def _work(
        self,
        step: Callable[[int, Budget], Mapping[str, int]],
        end_user_id: int,
        counted: str,
        done: Counter[str],
        bar: tqdm,
    ) -> None:
        while True:
            effect = step(end_user_id, Budget(CALLS, ROWS))
            done.update(effect)
            bar.update(effect[counted])
            if not effect[counted]:
                return
