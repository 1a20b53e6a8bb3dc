"""bin/mio migrate: runs Django's command in every cell, then sets row-level security."""

from typing import Any

from django.core.checks import Tags
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connections

from accounts import cells, citus, row_security, scope
from mio_site import cell_schema


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        help_text = "one database, by its name in MIO_CELLS (default: all, the shared one first)"
        parser.set_defaults(database=None)
        for action in parser._actions:
            if action.dest == "database":
                action.help = help_text

    def get_check_kwargs(self, options: dict[str, Any]) -> Any:
        database = options["database"]
        checked: dict[Any, Any] = super().get_check_kwargs(options)
        databases = [database] if database else list(cells.names())
        # The checks of the code would load all pages.
        return {**checked, "tags": [Tags.database], "databases": databases}

    def handle(self, *args: Any, database: str | None, **options: Any) -> None:
        if database is not None:
            self._migrate_one(database, *args, **options)
            return
        self._migrate_one(cells.SHARED, *args, **options)
        away = []
        for cell in cell_schema.added():
            try:
                self._migrate_one(cell, *args, **options)
            except OperationalError as error:
                away.append(f"{cell} ({type(error.__cause__ or error).__name__})")
        if away:
            raise CommandError(
                f"These cells did not answer: {', '.join(away)}. The others are migrated; run it "
                "again when they are back."
            )

    def _migrate_one(self, cell: str, *args: Any, **options: Any) -> None:
        database = connections[cell]
        with cells.entered(cell):
            if cell != cells.SHARED:
                cell_schema.make_ready(cell)
            with scope.all_users_of_session(database):
                super().handle(*args, database=cell, **options)
                row_security.protect(database)
                if row_security.login_of(database).apart:
                    citus.bind_triggers(database)
            if cell != cells.SHARED:
                from accounts import placement  # a site may be without Mio's own models
                from accounts.models import Cell

                if row := Cell.objects.filter(name=cell).first():
                    cell_schema.number_ids(cell, row.number)
                    placement.bring_copies(cell)
