"""bin/mio load_demo"""

from typing import Any

from django.core.management.base import BaseCommand

from accounts import cells, placement
from accounts.cells import atomic
from accounts.models import App, EndUser
from accounts.scope import all_users
from memories import demo, queue


class Command(BaseCommand):
    help = (
        "Store the messages of the demo end user, if the database has no user, and have a worker "
        "read them: a model may be slow or away."
    )

    @all_users()
    def handle(self, *args: Any, **options: Any) -> None:
        for cell in cells.reachable():
            with cells.entered(cell):
                if EndUser.objects.exists():
                    return
        app, _ = App.objects.get_or_create(name=demo.APP)
        with placement.entered(app, demo.USER), atomic():
            demo.store(app)
            queue.enqueue("load_demo")
        self.stdout.write(f"mio: a worker loads the demo end user {demo.APP}/{demo.USER}")
