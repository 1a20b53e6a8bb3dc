"""Imports of files, and their progress."""

import uuid

from django.db import models
from django.utils import timezone

from accounts.models import Change, EndUser, UserRow


class Import(UserRow):
    """The import of one file for one end user. It holds no names and no texts: those of an upload
    are in files until it is imported (``imports.uploads``), later in messages and contacts.
    ``change`` is the id of the Change whose undo undoes the import."""

    class State(models.TextChoices):
        UPLOADED = "uploaded"  # being read
        READY = "ready"  # waits until somebody says who the user is
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
        """Marks the import of people and memories as done."""
        self.state, self.format, self.counts = self.State.DONE, form, counts
        self.total, self.change = counts["entries"], change.pk if change else None
        self.finished_at = timezone.now()
        self.save()
