"""Who is whose mother, partner, boss: the typed, directed relations between contacts.

Callers hold the end user's lock.
"""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from accounts.models import EndUser
from contacts.models import Contact, Relation
from understanding.languages import wording

MAX_KIND = 50


def cleaned(kind: str) -> str:
    """What the one is to the other, as it is stored."""
    return " ".join(kind.split())[:MAX_KIND]


def relate(
    end_user: EndUser, subject: Contact, kind: str, other: Contact, sources: Iterable[UUID] = ()
) -> Relation | None:
    """Records that ``subject`` is the ``kind`` of ``other``, once, with what says so. What a
    person stated rests on no memory, whoever says it as well: it does not go with these.

    None when both are the same contact or ``kind`` is empty."""
    kind = cleaned(kind)
    if not kind or subject.id == other.id:
        return None
    relation, made = Relation.objects.get_or_create(
        end_user=end_user, subject=subject, object=other, kind=kind
    )
    known = set(relation.sources)
    more = [source for source in dict.fromkeys(sources) if source not in known]
    if more and (made or known):
        relation.sources = [*relation.sources, *more]
        relation.save(update_fields=["sources"])
    return relation


def state(end_user: EndUser, subject: Contact, kind: str, other: Contact) -> Relation | None:
    """Records that a person says so: it rests on no memory, so that no correction of one takes
    it away. None as for ``relate``."""
    relation = relate(end_user, subject, kind, other)
    if relation is not None and relation.sources:
        relation.sources = []
        relation.save(update_fields=["sources"])
    return relation


def resting_on(
    end_user: EndUser, memory_ids: Collection[UUID], of: UUID | None = None
) -> list[Relation]:
    """The relations that these memories state, all or only those ``of`` one contact."""
    rows = Relation.objects.of(end_user).filter(sources__overlap=list(memory_ids))
    return list((rows if of is None else rows.among([of])).order_by("id"))


def without_sources(rows: Iterable[Relation], gone: Collection[UUID]) -> set[UUID]:
    """Takes memories away from the relations that rest on them; one that rested on them
    alone is deleted. Returns the contacts concerned. What an operator stated stays."""
    touched: set[UUID] = set()
    for relation in rows:
        touched |= {relation.subject_id, relation.object_id}
        relation.sources = [source for source in relation.sources if source not in gone]
        if relation.sources:
            relation.save(update_fields=["sources"])
        else:
            relation.delete()
    return touched


def on_card(contact: Contact, language: str) -> list[str]:
    """The relations of a contact as its card says them: ``partner: 小李``."""
    return _lines(contact.id, _of_cards(contact.end_user_id, [contact.id]), language)


def on_card_of_both(loser: Contact, survivor: Contact, language: str) -> list[str]:
    """The same of the survivor after a merge: of two that say the same the survivor's own stays."""
    both = {loser.id, survivor.id}
    rows = _of_cards(survivor.end_user_id, both)
    own = {(kind, subject, other) for kind, subject, other, *_ in rows
           if loser.id not in (subject, other)}  # fmt: skip
    moved = []
    for kind, subject, other, *names in rows:
        ends = [survivor.id if pk == loser.id else pk for pk in (subject, other)]
        twin = loser.id in (subject, other) and (kind, *ends) in own
        if ends[0] != ends[1] and not twin:
            moved.append((kind, *ends, *names))
    return _lines(survivor.id, moved, language)


def _of_cards(end_user_id: int, contact_ids: Iterable[UUID]) -> list[Any]:
    rows = Relation.objects.of(end_user_id).concerning(contact_ids).order_by("id")
    return list(rows.values_list(
        "kind", "subject_id", "object_id", "subject__name", "subject__archived_at", "object__name",
        "object__archived_at",
    ))  # fmt: skip


def _lines(contact_id: UUID, rows: Iterable[Any], language: str) -> list[str]:
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
