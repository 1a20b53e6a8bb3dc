"""The invariants of the database. Each is a function that yields its violations, some from
``statements/NAME.sql``, with a repair: the verbs that made derived data, or ``repairs/NAME.sql``.
Violations that no machine knows how to repair are only reported."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from accounts import row_security, scope
from accounts.cells import atomic, connection, fetch
from accounts.models import EndUser
from contacts import cards, store
from contacts.models import Contact
from memories.corrections import derived, merge_contacts
from memories.jobs import job_runs, schedules, sweep
from memories.models import AROUND_SHARE, Batch, Consolidation, Edge, JobRun, Memory, Work
from memories.models.search_index import POSTINGS
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder
from memories.search import context_tokens
from memories.search.sql import statement
from memories.search.tokens import own, tokenise
from memories.types import AROUND
from understanding.statements.secrets import refusal

CHUNK = 500
FOLDER = Path(__file__).parent
# On a live system, workers may still be about to do what is missing; after this it is wrong.
GRACE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. ``subject`` is the id of the row to repair, if there is one."""

    end_user: int | None
    subject: Any
    problem: str


Check = Callable[[], Iterator[Finding]]
Fix = Callable[[Sequence[Finding]], object]


def _sql_check(name: str, problem: str, parameters: Callable[[], dict[str, Any]] = dict) -> Check:
    """Returns the check of ``statements/NAME.sql``, which selects (end user, subject) rows."""
    sql = statement(str(FOLDER / "statements" / name), f"{name}.sql")

    def check() -> Iterator[Finding]:
        for end_user, subject in fetch(sql, parameters()):
            yield Finding(end_user, subject, problem)

    check.__name__ = name
    return check


def _sql_repair(
    name: str, problem: str, parameters: Callable[[], dict[str, Any]] = dict, **texts: str
) -> dict[Check, Fix]:
    """Returns such a check with its repair: ``repairs/NAME.sql`` per finding, under the lock."""
    sql = statement(str(FOLDER / "repairs" / name), f"{name}.sql")
    for hole, text in texts.items():
        sql = sql.replace(f"{{{hole}}}", text)

    def fix(findings: Sequence[Finding]) -> None:
        for finding in findings:
            with atomic(), connection.cursor() as cursor:
                EndUser.objects.lock(finding.end_user or 0)
                at = {"end_user": finding.end_user, "subject": finding.subject}
                cursor.execute(sql, at)

    return {_sql_check(name, problem, parameters): fix}


def _fix_contacts(repair: Callable[[Contact], object]) -> Fix:
    """Returns a fix that repairs each contact in a transaction of its own, then embeds memories."""

    def fix(findings: Sequence[Finding]) -> None:
        for finding in findings:
            with atomic():
                if end_user := EndUser.objects.lock(finding.end_user or 0):
                    for contact in end_user.contacts.filter(pk=finding.subject).light():
                        repair(contact)
        _embed_users(findings)

    return fix


def _fix_by_user(repair: Callable[[EndUser, list[Any]], object]) -> Fix:
    """Returns a fix that repairs the subjects of each end user in a transaction, under its lock."""

    def fix(findings: Sequence[Finding]) -> None:
        subjects: dict[int, list[Any]] = {}
        for finding in findings:
            subjects.setdefault(finding.end_user or 0, []).append(finding.subject)
        for end_user_id, ids in subjects.items():
            with atomic():
                if end_user := EndUser.objects.lock(end_user_id):
                    repair(end_user, ids)

    return fix


def tables_have_their_policy() -> Iterator[Finding]:
    """The database itself keeps end users apart, also from work of this role."""
    problems = {one.table: one.problem for one in row_security.unprotected(connection)}
    tables = list(row_security.user_tables())
    with scope.user_scope(0), connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM unnest(%s::text[]) t WHERE NOT row_security_active(t)", [tables]
        )
        for (table,) in cursor.fetchall():
            problems.setdefault(table, "Its policy does not hold for this database role.")
    for table, problem in problems.items():
        yield Finding(None, table, problem)


def _protect(_findings: Sequence[Finding]) -> None:
    with scope.all_users_of_session(connection):
        row_security.protect(connection)


