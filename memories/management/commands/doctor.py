"""bin/mio doctor [--fix]"""

from argparse import ArgumentParser
from collections.abc import Collection, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError

from accounts import row_security
from accounts.cells import connection
from accounts.management.command import MioCommand
from accounts.models import EndUser
from memories.models import Memory
from memories.providers.thresholds import CALIBRATIONS

if TYPE_CHECKING:
    from memories.doctor.invariants import Finding

SHOWN = 10


class Command(MioCommand):
    each_cell = True
    help = "Checks every invariant of the database; exit code 1 when one does not hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--fix", action="store_true", help="repair what follows from other data, then check"
        )
        super().add_arguments(parser)

    def handle(
        self, *, fix: bool, json: bool, leave_out: Collection[str] = (), **_options: Any
    ) -> None:
        """Runs the checks, except those with a name in ``leave_out``."""
        # Imported here: the checks load the whole pipeline, which --help does not need.
        from memories.doctor.invariants import CHECKS

        wrong: dict[str, list[Finding]] = {}
        repaired = 0
        checks = {one: mend for one, mend in CHECKS.items() if one.__name__ not in leave_out}
        with self.bar(len(checks), "check") as bar:
            for check, repair in checks.items():
                bar.set_description(check.__name__)
                findings = list(check())
                if findings and fix and repair:
                    repair(findings)
                    left = list(check())
                    repaired += max(0, len(findings) - len(left))
                    findings = left
                if findings:
                    wrong[check.__name__] = findings
                bar.update()
        warnings = _warnings()
        if json:
            self.report(
                json,
                ok=not wrong,
                checks=len(checks),
                repaired=repaired,
                findings={name: list(map(asdict, findings)) for name, findings in wrong.items()},
                warnings=warnings,
            )
        else:
            lines = [*_lines(wrong), *(f"Warning: {warning}" for warning in warnings)]
            lines += [f"{repaired} things were repaired."] if repaired else []
            lines += [] if wrong else [f"All {len(checks)} checks hold."]
            self.stdout.writelines(f"{line}\n" for line in lines)
        if wrong:
            total = sum(map(len, wrong.values()))
            raise CommandError(f"{total} things are wrong in {len(wrong)} of {len(checks)} checks.")


def _lines(wrong: "dict[str, list[Finding]]") -> Iterator[str]:
    for name, findings in wrong.items():
        yield f"{name}: {len(findings)}"
        for finding in findings[:SHOWN]:
            yield f"  user {finding.end_user}, {finding.subject}: {finding.problem}"
        if len(findings) > SHOWN:
            yield f"  … and {len(findings) - SHOWN} more"


def _warnings() -> list[str]:
    warnings = [*row_security.warnings(connection)]
    users = EndUser.objects.filter(has_unlinked=True)
    if count := Memory.objects.of_nobody(users.order_by().values("pk")).count():
        said = "1 memory mentions" if count == 1 else f"{count} memories mention"
        warnings.append(
            f"{said} a friend, relative, colleague or partner without a link to a contact: no card "
            "has it. The dashboard's home page lists what to decide."
        )
    model = settings.MIO_EMBEDDING_MODEL
    if model not in CALIBRATIONS:
        warnings.append(
            f"The thresholds on cosines were not calibrated for {model}: duplicates, related "
            "memories and suggestions of who may be one person go by defaults. See Changing the "
            "embedding model in docs/operations.md."
        )
    return warnings
