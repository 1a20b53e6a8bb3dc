"""Merging and splitting contacts: the only module that writes which contacts are one person.

``not_the_same`` and ``put_off`` are complete corrections. The others are the parts of merging and
splitting that concern contacts: callers run them inside their transaction, under the end user's
lock, and pass the recorder of the rows that they change."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import UNRECORDED, Recorder, recording, snapshot
from accounts.models import Change, EndUser
from accounts.reasons import CodedError, Reason
from contacts import merge_values, relations, store
from contacts.models import Contact, Relation, Suggestion
from understanding import names
from understanding.attributes import is_single
from understanding.roles import roles_of
from understanding.statements import secrets
from understanding.text import normalise

State = Suggestion.State

_UNITED = [
    "aliases", "relationship", "gender", "attributes", "side_by_side", "personality",
    "personality_sources", "timeline", "first_mentioned_at", "last_mentioned_at", "mention_count",
    "archived_at", "references", "references_denied", "note",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody chose before a merge: the right one of contradicting ``values`` by attribute,
    the attributes of which ``both`` are right (others stay in conflict), the ``relationship``
    unless None, and names that the survivor is not to have."""

    values: Mapping[str, str] = field(default_factory=dict)
    both: Collection[str] = ()
    relationship: str | None = None
    without: Collection[str] = ()

    def apply(self, survivor: Contact) -> None:
        """Applies the choice to the survivor (unsaved), who has everything that both had."""
        for key, value in self.values.items():
            values = survivor.attributes.get(key, [])
            right = [e for e in values if normalise(str(e["value"])) == normalise(value)]
            if right:
                others = [] if is_single(key) else [entry for entry in values if entry not in right]
                survivor.attributes[key] = [*right, *others]
        survivor.side_by_side = sorted({*survivor.side_by_side, *self.both})
        if self.relationship is not None:
            survivor.relationship = self.relationship
        unwanted = set(map(names.name_key, self.without))
        survivor.aliases = [a for a in survivor.aliases if names.name_key(a) not in unwanted]


AS_IT_IS = Choice()


class InvalidMerge(CodedError):
    """Two contacts can't be merged or told apart as asked; the message says why."""


class UnknownPerson(InvalidMerge):
    """The end user has no such contact."""

    api_code = "unknown_contact"


def lock_user(end_user: EndUser) -> EndUser:
    """Returns the end user, locked. Raises InvalidMerge if they were erased meanwhile."""
    locked = EndUser.objects.lock(end_user.pk)
    if locked is None:
        raise InvalidMerge(Reason("user_forgotten"))
    return locked


def get_unmerged(end_user: EndUser, contact_id: UUID) -> Contact:
    """Returns this contact itself. Raises UnknownPerson, or InvalidMerge if it was merged."""
    contact = end_user.contacts.filter(pk=contact_id).light().first()
    if contact is None:
        raise UnknownPerson(Reason("no_contact_of_id", id=str(contact_id)))
    if contact.merged_into_id:
        raise InvalidMerge(
            Reason("merged_already", name=contact.name, id=str(contact.merged_into_id))
        )
    return contact


def mergeable(
    end_user: EndUser, loser_id: UUID, survivor_id: UUID, actor: str
) -> tuple[Contact, Contact]:
    """Returns the loser and the survivor of a merge that may take place. Raises InvalidMerge.

    A machine never merges two people whom somebody called different, or whose merge was undone."""
    if loser_id == survivor_id:
        raise InvalidMerge(Reason("merge_with_self"))
    loser, survivor = get_unmerged(end_user, loser_id), get_unmerged(end_user, survivor_id)
    by_machine = actor != "user" and not actor.startswith(("operator:", "app:"))
    if by_machine and _were_parted(end_user, loser_id, survivor_id):
        raise InvalidMerge(Reason("parted_before", one=loser.name, other=survivor.name))
    return loser, survivor