def cards_are_current() -> Iterator[Finding]:
    """A standing contact's card is what its profile and newest memories render to."""
    contacts = Contact.objects.standing().light().select_related("end_user").order_by("pk")
    for contact in contacts.iterator(CHUNK):
        user = contact.end_user
        card = str(store.card_of(contact, user.language))
        now = cards.with_coming(card, store.coming(contact), user.today, user.writing_language)
        if contact.card != card or contact.card_today != str(now):
            yield Finding(contact.end_user_id, contact.id, "card is out of date")


def keys_are_current() -> Iterator[Finding]:
    """A contact is found by exactly the keys of its names and attributes; a merged one by none."""
    contacts = Contact.objects.light().prefetch_related("keys").order_by("pk")
    for contact in contacts.iterator(CHUNK):
        wanted = {(key.key, key.how) for key in store.all_keys_of(contact)}
        if wanted != {(key.key, key.how) for key in contact.keys.all()}:
            problem = "lookup keys differ from the names and attributes"
            yield Finding(contact.end_user_id, contact.id, problem)


def _empty_merged_contact(tombstone: Contact) -> None:
    survivor = store.survivor(tombstone.end_user, tombstone.id)
    if survivor is not None:
        merge_contacts.hand_over_late_rows(tombstone, survivor, actor="doctor")


def profile_memories_are_current() -> Iterator[Finding]:
    """A contact with a profile has one profile memory, which says what the profile says."""
    contacts = Contact.objects.standing().light().select_related("end_user").order_by("pk")
    written = Memory.objects.filter(kind=Memory.Kind.PROFILE)
    contents = dict(written.values_list("content_hash", "content"))
    settled = contacts.filter(updated_at__lte=timezone.now() - GRACE)
    for contact in settled.iterator(CHUNK):
        content = contents.get(f"profile:{contact.id}")
        learnt = contact.attributes or contact.personality or contact.timeline
        if (content or learnt) and content != derived.profile_text(
            contact, contact.end_user.language
        ):
            yield Finding(contact.end_user_id, contact.id, "profile memory is out of date")


def sources_step_back() -> Iterator[Finding]:
    """A memory that is marked as consolidated is represented by a profile of its people."""
    for end_user, memory, _ in derived.misplaced("m.consolidated_into_id IS NOT NULL"):
        yield Finding(end_user, memory, "stepped back behind a profile that does not speak for it")


def tokens_are_current() -> Iterator[Finding]:
    """A memory is found by exactly the words of its content."""
    rows = Memory.objects.order_by("pk").values_list("end_user_id", "pk", "content", "tokens")
    for end_user, memory, content, tokens in rows.iterator(CHUNK):
        if own(tokens) != tokenise(content):
            yield Finding(end_user, memory, "search tokens differ from the content")


def _embed(findings: Sequence[Finding]) -> None:
    ids = [finding.subject for finding in findings]
    embedded = Memory.objects.filter(pk__in=ids, embedding_model=embedder().space)
    embedded.update(embedding=F("embedding"))  # a trigger writes it into the index
    _embed_users(findings)


def _embed_users(findings: Sequence[Finding]) -> None:
    for end_user in EndUser.objects.filter(pk__in={finding.end_user for finding in findings}):
        embed_missing(end_user, embedder())


def no_work_is_abandoned() -> Iterator[Finding]:
    """No batch or consolidation is held by a worker that is gone, or overdue for another try."""
    past = timezone.now() - GRACE
    abandoned = Q(state=Work.State.RUNNING, leased_until__lte=past) | Q(
        state=Work.State.FAILED, retry_at__lte=past
    )
    for model in (Batch, Consolidation):
        for end_user, pk in model.objects.filter(abandoned).values_list("end_user_id", "pk"):
            yield Finding(end_user, f"{model._meta.model_name} {pk}", "was left by its worker")


def no_job_is_abandoned() -> Iterator[Finding]:
    """No maintenance job is held by a process that is gone: the sweep would have continued it."""
    running = JobRun.objects.filter(state=JobRun.State.RUNNING)
    for run in running.filter(leased_until__lte=timezone.now() - GRACE):
        yield Finding(None, f"job {run.job}", "was left by its process")


