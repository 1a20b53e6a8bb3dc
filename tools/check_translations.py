"""python -m tools check_translations: is the catalogue complete, up to date and compiled?"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    "accounts",
    "understanding",
    "contacts",
    "memories",
    "imports",
    "dashboard",
    "templates",
    "locale",
]
CATALOGUE = Path("locale/zh_Hans/LC_MESSAGES")
# The header's times change with every run.
MOVING = "-Date: "
HOW = (
    "Run python -m tools check_translations --update, translate what is new in "
    "locale/zh_Hans/LC_MESSAGES/django.po, and run it again."
)


class Command(BaseCommand):
    help = "Checks that every text of the product is translated and the catalogue compiled."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--update", action="store_true", help="first bring the catalogue up to date"
        )

    def handle(self, *, update: bool, **_options: Any) -> None:
        if not shutil.which("xgettext"):
            raise CommandError("This check needs GNU gettext: apt-get install gettext.")
        with tempfile.TemporaryDirectory() as folder:
            at = _extract(Path(folder))
            if update:
                shutil.copy(at / "django.po", ROOT / CATALOGUE)
                _run("msgfmt", "-o", "django.mo", "django.po", at=ROOT / CATALOGUE)
                at = _extract(Path(folder))
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
            raise CommandError(f"The catalogue is not compiled. {HOW}")
        self.stdout.write(said.strip())


def _extract(folder: Path) -> Path:
    """The catalogue of a copy of the sources, extracted anew; ``held.po`` is what it was."""
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__", "migrations")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, dirs_exist_ok=True)
    _as_python(folder / "dashboard/words.toml")
    at = folder / CATALOGUE
    shutil.copy(at / "django.po", at / "held.po")
    _run(sys.executable, "-m", "django", "makemessages", "-l", "zh_Hans", "--no-obsolete",
         "--add-location", "file", at=folder)  # fmt: skip
    return at


def _as_python(table: Path) -> None:
    """Writes the texts of a table of words beside it as Python, which gettext can read."""
    texts = [text for words in tomllib.loads(table.read_text("utf-8")).values()
             for entry in words.values() for text in ([entry] if isinstance(entry, str) else entry)]  # fmt: skip
    lines = [f"gettext_noop({text!r})\n" for text in texts]
    table.with_suffix(".toml.py").write_text("".join(lines), "utf-8")


def _messages(at: Path, name: str) -> list[str]:
    """What a compiled catalogue says; two versions of gettext write other bytes for the same."""
    return [line for line in _run("msgunfmt", name, at=at).splitlines() if MOVING not in line]


def _run(*command: str, at: Path) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False,  # noqa: S603 our own words
                          env={**os.environ, "LC_ALL": "C.UTF-8", "DJANGO_SETTINGS_MODULE": ""})  # fmt: skip
    if done.returncode:
        raise CommandError(done.stderr.strip() or f"{command[0]} failed.")
    return done.stdout + done.stderr
