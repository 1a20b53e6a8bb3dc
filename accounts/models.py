"""Apps, their API keys, their end users, and the audit trail."""

import hashlib
import secrets
import uuid
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q, Value
from django.utils import timezone

from accounts import cells, time_zones

# A conversation is under way if the last message came within this time.
TALKING = timedelta(minutes=30)


def reference(
    to: type[models.Model] | str, related_name: str = "+", **options: Any
) -> "models.ForeignKey[Any, Any]":
    """Returns a foreign key to a row of the same end user. Migrations make its constraint and index."""
    return models.ForeignKey(
        to,
        models.DO_NOTHING,
        related_name=related_name,
        db_constraint=False,
        db_index=False,
        **options,
    )


def _list(**options: Any) -> "models.JSONField[Any, Any]":
    """Returns a field for a list in JSON, empty by default, also of the database."""
    none = Value([], models.JSONField())
    return models.JSONField(default=list, db_default=none, blank=True, **options)


def between_0_and_1(field: str, name: str) -> models.CheckConstraint:
    """Returns the constraint that a share or probability is between 0 and 1."""
    inside = {f"{field}__gte": 0, f"{field}__lte": 1}
    return models.CheckConstraint(condition=Q(**inside), name=name)


class InTimeZone(models.Model):
    """A model with a time zone."""

    time_zone = models.CharField(
        max_length=time_zones.MAX_NAME,
        blank=True,
        default="",
        db_default="",
        validators=[time_zones.check],
        help_text="IANA name, such as Asia/Shanghai.",
    )

    class Meta:
        abstract = True

    def settle(self, time_zone: str) -> None:
        """Sets the time zone, "" for none. Raises ValidationError for an unknown one."""
        if time_zone:
            time_zones.check(time_zone)
        self.time_zone = time_zone
        self.save(update_fields=["time_zone"])


class InEveryCell(models.Model):
    """A model whose few rows every cell needs, besides those of its users. The rows in SHARED are
    authoritative; a cell that is away gets the columns in ``copied`` by a later sweep."""

    copied: ClassVar[tuple[str, ...]] = ()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        if cells.several():
            cells.on_commit(self.spread, self._state.db)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        for cell in cells.reachable() if cells.several() else ():
            if cell != self._state.db:
                with cells.entered(cell):
                    type(self)._base_manager.using(cell).filter(pk=self.pk).delete()
        return super().delete(*args, **kwargs)

    def spread(self) -> None:
        """Copies the row to all other cells that answer, SHARED first."""
        for cell in cells.reachable():
            if cell != self._state.db:
                self.copy_to(cell)

    def copy_to(self, cell: str) -> None:
        """Copies the columns in ``copied`` to a cell; the row's other columns there stay."""
        rows: Any = type(self)._base_manager.using(cell)
        copied = self.copied
        if cell == cells.SHARED:  # a row that was deleted there stays so
            rows.filter(pk=self.pk).update(**{name: getattr(self, name) for name in copied})
            return
        columns = {
            field.attname: getattr(self, field.attname) for field in self._meta.concrete_fields
        }
        rows.bulk_create(
            [type(self)(**columns)],
            update_conflicts=True,
            unique_fields=["pk"],
            update_fields=copied,
        )


