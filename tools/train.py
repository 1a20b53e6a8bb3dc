"""python -m tools train: learns weights from the corpus, and says how they do on other authors."""

from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from accounts.scope import all_users

HERE = Path(__file__).parent / "training"
MODELS = sorted(path.stem for path in HERE.glob("*.py") if "def train(" in path.read_text("utf-8"))


class Command(BaseCommand):
    help = (
        "Learns the weights of a model from corpus/ and prints how it does on authors that it was "
        "not shown: a table by author, a reliability diagram. With --write the weights learned "
        "from all authors go to the file that the product reads."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", choices=MODELS)
        parser.add_argument("--write", action="store_true", help="replace the product's weights")

    @all_users()
    def handle(self, *, model: str, write: bool, **_options: Any) -> None:
        import_module(f"tools.training.{model}").train(write=write)
