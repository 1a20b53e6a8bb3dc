"""bin/mio install_schedules"""

from typing import Any

from accounts.management.command import MioCommand
from memories.jobs import schedules


class Command(MioCommand):
    help = "Makes the queue's periodic jobs equal to the table in memories/jobs/schedules.py."

    def handle(self, *, json: bool, **_options: Any) -> None:
        self.report(json, installed=schedules.install(), schedules=len(schedules.SCHEDULES))
