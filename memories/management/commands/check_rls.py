"""bin/mio check_rls"""

from typing import Any

from django.core.management.base import CommandError

from accounts import row_security, scope
from accounts.cells import connection
from accounts.management.command import MioCommand


class Command(MioCommand):
    each_cell = True
    help = (
        "Checks that the database shows no end user's rows to the work of another; exit code 1 "
        "when it would."
    )

    def handle(self, *, json: bool, **_options: Any) -> None:
        wrong = {one.table: one.problem for one in row_security.unprotected(connection)}
        # No user has this id, so every row that is visible belongs to somebody else.
        with scope.user_scope(0), connection.cursor() as cursor:
            for table in row_security.user_tables():
                cursor.execute("SELECT row_security_active(%s)", [table])
                if not cursor.fetchone()[0]:
                    wrong.setdefault(table, "Its policy does not hold for this database role.")
        role, warnings = row_security.login_of(connection).role, row_security.warnings(connection)
        tables = len(row_security.user_tables())
        if json:
            self.report(
                json, ok=not wrong, tables=tables, role=role, wrong=wrong, warnings=warnings
            )
        else:
            lines = [f"{table}: {problem}" for table, problem in wrong.items()]
            lines += [f"Warning: {warning}" for warning in warnings]
            for line in lines or [f"All {tables} tables are protected; statements run as {role}."]:
                self.stdout.write(line)
        if wrong:
            raise CommandError(f"{len(wrong)} tables are not protected.")
