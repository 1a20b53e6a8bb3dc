from tests.mio_site.small_site.management.commands.install_schedules import Command as Noting


class Command(Noting):
    pass
