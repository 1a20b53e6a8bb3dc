"""Whether the catalogue of translations says all that the pages say, and is compiled."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

APP = Path(__file__).resolve().parent.parent.parent
CATALOGUE = Path("locale/zh_Hans/LC_MESSAGES")
# The header's times change with every run.
MOVING = "-Date: "
HOW = (
    "In dashboard/, run django-admin makemessages -l zh_Hans --no-obsolete --add-location file, "
    "translate, and run django-admin compilemessages."
)


class Command(BaseCommand):
    help = "Checks that every text of the dashboard is translated and the catalogue compiled."
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        if not shutil.which("xgettext"):
            raise CommandError("This check needs GNU gettext: apt-get install gettext.")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "dashboard"
            shutil.copytree(APP, copy, ignore=shutil.ignore_patterns("__pycache__"))
            at = copy / CATALOGUE
            shutil.copy(at / "django.po", at / "held.po")
            _run(sys.executable, "-m", "django", "makemessages", "-l", "zh_Hans", "--no-obsolete",
                 "--add-location", "file", at=copy)  # fmt: skip
            said = _run("msgfmt", "--check", "--statistics", "-o", "fresh.mo", "django.po", at=at)
            _run("msgfmt", "-o", "held.mo", "held.po", at=at)
            fresh, held, compiled = (
                _messages(at, name) for name in ("fresh.mo", "held.mo", "django.mo")
            )
        if "untranslated" in said or "fuzzy" in said:
            raise CommandError(f"The catalogue is not complete: {said.strip()} {HOW}")
        if fresh != held:
            raise CommandError(f"Texts have changed since the catalogue was made. {HOW}")
        if held != compiled:
            raise CommandError("The catalogue is not compiled: run django-admin compilemessages.")
        self.stdout.write(said.strip())


def _messages(at: Path, name: str) -> list[str]:
    """What a compiled catalogue says; two versions of gettext write other bytes for the same."""
    return [line for line in _run("msgunfmt", name, at=at).splitlines() if MOVING not in line]


def _run(*command: str, at: Path) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False,  # noqa: S603 our own words
                          env={**os.environ, "LC_ALL": "C.UTF-8", "DJANGO_SETTINGS_MODULE": ""})  # fmt: skip
    if done.returncode:
        raise CommandError(done.stderr.strip() or f"{command[0]} failed.")
    return done.stdout + done.stderr
