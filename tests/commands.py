"""Management commands as tests run them."""

import json
from io import StringIO
from typing import Any

from django.core.management import call_command


def run(*arguments: str) -> str:
    """What ``manage.py`` prints."""
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def run_json(*arguments: str) -> dict[str, Any]:
    """The figures that it ends with when asked for JSON."""
    return json.loads(run(*arguments, "--json").splitlines()[-1])
