"""What corrections said of relations since, through the undo of an earlier change.

An undo puts rows back as its change found them. A later correction may have given what a
memory says to another row, or have deleted the row: then neither the row nor the people in
the later change's own record are those that the undo brings back. So the words of the later
corrections are taken off the relations before an undo, and told again after it.

Callers hold the end user's lock.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.changes import recording_anew
from accounts.inverse import taken_back
from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact, Relation
from memories.corrections import lineage

_RELATION = Relation._meta.label_lower
_OTHERS = ("merge", lineage.MERGE, lineage.SPLIT)  # an undo takes these back as a whole
# Whose is what memories say, once a change has moved it: the places among its subjects of the
# one it was taken from, of the one it was given to, and of the memories.
_MOVES = {"split": (0, 1, slice(2, None)), "move": (1, 2, slice(0, 1))}


@dataclass(frozen=True)
class Denial:
    """These memories don't state this relation; with none, it does not hold at all."""

    subject: UUID
    kind: str
    other: UUID
    sources: frozenset[UUID]


@dataclass
class Words:
    """What a correction said of relations, and which rows of its record said it."""

    denials: list[Denial] = field(default_factory=list)
    rows: set[str] = field(default_factory=set)


def resting_on(change: Change, merges: Sequence[Change]) -> list[Change]:
    """The corrections made after ``change`` that took relations away from people whose
    relations it, or one of ``merges``, touched. The latest first."""
    concerned = [change, *merges]
    if not any(_told(one) for one in concerned):
        return []
    later = list(
        Change.objects.of(change.end_user_id)
        .filter(undone_at=None, created_at__gt=change.created_at)
        .filter(rows__contains=[{"model": _RELATION}])
        .exclude(verb__in=_OTHERS)
        .order_by("created_at")
    )
    ends = _ends([*concerned, *later])
    touched = set().union(*(ends[row["id"]] for one in concerned for row in _told(one)))
    found = []
    for one in later:
        theirs = set().union(*(ends[row["id"]] for row in _told(one)))
        if touched & theirs and any(_denied(row) is not None for row in _told(one)):
            touched |= theirs
            found.append(one)
    return found[::-1]


def take_off(end_user: EndUser, change: Change) -> Words:
    """Makes relations what they would be had the correction ``change`` said nothing of them.
    A row stays as it is where somebody stated it since, or its people are gone."""
    words = Words()
    held = Relation.objects.of(end_user).in_bulk([int(row["id"]) for row in _told(change)])
    for row in sorted(_told(change), key=lambda row: row["before"] is not None):
        relation = held.get(int(row["id"]))
        if row["before"] is None:
            if relation is not None and relation.sources:
                _less(relation, _ids(row["after"]))
        elif row["after"] is None:
            relation = _restored(end_user, row)
            if relation is None:
                continue
        elif relation is None or not relation.sources:
            continue
        else:
            now = list(map(str, relation.sources))
            left = taken_back(row["before"]["sources"], row["after"]["sources"], now)
            relation.sources = [UUID(pk) for pk in left]
            relation.save(update_fields=["sources"])
        words.rows.add(row["id"])
        denied = _denied(row)
        if relation is not None and denied is not None:
            words.denials.append(
                Denial(relation.subject_id, relation.kind, relation.object_id, denied)
            )
    return words


def tell_again(end_user: EndUser, change: Change, words: Words, undone: Collection[Change]) -> None:
    """Tells ``words`` of the relations that are there after changes were ``undone``, and
    records them anew as what ``change`` did to relations."""
    change.refresh_from_db(fields=["rows"])
    kept = [row for row in change.rows if row["id"] not in words.rows or row not in _told(change)]
    earlier = [one for one in undone if one.created_at < change.created_at]
    ends: set[UUID] = set()
    with recording_anew(change) as recorder:
        for denial in words.denials:
            rows = list(_meant(end_user, denial, earlier))
            given = _given(end_user, change, denial, earlier)
            if given is not None:
                recorder.watch(Relation.objects.of(end_user).among([given.pk]))
            for relation, sources in rows:
                recorder.watch([relation])
                ends |= {relation.subject_id, relation.object_id}
                at_subject = given is not None and denial.subject == _giver(change)
                _less(relation, sources)
                if given is None:
                    continue
                pair = (relation.subject_id, relation.object_id)
                pair = (given.pk, pair[1]) if at_subject else (pair[0], given.pk)
                if (made := _more(end_user, pair, relation.kind, sources)) is not None:
                    recorder.watch([made], created=True)
                ends.add(given.pk)
    change.rows = [*kept, *change.rows]
    change.save(update_fields=["rows"])
    for contact in Contact.objects.of(end_user).standing().light().filter(pk__in=ends):
        contact.end_user = end_user
        store.save(contact, [])


def _told(change: Change) -> list[dict[str, Any]]:
    return [row for row in change.rows if row["model"] == _RELATION]


def _ids(side: dict[str, Any]) -> frozenset[UUID]:
    return frozenset(map(UUID, side.get("sources", ())))


