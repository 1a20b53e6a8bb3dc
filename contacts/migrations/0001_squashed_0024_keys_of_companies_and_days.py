"""The tables of a new database, as the migrations that it replaces leave them."""

import contacts.models
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
import uuid
from django.db import migrations, models

# table, column, referenced table, what deleting the referenced row does. The keys carry the end
# user, so that no row points at a row of another.
KEYS = [
    ("contacts_contact", "merged_into_id", "contacts_contact", "CASCADE"),
    ("contacts_contactkey", "contact_id", "contacts_contact", "CASCADE"),
    ("contacts_relation", "subject_id", "contacts_contact", "CASCADE"),
    ("contacts_relation", "object_id", "contacts_contact", "CASCADE"),
    ("contacts_suggestion", "first_id", "contacts_contact", "CASCADE"),
    ("contacts_suggestion", "second_id", "contacts_contact", "CASCADE"),
]


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
        ("contacts", "0001_initial"),
        ("contacts", "0002_same_user_keys"),
        ("contacts", "0003_relations_and_suggestions"),
        ("contacts", "0004_same_user_pairs"),
        ("contacts", "0005_contact_in_conflict"),
        ("contacts", "0006_find_while_typing"),
        ("contacts", "0007_large_end_users"),
        ("contacts", "0008_sorted_by_name"),
        ("contacts", "0009_links_keep_memory_ids"),
        ("contacts", "0010_indexes_of_users"),
        ("contacts", "0011_coming_and_important_dates"),
        ("contacts", "0012_index_important_dates"),
        ("contacts", "0013_vectors_of_contacts"),
        ("contacts", "0014_archived_contacts"),
        ("contacts", "0015_coming_is_a_list"),
        ("contacts", "0016_side_by_side"),
        ("contacts", "0017_judged_suggestions"),
        ("contacts", "0018_references"),
        ("contacts", "0019_keys_of_two_columns"),
        ("contacts", "0020_short_forms_with_their_own"),
        ("contacts", "0021_note"),
        ("contacts", "0022_no_vectors_of_contacts"),
        ("contacts", "0023_index_of_contacts_in_conflict"),
        ("contacts", "0024_keys_of_companies_and_days"),
    ]

    dependencies = [
        ("accounts", "0001_squashed_0020_not_people"),
    ]

    operations = [
        migrations.CreateModel(
            name="Contact",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("name_key", models.CharField(editable=False, max_length=200)),
                ("sort_key", contacts.models.SortKey(default="", editable=False, max_length=200)),
                (
                    "namesake",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Tells two real people of one name apart: 0, 1, 2 …"
                    ),
                ),
                (
                    "aliases",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("relationship", models.CharField(blank=True, default="", max_length=200)),
                (
                    "gender",
                    models.CharField(
                        blank=True,
                        choices=[("female", "female"), ("male", "male")],
                        default="",
                        max_length=6,
                    ),
                ),
                ("attributes", models.JSONField(blank=True, default=dict)),
                (
                    "side_by_side",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        db_default=models.Value(
                            [],
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), size=None
                            ),
                        ),
                        default=list,
                        size=None,
                    ),
                ),
                ("personality", models.TextField(blank=True, default="")),
                ("personality_sources", models.JSONField(blank=True, default=list)),
                (
                    "note",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Of operators, for operators; in no prompt.",
                    ),
                ),
                ("timeline", models.JSONField(blank=True, default=list)),
                (
                    "references",
                    models.JSONField(
                        blank=True, db_default=models.Value([], models.JSONField()), default=list
                    ),
                ),
                (
                    "references_denied",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        db_default=models.Value(
                            [],
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), size=None
                            ),
                        ),
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "memory_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        default=list,
                        editable=False,
                        size=None,
                    ),
                ),
                ("card", models.TextField(blank=True, default="")),
                (
                    "coming",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        editable=False,
                    ),
                ),
                ("first_mentioned_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_mentioned_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("mention_count", models.PositiveIntegerField(default=1)),
                (
                    "archived_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Since then known, but neither listed nor injected.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="contacts",
                        to="accounts.enduser",
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="merged",
                        to="contacts.contact",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("merged_into", None)),
                        fields=["end_user", "-last_mentioned_at", "id"],
                        name="contact_latest",
                    ),
                    models.Index(
                        condition=models.Q(("merged_into", None)),
                        fields=["end_user", "-mention_count", "id"],
                        name="contact_most_mentioned",
                    ),
                    models.Index(
                        condition=models.Q(("merged_into", None)),
                        fields=["end_user", "sort_key", "name_key", "namesake"],
                        name="contact_by_name",
                    ),
                    models.Index(
                        condition=models.Q(("archived_at__isnull", False), ("merged_into", None)),
                        fields=["end_user", "-last_mentioned_at"],
                        name="contact_archived",
                    ),
                    models.Index(
                        condition=models.Q(("merged_into__isnull", False)),
                        fields=["merged_into", "end_user"],
                        name="contact_merged",
                    ),
                    models.Index(
                        condition=models.Q(
                            django.db.models.expressions.RawSQL(
                                'jsonb_path_exists(contacts_contact.attributes - contacts_contact.side_by_side, \'$.keyvalue() ? (@.key == "job_title" || @.key == "company" || @.key == "school" || @.key == "major" || @.key == "education" || @.key == "location" || @.key == "hometown" || @.key == "birthday" || @.key == "wedding_anniversary" || @.key == "anniversary" || @.key == "name_day" || @.key == "death_anniversary" || @.key == "age" || @.key == "zodiac" || @.key == "height" || @.key == "phone" || @.key == "email" || @.key == "marital_status" || @.key == "diet" || @.key == "vehicle").value[1]\'::jsonpath)',
                                [],
                                output_field=models.BooleanField(),
                            ),
                            ("merged_into", None),
                        ),
                        fields=["end_user", "id"],
                        name="contact_in_conflict",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("merged_into", None)),
                        fields=("end_user", "name_key", "namesake"),
                        name="contact_once_per_name",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name_key", ""), _negated=True),
                        name="contact_has_a_name",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("merged_into", models.F("id")), _negated=True),
                        name="contact_not_merged_into_itself",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ContactKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=250)),
                ("how", models.CharField(max_length=10)),
                ("text", models.CharField(max_length=200)),
                (
                    "contact",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="keys",
                        to="contacts.contact",
                    ),
                ),
                (
                    "end_user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.enduser",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["end_user", "key"],
                        name="contact_key_lookup",
                        opclasses=["int8_ops", "varchar_pattern_ops"],
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("contact", "end_user", "key", "how"), name="contact_key_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Relation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=50)),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None
                    ),
                ),
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
                    "object",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="relations_in",
                        to="contacts.contact",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="relations_out",
                        to="contacts.contact",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["subject", "end_user"], name="relation_outbound"),
                    models.Index(fields=["object", "end_user"], name="relation_inbound"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("subject", "object", "kind"), name="relation_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("subject", models.F("object")), _negated=True),
                        name="relation_between_two_people",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Suggestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("certain", "Certain"),
                            ("likely", "Likely"),
                            ("ambiguous", "Ambiguous"),
                        ],
                        max_length=9,
                    ),
                ),
                ("confidence", models.FloatField()),
                ("evidence", models.JSONField(default=list)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("later", "Later"),
                            ("merged", "Merged"),
                            ("different", "Different"),
                        ],
                        default="open",
                        max_length=9,
                    ),
                ),
                ("decided_by", models.CharField(blank=True, default="", max_length=100)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "judgement",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("same", "Same"),
                            ("different", "Different"),
                            ("unsure", "Unsure"),
                        ],
                        db_default="",
                        default="",
                        max_length=9,
                    ),
                ),
                ("judged_reason", models.TextField(blank=True, db_default="", default="")),
                (
                    "judged_by",
                    models.CharField(blank=True, db_default="", default="", max_length=100),
                ),
                ("judged_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "end_user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suggestions",
                        to="accounts.enduser",
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="contacts.contact",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="contacts.contact",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["end_user", "state", "-confidence"], name="suggestion_queue"
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["open", "later"])),
                        fields=["-state", "-confidence", "id"],
                        name="suggestion_waiting",
                    ),
                    models.Index(fields=["first", "end_user"], name="suggestion_of_first"),
                    models.Index(fields=["second", "end_user"], name="suggestion_of_second"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("first", "second"), name="suggestion_once"),
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))),
                        name="suggestion_smaller_id_first",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                        name="suggestion_confidence_in_0_1",
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="contact",
            constraint=models.UniqueConstraint(fields=("end_user", "id"), name="contact_of_user"),
        ),
        *(add(*key) for key in KEYS),
    ]
