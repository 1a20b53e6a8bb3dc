"""Typed, directed relations between contacts (mother, boss). Callers hold the end user's lock."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from accounts.models import EndUser
from contacts.models import Contact, Relation
from understanding.languages import wording

MAX_KIND = 50


def cleaned(kind: str) -> str:
    """Returns the kind of a relation as it is stored."""
    return " ".join(kind.split())[:MAX_KIND]


def relate(
    end_user: EndUser, subject: Contact, kind: str, other: Contact, sources: Iterable[UUID] = ()
) -> Relation | None:
    """Records that ``subject`` is the ``kind`` of ``other``, once, and adds ``sources``. A relation
    that a person stated gets none, so that it is not deleted with them.

    None when both are the same contact or ``kind`` is empty."""
    kind = cleaned(kind)
    if not kind or subject.id == other.id:
        return None
    relation, is_new = Relation.objects.get_or_create(
        end_user=end_user, subject=subject, object=other, kind=kind
    )
    known_sources = set(relation.sources)
    new_sources = [source for source in dict.fromkeys(sources) if source not in known_sources]
    if new_sources and (is_new or known_sources):
        relation.sources = [*relation.sources, *new_sources]
        relation.save(update_fields=["sources"])
    return relation


def state(end_user: EndUser, subject: Contact, kind: str, other: Contact) -> Relation | None:
    """Records that a person states this: it has no sources, so that no correction of a memory takes
    it away. None as for ``relate``."""
    relation = relate(end_user, subject, kind, other)
    if relation is not None and relation.sources:
        relation.sources = []
        relation.save(update_fields=["sources"])
    return relation


def resting_on(
    end_user: EndUser, memory_ids: Collection[UUID], of: UUID | None = None
) -> list[Relation]:
    """Returns the relations that these memories state, all or only those ``of`` one contact."""
    rows = Relation.objects.of(end_user).filter(sources__overlap=list(memory_ids))
    return list((rows if of is None else rows.among([of])).order_by("id"))


def without_sources(rows: Iterable[Relation], gone: Collection[UUID]) -> set[UUID]:
    """Removes memories from the sources of relations and deletes those left without any. Relations
    without sources, which a person stated, stay. Returns the contacts concerned."""
    touched: set[UUID] = set()
    for relation in rows:
        if not relation.sources:
            continue
        touched |= {relation.subject_id, relation.object_id}
        relation.sources = [source for source in relation.sources if source not in gone]
        if relation.sources:
            relation.save(update_fields=["sources"])
        else:
            relation.delete()
    return touched


def on_card(contact: Contact, language: str) -> list[str]:
    """Returns the relations of a contact as lines of its card: ``partner: 小李``."""
    return _card_lines(contact.id, _card_rows(contact.end_user_id, [contact.id]), language)


def on_card_of_both(loser: Contact, survivor: Contact, language: str) -> list[str]:
    """Returns the relations on a merged card; of two equal ones the survivor's own stays."""
    both = {loser.id, survivor.id}
    rows = _card_rows(survivor.end_user_id, both)
    own = {(kind, subject, other) for kind, subject, other, *_ in rows
           if loser.id not in (subject, other)}  # fmt: skip
    moved = []
    for kind, subject, other, *names in rows:
        ends = [survivor.id if pk == loser.id else pk for pk in (subject, other)]
        twin = loser.id in (subject, other) and (kind, *ends) in own
        if ends[0] != ends[1] and not twin:
            moved.append((kind, *ends, *names))
    return _card_lines(survivor.id, moved, language)


def _card_rows(end_user_id: int, contact_ids: Iterable[UUID]) -> list[Any]:
    rows = Relation.objects.of(end_user_id).concerning(contact_ids).order_by("id")
    return list(rows.values_list(
        "kind", "subject_id", "object_id", "subject__name", "subject__archived_at", "object__name",
        "object__archived_at",
    ))  # fmt: skip


def _card_lines(contact_id: UUID, rows: Iterable[Any], language: str) -> list[str]:
    """The lines of ``rows``, seen from this contact, without archived people."""
    lines = []
    words = wording(language)
    for kind, _, object_id, subject, subject_archived, other, other_archived in rows:
        inbound = object_id == contact_id
        if subject_archived if inbound else other_archived:
            continue
        if inbound:
            lines.append(f"{kind}{words['colon']}{subject}")
        else:
            lines.append(words["relation"].format(kind=kind, name=other))
    return lines