def _were_parted(end_user: EndUser, one: UUID, other: UUID) -> bool:
    """Whether somebody called the two different, or undid their merge."""
    first, second = sorted((one, other))
    pair = Suggestion.objects.of(end_user).filter(first=first, second=second)
    undone = Change.objects.of(end_user).filter(
        verb="merge", subjects__contains=[str(one), str(other)], undone_at__isnull=False
    )
    return pair.filter(state=State.DIFFERENT).exists() or undone.exists()


def absorb(
    loser: Contact, survivor: Contact, recorder: Recorder, *, actor: str, choice: Choice = AS_IT_IS
) -> None:
    """Makes the loser a tombstone whose names, profile, relations and counts are the survivor's
    from now on. The tombstone keeps its own columns for an undo."""
    end_user = survivor.end_user
    recorder.watch([loser, survivor])
    loser.merged_into = survivor
    store.save(loser, ["merged_into"])
    _move_relations(end_user, loser, survivor, recorder)
    _settle_suggestions(end_user, loser, survivor, recorder, actor)
    unite(loser, survivor, choice)
    store.save(survivor, _UNITED)
    store.render_around(end_user, [survivor.id])


def move_to_survivor(tombstone: Contact, survivor: Contact, *, actor: str) -> None:
    """Moves relations and suggestions that a merged contact has again to its survivor."""
    _move_relations(survivor.end_user, tombstone, survivor, UNRECORDED)
    _settle_suggestions(survivor.end_user, tombstone, survivor, UNRECORDED, actor)
    store.render_around(survivor.end_user, [survivor.id])


def unite(loser: Contact, survivor: Contact, choice: Choice = AS_IT_IS) -> None:
    """Gives the survivor (unsaved) what the loser has, except relations, and applies the choice."""
    store.add_aliases(survivor, [loser.name, *loser.aliases, *_role_alias(loser, survivor)])
    survivor.relationship = survivor.relationship or loser.relationship
    survivor.gender = survivor.gender or loser.gender
    survivor.archived_at = survivor.archived_at and loser.archived_at
    survivor.attributes = merge_values.attributes(survivor.attributes, loser.attributes)
    survivor.side_by_side = sorted({*survivor.side_by_side, *loser.side_by_side})
    survivor.timeline = merge_values.timeline(survivor.timeline, loser.timeline)
    survivor.references_denied = sorted({*survivor.references_denied, *loser.references_denied})
    survivor.references = merge_values.references(
        survivor.references, loser.references, survivor.references_denied
    )
    survivor.personality = merge_values.text(survivor.personality, loser.personality)
    survivor.note = merge_values.text(survivor.note, loser.note)
    survivor.personality_sources = merge_values.sources(
        survivor.personality_sources, loser.personality_sources
    )
    survivor.mention_count += loser.mention_count
    survivor.first_mentioned_at = min(survivor.first_mentioned_at, loser.first_mentioned_at)
    survivor.last_mentioned_at = max(survivor.last_mentioned_at, loser.last_mentioned_at)
    choice.apply(survivor)


def _role_alias(loser: Contact, survivor: Contact) -> list[str]:
    """The loser's relationship as an alias if it is unique (my boss) and the survivor's differs."""
    loser_kinds = {role.kind for role in roles_of(loser.relationship) if role.level == "unique"}
    survivor_kinds = {role.kind for role in roles_of(survivor.relationship)}
    return [loser.relationship] if survivor.relationship and loser_kinds - survivor_kinds else []


def _move_relations(
    end_user: EndUser, loser: Contact, survivor: Contact, recorder: Recorder
) -> None:
    """Moves the loser's relations to the survivor, uniting the sources of one that both have."""
    rows = list(Relation.objects.of(end_user).among([loser.id, survivor.id]).order_by("pk"))
    kept_rows = {
        (row.subject_id, row.kind, row.object_id): row
        for row in rows
        if loser.id not in (row.subject_id, row.object_id)
    }
    recorder.watch(rows)
    for row in rows:
        if loser.id not in (row.subject_id, row.object_id):
            continue
        subject, other = (
            survivor.id if at == loser.id else at for at in (row.subject_id, row.object_id)
        )
        twin = kept_rows.get((subject, row.kind, other))
        if subject == other:
            row.delete()
        elif twin is None:
            row.subject_id, row.object_id = subject, other
            row.save(update_fields=["subject", "object"])
        else:
            recorder.keep([twin])
            both = merge_values.sources(twin.sources, row.sources)
            twin.sources = [UUID(pk) for pk in both] if twin.sources and row.sources else []
            twin.save(update_fields=["sources"])
            row.delete()


