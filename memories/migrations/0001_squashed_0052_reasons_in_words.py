"""The tables of a new database, as the migrations that it replaces leave them."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.lookups
import django.utils.timezone
import memories.models.search_index
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.halfvec
import uuid
from django.db import migrations, models

# table, column, referenced table, what deleting the referenced row does. The keys carry the end
# user, so that no row points at a row of another.
KEYS = [
    ("memories_link", "contact_id", "contacts_contact", "CASCADE"),
    ("memories_link", "memory_id", "memories_memory", "CASCADE"),
    ("memories_edge", "source_id", "memories_memory", "CASCADE"),
    ("memories_edge", "target_id", "memories_memory", "CASCADE"),
    (
        "memories_memory",
        "consolidated_into_id",
        "memories_memory",
        "SET NULL (consolidated_into_id)",
    ),
    ("memories_memory", "batch_id", "memories_batch", "SET NULL (batch_id)"),
    ("memories_memory", "merged_into_id", "memories_memory", "SET NULL (merged_into_id)"),
    ("memories_consolidation", "contact_id", "contacts_contact", "CASCADE"),
    ("memories_entitylink", "entity_id", "memories_entity", "CASCADE"),
    ("memories_entitylink", "memory_id", "memories_memory", "CASCADE"),
    ("memories_erasure", "change_id", "accounts_change", "SET NULL (change_id)"),
    ("memories_vector", "memory_id", "memories_memory", "CASCADE"),
]

# A user's vectors lie in one of these, close together; an index over one of them is small
# enough to be built in memory, and mostly holds those of its large users.
PARTITIONS = 16
# MAIN: a vector of up to 4,000 dimensions stays in its row, where a scan finds it.
VECTORS = """
CREATE TABLE memories_vector (
    end_user_id bigint NOT NULL,
    memory_id uuid NOT NULL,
    space varchar(120) NOT NULL,
    status varchar(8) NOT NULL,
    embedding halfvec STORAGE MAIN NOT NULL,
    PRIMARY KEY (end_user_id, memory_id, space)
) PARTITION BY HASH (end_user_id)
"""
PARTITION = f"""
CREATE TABLE memories_vector_{{n}} PARTITION OF memories_vector
FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {{n}})
"""
# Of the default space; ``reembed`` makes those of others (memories.search.neighbours). In the
# first a user's vectors lie side by side, whatever order they came in.
SIDE_BY_SIDE = """
CREATE INDEX memories_vector_multilingual_e5_small_384_scan ON memories_vector
(end_user_id, memory_id) INCLUDE (status, embedding)
WHERE space = 'multilingual-e5-small/384'
"""
# Few of a word's rows are read for each that is written, so they are vacuumed often enough
# for the index alone to answer.
POSTINGS = """
CREATE TABLE memories_posting (
    end_user_id bigint NOT NULL,
    token text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    status varchar(8) NOT NULL,
    times real NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (end_user_id, token, memory_id) INCLUDE (status, times, length)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)
