"""Looks for contacts that may be one person."""

from dataclasses import asdict
from typing import Any

from accounts.management.command import MioCommand
from memories.corrections.auto_merge import suggest_merges


class Command(MioCommand):
    help = (
        "Suggest which contacts may be one person; merge those that a memory states to be one. "
        "For one end user, or all of an app."
    )
    user_required = False

    def handle(self, *args: Any, **options: Any) -> None:
        users = self.chosen_users(options["app"], options["user"])
        totals = dict.fromkeys(("contacts", "compared", "suggested", "withdrawn", "merged"), 0)
        with self.bar(len(users), "user") as bar:
            for end_user in users:
                for name, value in asdict(suggest_merges(end_user)).items():
                    totals[name] += value
                bar.update()
        self.report(options["json"], users=len(users), **totals)
