"""What models were asked, and how people's memories were found."""

from django.db import models

from accounts.models import EndUser, ScopedQuerySet


class ModelCall(models.Model):
    """The ledger of model calls: what was asked of whom and what it cost, never the text."""

    class Outcome(models.TextChoices):
        OK = "ok"
        TRANSIENT = "transient"
        PERMANENT = "permanent"
        OUTPUT = "output"

    end_user = models.ForeignKey(
        EndUser, models.CASCADE, null=True, blank=True, related_name="model_calls"
    )
    provider = models.CharField(max_length=50)
    model = models.CharField(max_length=100)
    purpose = models.CharField(max_length=20)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    latency_ms = models.FloatField(default=0)
    outcome = models.CharField(max_length=9, choices=Outcome)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"], name="model_call_latest")]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.provider}"


class Retrieval(models.Model):
    """A day's count of how people's memories were found, to watch the text fallback fade."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="retrievals")
    day = models.DateField()
    linked = models.PositiveIntegerField(default=0, help_text="Answered by links alone.")
    fallback = models.PositiveIntegerField(default=0, help_text="Needed the text fallback.")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["end_user", "day"], name="retrieval_once_a_day")
        ]

    def __str__(self) -> str:
        return str(self.day)
