"""The verbs of relations: what a person says about who is whose mother, partner, boss.

Each is one transaction under the end user's lock with one Change row; the cards of both
people follow.
"""

from uuid import UUID

from django.db import transaction

from accounts.changes import recording
from accounts.models import Change, EndUser
from contacts import merge, relations, store
from contacts.models import Relation


class InvalidRelation(ValueError):
    """What was said of two people can't be kept; the message says why."""


@transaction.atomic
def add_relation(
    end_user: EndUser, subject_id: UUID, kind: str, object_id: UUID, *, actor: str, why: str = ""
) -> Change | None:
    """Says that ``subject_id`` is the ``kind`` of ``object_id``. What a person says rests on
    no memory, so no correction of one takes it away. None when that was known. Raises
    InvalidRelation and contacts.merge.InvalidMerge."""
    held = merge.hold(end_user)
    subject, other = merge.standing(held, subject_id), merge.standing(held, object_id)
    if subject.pk == other.pk:
        raise InvalidRelation("Nobody is related to themselves.")
    known = {row.pk: row for row in Relation.objects.of(held).among([subject.pk])}
    kind = " ".join(kind.split())[: relations.MAX_KIND]
    if not kind:
        raise InvalidRelation("Say what the one is to the other.")
    if any(
        (row.subject_id, row.kind, row.object_id, row.sources) == (subject.pk, kind, other.pk, [])
        for row in known.values()
    ):
        return None
    with recording(held, "add_relation", actor, why, [subject.pk, other.pk]) as (recorder, change):
        recorder.watch(known.values())
        made = relations.state(held, subject, kind, other)
        if made is not None and made.pk not in known:
            recorder.watch([made], created=True)
        for contact in (subject, other):
            store.save(contact, [])
    return change


@transaction.atomic
def remove_relation(end_user: EndUser, relation_id: int, *, actor: str, why: str = "") -> Change:
    """Says that a relation does not hold. Raises InvalidRelation."""
    held = merge.hold(end_user)
    row = Relation.objects.of(held).filter(pk=relation_id).first()
    if row is None:
        raise InvalidRelation("There is no such relation any more.")
    people = [row.subject_id, row.object_id]
    with recording(held, "remove_relation", actor, why, people) as (recorder, change):
        recorder.watch([row])
        row.delete()
        for pk in people:
            store.save(merge.standing(held, pk), [])
    return change