def schedules_are_installed() -> Iterator[Finding]:
    """The queue's periodic jobs are those of ``SCHEDULES``."""
    if schedules.installed() != schedules.SCHEDULES:
        yield Finding(None, None, "the installed schedules differ from the table")


def nothing_tells_a_secret() -> Iterator[Finding]:
    """No memory and no attribute of a contact contains a secret that would be refused today."""
    facts = Memory.objects.filter(kind=Memory.Kind.FACT).order_by("pk")
    columns = facts.values_list("end_user_id", "pk", "content", "quote", "facts")
    for end_user, memory, content, quote, known in columns.iterator(CHUNK):
        values = [{fact["key"]: fact["value"]} for fact in known]
        if refusal(content=content, quote=quote, facts=values):
            problem = "memory tells a secret: erase it (DELETE memories/{id}/ of the API, or Forget on its page)"
            yield Finding(end_user, memory, problem)
    people = Contact.objects.standing().order_by("pk")
    rows = people.values_list("end_user_id", "pk", "attributes")
    for end_user, contact, attributes in rows.iterator(CHUNK):
        if refusal(attributes=[{k: [v["value"] for v in each]} for k, each in attributes.items()]):
            problem = "an attribute of the contact tells a secret: remove it (PATCH contacts/{id}/ of the API, or its page)"
            yield Finding(end_user, contact, problem)


embeddings_are_current = _sql_check(
    "embeddings_are_current",
    "has no embedding of the configured model and size",
    lambda: {"space": embedder().space, "before": timezone.now() - GRACE},
)
batches_have_no_gaps = _sql_check("batches_have_no_gaps", "batches leave out messages")
merged_contacts_hold_nothing = _sql_check(
    "merged_contacts_hold_nothing", "was merged but still holds something"
)

# In an order in which each repair may rely on those before it.
CHECKS: dict[Check, Fix | None] = {
    tables_have_their_policy: _protect,
    **_sql_repair("memory_ids_equal_links", "memory_ids differs from the links"),
    _sql_check(
        "profiles_rest_on_their_own_memories", "profile rests on a memory that is not its own"
    ): _fix_contacts(derived.rebuild_profile),
    profile_memories_are_current: _fix_contacts(derived.write_profile_memory),
    cards_are_current: _fix_contacts(lambda contact: store.save(contact, [])),
    keys_are_current: _fix_contacts(store.index),
    merged_contacts_hold_nothing: _fix_contacts(_empty_merged_contact),
    sources_step_back: _fix_by_user(derived.point_at_profiles),
    tokens_are_current: _fix_by_user(context_tokens.retokenise),
    **_sql_repair(
        "postings_equal_tokens",
        "is indexed under other words or another status",
        lambda: {"around": AROUND, "share": AROUND_SHARE},
        postings=POSTINGS.replace("%'", "%%'").format(source="found"),
    ),
    **_sql_repair("corpora_count_memories", "the number of memories is not what word search knows"),
    embeddings_are_current: _embed,
    **_sql_repair("edges_have_mirrors", "an edge and its mirror differ, or one is missing"),
    _sql_check("entity_links_fit", "points at another user's row"): None,
    _sql_check(
        "shared_entities_are_shared",
        "joins memories by an entity that one doesn't speak of",
        lambda: {"shares": Edge.SHARES_ENTITY},
    ): lambda findings: Edge.objects.filter(pk__in=[one.subject for one in findings]).delete(),
    _sql_check("merged_memories_lead_on", "was merged but still stands, or leads nowhere"): None,
    _sql_check("rows_stay_with_their_user", "points at another user's row"): None,
    _sql_check("messages_have_no_gaps", "messages are missing or numbered with gaps"): None,
    batches_have_no_gaps: None,
    no_work_is_abandoned: lambda _findings: sweep.sweep(),
    no_job_is_abandoned: lambda _findings: job_runs.end_dead(timezone.now()),
    schedules_are_installed: lambda _findings: schedules.install(),
    nothing_tells_a_secret: None,
}