def _denied(row: dict[str, Any]) -> frozenset[UUID] | None:
    """The memories that a row of a change took away from a relation, none of them where it
    took all that a person had stated; None if it took nothing away."""
    if row["before"] is None:
        return None
    if row["after"] is None:
        return _ids(row["before"])
    left = _ids(row["after"])
    return (_ids(row["before"]) - left or None) if left else None


def _ends(changes: Iterable[Change]) -> dict[str, set[UUID]]:
    """By relation, all whom it was or is between."""
    ends: dict[str, set[UUID]] = {}
    for row in (row for change in changes for row in _told(change)):
        found = ends.setdefault(row["id"], set())
        for side in (row["before"] or {}, row["after"] or {}):
            found |= {UUID(side[at]) for at in ("subject_id", "object_id") if at in side}
    held = Relation.objects.filter(pk__in=ends)
    for pk, subject, other in held.values_list("pk", "subject", "object"):
        ends[str(pk)] |= {subject, other}
    return ends


def _less(relation: Relation, sources: Collection[UUID]) -> None:
    """Takes memories away from a relation, and the relation away with the last of them."""
    left = [source for source in relation.sources if source not in sources]
    if not left:
        relation.delete()
    elif left != relation.sources:
        relation.sources = left
        relation.save(update_fields=["sources"])


def _more(
    end_user: EndUser, pair: tuple[UUID, UUID], kind: str, sources: Iterable[UUID]
) -> Relation | None:
    """Lets memories state a relation. Returns it where it is new."""
    if pair[0] == pair[1]:
        return None
    row, new = Relation.objects.get_or_create(
        end_user=end_user, subject_id=pair[0], kind=kind, object_id=pair[1]
    )
    if new or row.sources:
        row.sources = list(dict.fromkeys([*row.sources, *sorted(sources)]))
        row.save(update_fields=["sources"])
    return row if new else None


def _restored(end_user: EndUser, row: dict[str, Any]) -> Relation | None:
    """A deleted relation as it was, or the one found again since with what it rested on."""
    was = row["before"]
    pair = (UUID(was["subject_id"]), UUID(was["object_id"]))
    if Contact.objects.of(end_user).filter(pk__in=pair).count() < len(pair):
        return None
    sources = [UUID(pk) for pk in was["sources"]]
    twin = (
        Relation.objects.of(end_user)
        .filter(subject=pair[0], kind=was["kind"], object=pair[1])
        .first()
    )
    if twin is None:
        return Relation.objects.create(
            pk=int(row["id"]),
            end_user=end_user,
            subject_id=pair[0],
            kind=was["kind"],
            object_id=pair[1],
            sources=sources,
        )
    if not sources or not twin.sources:
        return None
    twin.sources = list(dict.fromkeys([*sources, *twin.sources]))
    twin.save(update_fields=["sources"])
    return twin


def _meant(
    end_user: EndUser, denial: Denial, undone: Collection[Change]
) -> Iterator[tuple[Relation, frozenset[UUID]]]:
    """The relations that a denial is about now, each with the sources that it denies."""
    subjects = _were(denial.subject, denial.sources, undone)
    others = _were(denial.other, denial.sources, undone)
    for row in (
        Relation.objects.of(end_user)
        .filter(kind=denial.kind, subject__in=subjects, object__in=others)
        .order_by("pk")
    ):
        theirs = denial.sources & subjects[row.subject_id] & others[row.object_id]
        if theirs.intersection(row.sources) or not (denial.sources or row.sources):
            yield row, theirs.intersection(row.sources)


def _were(
    contact_id: UUID, sources: frozenset[UUID], undone: Collection[Change]
) -> dict[UUID, frozenset[UUID]]:
    """Whom a contact stood for before changes were undone, itself among them, each with the
    memories of which that holds."""
    found = {contact_id: sources}
    for change in sorted(undone, key=lambda change: change.created_at, reverse=True):
        if change.verb == "merge":
            origin, now, told = UUID(change.subjects[0]), UUID(change.subjects[1]), sources
        elif change.verb in _MOVES:
            one, two, which = _MOVES[change.verb]
            origin, now = UUID(change.subjects[one]), UUID(change.subjects[two])
            told = frozenset(map(UUID, change.subjects[which]))
        else:
            continue
        if now in found:
            found[origin] = found.get(origin, frozenset()) | (found[now] & told)
    return found


def _giver(change: Change) -> UUID | None:
    """From whom a change took what memories say, to give it to another."""
    places = _MOVES.get(change.verb)
    return UUID(change.subjects[places[0]]) if places else None


def _given(
    end_user: EndUser, change: Change, denial: Denial, undone: Collection[Change]
) -> Contact | None:
    """To whom a change gave what it took from a relation: the one whom they came from where
    an undo has taken them away."""
    if _giver(change) not in (denial.subject, denial.other):
        return None
    to = UUID(change.subjects[_MOVES[change.verb][1]])
    for pk in _were(to, denial.sources, undone):
        if (contact := store.survivor(end_user, pk)) is not None:
            return contact
    return None
