"""The invariants of the database, each as a small named function that finds what breaks it.

A check returns one Finding for each thing that is wrong. ``fix`` repairs derived data with
the same verbs that made it; what a machine can't know how to repair is only reported.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import EndUser
from contacts import identity
from contacts.models import Contact, ContactKey
from memories import (
    derived,
    doctor_graph,
    job_runs,
    profiles,
    schedules,
    settling,
    surroundings,
    sweeping,
)
from memories.findings import Check, Finding, Fix
from memories.findings import rows as _rows
from memories.models import (
    AROUND,
    AROUND_SHARE,
    CONSOLIDATED_IMPORTANCE,
    Batch,
    Consolidation,
    Memory,
    Work,
)
from memories.models.index import POSTINGS
from memories.pipeline.embed import embed_missing
from memories.providers.configured import embedder
from memories.search.tokens import own, tokenise
from memories.search.vectors import space

CHUNK = 500
# What workers may still be about to do on a live system is not wrong yet.
GRACE = timedelta(minutes=5)


# Contacts ----------------------------------------------------------------------------------


def memory_ids_equal_links() -> Iterator[Finding]:
    """Contact.memory_ids holds exactly the memories of its unrejected links, in their order."""
    for end_user, contact in _rows("""
        SELECT c.end_user_id, c.id FROM contacts_contact c
        LEFT JOIN LATERAL (
            SELECT array_agg(l.memory_id ORDER BY l.memory_id) AS ids FROM memories_link l
            WHERE l.contact_id = c.id AND NOT l.rejected) links ON true
        WHERE ARRAY(SELECT unnest(c.memory_ids) ORDER BY 1) <> COALESCE(links.ids, '{}')
    """):
        yield Finding(end_user, contact, "memory_ids differs from the links")


def _rebuild_memory_ids(findings: Sequence[Finding]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE contacts_contact c SET memory_ids = ARRAY(
                   SELECT l.memory_id FROM memories_link l
                   WHERE l.contact_id = c.id AND NOT l.rejected ORDER BY l.id)
               WHERE c.id = ANY(%s::uuid[])""",
            [[finding.subject for finding in findings]],
        )


def cards_are_current() -> Iterator[Finding]:
    """A standing contact's card is what its profile and newest memories render to."""
    contacts = Contact.objects.standing().light().select_related("end_user").order_by("pk")
    for contact in contacts.iterator(CHUNK):
        if contact.card != identity.card_text(contact, contact.end_user.language):
            yield Finding(contact.end_user_id, contact.id, "card is out of date")