"""
# A vector is stored as it is, out of line: the rest of the row is what is read of it.
STORAGE = [
    "ALTER TABLE memories_memory ALTER COLUMN embedding SET STORAGE EXTERNAL",
    "ALTER TABLE memories_memory SET (toast_tuple_target = 1536)",
]
LINK_DOUBTFUL = """
CREATE INDEX link_doubtful ON memories_link (end_user_id, id)
WHERE NOT rejected AND confidence < 0.8 AND made_by <> 'operator'
"""


def add(table, column, target, on_delete):
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_same_user FOREIGN KEY (end_user_id, {column}) "
        f"REFERENCES {target} (end_user_id, id) ON DELETE {on_delete} "
        "DEFERRABLE INITIALLY DEFERRED",
        migrations.RunSQL.noop,
    )


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("memories", "0001_initial"),
        ("memories", "0002_same_user_keys"),
        ("memories", "0003_engine"),
        ("memories", "0004_engine_same_user_keys"),
        ("memories", "0005_search_index"),
        ("memories", "0007_erasure_messages"),
        ("memories", "0011_link_doubtful"),
        ("memories", "0012_compared_memories"),
        ("memories", "0013_latest_by_status_and_type"),
        ("memories", "0014_latest_links_of_a_person"),
        ("memories", "0015_count_the_corpus"),
        ("memories", "0016_forget_many_links"),
        ("memories", "0017_guard_memory_ids"),
        ("memories", "0018_cheaper_storing"),
        ("memories", "0019_local_days"),
        ("memories", "0020_leases_and_outages"),
        ("memories", "0021_erasure_report"),
        ("memories", "0022_plans_ahead"),
        ("memories", "0023_metadata_and_jobs"),
        ("memories", "0024_unread_memories"),
        ("memories", "0025_embedding_of_memories"),
        ("memories", "0026_fill_embeddings"),
        ("memories", "0027_unusable_answers"),
        ("memories", "0028_sources_left_out"),
        ("memories", "0029_memories_of_people"),
        ("memories", "0030_own_dates_of_users"),
        ("memories", "0031_fill_own_dates"),
        ("memories", "0032_edge_in_conflict"),
        ("memories", "0033_happens_until"),
        ("memories", "0034_model_call_messages"),
        ("memories", "0035_understood_messages"),
        ("memories", "0036_message_speaker"),
        ("memories", "0037_gateway_turns"),
        ("memories", "0038_number_of_mirrors"),
        ("memories", "0039_keys_of_two_columns"),
        ("memories", "0040_open_work_and_tallies"),
        ("memories", "0041_users_with_unlinked"),
        ("memories", "0042_mirrors_in_other_half"),
        ("memories", "0043_unclear_forget_requests"),
        ("memories", "0044_quotes"),
        ("memories", "0045_slow_model"),
        ("memories", "0046_own_facts_of_users"),
        ("memories", "0047_fill_own_facts"),
        ("memories", "0048_receipts"),
        ("memories", "0049_claims"),
        ("memories", "0050_take_back_submitted"),
        ("memories", "0051_no_remote_batches"),
        ("memories", "0052_reasons_in_words"),
    ]

    dependencies = [
        ("accounts", "0001_squashed_0020_not_people"),
        ("contacts", "0001_squashed_0024_keys_of_companies_and_days"),
    ]

    operations = [
        migrations.CreateModel(
            name="SlowModel",
            fields=[
                ("model", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("ledger", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("until", models.DateField()),
                ("sums", models.JSONField(default=list)),
            ],
            options={
                "verbose_name_plural": "tallies",
            },
        ),
        migrations.CreateModel(
            name="LinkedContact",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("contacts.contact",),
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("quarantined", "Quarantined"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="pending",
                        max_length=11,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error", models.TextField(blank=True, default="")),
                ("provider", models.CharField(blank=True, default="", max_length=100)),
                ("result", models.JSONField(blank=True, default=dict)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("server_start", models.DateTimeField(blank=True, editable=False, null=True)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("first_seq", models.BigIntegerField()),
                ("last_seq", models.BigIntegerField()),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="batches",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "batches",
                "ordering": ["-last_seq"],
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("state__in", ["pending", "running", "failed", "quarantined"])
                        ),
                        fields=["state", "end_user"],
                        name="batch_open",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("first_seq__lte", models.F("last_seq"))),
                        name="batch_range_in_order",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[
                            ("end_user", "="),
                            (
                                models.Func(
                                    "first_seq",
                                    "last_seq",
                                    models.Value("[]"),
                                    function="int8range",
                                ),
                                "&&",
                            ),
                        ],
                        name="batch_ranges_apart",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("end_user",),
                        name="batch_one_at_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Claim",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "what",
                    models.CharField(help_text="The model and the id of the row.", max_length=60),
                ),
                ("operator", models.CharField(max_length=150)),
                ("at", models.DateTimeField()),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("end_user", "what"), name="claim_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Consolidation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("quarantined", "Quarantined"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="pending",
                        max_length=11,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error", models.TextField(blank=True, default="")),
                ("provider", models.CharField(blank=True, default="", max_length=100)),
                ("result", models.JSONField(blank=True, default=dict)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("server_start", models.DateTimeField(blank=True, editable=False, null=True)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "contact",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="consolidations",
                        to="contacts.contact",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consolidations",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["contact", "end_user"], name="consolidation_of_contact"),
                    models.Index(
                        condition=models.Q(
                            ("state__in", ["pending", "running", "failed", "quarantined"])
                        ),
                        fields=["state", "end_user"],
                        name="consolidation_open",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["pending", "running", "failed"])),
                        fields=("contact",),
                        name="consolidation_one_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Corpus",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "end_user_id",
                        "status",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("status", models.CharField(max_length=8)),
                ("size", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                (
                    "end_user",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Entity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("place", "Place"),
                            ("organisation", "Organisation"),
                            ("work", "Work"),
                            ("person", "Person"),
                        ],
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("key", models.CharField(max_length=80)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entities",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "entities",
                "constraints": [
                    models.UniqueConstraint(fields=("end_user", "key"), name="entity_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("erased", "Erased"),
                            ("cancelled", "Cancelled"),
                            ("not_found", "Not Found"),
                            ("unclear", "Unclear"),
                        ],
                        default="pending",
                        max_length=9,
                    ),
                ),
                (
                    "memory_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
                (
                    "contact_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
                (
                    "message_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        default=list,
                        help_text="Which hold the words; the request too.",
                        size=None,
                    ),
                ),
                (
                    "words",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        default=list,
                        help_text="What it is about; gone when it is erased.",
                        size=None,
                    ),
                ),
                (
                    "names",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        default=list,
                        help_text="Of the people; gone when it is erased.",
                        size=None,
                    ),
                ),
                (
                    "missing",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        default=list,
                        help_text="For what nothing kept was found; gone after a day.",
                        size=None,
                    ),
                ),
                (
                    "name_hashes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64),
                        default=list,
                        help_text="Keyed by this installation.",
                        size=None,
                    ),
                ),
                (
                    "unsure_message_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        default=list,
                        help_text="May mean them: to be decided.",
                        size=None,
                    ),
                ),
                (
                    "unsure_contact_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        default=list,
                        help_text="May be the same people: to be decided.",
                        size=None,
                    ),
                ),
                ("session_id", models.CharField(blank=True, default="", max_length=200)),
                ("requested_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("due_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "change",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="erasures",
                        to="accounts.change",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="erasures",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["-requested_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["due_at"],
                        name="erasure_due",
                    ),
                    models.Index(fields=["change", "end_user"], name="erasure_of_change"),
                ],
            },
        ),
        migrations.CreateModel(
            name="GatewayTurn",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_id", models.CharField(max_length=200)),
                ("chain_id", models.CharField(max_length=64)),
                ("injected", models.TextField(blank=True, default="")),
                (
                    "contact_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        default=list,
                        help_text="Whom that tells of.",
                        size=None,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("end_user", "chain_id", "session_id"), name="gateway_turn_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Injected",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_id", models.CharField(blank=True, default="", max_length=200)),
                (
                    "memory_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["end_user", "session_id", "-created_at"], name="injected_latest"
                    ),
                    models.Index(fields=["created_at"], name="injected_old"),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("job", models.CharField(max_length=40)),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="running",
                        max_length=7,
                    ),
                ),
                ("cursor", models.JSONField(blank=True, default=dict)),
                (
                    "effect",
                    models.JSONField(blank=True, default=dict, help_text="Counts of what it did."),
                ),
                ("error", models.TextField(blank=True, default="")),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("server_start", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["-started_at", "-pk"],
                "indexes": [models.Index(fields=["job", "-started_at"], name="job_run_latest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("job",),
                        name="job_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Memory",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("fact", "Fact"), ("profile", "Profile")],
                        default="fact",
                        max_length=7,
                    ),
                ),
                ("content", models.TextField()),
                ("content_hash", models.CharField(editable=False, max_length=64)),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("personal", "personal"),
                            ("preference", "preference"),
                            ("activity", "activity"),
                            ("plan", "plan"),
                            ("health", "health"),
                            ("professional", "professional"),
                            ("miscellaneous", "miscellaneous"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "subtype",
                    models.CharField(
                        choices=[
                            ("friend", "friend"),
                            ("family", "family"),
                            ("colleague", "colleague"),
                            ("partner", "partner"),
                            ("self", "self"),
                            ("other", "other"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("outdated", "Outdated"),
                            ("archived", "Archived"),
                        ],
                        default="active",
                        max_length=8,
                    ),
                ),
                ("importance", models.FloatField(default=0.5)),
                ("confidence", models.FloatField(default=1.0)),
                (
                    "speaker",
                    models.CharField(default="user", help_text="Who said it.", max_length=100),
                ),
                (
                    "quote",
                    models.TextField(blank=True, default="", help_text="The words it rests on."),
                ),
                (
                    "brackets",
                    models.JSONField(
                        blank=True,
                        editable=False,
                        help_text="Of a quote: [start, end] of each piece of the content that Mio put into it.",
                        null=True,
                    ),
                ),
                (
                    "source_message_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("facts", models.JSONField(blank=True, default=list)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                (
                    "embedding_model",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The space of its embedding, '' while it waits.",
                        max_length=120,
                    ),
                ),
                (
                    "embedding",
                    memories.models.search_index.EmbeddingField(
                        blank=True, editable=False, null=True
                    ),
                ),
                (
                    "tokens",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        default=list,
                        editable=False,
                        size=None,
                    ),
                ),
                ("access_count", models.PositiveIntegerField(default=0)),
                (
                    "mention_count",
                    models.PositiveIntegerField(
                        default=0, help_text="How often it was said again, or used in a reply."
                    ),
                ),
                ("last_accessed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "last_accessed_day",
                    models.IntegerField(blank=True, help_text="Activity day.", null=True),
                ),
                (
                    "learnt_day",
                    models.IntegerField(
                        default=0, help_text="Activity day on which it was learnt."
                    ),
                ),
                ("happens_at", models.DateTimeField(blank=True, null=True)),
                (
                    "happens_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="The beginning of the last day, where no day but a longer time is known.",
                        null=True,
                    ),
                ),
                ("happens_offset", models.SmallIntegerField(db_default=0, default=0)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("valid_from", models.DateTimeField(blank=True, null=True)),
                ("valid_to", models.DateTimeField(blank=True, null=True)),
                (
                    "outdated_at",
                    models.DateTimeField(
                        blank=True, help_text="When it was found to be no longer true.", null=True
                    ),
                ),
                (
                    "outdated_confidence",
                    models.FloatField(
                        default=1.0, help_text="How certain it is that it is no longer true."
                    ),
                ),
                (
                    "unread",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Its words wait to be read for facts, or these to be compared with others.",
                    ),
                ),
                (
                    "related_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its entities and its edges were looked for.",
                        null=True,
                    ),
                ),
                (
                    "refined_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When it was last considered for splitting.",
                        null=True,
                    ),
                ),
                (
                    "compared_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its words were compared with others' for overlaps.",
                        null=True,
                    ),
                ),
                ("said_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("said_offset", models.SmallIntegerField(db_default=0, default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "batch",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="memories",
                        to="memories.batch",
                    ),
                ),
                (
                    "consolidated_into",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="sources",
                        to="memories.memory",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memories",
                        to="accounts.enduser",
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        help_text="The memory that says what this one and others overlapping with it said.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="merged_from",
                        to="memories.memory",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "memories",
                "base_manager_name": "objects",
                "indexes": [
                    models.Index(fields=["end_user", "-said_at", "id"], name="memory_latest"),
                    models.Index(
                        fields=["end_user", "type", "-said_at", "id"], name="memory_latest_of_type"
                    ),
                    models.Index(
                        condition=models.Q(("status", "active"), _negated=True),
                        fields=["end_user", "status", "-said_at", "id"],
                        name="memory_latest_inactive",
                    ),
                    models.Index(
                        condition=models.Q(("content_hash__gte", "profile")),
                        fields=["end_user", "content_hash"],
                        name="memory_profiles",
                    ),
                    models.Index(
                        models.F("end_user"),
                        django.db.models.functions.comparison.Greatest(
                            "happens_at", "happens_until", "valid_from"
                        ),
                        condition=models.Q(
                            django.db.models.lookups.IsNull(
                                django.db.models.functions.comparison.Greatest(
                                    "happens_at", "happens_until", "valid_from"
                                ),
                                False,
                            ),
                            ("status", "active"),
                        ),
                        name="memory_ahead",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("kind", "fact"),
                            ("status", "active"),
                            ("subtype__in", ["friend", "family", "colleague", "partner"]),
                        ),
                        fields=["end_user", "id"],
                        name="memory_of_people",
                    ),
                    models.Index(fields=["embedding_model", "end_user"], name="memory_embedded"),
                    models.Index(
                        condition=models.Q(
                            ("kind", "fact"), ("related_at", None), ("status", "active")
                        ),
                        fields=["end_user", "id"],
                        name="memory_unrelated",
                    ),
                    models.Index(
                        condition=models.Q(("unread", True)),
                        fields=["end_user", "id"],
                        name="memory_unread",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("compared_at", None), ("kind", "fact"), ("status", "active")
                        ),
                        fields=["end_user", "id"],
                        name="memory_uncompared",
                    ),
                    models.Index(
                        condition=models.Q(("merged_into__isnull", False)),
                        fields=["merged_into", "end_user"],
                        name="memory_merged",
                    ),
                    models.Index(
                        condition=models.Q(("consolidated_into__isnull", False)),
                        fields=["consolidated_into", "end_user"],
                        name="memory_sources",
                    ),
                    models.Index(
                        condition=models.Q(("batch__isnull", False)),
                        fields=["batch", "end_user"],
                        name="memory_of_batch",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        models.F("end_user"), models.F("source_message_ids"), name="memory_messages"
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        models.F("end_user"),
                        django.contrib.postgres.indexes.OpClass("facts", "jsonb_path_ops"),
                        name="memory_facts",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        models.F("end_user"),
                        django.contrib.postgres.indexes.OpClass("metadata", "jsonb_path_ops"),
                        condition=models.Q(("metadata", {}), _negated=True),
                        name="memory_metadata",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status", "active")),
                        fields=("end_user", "content_hash"),
                        name="memory_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("importance__gte", 0), ("importance__lte", 1)),
                        name="importance_in_0_1",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                        name="confidence_in_0_1",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("outdated_confidence__gte", 0), ("outdated_confidence__lte", 1)
                        ),
                        name="outdated_confidence_in_0_1",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("consolidated_into", None), ("importance__lte", 0.05), _connector="OR"
                        ),
                        name="consolidated_source_stays_low",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("embedding", None), ("embedding_model", "")),
                            models.Q(
                                models.Q(("embedding_model", ""), _negated=True),
                                ("embedding__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="embedding_says_its_space",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("said_offset__range", (-1439, 1439)),
                            ("happens_offset__range", (-1439, 1439)),
                        ),
                        name="memory_offsets_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Link",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "made_by",
                    models.CharField(
                        choices=[
                            ("extractor", "Extractor"),
                            ("consolidator", "Consolidator"),
                            ("backfill", "Backfill"),
                            ("operator", "Operator"),
                        ],
                        max_length=12,
                    ),
                ),
                ("confidence", models.FloatField(default=1.0)),
                ("rejected", models.BooleanField(default=False)),
                (
                    "consolidated_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the contact's profile took the memory in.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "contact",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="links",
                        to="contacts.contact",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="links",
                        to="memories.memory",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("rejected", False)),
                        fields=["contact", "-id"],
                        include=("memory",),
                        name="link_latest",
                    ),
                    models.Index(fields=["contact", "end_user"], name="link_of_contact"),
                    models.Index(fields=["memory", "end_user"], name="link_of_memory"),
                    models.Index(
                        condition=models.Q(("consolidated_at", None), ("rejected", False)),
                        fields=["end_user", "contact"],
                        name="link_unconsolidated",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("contact", "memory"), name="link_once"),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                        name="link_confidence_in_0_1",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EntityLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
                (
                    "entity",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="links",
                        to="memories.entity",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="entity_links",
                        to="memories.memory",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["entity", "end_user", "memory"], name="entity_link_of_entity"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("memory", "end_user", "entity"), name="entity_link_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Edge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=100)),
                ("inverse", models.BooleanField(db_default=False, default=False, editable=False)),
                ("reason", models.TextField(blank=True, default="")),
                ("confidence", models.FloatField(db_default=1.0, default=1.0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="edges_out",
                        to="memories.memory",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="edges_in",
                        to="memories.memory",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["source", "end_user"], name="edge_outbound"),
                    models.Index(fields=["target", "end_user"], name="edge_inbound"),
                    models.Index(
                        condition=models.Q(("inverse", False), ("kind", "conflicts")),
                        fields=["end_user", "id"],
                        name="edge_in_conflict",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("source", "kind", "target", "inverse"), name="edge_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source", models.F("target")), _negated=True),
                        name="edge_between_two",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                        name="edge_confidence_in_0_1",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("client_id", models.CharField(blank=True, max_length=200, null=True)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("user", "User"),
                            ("assistant", "Assistant"),
                            ("system", "System"),
                            ("tool", "Tool"),
                        ],
                        max_length=10,
                    ),
                ),
                ("content", models.TextField()),
                (
                    "speaker",
                    models.CharField(
                        blank=True,
                        help_text="Who else wrote it, by name: a person of the end user's in a chat with them.",
                        max_length=100,
                        null=True,
                    ),
                ),
                ("session_id", models.CharField(blank=True, default="", max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="When it was said."
                    ),
                ),
                (
                    "utc_offset",
                    models.SmallIntegerField(
                        blank=True,
                        help_text="Minutes ahead of UTC where it was said, if that was told.",
                        null=True,
                    ),
                ),
                ("received_at", models.DateTimeField(auto_now_add=True)),
                (
                    "metadata",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="What the app noted of it.",
                    ),
                ),
                (
                    "understood",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        db_default=models.Value(
                            [],
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.UUIDField(), size=None
                            ),
                        ),
                        default=list,
                        editable=False,
                        help_text="The contacts whom extraction found it to be about.",
                        size=None,
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["seq"],
                "indexes": [
                    models.Index(
                        fields=["end_user", "session_id", "-seq"], name="message_of_session"
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        models.F("end_user"),
                        django.contrib.postgres.indexes.OpClass("metadata", "jsonb_path_ops"),
                        condition=models.Q(("metadata", {}), _negated=True),
                        name="message_metadata",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("end_user", "seq"), name="message_seq_once"),
                    models.UniqueConstraint(fields=("end_user", "client_id"), name="message_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("utc_offset", None),
                            ("utc_offset__range", (-1439, 1439)),
                            _connector="OR",
                        ),
                        name="message_offset_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("speaker", None),
                            models.Q(("role", "user"), models.Q(("speaker", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="message_speaker_is_a_person",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=50)),
                ("model", models.CharField(max_length=100)),
                ("purpose", models.CharField(max_length=20)),
                ("tokens_in", models.PositiveIntegerField(default=0)),
                ("tokens_out", models.PositiveIntegerField(default=0)),
                (
                    "messages",
                    models.PositiveSmallIntegerField(
                        db_default=0, default=0, help_text="How many new ones an extraction read."
                    ),
                ),
                ("latency_ms", models.FloatField(default=0)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("ok", "Ok"),
                            ("changed", "Changed"),
                            ("late", "Late"),
                            ("transient", "Transient"),
                            ("permanent", "Permanent"),
                            ("output", "Output"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "answer",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="What came, where it was of no use.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_calls",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["-created_at"], name="model_call_latest")],
            },
        ),
        migrations.CreateModel(
            name="Outage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=50)),
                ("model", models.CharField(max_length=100)),
                ("error", models.TextField()),
                ("since", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["since", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "model"), name="outage_once_a_model"
                    )
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(POSTINGS, "DROP TABLE memories_posting")],
            state_operations=[
                migrations.CreateModel(
                    name="Posting",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "end_user_id",
                                "token",
                                "memory_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("token", models.TextField(db_collation="C")),
                        ("status", models.CharField(help_text="The memory's own.", max_length=8)),
                        ("times", models.FloatField()),
                        ("length", models.IntegerField()),
                        (
                            "end_user",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="accounts.enduser",
                            ),
                        ),
                        (
                            "memory",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="postings",
                                to="memories.memory",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProcessJob",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("up_to_seq", models.BigIntegerField()),
                (
                    "up_to_link",
                    models.BigIntegerField(
                        blank=True,
                        help_text="The newest when all of the messages were extracted.",
                        null=True,
                    ),
                ),
                ("result", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["created_at"], name="process_job_old")],
            },
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "user_digest",
                    models.CharField(help_text="A keyed hash of the user's id.", max_length=64),
                ),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("user", "User"),
                            ("person", "Person"),
                            ("memories", "Memories"),
                            ("messages", "Messages"),
                            ("request", "Request"),
                        ],
                        max_length=8,
                    ),
                ),
                ("asked_by", models.CharField(blank=True, default="", max_length=100)),
                ("done_by", models.CharField(blank=True, default="", max_length=100)),
                ("requested_at", models.DateTimeField()),
                ("erased_at", models.DateTimeField()),
                ("contacts", models.PositiveIntegerField(default=0)),
                ("memories", models.PositiveIntegerField(default=0)),
                ("messages", models.PositiveIntegerField(default=0)),
                (
                    "undecided",
                    models.PositiveIntegerField(
                        default=0, help_text="Messages and contacts that may have been meant."
                    ),
                ),
                (
                    "app",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.app",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="receipts",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "ordering": ["-erased_at", "id"],
                "indexes": [
                    models.Index(fields=["-erased_at", "id"], name="receipt_latest"),
                    models.Index(fields=["user_digest"], name="receipt_of_user"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Retrieval",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                (
                    "linked",
                    models.PositiveIntegerField(default=0, help_text="Answered by links alone."),
                ),
                (
                    "fallback",
                    models.PositiveIntegerField(default=0, help_text="Needed the text fallback."),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="retrievals",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["day"], name="retrieval_of_day")],
                "constraints": [
                    models.UniqueConstraint(fields=("end_user", "day"), name="retrieval_once_a_day")
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(VECTORS, "DROP TABLE memories_vector"),
                *(
                    migrations.RunSQL(PARTITION.format(n=n), migrations.RunSQL.noop)
                    for n in range(PARTITIONS)
                ),
                migrations.RunSQL(SIDE_BY_SIDE, migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="Vector",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "end_user_id",
                                "memory_id",
                                "space",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("space", models.CharField(max_length=120)),
                        ("status", models.CharField(help_text="The memory's own.", max_length=8)),
                        ("embedding", pgvector.django.halfvec.HalfVectorField()),
                        (
                            "end_user",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="accounts.enduser",
                            ),
                        ),
                        (
                            "memory",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="vectors",
                                to="memories.memory",
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
            ],
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="linkedcontact",
            trigger=pgtrigger.compiler.Trigger(
                name="memory_ids_guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (pg_trigger_depth() = 0)",
                    func="\n    NEW.memory_ids := ARRAY(\n        SELECT link.memory_id FROM memories_link link\n        WHERE link.contact_id = NEW.id AND NOT link.rejected ORDER BY link.id);\n    RETURN NEW;\n",
                    hash="6aaf1fde074b0d329a167660b1028776fa1a3060",
                    operation='INSERT OR UPDATE OF "memory_ids"',
                    pgid="pgtrigger_memory_ids_guard_89604",
                    table="contacts_contact",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.UniqueConstraint(fields=("end_user", "id"), name="batch_of_user"),
        ),
        migrations.AddConstraint(
            model_name="entity",
            constraint=models.UniqueConstraint(fields=("end_user", "id"), name="entity_of_user"),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.UniqueConstraint(fields=("end_user", "id"), name="memory_of_user"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="index_added",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM new_rows m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1) word\n;\n    \n    INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)\n    SELECT end_user_id, id, embedding_model, status, embedding::halfvec\n    FROM new_rows m WHERE embedding IS NOT NULL;\n    \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (SELECT 1 AS sign, * FROM new_rows) added GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n\n    RETURN NULL;\n",
                    hash="550e4938608656c3c696d407e10a9ea90e4e7502",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_index_added_77cdb",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="index_removed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE was RECORD;",
                    func="\n    FOR was IN SELECT end_user_id, id, tokens FROM old_rows LOOP \n        DELETE FROM memories_posting\n        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(\n            SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END\n            FROM unnest(was.tokens) AS raw));\n\n    END LOOP;\n    \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (SELECT -1 AS sign, * FROM old_rows) removed GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n \n    DELETE FROM memories_corpus\n    WHERE size = 0 AND end_user_id IN (SELECT end_user_id FROM old_rows);\n\n    RETURN NULL;\n",
                    hash="552ce97600313c1693146a159fdf650498e151bb",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_index_removed_ec7f1",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="index_changed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE was RECORD;",
                    func="\n    FOR was IN\n        SELECT o.end_user_id, o.id, o.tokens, n.status, n.content <> o.content AS says_else,\n            (n.tokens, n.status) IS DISTINCT FROM (o.tokens, o.status) AS moved\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status, o.content) IS DISTINCT FROM (n.tokens, n.status, n.content)\n    LOOP\n        IF was.says_else THEN\n            DELETE FROM memories_vector\n            WHERE end_user_id = was.end_user_id AND memory_id = was.id;\n        END IF;\n        IF was.moved THEN \n        DELETE FROM memories_posting\n        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(\n            SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END\n            FROM unnest(was.tokens) AS raw));\n\n            UPDATE memories_vector v SET status = was.status\n            WHERE v.end_user_id = was.end_user_id AND v.memory_id = was.id\n                AND v.status <> was.status;\n        END IF;\n    END LOOP;\n    IF FOUND THEN \n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM (\n        SELECT n.* FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)) m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1) word\n;\n        \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (\n        SELECT -1 AS sign, o.end_user_id, o.status, o.tokens\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)\n        UNION ALL\n        SELECT 1, n.end_user_id, n.status, n.tokens\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)) moved GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n \n    DELETE FROM memories_corpus\n    WHERE size = 0 AND end_user_id IN (SELECT end_user_id FROM old_rows);\n\n    END IF;\n    RETURN NULL;\n",
                    hash="8cd2fe82cad9422b39dca3f79b219c96348156c9",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_index_changed_b9e57",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="vector_waits",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."content" IS DISTINCT FROM (NEW."content") OR NEW."embedding_model" = \'\')',
                    func="NEW.embedding_model = ''; NEW.embedding = NULL; RETURN NEW;",
                    hash="b34ef63b19a36d7d68bec3c57f1cec4e78054f50",
                    operation='UPDATE OF "content", "embedding_model"',
                    pgid="pgtrigger_vector_waits_142b1",
                    table="memories_memory",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="vector_follows",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (NEW."embedding" IS NOT NULL)',
                    func="\n    INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)\n    SELECT end_user_id, id, embedding_model, status, embedding::halfvec\n    FROM (SELECT NEW.*) m WHERE embedding IS NOT NULL\n    ON CONFLICT (end_user_id, memory_id, space) DO UPDATE SET embedding = excluded.embedding\n        WHERE memories_vector.embedding <> excluded.embedding;\n    RETURN NULL;\n",
                    hash="e3dd893dbada1df94b35c5130ac8a155216e5b96",
                    operation='UPDATE OF "embedding"',
                    pgid="pgtrigger_vector_follows_3773a",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="compared_anew",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."content" IS DISTINCT FROM (NEW."content"))',
                    func="NEW.compared_at = NULL; RETURN NEW;",
                    hash="f080cfae1c2542eb51a623646e503a55817c3f84",
                    operation='UPDATE OF "content"',
                    pgid="pgtrigger_compared_anew_67ef2",
                    table="memories_memory",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="own_facts_told",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (NEW.facts @> ANY (ARRAY[\'[{"key": "answer_wish", "person": null}]\', \'[{"key": "allergy", "person": null}]\', \'[{"key": "diet", "person": null}]\', \'[{"key": "health", "person": null}]\', \'[{"key": "medication", "person": null}]\', \'[{"key": "language", "person": null}]\', \'[{"key": "location", "person": null}]\', \'[{"key": "job_title", "person": null}]\', \'[{"key": "company", "person": null}]\', \'[{"key": "school", "person": null}]\', \'[{"key": "family", "person": null}]\', \'[{"key": "marital_status", "person": null}]\', \'[{"key": "pet", "person": null}]\', \'[{"key": "birthday", "person": null}]\', \'[{"key": "wedding_anniversary", "person": null}]\', \'[{"key": "anniversary", "person": null}]\', \'[{"key": "name_day", "person": null}]\', \'[{"key": "death_anniversary", "person": null}]\']::jsonb[]))',
                    func="\n    UPDATE accounts_enduser SET own_facts = COALESCE((\n        SELECT jsonb_agg(entry ORDER BY said DESC, entry ->> 'memory', place)\n        FROM (\n            SELECT *, row_number() OVER (\n                PARTITION BY entry ->> 'kind' ORDER BY said DESC, entry ->> 'memory', place) AS rank\n            FROM (SELECT *, (entry ->> 'said')::timestamptz AS said FROM (SELECT entry, place FROM jsonb_array_elements(own_facts) WITH ORDINALITY AS kept (entry, place) UNION ALL \n    SELECT jsonb_strip_nulls(jsonb_build_object('kind', fact ->> 'key', 'memory', NEW.id,\n            'value', left(fact ->> 'value', 200), 'said', NEW.said_at,\n            'since', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_from')::timestamptz\n                    ELSE NEW.valid_from END, 'until', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_to')::timestamptz\n                    ELSE NEW.valid_to END)) AS entry, place\n    FROM jsonb_array_elements(NEW.facts) WITH ORDINALITY AS stated (fact, place)\n    WHERE NEW.status = 'active' AND NEW.kind = 'fact' AND fact ->> 'key' IN ('answer_wish', 'allergy', 'diet', 'health', 'medication', 'language', 'location', 'job_title', 'company', 'school', 'family', 'marital_status', 'pet', 'birthday', 'wedding_anniversary', 'anniversary', 'name_day', 'death_anniversary')\n        AND fact ->> 'person' IS NULL AND fact ->> 'outdated_at' IS NULL) one) dated\n            WHERE entry ->> 'until' IS NULL OR (entry ->> 'until')::timestamptz > now()) ranked\n        WHERE rank <= 8), '[]')\n    WHERE id = NEW.end_user_id;\n RETURN NULL;",
                    hash="efbfad75df54e66393b4826d329fe44ee44c52ea",
                    operation="INSERT",
                    pgid="pgtrigger_own_facts_told_8eec8",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="own_facts_untold",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD.facts @> ANY (ARRAY[\'[{"key": "answer_wish", "person": null}]\', \'[{"key": "allergy", "person": null}]\', \'[{"key": "diet", "person": null}]\', \'[{"key": "health", "person": null}]\', \'[{"key": "medication", "person": null}]\', \'[{"key": "language", "person": null}]\', \'[{"key": "location", "person": null}]\', \'[{"key": "job_title", "person": null}]\', \'[{"key": "company", "person": null}]\', \'[{"key": "school", "person": null}]\', \'[{"key": "family", "person": null}]\', \'[{"key": "marital_status", "person": null}]\', \'[{"key": "pet", "person": null}]\', \'[{"key": "birthday", "person": null}]\', \'[{"key": "wedding_anniversary", "person": null}]\', \'[{"key": "anniversary", "person": null}]\', \'[{"key": "name_day", "person": null}]\', \'[{"key": "death_anniversary", "person": null}]\']::jsonb[]))',
                    func="UPDATE accounts_enduser SET own_facts = COALESCE((\n        SELECT jsonb_agg(entry ORDER BY said DESC, entry ->> 'memory', place)\n        FROM (\n            SELECT *, row_number() OVER (\n                PARTITION BY entry ->> 'kind' ORDER BY said DESC, entry ->> 'memory', place) AS rank\n            FROM (SELECT *, (entry ->> 'said')::timestamptz AS said FROM (SELECT one.* FROM memories_memory memory CROSS JOIN LATERAL (\n    SELECT jsonb_strip_nulls(jsonb_build_object('kind', fact ->> 'key', 'memory', memory.id,\n            'value', left(fact ->> 'value', 200), 'said', memory.said_at,\n            'since', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_from')::timestamptz\n                    ELSE memory.valid_from END, 'until', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_to')::timestamptz\n                    ELSE memory.valid_to END)) AS entry, place\n    FROM jsonb_array_elements(memory.facts) WITH ORDINALITY AS stated (fact, place)\n    WHERE memory.status = 'active' AND memory.kind = 'fact' AND fact ->> 'key' IN ('answer_wish', 'allergy', 'diet', 'health', 'medication', 'language', 'location', 'job_title', 'company', 'school', 'family', 'marital_status', 'pet', 'birthday', 'wedding_anniversary', 'anniversary', 'name_day', 'death_anniversary')\n        AND fact ->> 'person' IS NULL AND fact ->> 'outdated_at' IS NULL) one\n        WHERE memory.end_user_id = OLD.end_user_id AND memory.facts @> ANY (ARRAY['[{\"key\": \"answer_wish\", \"person\": null}]', '[{\"key\": \"allergy\", \"person\": null}]', '[{\"key\": \"diet\", \"person\": null}]', '[{\"key\": \"health\", \"person\": null}]', '[{\"key\": \"medication\", \"person\": null}]', '[{\"key\": \"language\", \"person\": null}]', '[{\"key\": \"location\", \"person\": null}]', '[{\"key\": \"job_title\", \"person\": null}]', '[{\"key\": \"company\", \"person\": null}]', '[{\"key\": \"school\", \"person\": null}]', '[{\"key\": \"family\", \"person\": null}]', '[{\"key\": \"marital_status\", \"person\": null}]', '[{\"key\": \"pet\", \"person\": null}]', '[{\"key\": \"birthday\", \"person\": null}]', '[{\"key\": \"wedding_anniversary\", \"person\": null}]', '[{\"key\": \"anniversary\", \"person\": null}]', '[{\"key\": \"name_day\", \"person\": null}]', '[{\"key\": \"death_anniversary\", \"person\": null}]']::jsonb[])) one) dated\n            WHERE entry ->> 'until' IS NULL OR (entry ->> 'until')::timestamptz > now()) ranked\n        WHERE rank <= 8), '[]') WHERE id = OLD.end_user_id\n        AND own_facts @> jsonb_build_array(jsonb_build_object('memory', OLD.id)); RETURN NULL;",
                    hash="89bc865a9cacf1b5657be0feb5c7c78c2d1bf3e3",
                    operation="DELETE",
                    pgid="pgtrigger_own_facts_untold_fabbd",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memory",
            trigger=pgtrigger.compiler.Trigger(
                name="own_facts_changed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD.facts @> ANY (ARRAY[\'[{"key": "answer_wish", "person": null}]\', \'[{"key": "allergy", "person": null}]\', \'[{"key": "diet", "person": null}]\', \'[{"key": "health", "person": null}]\', \'[{"key": "medication", "person": null}]\', \'[{"key": "language", "person": null}]\', \'[{"key": "location", "person": null}]\', \'[{"key": "job_title", "person": null}]\', \'[{"key": "company", "person": null}]\', \'[{"key": "school", "person": null}]\', \'[{"key": "family", "person": null}]\', \'[{"key": "marital_status", "person": null}]\', \'[{"key": "pet", "person": null}]\', \'[{"key": "birthday", "person": null}]\', \'[{"key": "wedding_anniversary", "person": null}]\', \'[{"key": "anniversary", "person": null}]\', \'[{"key": "name_day", "person": null}]\', \'[{"key": "death_anniversary", "person": null}]\']::jsonb[]) OR NEW.facts @> ANY (ARRAY[\'[{"key": "answer_wish", "person": null}]\', \'[{"key": "allergy", "person": null}]\', \'[{"key": "diet", "person": null}]\', \'[{"key": "health", "person": null}]\', \'[{"key": "medication", "person": null}]\', \'[{"key": "language", "person": null}]\', \'[{"key": "location", "person": null}]\', \'[{"key": "job_title", "person": null}]\', \'[{"key": "company", "person": null}]\', \'[{"key": "school", "person": null}]\', \'[{"key": "family", "person": null}]\', \'[{"key": "marital_status", "person": null}]\', \'[{"key": "pet", "person": null}]\', \'[{"key": "birthday", "person": null}]\', \'[{"key": "wedding_anniversary", "person": null}]\', \'[{"key": "anniversary", "person": null}]\', \'[{"key": "name_day", "person": null}]\', \'[{"key": "death_anniversary", "person": null}]\']::jsonb[]))',
                    func="UPDATE accounts_enduser SET own_facts = COALESCE((\n        SELECT jsonb_agg(entry ORDER BY said DESC, entry ->> 'memory', place)\n        FROM (\n            SELECT *, row_number() OVER (\n                PARTITION BY entry ->> 'kind' ORDER BY said DESC, entry ->> 'memory', place) AS rank\n            FROM (SELECT *, (entry ->> 'said')::timestamptz AS said FROM (SELECT one.* FROM memories_memory memory CROSS JOIN LATERAL (\n    SELECT jsonb_strip_nulls(jsonb_build_object('kind', fact ->> 'key', 'memory', memory.id,\n            'value', left(fact ->> 'value', 200), 'said', memory.said_at,\n            'since', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_from')::timestamptz\n                    ELSE memory.valid_from END, 'until', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_to')::timestamptz\n                    ELSE memory.valid_to END)) AS entry, place\n    FROM jsonb_array_elements(memory.facts) WITH ORDINALITY AS stated (fact, place)\n    WHERE memory.status = 'active' AND memory.kind = 'fact' AND fact ->> 'key' IN ('answer_wish', 'allergy', 'diet', 'health', 'medication', 'language', 'location', 'job_title', 'company', 'school', 'family', 'marital_status', 'pet', 'birthday', 'wedding_anniversary', 'anniversary', 'name_day', 'death_anniversary')\n        AND fact ->> 'person' IS NULL AND fact ->> 'outdated_at' IS NULL) one\n        WHERE memory.end_user_id = NEW.end_user_id AND memory.facts @> ANY (ARRAY['[{\"key\": \"answer_wish\", \"person\": null}]', '[{\"key\": \"allergy\", \"person\": null}]', '[{\"key\": \"diet\", \"person\": null}]', '[{\"key\": \"health\", \"person\": null}]', '[{\"key\": \"medication\", \"person\": null}]', '[{\"key\": \"language\", \"person\": null}]', '[{\"key\": \"location\", \"person\": null}]', '[{\"key\": \"job_title\", \"person\": null}]', '[{\"key\": \"company\", \"person\": null}]', '[{\"key\": \"school\", \"person\": null}]', '[{\"key\": \"family\", \"person\": null}]', '[{\"key\": \"marital_status\", \"person\": null}]', '[{\"key\": \"pet\", \"person\": null}]', '[{\"key\": \"birthday\", \"person\": null}]', '[{\"key\": \"wedding_anniversary\", \"person\": null}]', '[{\"key\": \"anniversary\", \"person\": null}]', '[{\"key\": \"name_day\", \"person\": null}]', '[{\"key\": \"death_anniversary\", \"person\": null}]']::jsonb[])) one) dated\n            WHERE entry ->> 'until' IS NULL OR (entry ->> 'until')::timestamptz > now()) ranked\n        WHERE rank <= 8), '[]') WHERE id = NEW.end_user_id\n        AND own_facts @> jsonb_build_array(jsonb_build_object('memory', NEW.id)); IF NOT FOUND THEN \n    UPDATE accounts_enduser SET own_facts = COALESCE((\n        SELECT jsonb_agg(entry ORDER BY said DESC, entry ->> 'memory', place)\n        FROM (\n            SELECT *, row_number() OVER (\n                PARTITION BY entry ->> 'kind' ORDER BY said DESC, entry ->> 'memory', place) AS rank\n            FROM (SELECT *, (entry ->> 'said')::timestamptz AS said FROM (SELECT entry, place FROM jsonb_array_elements(own_facts) WITH ORDINALITY AS kept (entry, place) UNION ALL \n    SELECT jsonb_strip_nulls(jsonb_build_object('kind', fact ->> 'key', 'memory', NEW.id,\n            'value', left(fact ->> 'value', 200), 'said', NEW.said_at,\n            'since', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_from')::timestamptz\n                    ELSE NEW.valid_from END, 'until', CASE WHEN fact ?| ARRAY['valid_from', 'valid_to'] THEN (fact ->> 'valid_to')::timestamptz\n                    ELSE NEW.valid_to END)) AS entry, place\n    FROM jsonb_array_elements(NEW.facts) WITH ORDINALITY AS stated (fact, place)\n    WHERE NEW.status = 'active' AND NEW.kind = 'fact' AND fact ->> 'key' IN ('answer_wish', 'allergy', 'diet', 'health', 'medication', 'language', 'location', 'job_title', 'company', 'school', 'family', 'marital_status', 'pet', 'birthday', 'wedding_anniversary', 'anniversary', 'name_day', 'death_anniversary')\n        AND fact ->> 'person' IS NULL AND fact ->> 'outdated_at' IS NULL) one) dated\n            WHERE entry ->> 'until' IS NULL OR (entry ->> 'until')::timestamptz > now()) ranked\n        WHERE rank <= 8), '[]')\n    WHERE id = NEW.end_user_id;\n END IF; RETURN NULL;",
                    hash="d03933ff22a15718b81a8e3b7514ca8f15d4adef",
                    operation='UPDATE OF "facts", "status", "kind", "said_at", "valid_from", "valid_to"',
                    pgid="pgtrigger_own_facts_changed_98e71",
                    table="memories_memory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="link",
            trigger=pgtrigger.compiler.Trigger(
                name="memory_ids_added",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE contacts_contact c SET memory_ids = c.memory_ids || added.ids\n    FROM (SELECT contact_id, array_agg(memory_id ORDER BY id) AS ids\n          FROM new_rows WHERE NOT rejected GROUP BY contact_id) added\n    WHERE c.id = added.contact_id;\n    RETURN NULL;\n",
                    hash="b146a1cf19f9a279b6e625af38f273fca3232704",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_memory_ids_added_57679",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="memories_link",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="link",
            trigger=pgtrigger.compiler.Trigger(
                name="memory_ids_removed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE contacts_contact c\n    SET memory_ids = ARRAY(\n        SELECT kept FROM unnest(c.memory_ids) WITH ORDINALITY AS old (kept, place)\n        WHERE NOT EXISTS (SELECT FROM unnest(removed.ids) AS gone WHERE gone = kept)\n        ORDER BY place)\n    FROM (SELECT contact_id, array_agg(memory_id) AS ids\n          FROM old_rows WHERE NOT rejected GROUP BY contact_id) removed\n    WHERE c.id = removed.contact_id;\n    RETURN NULL;\n",
                    hash="2199488cd99856f504cc530dbf2fb4e1f482af30",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_memory_ids_removed_af123",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="memories_link",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="link",
            trigger=pgtrigger.compiler.Trigger(
                name="memory_ids_changed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE contacts_contact c\n    SET memory_ids = ARRAY(\n        SELECT link.memory_id FROM memories_link link\n        WHERE link.contact_id = c.id AND NOT link.rejected ORDER BY link.id)\n    WHERE c.id IN (\n        SELECT unnest(ARRAY[was.contact_id, now.contact_id])\n        FROM old_rows was JOIN new_rows now USING (id)\n        WHERE (was.contact_id, was.memory_id, was.rejected)\n              IS DISTINCT FROM (now.contact_id, now.memory_id, now.rejected));\n    RETURN NULL;\n",
                    hash="0b05278ecacac49fdb86027236ad0a109e0cde9b",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_memory_ids_changed_a2986",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="memories_link",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="edge",
            trigger=pgtrigger.compiler.Trigger(
                name="mirror_added",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    -- The mirrors' own statement ends here; a trigger of statements runs even for no row.\n    IF NOT EXISTS (SELECT FROM new_rows WHERE NOT inverse) THEN RETURN NULL; END IF;\n    INSERT INTO memories_edge\n        (id, end_user_id, source_id, target_id, kind, inverse, reason, confidence, created_at)\n    SELECT id + 8796093022208, end_user_id, target_id, source_id, kind, true, reason,\n        confidence, created_at\n    FROM new_rows WHERE NOT inverse\n    ON CONFLICT DO NOTHING;\n    RETURN NULL;\n",
                    hash="2df1e41051ecf1f6591708260fbe486804eba148",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_mirror_added_92581",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="memories_edge",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="edge",
            trigger=pgtrigger.compiler.Trigger(
                name="mirror_removed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    IF NOT EXISTS (SELECT FROM old_rows WHERE NOT inverse) THEN RETURN NULL; END IF;\n    DELETE FROM memories_edge mirror USING old_rows gone\n    WHERE NOT gone.inverse AND mirror.inverse AND mirror.kind = gone.kind\n        AND mirror.source_id = gone.target_id AND mirror.target_id = gone.source_id;\n    RETURN NULL;\n",
                    hash="2332424b9afbf47a192934f3636348c43f35501f",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_mirror_removed_5f24b",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="memories_edge",
                    when="AFTER",
                ),
            ),
        ),
        *(add(*key) for key in KEYS),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(LINK_DOUBTFUL, migrations.RunSQL.noop),
    ]
