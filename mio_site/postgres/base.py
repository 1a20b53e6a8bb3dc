"""Django's PostgreSQL backend, with a guard before every statement."""

from typing import Any

from django.db.backends.postgresql import base

from accounts.scope import guard


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(guard)
