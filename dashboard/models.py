"""Who may work at the dashboard, and with whose data."""

from django.conf import settings
from django.db import models

from accounts.models import App, EndUser, ScopedQuerySet


class Claim(models.Model):
    """That an operator is on a row of the review queue, so that no other decides it meanwhile. It
    lapses by itself (``dashboard.queries.claims``). Known by name: operators are in no cell."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    what = models.CharField(max_length=60, help_text="The model and the id of the row.")
    operator = models.CharField(max_length=150)
    at = models.DateTimeField()

    objects = ScopedQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["end_user", "what"], name="claim_once")]

    def __str__(self) -> str:
        return f"{self.operator} is on {self.what}"

    @staticmethod
    def name_of(row: models.Model) -> str:
        """How ``what`` names a row."""
        return f"{row._meta.label_lower}:{row.pk}"


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