class App(InTimeZone, InEveryCell):
    """A chat application: the tenant boundary. Its time zone is for its users who have none."""

    scoped_rights = ("SELECT",)
    copied = ("name", "time_zone", "archived_at")

    name = models.CharField(max_length=100, unique=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Since then its keys are refused and its users not shown."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> tzinfo:
        """The app's own time zone, else the server's."""
        return ZoneInfo(self.time_zone or settings.TIME_ZONE)


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def valid(self, secret: str) -> Self:
        """The unrevoked key with this secret, if its app is not archived: a QuerySet of at most one."""
        return self.filter(digest=ApiKey.hash(secret), revoked_at=None, app__archived_at=None)


class ApiKey(models.Model):
    """A bearer secret of an app: 256 random bits, of which a plain SHA-256 is stored. With an
    ``external_id`` it opens only this end user's memory, for clients that can't say whose it is."""

    app = models.ForeignKey(App, models.CASCADE, related_name="keys")
    label = models.CharField(max_length=60, blank=True, default="", help_text="What it is for.")
    external_id = models.CharField(
        max_length=200, blank=True, default="", help_text="Of the only end user it is for."
    )
    trusted = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its client may name the end user by the plain headers of chat clients.",
    )
    prefix = models.CharField(max_length=12, help_text="The first characters, to tell keys apart.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    rate_limit = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Requests a minute, 0 for any number; empty: as MIO_RATE_LIMIT says.",
    )
    minute = models.BigIntegerField(default=0, editable=False, help_text="Since 1970.")
    used = models.PositiveIntegerField(
        default=0, editable=False, help_text="Requests of that minute, as far as they are noted."
    )

    objects = ApiKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @property
    def requests_a_minute(self) -> int:
        """The limit of the key; 0 for none."""
        return settings.MIO_RATE_LIMIT if self.rate_limit is None else self.rate_limit

    @staticmethod
    def hash(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()

    @classmethod
    def issue(
        cls, app: App, label: str = "", external_id: str = "", *, trusted: bool = False
    ) -> tuple["ApiKey", str]:
        """Creates a key of ``app``, or of one end user; returns it and its secret, shown this once."""
        secret = "mio_" + secrets.token_urlsafe(32)
        columns = {"label": label, "prefix": secret[:10], "digest": cls.hash(secret)}
        row = cls.objects.create(app=app, external_id=external_id, trusted=trusted, **columns)
        return row, secret

    def revoke(self) -> None:
        self.revoked_at = timezone.now()
        self.save(update_fields=["revoked_at"])


class Cell(models.Model):
    """A cell in which end users are placed. The ids of its rows begin at ``number`` times 2^44.
    ``users`` counts those placed in it; a ``closed`` one gets no new ones."""

    scoped_rights = ("SELECT", "UPDATE")
    name = models.CharField(max_length=30, unique=True)
    number = models.PositiveSmallIntegerField(unique=True)
    users = models.BigIntegerField(default=0)
    closed = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return self.name


class Placement(models.Model):
    """The cell of an end user. While ``moving_to`` names another, no row of theirs is written."""

    scoped_rights = ("SELECT", "UPDATE")
    app = models.ForeignKey(App, models.CASCADE, related_name="placements")
    external_id = models.CharField(max_length=200)
    cell = models.CharField(max_length=30)
    moving_to = models.CharField(max_length=30, blank=True, default="")
    user_pk = models.BigIntegerField(unique=True, help_text="The id of the end user.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["app", "external_id"], name="placement_once_per_app")
        ]
        indexes = [models.Index(fields=["cell"], name="placement_in_cell")]

    def __str__(self) -> str:
        return f"{self.user_pk} in {self.cell}"

    @classmethod
    def check_here(cls, end_user_id: int) -> None:
        """Raises Moving unless the end user stays in the current cell. Call it under their lock."""
        placed = cls.objects.filter(user_pk=end_user_id).first() if cells.several() else None
        if placed is not None and (placed.moving_to or placed.cell != cells.current()):
            raise cells.Moving


class ScopedQuerySet(models.QuerySet):
    """Rows that belong to end users; read them through ``of`` only."""

    def of(self, end_user: "EndUser | int") -> Self:
        """The rows of one end user: where every read starts."""
        return self.filter(end_user=end_user)

    def noted(self, metadata: Mapping[str, Any]) -> Self:
        """The rows whose ``metadata`` contains these keys and values; uses the index of such rows."""
        return self.filter(metadata__contains=metadata).exclude(metadata={})


class NumberedRow(models.Model):
    """A row that is shown by its kind and number."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"


class UserRow(NumberedRow):
    """A row of an end user, without QuerySet methods of its own."""

    objects = ScopedQuerySet.as_manager()

    class Meta:
        abstract = True


class Tracked(NumberedRow):
    """A model whose rows a correction may change. An undo gives a tracked field the value from
    before the change, unless the field is among those that machines write."""

    tracked: ClassVar[tuple[str, ...]] = ()
    # Numbers that machines add to: an undo takes back the difference that the change made.
    counted: ClassVar[tuple[str, ...]] = ()
    # Lists that machines add to: what was added since stays.
    grown: ClassVar[tuple[str, ...]] = ()
    # Values that machines replace by what they learn: one that was learnt since stays.
    learnt: ClassVar[tuple[str, ...]] = ()
    # The columns that the database keeps unique, with those of the condition.
    unique_by: ClassVar[tuple[str, ...]] = ()
    # Groups of columns that make sense only together; so do those of ``unique_by``.
    together: ClassVar[tuple[tuple[str, ...], ...]] = ()
    # The column that names the row which replaces this one.
    successor: ClassVar[str] = ""
    # Whether machines may create an equal row again, which an undo of a deletion replaces.
    found_again: ClassVar[bool] = False

    class Meta:
        abstract = True


class EndUserQuerySet(models.QuerySet["EndUser"]):
    def lock(self, pk: int) -> "EndUser | None":
        """Returns the end user's row, locked until the transaction ends; None if it is gone. Every
        verb that writes a user's contacts or memories takes this lock first, so two never
        interleave or deadlock. Raises Moving."""
        rows = self.select_related("app").select_for_update(no_key=True, of=("self",))
        end_user = rows.filter(pk=pk).first()
        Placement.check_here(pk)
        return end_user

    def of_calendar(self, secret: str) -> "EndUser | None":
        """Returns the end user of an active app whose calendar feed has this secret; else None."""
        rows = self.select_related("app").filter(app__archived_at=None)
        return rows.filter(calendar_digest=ApiKey.hash(secret)).first() if secret else None

    def unextracted(self) -> Self:
        """End users with messages that are in no batch yet."""
        return self.filter(message_seq__gt=F("extracted_seq"))


class EndUser(InTimeZone, Tracked):
    """The human whose memory this is. ``own_facts`` is written by triggers of Memory: what memories
    state about the user for their own card and dates, as ``{"kind", "value", "memory", "said",
    "since", "until"}``, the last stated first, without times that are not known."""

    tracked = ("unwanted", "not_people")

    app = models.ForeignKey(App, models.CASCADE, related_name="end_users")
    external_id = models.CharField(max_length=200, help_text="The app's own id for this user.")
    names = models.JSONField(default=list, blank=True, help_text="What the user is called.")
    language = models.CharField(
        max_length=2, choices=[("zh", "中文"), ("en", "English")], blank=True, default=""
    )
    message_seq = models.BigIntegerField(default=0, editable=False)
    extracted_seq = models.BigIntegerField(default=0, editable=False)
    consolidated_seq = models.BigIntegerField(default=0, editable=False)
    learnt_offset = models.SmallIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="Minutes ahead of UTC, by the latest message that said so.",
    )
    activity_days = models.IntegerField(
        default=0, help_text="Days on which the user wrote something; memories age by these."
    )
    last_active_on = models.DateField(null=True, blank=True)
    last_message_at = models.DateTimeField(null=True, blank=True)
    due_seq = models.BigIntegerField(
        default=0, editable=False, help_text="Messages up to here wait for no cadence."
    )
    forgetting_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then there are erasures to report to the app."
    )
    suggested_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Contacts that changed since are compared for merges.",
    )
    calendar_digest = models.CharField(  # noqa: DJ001 many may have none, and it is unique
        max_length=64,
        null=True,
        unique=True,
        editable=False,
        help_text="Of the secret in the address of the user's calendar feed.",
    )
    pages_void_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Addresses of the user's own page that were made until then are refused.",
    )
    unwanted = _list(help_text="Kinds of memories that the user wants none of, such as health.")
    not_people = _list(help_text="Names, as they are compared, that the user says are no person's.")
    own_facts = _list(editable=False)
    has_unlinked = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="When it was last looked at, a memory of people was linked to nobody.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EndUserQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["app", "external_id"], name="end_user_once_per_app"),
            models.CheckConstraint(
                condition=Q(extracted_seq__lte=F("message_seq")),
                name="end_user_extracted_only_what_came",
            ),
            models.CheckConstraint(
                condition=Q(learnt_offset=None) | Q(learnt_offset__range=time_zones.OFFSETS),
                name="end_user_offset_in_range",
            ),
        ]
        indexes = [
            models.Index(
                fields=["last_message_at"],
                name="end_user_unextracted",
                condition=Q(message_seq__gt=F("extracted_seq")),
            ),
            models.Index(
                fields=["id"], name="end_user_has_unlinked", condition=Q(has_unlinked=True)
            ),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def zone(self) -> tzinfo:
        """The time zone of the user's days: their own, else their latest messages', else the app's."""
        if self.time_zone:
            return ZoneInfo(self.time_zone)
        if self.learnt_offset is not None:
            return time_zones.fixed(self.learnt_offset)
        return self.app.zone

    def issue_calendar(self) -> str:
        """Replaces the secret of the user's calendar feed and returns the new one, shown this once."""
        secret = secrets.token_urlsafe(32)
        self.calendar_digest = ApiKey.hash(secret)
        self.save(update_fields=["calendar_digest"])
        return secret

    def revoke_calendar(self) -> None:
        self.calendar_digest = None
        self.save(update_fields=["calendar_digest"])

    def revoke_pages(self) -> None:
        self.pages_void_until = timezone.now()
        self.save(update_fields=["pages_void_until"])

    @property
    def today(self) -> date:
        """The current day in the user's time zone."""
        return timezone.localdate(timezone=self.zone)

    @property
    def day_of_talk(self) -> date:
        """Today, or while messages arrive that were written days ago, the day of the latest of them."""
        received, written = self.last_message_at, self.last_active_on
        if received is None or written is None or received < timezone.now() - TALKING:
            return self.today
        # A conversation over midnight belongs to both days.
        return written if self.today - written > timedelta(days=1) else self.today

    @property
    def today_began(self) -> datetime:
        """The beginning of the user's current day."""
        return datetime.combine(self.today, time.min, self.zone)

    @property
    def writing_language(self) -> str:
        """The language in which to write to the user: zh or en; en while theirs is not known."""
        return self.language or "en"

    def offset_of(self, said_at: datetime) -> int | None:
        """Returns the offset by which days are read from a moment, None for that of the user's zone.
        +00:00, as many servers write UTC, counts only for a user known by another offset alone."""
        offset = time_zones.stated_offset(said_at)
        zone_known = self.time_zone or self.learnt_offset is None
        return None if offset == 0 and zone_known else offset

    def note_activity(self, said_at: datetime, offset: int | None = None) -> None:
        """Counts a new activity day, and learns the offset of the latest day."""
        day = time_zones.local(said_at, offset, self.zone).date()
        if self.last_active_on is None or day > self.last_active_on:
            self.last_active_on = day
            self.activity_days += 1
        if offset is not None and day >= self.last_active_on:
            self.learnt_offset = offset


class Change(UserRow):
    """One correction. ``rows`` lists the rows that it touched: ``{"model", "id", "before",
    "after"}`` with the tracked fields that differ; ``before`` is None if it created the row,
    ``after`` if it deleted it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="changes")
    verb = models.CharField(max_length=30)
    actor = models.CharField(max_length=100, help_text="operator:NAME, app:NAME, or a machine.")
    why = models.TextField(blank=True, default="")
    subjects = models.JSONField(default=list, help_text="Ids of the contacts and memories.")
    rows = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=100, blank=True, default="")

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["end_user", "id"], name="change_of_user")]
        indexes = [
            models.Index(fields=["end_user", "-created_at"], name="change_latest"),
            models.Index(fields=["-created_at", "id"], name="change_latest_of_all"),
            GinIndex(fields=["subjects"], name="change_subjects"),
            models.Index(
                fields=["end_user"],
                condition=Q(actor__startswith="operator:"),
                name="change_by_operator",
            ),
        ]