def _render_cards(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        identity.save(contact, [])


def keys_are_current() -> Iterator[Finding]:
    """A contact is found by exactly the keys that follow from its names and attributes; a
    merged one by none."""
    contacts = Contact.objects.light().prefetch_related("keys").order_by("pk")
    for contact in contacts.iterator(CHUNK):
        wanted = {(key.key, key.how) for key in identity.all_keys_of(contact)}
        if wanted != {(key.key, key.how) for key in contact.keys.all()}:
            yield Finding(
                contact.end_user_id, contact.id, "lookup keys differ from the names and attributes"
            )


def _rebuild_keys(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        identity.index(contact)


def merged_contacts_have_no_keys() -> Iterator[Finding]:
    """Nobody is found under a contact that was merged into another."""
    keyed = ContactKey.objects.exclude(contact__merged_into=None)
    for end_user, contact in keyed.values_list("end_user_id", "contact_id").distinct():
        yield Finding(end_user, contact, "was merged but is still found by name")


def merged_contacts_hold_nothing() -> Iterator[Finding]:
    """What was merged into another contact has no memories, relations, open questions or
    work of its own, no memory speaks for it or of it, and its id leads to a survivor."""
    for end_user, contact in _rows("""
        WITH RECURSIVE led (id, at) AS (
            SELECT id, merged_into_id FROM contacts_contact WHERE merged_into_id IS NOT NULL
            UNION SELECT led.id, c.merged_into_id FROM led JOIN contacts_contact c ON c.id = led.at
            WHERE c.merged_into_id IS NOT NULL)
        SELECT c.end_user_id, c.id FROM contacts_contact c
        WHERE c.merged_into_id IS NOT NULL AND (
            NOT EXISTS (SELECT FROM led JOIN contacts_contact s ON s.id = led.at
                        WHERE led.id = c.id AND s.merged_into_id IS NULL)
            OR EXISTS (SELECT FROM memories_link l WHERE l.contact_id = c.id AND NOT l.rejected)
            OR EXISTS (SELECT FROM contacts_relation r
                       WHERE c.id IN (r.subject_id, r.object_id))
            OR EXISTS (SELECT FROM contacts_suggestion s
                       WHERE c.id IN (s.first_id, s.second_id) AND s.state <> 'merged')
            OR EXISTS (SELECT FROM memories_consolidation w
                       WHERE w.contact_id = c.id AND w.state IN ('pending', 'failed'))
            OR EXISTS (SELECT FROM memories_memory m
                       WHERE m.end_user_id = c.end_user_id AND m.status = 'active'
                         AND m.content_hash = 'profile:' || c.id)
            OR EXISTS (SELECT FROM memories_memory m
                       WHERE m.end_user_id = c.end_user_id AND m.facts @>
                         jsonb_build_array(jsonb_build_object('person', c.id::text))))
    """):
        yield Finding(end_user, contact, "was merged but still holds something")


def profiles_rest_on_their_own_memories() -> Iterator[Finding]:
    """No value of a profile rests on a memory that is outdated, archived, gone, or not about
    the contact."""
    for end_user, contact in _rows("""
        SELECT DISTINCT c.end_user_id, c.id FROM contacts_contact c
        CROSS JOIN LATERAL (
            SELECT jsonb_path_query(c.attributes, '$.*[*].sources[*]') #>> '{}' AS id
            UNION SELECT jsonb_array_elements_text(c.personality_sources)
            UNION SELECT jsonb_path_query(c.timeline, '$[*].sources[*]') #>> '{}') source
        LEFT JOIN memories_memory m ON m.id = source.id::uuid AND m.end_user_id = c.end_user_id
        WHERE c.merged_into_id IS NULL
          AND (m.status IS DISTINCT FROM 'active' OR NOT source.id::uuid = ANY (c.memory_ids))
    """):
        yield Finding(end_user, contact, "profile rests on a memory that is not its own")


def _rebuild_profiles(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        settling.prune(contact)
        identity.save(contact, derived.PROFILE_FIELDS)
        derived.write_profile_memory(contact)
    _embed_missing(findings)


def profile_memories_are_current() -> Iterator[Finding]:
    """A contact with a profile has one profile memory, which says what the profile says."""
    settled = timezone.now() - GRACE
    contacts = Contact.objects.standing().light().select_related("end_user").order_by("pk")
    held = dict(
        Memory.objects.filter(kind=Memory.Kind.PROFILE).values_list("content_hash", "content")
    )
    for contact in contacts.filter(updated_at__lte=settled).iterator(CHUNK):
        content = held.get(f"profile:{contact.id}")
        known = contact.attributes or contact.personality or contact.timeline
        if (content or known) and content != profiles.as_text(contact):
            yield Finding(contact.end_user_id, contact.id, "profile memory is out of date")


def _write_profile_memories(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        derived.write_profile_memory(contact)
    _embed_missing(findings)


def _locked_contacts(findings: Sequence[Finding]) -> Iterator[Contact]:
    """Each contact in a transaction of its own, with its end user locked."""
    for finding in findings:
        with transaction.atomic():
            end_user = EndUser.objects.lock(finding.end_user_id or 0)
            contact = Contact.objects.filter(pk=finding.subject).light().first()
            if end_user is not None and contact is not None:
                contact.end_user = end_user
                yield contact


# Memories ----------------------------------------------------------------------------------


def tokens_are_current() -> Iterator[Finding]:
    """A memory is found by exactly the words of its content."""
    rows = Memory.objects.order_by("pk").values_list("end_user_id", "pk", "content", "tokens")
    for end_user, memory, content, tokens in rows.iterator(CHUNK):
        if own(tokens) != tokenise(content):
            yield Finding(end_user, memory, "search tokens differ from the content")


def _rebuild_tokens(findings: Sequence[Finding]) -> None:
    ids = [finding.subject for finding in findings]
    for end_user in {finding.end_user_id for finding in findings}:
        with transaction.atomic():
            if held := EndUser.objects.lock(end_user or 0):
                surroundings.retokenise(held, ids)


def embeddings_are_current() -> Iterator[Finding]:
    """Every memory has a vector of the configured model and size, and says so."""
    current = space(embedder())
    for end_user, memory in _rows(
        """SELECT m.end_user_id, m.id FROM memories_memory m
           LEFT JOIN memories_vector v ON v.end_user_id = m.end_user_id
               AND v.memory_id = m.id AND v.space = %s
           WHERE (v.memory_id IS NULL OR m.embedding_model <> %s)
               AND (m.embedding_model <> '' OR m.updated_at <= %s)""",
        current,
        current,
        timezone.now() - GRACE,
    ):
        yield Finding(end_user, memory, "has no embedding of the configured model and size")


def _embed(findings: Sequence[Finding]) -> None:
    ids = [finding.subject for finding in findings]
    Memory.objects.filter(pk__in=ids).update(embedding_model="")
    _embed_missing(findings)


def postings_equal_tokens() -> Iterator[Finding]:
    """A memory is found under exactly its search tokens, as often as they stand there, and it
    and its vectors under its own status."""
    for end_user, memory in _rows(
        """
        SELECT m.end_user_id, m.id FROM memories_memory m
        LEFT JOIN (
            SELECT memory_id, end_user_id, min(status) AS status, max(status) AS other,
                array_agg((token, round(times::numeric, 3), length)::text ORDER BY token) AS held
            FROM memories_posting GROUP BY memory_id, end_user_id) p
            ON p.memory_id = m.id AND p.end_user_id = m.end_user_id
        CROSS JOIN LATERAL (
            SELECT array_agg((token, round(times, 3), cardinality(m.tokens))::text
                             ORDER BY token) AS meant
            FROM (SELECT ltrim(raw, %s) COLLATE "C" AS token,
                      sum(CASE WHEN starts_with(raw, %s) THEN %s ELSE 1 END) AS times
                  FROM unnest(m.tokens) AS raw GROUP BY 1
                  UNION ALL SELECT '', 1) words) tokens
        WHERE held IS DISTINCT FROM meant OR p.status <> m.status OR p.other <> m.status
            OR EXISTS (SELECT FROM memories_vector v WHERE v.end_user_id = m.end_user_id
                       AND v.memory_id = m.id AND v.status <> m.status)
        UNION ALL
        SELECT DISTINCT p.end_user_id, p.memory_id FROM memories_posting p
        WHERE p.token = '' AND NOT EXISTS (
            SELECT FROM memories_memory m
            WHERE m.id = p.memory_id AND m.end_user_id = p.end_user_id)
        """,
        AROUND,
        AROUND,
        AROUND_SHARE,
    ):
        yield Finding(end_user, memory, "is indexed under other words or another status")


def _rebuild_postings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        with transaction.atomic(), connection.cursor() as cursor:
            EndUser.objects.lock(finding.end_user_id or 0)
            at = {"end_user": finding.end_user_id, "memory": finding.subject}
            cursor.execute(
                """DELETE FROM memories_posting
                   WHERE end_user_id = %(end_user)s AND memory_id = %(memory)s;
                   UPDATE memories_vector v SET status = m.status FROM memories_memory m
                   WHERE v.end_user_id = %(end_user)s AND v.memory_id = %(memory)s
                       AND m.id = v.memory_id""",
                at,
            )
            source = "(SELECT * FROM memories_memory WHERE id = %(memory)s)"
            cursor.execute(POSTINGS.replace("%'", "%%'").format(source=source), at)


def _embed_missing(findings: Sequence[Finding]) -> None:
    for end_user in EndUser.objects.filter(pk__in={finding.end_user_id for finding in findings}):
        embed_missing(end_user, embedder())


def sources_step_back() -> Iterator[Finding]:
    """A memory that a profile speaks for is at the floor, and the profile is there and of
    someone whom the memory is about."""
    for end_user, memory in _rows(
        """SELECT m.end_user_id, m.id FROM memories_memory m
           LEFT JOIN memories_memory p ON p.id = m.consolidated_into_id
               AND p.end_user_id = m.end_user_id AND p.kind = 'profile'
           WHERE m.consolidated_into_id IS NOT NULL AND (m.importance > %s OR NOT EXISTS (
               SELECT FROM memories_link l WHERE l.memory_id = m.id AND NOT l.rejected
               AND p.content_hash = 'profile:' || l.contact_id))""",
        CONSOLIDATED_IMPORTANCE,
    ):
        yield Finding(end_user, memory, "no profile of its people speaks for it, or it outranks it")


def _point_at_profiles(findings: Sequence[Finding]) -> None:
    for end_user_id in {finding.end_user_id for finding in findings}:
        with transaction.atomic():
            end_user = EndUser.objects.lock(end_user_id or 0)
            if end_user is not None:
                mine = [f.subject for f in findings if f.end_user_id == end_user_id]
                settling.point_at_profiles(end_user, mine)


def rows_stay_with_their_user() -> Iterator[Finding]:
    """No link, edge, key or relation crosses from one end user to another."""
    for end_user, row in _rows("""
        SELECT l.end_user_id, 'link ' || l.id FROM memories_link l
        JOIN contacts_contact c ON c.id = l.contact_id
        JOIN memories_memory m ON m.id = l.memory_id
        WHERE l.end_user_id <> c.end_user_id OR l.end_user_id <> m.end_user_id
        UNION ALL
        SELECT e.end_user_id, 'edge ' || e.id FROM memories_edge e
        JOIN memories_memory s ON s.id = e.source_id
        JOIN memories_memory t ON t.id = e.target_id
        WHERE e.end_user_id <> s.end_user_id OR e.end_user_id <> t.end_user_id
        UNION ALL
        SELECT k.end_user_id, 'key ' || k.id FROM contacts_contactkey k
        JOIN contacts_contact c ON c.id = k.contact_id WHERE k.end_user_id <> c.end_user_id
        UNION ALL
        SELECT r.end_user_id, 'relation ' || r.id FROM contacts_relation r
        JOIN contacts_contact s ON s.id = r.subject_id
        JOIN contacts_contact o ON o.id = r.object_id
        WHERE r.end_user_id <> s.end_user_id OR r.end_user_id <> o.end_user_id
    """):
        yield Finding(end_user, row, "points at another user's row")


# Messages and work -------------------------------------------------------------------------


def messages_have_no_gaps() -> Iterator[Finding]:
    """A user's messages are numbered 1, 2, 3 … up to message_seq."""
    for (end_user,) in _rows("""
        SELECT u.id FROM accounts_enduser u
        LEFT JOIN (SELECT end_user_id, count(*) AS n, min(seq) AS first, max(seq) AS last
                   FROM memories_message GROUP BY end_user_id) m ON m.end_user_id = u.id
        WHERE COALESCE(m.n, 0) <> u.message_seq
           OR (m.n > 0 AND (m.first <> 1 OR m.last <> u.message_seq))
    """):
        yield Finding(end_user, end_user, "messages are missing or numbered with gaps")


def batches_have_no_gaps() -> Iterator[Finding]:
    """A user's batches follow each other from message 1 up to extracted_seq."""
    for (end_user,) in _rows("""
        WITH ranges AS (
            SELECT end_user_id, first_seq, last_seq,
                   lag(last_seq, 1, 0) OVER (PARTITION BY end_user_id ORDER BY first_seq) AS before
            FROM memories_batch)
        SELECT u.id FROM accounts_enduser u
        LEFT JOIN (SELECT end_user_id, max(last_seq) AS last,
                          bool_or(first_seq <> before + 1) AS gap
                   FROM ranges GROUP BY end_user_id) b ON b.end_user_id = u.id
        WHERE COALESCE(b.last, 0) <> u.extracted_seq OR b.gap
    """):
        yield Finding(end_user, end_user, "batches leave out messages")


def no_work_is_abandoned() -> Iterator[Finding]:
    """No batch or consolidation is held by a worker that is gone, or was left to lie."""
    now = timezone.now()
    left = Q(state=Work.State.RUNNING, leased_until__lte=now - GRACE) | Q(
        state=Work.State.FAILED, retry_at__lte=now - GRACE
    )
    for model in (Batch, Consolidation):
        for end_user, pk in model.objects.filter(left).values_list("end_user_id", "pk"):
            name = model._meta.model_name
            yield Finding(end_user, f"{name} {pk}", "was left by its worker")


def no_job_is_abandoned() -> Iterator[Finding]:
    """No maintenance job is held by a process that is gone: the sweep would have gone on."""
    for run in job_runs.dead(timezone.now() - GRACE):
        yield Finding(None, f"job {run.job}", "was left by its process")


def schedules_are_installed() -> Iterator[Finding]:
    """The queue's periodic jobs are those of the table."""
    if schedules.installed() != schedules.SCHEDULES:
        yield Finding(None, None, "the installed schedules differ from the table")


CHECKS: dict[Check, Fix | None] = {
    memory_ids_equal_links: _rebuild_memory_ids,
    profiles_rest_on_their_own_memories: _rebuild_profiles,
    profile_memories_are_current: _write_profile_memories,
    cards_are_current: _render_cards,
    keys_are_current: _rebuild_keys,
    merged_contacts_have_no_keys: _rebuild_keys,
    merged_contacts_hold_nothing: None,
    tokens_are_current: _rebuild_tokens,
    postings_equal_tokens: _rebuild_postings,
    embeddings_are_current: _embed,
    sources_step_back: _point_at_profiles,
    **doctor_graph.CHECKS,
    rows_stay_with_their_user: None,
    messages_have_no_gaps: None,
    batches_have_no_gaps: None,
    no_work_is_abandoned: lambda _findings: sweeping.sweep(),
    no_job_is_abandoned: lambda _findings: job_runs.end_dead(timezone.now()),
    schedules_are_installed: lambda _findings: schedules.install(),
}