def _settle_suggestions(
    end_user: EndUser, loser: Contact, survivor: Contact, recorder: Recorder, actor: str
) -> None:
    """Marks the pair's own suggestion as merged and moves the loser's others to the survivor.
    "Different" outweighs every other answer."""
    suggestions = Suggestion.objects.of(end_user).concerning([survivor.id, loser.id])
    rows = list(suggestions.exclude(state=State.MERGED))
    recorder.watch(rows)
    rows_by_other = {
        row.second_id if row.first_id == survivor.id else row.first_id: row
        for row in rows
        if survivor.id in (row.first_id, row.second_id)
    }
    pair = rows_by_other.pop(loser.id, None)
    if pair is not None:
        _decide(pair, State.MERGED, actor)
    for row in rows:
        if row is pair or loser.id not in (row.first_id, row.second_id):
            continue
        other = row.second_id if row.first_id == loser.id else row.first_id
        twin = rows_by_other.get(other)
        if twin is None:
            row.first_id, row.second_id = sorted((survivor.id, other))
            # A model judged the loser's record.
            row.judgement = row.judged_reason = row.judged_by = ""
            row.judged_at = None
            row.save()
            continue
        recorder.keep([twin])
        if row.state == State.DIFFERENT != twin.state:
            _decide(twin, State.DIFFERENT, row.decided_by)
        row.delete()


def _decide(suggestion: Suggestion, state: str, actor: str) -> None:
    """Saves the answer to a suggestion, with who gave it and when."""
    suggestion.state, suggestion.decided_by = state, actor
    suggestion.decided_at = timezone.now()
    suggestion.save()


@atomic()
def not_the_same(end_user: EndUser, *ids: UUID, actor: str, why: str = "") -> Change:
    """Records for each pair of these contacts that they are two people: no suggestion unites them
    again. Raises InvalidMerge."""
    locked = lock_user(end_user)
    if len(set(ids)) != len(ids):
        raise InvalidMerge(Reason("differs_from_self"))
    contacts = [get_unmerged(locked, pk) for pk in ids]
    with recording(locked, "not_the_same", actor, why, ids) as (recorder, change):
        for one, other in combinations(contacts, 2):
            tell_apart(one, other, recorder, actor=actor)
    return change


@atomic()
def put_off(end_user: EndUser, first_id: UUID, second_id: UUID, *, actor: str) -> None:
    """Puts the question whether they are one person last. Raises InvalidMerge if it isn't open."""
    locked = lock_user(end_user)
    first, second = sorted((first_id, second_id))
    suggestions = Suggestion.objects.of(locked).filter(first=first, second=second)
    pair = suggestions.filter(state__in=[State.OPEN, State.LATER]).first()
    if pair is None:
        raise InvalidMerge(Reason("not_asked"))
    _decide(pair, State.LATER, actor)


def tell_apart(one: Contact, other: Contact, recorder: Recorder, *, actor: str) -> None:
    """Records that two contacts are two people."""
    first, second = sorted((one.id, other.id))
    pair = Suggestion.objects.of(one.end_user).filter(first=first, second=second).first()
    if pair is not None:
        recorder.watch([pair])
    else:
        pair = Suggestion(end_user_id=one.end_user_id, first_id=first, second_id=second)
        pair.verdict, pair.confidence = Suggestion.Verdict.AMBIGUOUS, 0.0
    _decide(pair, State.DIFFERENT, actor)
    recorder.watch([pair], created=True)


