"""The table of periodic jobs, and its installation at start-up."""

from django_q.models import Schedule

# name -> (function, minutes between runs)
SCHEDULES: dict[str, tuple[str, int]] = {
    "mio: sweep": ("memories.tasks.sweep", 1),
    "mio: suggest merges": ("memories.tasks.suggest_merges", 60),
}


def install() -> int:
    """Makes the installed schedules equal to the table; returns how many were new.

    Running it again changes nothing: a schedule keeps its next run unless its row differs.
    """
    Schedule.objects.filter(name__startswith="mio: ").exclude(name__in=SCHEDULES).delete()
    created = 0
    for name, (function, minutes) in SCHEDULES.items():
        _, made = Schedule.objects.update_or_create(
            name=name,
            defaults={"func": function, "schedule_type": Schedule.MINUTES, "minutes": minutes},
        )
        created += made
    return created
