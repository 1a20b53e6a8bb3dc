"""Who may work at the dashboard, and with whose data."""

from django.conf import settings
from django.db import models

from accounts.models import App


class Operator(models.Model):
    """A limit on what a signed-in person may see: the end users of these apps only.

    Without a row a person sees every app. What they may do there is decided by their groups
    (``dashboard.permissions``).
    """

    scoped_rights = ("SELECT",)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="operator", primary_key=True
    )
    apps = models.ManyToManyField(App, blank=True, related_name="operators")

    class Meta:
        default_permissions = ()
        permissions = [
            ("look", "Can look at people, memories and the pipeline"),
            ("correct", "Can correct, merge, undo and retry"),
            ("administer", "Can manage keys, run jobs and erase"),
        ]

    def __str__(self) -> str:
        return f"operator {self.pk}"
