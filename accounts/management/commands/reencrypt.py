"""bin/mio reencrypt"""

from typing import Any

from django.core.management.base import CommandError

from accounts import cells
from accounts.encryption import Undecryptable, columns, renewed
from accounts.management.command import MioCommand
from accounts.models import InEveryCell


class Command(MioCommand):
    help = (
        "Encrypts every secret at rest anew under SECRET_KEY, while everything runs. The key of "
        "before must be in SECRET_KEY_FALLBACKS."
    )

    def handle(self, *, json: bool, **_options: Any) -> None:
        reencrypted = 0
        unreadable: list[str] = []
        for model, name in columns():
            rows = model._default_manager.exclude(**{name: ""}).order_by("pk")
            for pk, encrypted in rows.values_list("pk", name):
                try:
                    new = renewed(encrypted)
                except Undecryptable:
                    unreadable.append(f"{model._meta.db_table} {pk} {name}")
                    continue
                # A secret that was set meanwhile is under the current key already.
                unchanged = model._default_manager.filter(pk=pk, **{name: encrypted})
                if unchanged.update(**{name: new}):
                    reencrypted += 1
                    if cells.several() and issubclass(model, InEveryCell):
                        model._default_manager.get(pk=pk).spread()
        self.report(json, reencrypted=reencrypted, unreadable=unreadable)
        if unreadable:
            raise CommandError(
                f"{len(unreadable)} secrets are under a key that is neither SECRET_KEY nor in "
                "SECRET_KEY_FALLBACKS. Add it there and run this again, or set those secrets anew."
            )
