"""The tables of a new database, as the migrations that it replaces leave them."""

import accounts.time_zones
import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid
from django.contrib.postgres.operations import BtreeGinExtension, BtreeGistExtension
from django.db import migrations, models
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_change_of_user"),
        ("accounts", "0003_forgetting"),
        ("accounts", "0004_find_changes"),
        ("accounts", "0005_time_zones"),
        ("accounts", "0006_limits_of_keys"),
        ("accounts", "0007_calendar_feed"),
        ("accounts", "0008_archived_apps"),
        ("accounts", "0009_own_dates_of_users"),
        ("accounts", "0010_suggested_merges"),
        ("accounts", "0011_key_of_one_user"),
        ("accounts", "0012_trusted_keys"),
        ("accounts", "0013_cells"),
        ("accounts", "0014_closed_cells"),
        ("accounts", "0015_users_with_unlinked"),
        ("accounts", "0016_own_facts_of_users"),
        ("accounts", "0017_latest_changes_of_all"),
        ("accounts", "0018_own_pages"),
        ("accounts", "0019_no_log_of_the_admin"),
        ("accounts", "0020_not_people"),
    ]

    dependencies = []

    operations = [
        VectorExtension(),
        BtreeGinExtension(),
        BtreeGistExtension(),
        migrations.CreateModel(
            name="App",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="IANA name, such as Asia/Shanghai.",
                        max_length=64,
                        validators=[accounts.time_zones.check],
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "archived_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Since then its keys are refused and its users not shown.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Cell",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=30, unique=True)),
                ("number", models.PositiveSmallIntegerField(unique=True)),
                ("users", models.BigIntegerField(default=0)),
                ("closed", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        blank=True, default="", help_text="What it is for.", max_length=60
                    ),
                ),
                (
                    "external_id",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Of the only end user it is for.",
                        max_length=200,
                    ),
                ),
                (
                    "trusted",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Its client may name the end user by the plain headers of chat clients.",
                    ),
                ),
                (
                    "prefix",
                    models.CharField(
                        help_text="The first characters, to tell keys apart.", max_length=12
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "rate_limit",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Requests a minute, 0 for any number; empty: as MIO_RATE_LIMIT says.",
                        null=True,
                    ),
                ),
                (
                    "minute",
                    models.BigIntegerField(default=0, editable=False, help_text="Since 1970."),
                ),
                (
                    "used",
                    models.PositiveIntegerField(
                        default=0,
                        editable=False,
                        help_text="Requests of that minute, as far as they are noted.",
                    ),
                ),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="keys",
                        to="accounts.app",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="EndUser",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="IANA name, such as Asia/Shanghai.",
                        max_length=64,
                        validators=[accounts.time_zones.check],
                    ),
                ),
                (
                    "external_id",
                    models.CharField(help_text="The app's own id for this user.", max_length=200),
                ),
                (
                    "names",
                    models.JSONField(
                        blank=True, default=list, help_text="What the user is called."
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        choices=[("zh", "中文"), ("en", "English")],
                        default="",
                        max_length=2,
                    ),
                ),
                ("message_seq", models.BigIntegerField(default=0, editable=False)),
                ("extracted_seq", models.BigIntegerField(default=0, editable=False)),
                ("consolidated_seq", models.BigIntegerField(default=0, editable=False)),
                (
                    "learnt_offset",
                    models.SmallIntegerField(
                        blank=True,
                        editable=False,
                        help_text="Minutes ahead of UTC, by the latest message that said so.",
                        null=True,
                    ),
                ),
                (
                    "activity_days",
                    models.IntegerField(
                        default=0,
                        help_text="Days on which the user wrote something; memories age by these.",
                    ),
                ),
                ("last_active_on", models.DateField(blank=True, null=True)),
                ("last_message_at", models.DateTimeField(blank=True, null=True)),
                (
                    "due_seq",
                    models.BigIntegerField(
                        default=0,
                        editable=False,
                        help_text="Messages up to here wait for no cadence.",
                    ),
                ),
                (
                    "forgetting_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Until then there are erasures to report to the app.",
                        null=True,
                    ),
                ),
                (
                    "suggested_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="Contacts that changed since are compared for merges.",
                        null=True,
                    ),
                ),
                (
                    "calendar_digest",
                    models.CharField(
                        editable=False,
                        help_text="Of the secret in the address of the user's calendar feed.",
                        max_length=64,
                        null=True,
                        unique=True,
                    ),
                ),
                (
                    "pages_void_until",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="Addresses of the user's own page that were made until then are refused.",
                        null=True,
                    ),
                ),
                (
                    "unwanted",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="Kinds of memories that the user wants none of, such as health.",
                    ),
                ),
                (
                    "not_people",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="Names, as they are compared, that the user says are no person's.",
                    ),
                ),
                (
                    "own_facts",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        editable=False,
                    ),
                ),
                (
                    "has_unlinked",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="When it was last looked at, a memory of people was linked to nobody.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="end_users",
                        to="accounts.app",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("message_seq__gt", models.F("extracted_seq"))),
                        fields=["last_message_at"],
                        name="end_user_unextracted",
                    ),
                    models.Index(
                        condition=models.Q(("has_unlinked", True)),
                        fields=["id"],
                        name="end_user_has_unlinked",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("app", "external_id"), name="end_user_once_per_app"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("extracted_seq__lte", models.F("message_seq"))),
                        name="end_user_extracted_only_what_came",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("learnt_offset", None),
                            ("learnt_offset__range", (-1439, 1439)),
                            _connector="OR",
                        ),
                        name="end_user_offset_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Change",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("verb", models.CharField(max_length=30)),
                (
                    "actor",
                    models.CharField(
                        help_text="operator:NAME, app:NAME, or a machine.", max_length=100
                    ),
                ),
                ("why", models.TextField(blank=True, default="")),
                (
                    "subjects",
                    models.JSONField(default=list, help_text="Ids of the contacts and memories."),
                ),
                ("rows", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("undone_by", models.CharField(blank=True, default="", max_length=100)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["end_user", "-created_at"], name="change_latest"),
                    models.Index(fields=["-created_at", "id"], name="change_latest_of_all"),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["subjects"], name="change_subjects"
                    ),
                    models.Index(
                        condition=models.Q(("actor__startswith", "operator:")),
                        fields=["end_user"],
                        name="change_by_operator",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("end_user", "id"), name="change_of_user")
                ],
            },
        ),
        migrations.CreateModel(
            name="Placement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("external_id", models.CharField(max_length=200)),
                ("cell", models.CharField(max_length=30)),
                ("moving_to", models.CharField(blank=True, default="", max_length=30)),
                (
                    "user_pk",
                    models.BigIntegerField(help_text="The id of the end user.", unique=True),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "app",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="placements",
                        to="accounts.app",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["cell"], name="placement_in_cell")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("app", "external_id"), name="placement_once_per_app"
                    )
                ],
            },
        ),
    ]
