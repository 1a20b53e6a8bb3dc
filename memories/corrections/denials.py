"""Relations and aliases that a person removed. A message that arrived before and is read only now
does not bring them back: whoever removed them knew what was said until then. Links need no such
rule: a rejected one stays as a row."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact, Relation
from memories.models import Message
from memories.types import Turn
from understanding.names import name_key
from understanding.text import normalise

_CONTACT, _RELATION = Contact._meta.label_lower, Relation._meta.label_lower
_VERBS = ("remove_relation", "edit_contact")
_ENDS = ("subject_id", "object_id")

Key = tuple[UUID, str, UUID | None]


@dataclass(frozen=True, slots=True)
class Denials:
    """When relations (subject, kind, object) and aliases (contact, key, None) were last removed
    (``latest``), and when each message arrived (``came``)."""

    latest: Mapping[Key, datetime]
    came: Mapping[int, datetime]
    turns: Sequence[Turn]

    def relation(self, subject: UUID, kind: str, other: UUID, turn_ids: Collection[int]) -> bool:
        """Whether somebody removed this relation after these turns (none: all) had arrived."""
        at = self.latest.get((subject, normalise(kind), other))
        ids = turn_ids or self.came.keys()
        return at is not None and all(self.came[pk] < at for pk in ids if pk in self.came)

    def aliases(self, contact: UUID, found: Iterable[str]) -> list[str]:
        """Returns the aliases except those removed after all turns that contain them arrived."""
        allowed = []
        for alias in found:
            at, word = self.latest.get((contact, name_key(alias), None)), normalise(alias)
            turns = (t for t in self.turns if word in normalise(t.content))
            if at is None or any(self.came[turn.id] > at for turn in turns):
                allowed.append(alias)
        return allowed


NONE = Denials({}, {}, ())


def since(end_user: EndUser, turns: Sequence[Turn]) -> Denials:
    """Returns what was removed after the first of ``turns`` had arrived. Two statements."""
    rows = Message.objects.of(end_user).filter(pk__in=[turn.id for turn in turns])
    came = dict(rows.values_list("pk", "received_at"))
    latest: dict[Key, datetime] = {}
    if came:
        changes = Change.objects.of(end_user).filter(
            verb__in=_VERBS, undone_at=None, created_at__gt=min(came.values())
        )
        for change in changes.order_by("created_at"):
            for key in _removed_keys(end_user, change):
                latest[key] = change.created_at
    return Denials(latest, came, [turn for turn in turns if turn.id in came])


def _removed_keys(end_user: EndUser, change: Change) -> Iterable[Key]:
    """Yields the relations and aliases that a change removed."""
    for row in change.rows:
        before, after = row["before"] or {}, row["after"] or {}
        if row["model"] == _RELATION and row["after"] is None:
            ends = [store.survivor(end_user, UUID(before[at])) for at in _ENDS]
            if ends[0] is not None and ends[1] is not None:
                yield ends[0].id, normalise(before["kind"]), ends[1].id
        elif row["model"] == _CONTACT and before and after:
            contact = store.survivor(end_user, UUID(row["id"]))
            if contact is not None:
                yield from ((contact.id, key, None) for key in _keys_of(before) - _keys_of(after))


def _keys_of(values: Mapping[str, Any]) -> set[str]:
    """Returns the keys of the names among recorded values of a contact."""
    names = [*values.get("aliases", ()), *([values["name"]] if "name" in values else [])]
    return {name_key(name) for name in names}
