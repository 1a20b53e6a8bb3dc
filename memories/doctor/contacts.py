"""The doctor's checks of contacts: their memories, names, cards and profiles."""

from collections.abc import Iterator, Sequence

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import EndUser
from contacts import store
from contacts.models import Contact, ContactKey
from memories import profiles
from memories.corrections import derived, refresh
from memories.doctor.findings import CHUNK, GRACE, Check, Finding, Fix, rows
from memories.doctor.index import embed_users
from memories.models import CONSOLIDATED_IMPORTANCE, Memory


def memory_ids_equal_links() -> Iterator[Finding]:
    """Contact.memory_ids holds exactly the memories of its unrejected links, in their order."""
    for end_user, contact in rows("""
        SELECT c.end_user_id, c.id FROM contacts_contact c
        LEFT JOIN LATERAL (
            SELECT array_agg(l.memory_id ORDER BY l.id) AS ids FROM memories_link l
            WHERE l.contact_id = c.id AND NOT l.rejected) links ON true
        WHERE c.memory_ids <> COALESCE(links.ids, '{}')
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
        if contact.card != store.card_text(contact, contact.end_user.language):
            yield Finding(contact.end_user_id, contact.id, "card is out of date")


def _render_cards(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        store.save(contact, [])


def keys_are_current() -> Iterator[Finding]:
    """A contact is found by exactly the keys that follow from its names and attributes; a
    merged one by none."""
    contacts = Contact.objects.light().prefetch_related("keys").order_by("pk")
    for contact in contacts.iterator(CHUNK):
        wanted = {(key.key, key.how) for key in store.all_keys_of(contact)}
        if wanted != {(key.key, key.how) for key in contact.keys.all()}:
            yield Finding(
                contact.end_user_id, contact.id, "lookup keys differ from the names and attributes"
            )


def _rebuild_keys(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        store.index(contact)


def merged_contacts_have_no_keys() -> Iterator[Finding]:
    """Nobody is found under a contact that was merged into another."""
    keyed = ContactKey.objects.exclude(contact__merged_into=None)
    for end_user, contact in keyed.values_list("end_user_id", "contact_id").distinct():
        yield Finding(end_user, contact, "was merged but is still found by name")


def merged_contacts_hold_nothing() -> Iterator[Finding]:
    """What was merged into another contact has no memories, relations, open questions or
    work of its own, no memory speaks for it or of it, and its id leads to a survivor."""
    for end_user, contact in rows("""
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
    for end_user, contact in rows("""
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
        refresh.prune(contact)
        store.save(contact, derived.PROFILE_FIELDS)
        derived.write_profile_memory(contact)
    embed_users(findings)


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
    embed_users(findings)


def sources_step_back() -> Iterator[Finding]:
    """A memory that a profile speaks for is at the floor, and the profile is there and of
    someone whom the memory is about."""
    for end_user, memory in rows(
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
                refresh.point_at_profiles(end_user, mine)


def _locked_contacts(findings: Sequence[Finding]) -> Iterator[Contact]:
    """Each contact in a transaction of its own, with its end user locked."""
    for finding in findings:
        with transaction.atomic():
            end_user = EndUser.objects.lock(finding.end_user_id or 0)
            contact = Contact.objects.filter(pk=finding.subject).light().first()
            if end_user is not None and contact is not None:
                contact.end_user = end_user
                yield contact


CHECKS: dict[Check, Fix | None] = {
    memory_ids_equal_links: _rebuild_memory_ids,
    profiles_rest_on_their_own_memories: _rebuild_profiles,
    profile_memories_are_current: _write_profile_memories,
    cards_are_current: _render_cards,
    keys_are_current: _rebuild_keys,
    merged_contacts_have_no_keys: _rebuild_keys,
    merged_contacts_hold_nothing: None,
    sources_step_back: _point_at_profiles,
}
