"""bin/mio maintain [JOB] [--user U]"""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.management.command import MioCommand
from accounts.reasons import read
from memories.jobs import runner
from memories.jobs.runner import JobStatus
from memories.jobs.schedules import JOBS
from memories.models import JobRun

LINE = "{:<14}  {:<6}  {:<10}  {:<16}  {:<8}  {:<16}  {}"
COLUMNS = ("job", "every", "state", "last run", "took", "next", "effect")


class Command(MioCommand):
    help = (
        "Shows the maintenance jobs with their last runs, or runs one now (until its bound; "
        "run it again for the rest). Exit code 1 when the run fails."
    )
    user_required = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", nargs="?", choices=list(JOBS), metavar="JOB",
                            help=", ".join(JOBS))  # fmt: skip
        super().add_arguments(parser)

    def handle(
        self, *, job: str | None, user: str | None, app: str, json: bool, **_options: Any
    ) -> None:
        if job is not None:
            self._run(job, self.find_user(app, user).pk if user is not None else None, json)
        elif user is not None:
            raise CommandError("Say which job is to be run for this end user.")
        elif json:
            self.report(json, jobs=[asdict(status) for status in runner.overview()])
        else:
            self.stdout.write(LINE.format(*COLUMNS))
            self.stdout.writelines(f"{_line(status)}\n" for status in runner.overview())

    def _run(self, job: str, only: int | None, json: bool) -> None:
        try:
            run = runner.run(job, only=only)
        except runner.AlreadyRunning as error:
            raise CommandError(f"{job} is running already.") from error
        except ValueError as error:
            raise CommandError(str(error)) from error
        seconds = (run.finished_at - run.started_at).total_seconds() if run.finished_at else None
        self.report(
            json,
            job=job,
            state=run.state,
            seconds=seconds,
            effect=run.effect,
            unfinished=only is None and bool(run.cursor),
            error=str(read(run.error)),
        )
        if run.state == JobRun.State.FAILED:
            raise CommandError(f"{job} failed: {read(run.error)}")


def _line(status: JobStatus) -> str:
    last, due = (
        f"{timezone.localtime(at):%Y-%m-%d %H:%M}" if at else "–"
        for at in (status.last_run, status.next_due)
    )
    unit, size = next(
        (unit, size)
        for unit, size in (("d", 24 * 60), ("h", 60), ("min", 1))
        if status.minutes % size == 0
    )
    took = "" if status.seconds is None else f"{status.seconds:.1f} s"
    effect = ", ".join(f"{name} {count}" for name, count in status.effect.items())
    every = f"{status.minutes // size} {unit}"
    result = str(read(status.error)) or effect
    return LINE.format(status.name, every, status.state, last, took, due, result).rstrip()
