"""The doctor's checks of contacts: their memories, names, cards and profiles."""

from collections.abc import Iterator, Sequence

from django.utils import timezone

from accounts.cells import atomic, connection
from accounts.models import EndUser
from contacts import cards, store
from contacts.models import Contact, ContactKey
from memories import profiles
from memories.corrections import derived, merge_contacts, sources
from memories.doctor.findings import CHUNK, GRACE, Check, Finding, Fix, stated
from memories.doctor.index import embed_users
from memories.models import Memory

memory_ids_equal_links = stated("memory_ids_equal_links", "memory_ids differs from the links")


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
        user = contact.end_user
        card = store.card_of(contact, user.language)
        now = cards.with_coming(card, store.coming(contact), user.today, user.reads)
        if contact.card != str(card) or contact.card_today != str(now):
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


merged_contacts_hold_nothing = stated(
    "merged_contacts_hold_nothing", "was merged but still holds something"
)


def _hand_on(findings: Sequence[Finding]) -> None:
    for tombstone in _locked_contacts(findings):
        survivor = store.survivor(tombstone.end_user, tombstone.id)
        if survivor is not None:
            merge_contacts.hand_on(tombstone, survivor, actor="doctor")


profiles_rest_on_their_own_memories = stated(
    "profiles_rest_on_their_own_memories", "profile rests on a memory that is not its own"
)


def _rebuild_profiles(findings: Sequence[Finding]) -> None:
    for contact in _locked_contacts(findings):
        derived.prune(contact)
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
    """A memory steps back only behind a profile of its people that speaks for it."""
    for end_user, memory, _ in sources.misplaced("m.consolidated_into_id IS NOT NULL"):
        yield Finding(end_user, memory, "stepped back behind a profile that does not speak for it")


def _point_at_profiles(findings: Sequence[Finding]) -> None:
    for end_user_id in {finding.end_user_id for finding in findings}:
        with atomic():
            end_user = EndUser.objects.lock(end_user_id or 0)
            if end_user is not None:
                mine = [f.subject for f in findings if f.end_user_id == end_user_id]
                sources.point_at_profiles(end_user, mine)


def _locked_contacts(findings: Sequence[Finding]) -> Iterator[Contact]:
    """Each contact in a transaction of its own, with its end user locked."""
    for finding in findings:
        with atomic():
            end_user = EndUser.objects.lock(finding.end_user_id or 0)
            if end_user is not None:
                yield from end_user.contacts.filter(pk=finding.subject).light()


CHECKS: dict[Check, Fix | None] = {
    memory_ids_equal_links: _rebuild_memory_ids,
    profiles_rest_on_their_own_memories: _rebuild_profiles,
    profile_memories_are_current: _write_profile_memories,
    cards_are_current: _render_cards,
    keys_are_current: _rebuild_keys,
    merged_contacts_have_no_keys: _rebuild_keys,
    merged_contacts_hold_nothing: _hand_on,
    sources_step_back: _point_at_profiles,
}
