"""Row-level security: on every table with rows of end users one policy, made from the models."""

import re
from functools import cache

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper

POLICY = "mio_scope"
_MINE = "nullif(current_setting('mio.end_user', true), '')::bigint"
_REST = "current_setting('mio.scope', true)"


def user_tables() -> dict[str, str]:
    """The tables with rows of end users, each with the condition under which a scope sees a row.

    They are those of the models with an ``end_user``, and of the end users themselves."""
    found = {}
    for model in apps.get_models():
        if model._meta.proxy:
            continue
        table = model._meta.db_table
        if any(field.name == "end_user" for field in model._meta.concrete_fields):
            found[table] = _policy("end_user_id")
        elif model._meta.label == "accounts.EndUser":
            found[table] = _policy("id", " OR rest = 'app:' || app_id")
    return found


def _policy(column: str, more: str = "") -> str:
    return column + more


@cache
def tables_in() -> re.Pattern[str]:
    """Finds the name of such a table in a statement."""
    return re.compile(rf"\b(?:{'|'.join(sorted(user_tables()))})\b")


def role_of(_connection: BaseDatabaseWrapper) -> str:
    """The role that statements in a scope are run as; "" where there is none."""
    return ""
