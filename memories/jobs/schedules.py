"""The periodic jobs in the queue, and their installation at start-up."""

from django_q.models import Schedule

from memories.jobs.table import JOBS, MONTH, PREFIX, Job

FUNCTION = "memories.tasks.run_job"
# A row of the table: function, its arguments, kind of schedule, minutes between runs.
Row = tuple[str, str, str, int | None]


def _row(job: Job) -> Row:
    # The queue counts minutes in a small integer, which is less than a month.
    monthly = job.minutes == MONTH
    kind, minutes = (Schedule.MONTHLY, None) if monthly else (Schedule.MINUTES, job.minutes)
    return FUNCTION, repr((job.name,)), kind, minutes


SCHEDULES: dict[str, Row] = {PREFIX + job.name: _row(job) for job in JOBS.values()}


def installed() -> dict[str, Row]:
    """What the queue holds of ours, in the form of the table."""
    rows = Schedule.objects.filter(name__startswith=PREFIX)
    return {row.name: (row.func, row.args, row.schedule_type, row.minutes) for row in rows}


def install() -> int:
    """Makes the installed schedules equal to the table; returns how many were new.

    Running it again changes nothing: a schedule keeps its next run unless its row differs.
    """
    Schedule.objects.filter(name__startswith=PREFIX).exclude(name__in=SCHEDULES).delete()
    created = 0
    for name, (function, arguments, kind, minutes) in SCHEDULES.items():
        row = {"func": function, "args": arguments, "schedule_type": kind, "minutes": minutes}
        _, made = Schedule.objects.update_or_create(name=name, defaults=row)
        created += made
    return created
