"""Imports of files, and how far they are."""

import uuid

from django.db import models
from django.utils import timezone

from accounts.models import Change, EndUser, UserRow


class Import(UserRow):
    """One file of one end user. It holds no names and no words: those of an upload lie beside the
    file until it is taken in (``imports.uploads``); later they are in messages and contacts.
    ``change`` is the id of the Change by which all of it is undone."""

    class State(models.TextChoices):
        UPLOADED = "uploaded"  # is looked through
        READY = "ready"  # waits for an answer who the user is
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        UNDONE = "undone"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="imports")
    state = models.CharField(max_length=8, choices=State, default=State.UPLOADED)
    format = models.CharField(max_length=20)
    total = models.PositiveIntegerField(default=0, help_text="Messages that are to be taken in.")
    read = models.PositiveIntegerField(default=0)
    accepted = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="There already, as somebody else's."
    )
    duplicates = models.PositiveIntegerField(default=0)
    zone = models.CharField(max_length=64, blank=True, default="", db_default="")
    day_first = models.BooleanField(null=True, blank=True)
    looked_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When what is proposed was found out."
    )
    counts = models.JSONField(
        default=dict,
        blank=True,
        db_default={},
        help_text="Of people and memories, by what became of them.",
    )
    error = models.TextField(blank=True, default="")
    change = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def close(self, form: str, counts: dict[str, int], change: Change | None) -> None:
        """Notes that people and memories were taken in."""
        self.state, self.format, self.counts = self.State.DONE, form, counts
        self.total, self.change = counts["entries"], change.pk if change else None
        self.finished_at = timezone.now()
        self.save()
