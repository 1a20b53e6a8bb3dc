"""bin/mio reembed [--model M --dimensions D] [--user U] [--prune] [--json]"""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from accounts.management.command import MioCommand
from memories.jobs import reembed
from memories.providers.errors import ProviderError
from memories.providers.factory import embedder, embedder_named
from memories.search import vectors


class Command(MioCommand):
    help = (
        "Embeds every memory that has no vector of a model, while the server goes on answering "
        "with the one of its settings. Stop it and start it again as you like. When it is done, "
        "change the settings, restart, and run it with --prune to drop what is no longer used."
    )
    user_required = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", help="default: that of the settings")
        parser.add_argument("--dimensions", type=int, help="default: those of the settings")
        parser.add_argument(
            "--prune", action="store_true", help="drop the vectors of all but the settings' model"
        )
        super().add_arguments(parser)

    def handle(
        self,
        *,
        model: str | None,
        dimensions: int | None,
        prune: bool,
        user: str | None,
        app: str,
        json: bool,
        **_options: Any,
    ) -> None:
        if prune and (model or dimensions or user):
            raise CommandError("--prune keeps the model of the settings, for all users.")
        if prune:
            return self._prune(json)
        usual = embedder()
        try:
            chosen = embedder_named(model or usual.model, dimensions or usual.dimensions)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        users = None if user is None else [self.find_user(app, user).pk]
        space = chosen.space
        with self.bar(reembed.missing(space, users).count(), "memory", "embedded") as bar:
            try:
                done = reembed.reembed(chosen, users, bar.update)
            except (ProviderError, KeyboardInterrupt) as error:
                why = error if isinstance(error, ProviderError) else "Stopped."
                raise CommandError(
                    f"{why} {bar.n} memories were embedded; run it again to go on."
                ) from error
        with self.bar(None, "partition", "indexed") as bar:
            vectors.build_index(space, bar.update)
        self.report(json, space=space, embedded=done, missing=reembed.missing(space, users).count())
        return None

    def _prune(self, json: bool) -> None:
        with self.bar(None, "vector", "dropped") as bar:
            try:
                dropped, spaces = reembed.prune(embedder(), bar.update)
            except reembed.NotReady as error:
                raise CommandError(str(error)) from error
        self.report(json, dropped=dropped, spaces=spaces)