def split_contact(
    old: Contact,
    moved: Collection[UUID],
    recorder: Recorder,
    *,
    name: str,
    relationship: str,
    actor: str,
) -> Contact:
    """Creates a contact with what ``old`` has from the memories ``moved``, and records that the two
    are two people. Raises store.InvalidContact."""
    if reason := secrets.refusal(name=name, relationship=relationship):
        raise store.InvalidContact(reason)
    end_user = old.end_user
    recorder.watch([old])
    new, _ = store.create(end_user, name, relationship=relationship, namesake=True)
    recorder.watch([new], created=True)
    ids = {str(pk) for pk in moved}
    divided = {key: merge_values.divided(entries, ids) for key, entries in old.attributes.items()}
    old.attributes = {key: staying for key, (staying, _) in divided.items() if staying}
    new.attributes = {key: moving for key, (_, moving) in divided.items() if moving}
    new.side_by_side = old.side_by_side
    old.timeline, new.timeline = merge_values.divided(old.timeline, ids)
    old.references, new.references = merge_values.divided(old.references, ids)
    if old.personality_sources and ids.issuperset(old.personality_sources):
        new.personality, old.personality = old.personality, ""
        new.personality_sources, old.personality_sources = old.personality_sources, []
    key = names.name_key(new.name)
    old.aliases = [alias for alias in old.aliases if names.name_key(alias) != key]
    old.mention_count = max(0, old.mention_count - len(ids))
    new.mention_count = len(ids)
    _split_relations(old, new, set(moved), recorder)
    tell_apart(old, new, recorder, actor=actor)
    store.save(old, _UNITED)
    store.save(new, _UNITED)
    store.render_around(end_user, [old.id, new.id])
    return new


def undo_split(new: Contact, old: Contact, rows: Collection[dict[str, Any]]) -> None:
    """Gives ``old`` what machines learnt about ``new`` since the split with these ``rows`` created
    it: names, relations, relationship, gender, counts. The profile is read again from memories."""
    created = next(row["after"] for row in rows if row["id"] == str(new.id))
    created_names = {created["name"], *created["aliases"]}
    store.add_aliases(old, [name for name in (new.name, *new.aliases) if name not in created_names])
    if new.relationship != created["relationship"]:
        old.relationship = old.relationship or new.relationship
    old.gender = old.gender or (new.gender if new.gender != created["gender"] else "")
    old.mention_count += max(0, new.mention_count - created["mention_count"])
    if snapshot(new)["last_mentioned_at"] != created["last_mentioned_at"]:
        old.last_mentioned_at = max(old.last_mentioned_at, new.last_mentioned_at)
    store.save(old, _UNITED)
    known_sources = {
        row["id"]: row["after"]["sources"]
        for row in rows
        if row["model"] == Relation._meta.label_lower and row["before"] is None
    }
    for row in Relation.objects.of(old.end_user).among([new.id]).order_by("pk"):
        subject, other = (old if at.id == new.id else at for at in (row.subject, row.object))
        learnt = [pk for pk in row.sources if str(pk) not in known_sources.get(str(row.pk), ())]
        if learnt:
            relations.relate(old.end_user, subject, row.kind, other, learnt)


def _split_relations(old: Contact, new: Contact, moved: set[UUID], recorder: Recorder) -> None:
    """Moves the sources ``moved`` of relations of ``old`` to equal relations of ``new``."""
    for row in Relation.objects.of(old.end_user).among([old.id]).order_by("pk"):
        moved_sources = [source for source in row.sources if source in moved]
        if not moved_sources:
            continue
        recorder.watch([row])
        subject, other = (new.id if at == old.id else at for at in (row.subject_id, row.object_id))
        relations.without_sources([row], moved)
        copy = Relation.objects.create(
            end_user_id=old.end_user_id,
            subject_id=subject,
            kind=row.kind,
            object_id=other,
            sources=moved_sources,
        )
        recorder.watch([copy], created=True)
