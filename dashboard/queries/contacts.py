"""Queries about an end user's people: search, filters, order, and what tells namesakes apart."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import EndUser
from accounts.reasons import Reason
from contacts.models import Contact, ContactKey, ContactQuerySet, Suggestion
from dashboard import words
from memories.history.mention_rhythm import rhythms
from understanding.names import GROUPS, name_key
from understanding.same_person.pair_scoring import compare
from understanding.same_person.records import record

#: Orders of the list; the columns of each are unique together.
SORTS = {
    "recent": ("-last_mentioned_at", "id"),
    "most": ("-mention_count", "id"),
    "name": ("sort_key", "name_key", "namesake"),
}
NO_GROUP = "none"
ARCHIVED = "archived"
MOST = 1000  # a list is counted up to here
MOST_CONFLICTING = 20_000  # people with contradictions that a filter looks at
FEW = 2000  # people found by name whose ids are passed to the next condition
COMPARED = 100  # people who are compared with one person
PICKED = 12  # people to choose from at once
WORK = ("company", "job_title", "location")  # shown in a list
#: The attributes that tell namesakes apart best.
TELLING = ("company", "job_title", "location", "hometown", "birthday", "school")


def people(end_user: EndUser, q: str = "", group: str = "", only: str = "") -> ContactQuerySet:
    """Returns people that match the search and filters; ``only`` may ask for archived ones."""
    rows = Contact.objects.of(end_user).listed()
    if only == ARCHIVED:
        rows = Contact.objects.of(end_user).archived()
    if q.strip():
        matches = rows.found_by(end_user, q)
        # Two conditions at once lead the planner astray: the rarer one is looked up first.
        few = list(matches.values_list("pk", flat=True)[: FEW + 1]) if group or only else []
        rows = rows.filter(pk__in=few) if 0 < len(few) <= FEW else matches
    if group in GROUPS:
        rows = rows.who_are(end_user, group)
    elif group == NO_GROUP:
        rows = rows.filter(relationship="")
    if only == "suggested":
        # Joined by OR, the database walks the people in their order and looks each up.
        asked = Suggestion.objects.of(end_user).listed().filter(state=Suggestion.State.OPEN)
        first, second = asked.filter(first=OuterRef("pk")), asked.filter(second=OuterRef("pk"))
        rows = rows.filter(Exists(first) | Exists(second))
    elif only == "conflict":
        # The planner overestimates how many these are, and would look at everybody.
        clashing = Contact.objects.of(end_user).listed().in_conflict().order_by()
        rows = rows.filter(pk__in=list(clashing.values_list("pk", flat=True)[:MOST_CONFLICTING]))
    return rows.light().defer("card", "timeline", "personality", "personality_sources",
                              "memory_ids")  # fmt: skip


def capped(rows: QuerySet) -> int:
    """Returns the number of rows, counted up to MOST + 1."""
    return rows.order_by().values("pk")[: MOST + 1].count()


def describe(end_user: EndUser, contacts: Sequence[Any]) -> None:
    """Sets what a list shows of people: ``work``, ``memory_count``, ``suggested``, ``quiet``."""
    ids = [contact.pk for contact in contacts]
    sizes = Contact.objects.of(end_user).filter(pk__in=ids).memory_counts()
    asked = Suggestion.objects.of(end_user).listed().filter(state=Suggestion.State.OPEN)
    pairs = asked.filter(Q(first__in=ids) | Q(second__in=ids)).values_list("first", "second")
    suggested = {pk for pair in pairs for pk in pair}
    rhythm = rhythms(end_user, ids)
    for one in contacts:
        work = (one.attributes[key][0]["value"] for key in WORK if one.attributes.get(key))
        one.work, one.memory_count = " · ".join(map(str, work)), sizes.get(one.pk, 0)
        one.suggested = one.pk in suggested
        one.quiet = one.pk in rhythm and rhythm[one.pk].quiet


def tell_apart(people: Iterable[Contact]) -> None:
    """Sets ``distinction``: what tells each person apart from namesakes, or "". One statement."""
    shown = list(people)
    apart = distinctions({one.end_user_id for one in shown}, {one.name for one in shown})
    for one in shown:
        one.distinction = apart.get(one.pk, "")  # type: ignore[attr-defined]


def distinctions(users: Iterable[int], names: Iterable[str]) -> dict[UUID, str]:
    """Returns by id what tells people of these names apart from namesakes of their end user."""
    keys = {name_key(name) for name in names}
    rows = Contact.objects.filter(end_user__in=set(users), name_key__in=keys).standing()
    columns = ("end_user_id", "name_key", "namesake", "relationship", "attributes", "aliases")
    namesakes: dict[tuple[int, str], list[Contact]] = {}
    for one in rows.only(*columns).order_by("namesake"):
        namesakes.setdefault((one.end_user_id, one.name_key), []).append(one)
    return {
        one.pk: _distinction(one, [other for other in group if other is not one])
        for group in namesakes.values()
        for one in group
        if len(group) > 1
    }


def _distinction(person: Contact, others: Sequence[Contact]) -> str:
    """Returns the relationship, a value, an alias or a number that only this person has."""
    role = person.relationship
    if role and role not in {other.relationship for other in others}:
        return role
    values_of_others = [_telling_values(other) for other in others]
    distinct = (
        value
        for value in _telling_values(person)
        if not any(value in values for values in values_of_others)
    )
    number = _("No. %(number)s") % {"number": person.namesake + 1}
    return " · ".join(filter(None, [role, next(distinct, number)]))


def _telling_values(person: Contact) -> list[str]:
    """Returns the attribute values, those that tell people apart best first, then the aliases."""
    keys = sorted(person.attributes, key=lambda key: TELLING.index(key) if key in TELLING else 99)
    values = [str(value["value"]) for key in keys for value in person.attributes[key]]
    return [*values, *person.aliases]


def to_pick(
    end_user: EndUser, q: str, without: Sequence[UUID] = (), same: Contact | None = None
) -> list[Any]:
    """Returns people to choose from, up to PICKED + 1: those that ``q`` finds, else the last
    mentioned. With ``same``, those who are most probably that person, with a ``score`` in 0..1 or
    None and the ``reasons`` for it."""
    rows = people(end_user, q).exclude(pk__in=without).order_by(*SORTS["recent"])
    if same is None:
        return list(rows[: PICKED + 1])
    pairs = Suggestion.objects.of(end_user).filter(Q(first=same.pk) | Q(second=same.pk))
    waiting = pairs.filter(state__in=[Suggestion.State.OPEN, Suggestion.State.LATER])
    known = {
        pair.second_id if pair.first_id == same.pk else pair.first_id: pair.confidence
        for pair in waiting.order_by("-confidence")[:COMPARED]
    }
    rows = rows.exclude(pk=same.pk)
    candidates = list(rows[: COMPARED if q.strip() else PICKED + 1])
    if not q.strip():
        keys = same.keys.exclude(how="kinship").values("key")
        alike = ContactKey.objects.of(end_user).filter(key__in=keys).exclude(contact=same.pk)
        ids = [*known, *alike.values_list("contact", flat=True).distinct()[:COMPARED]]
        candidates = list(dict.fromkeys([*rows.filter(pk__in=ids), *candidates]))
    own_record = record(same.person, same.attributes, ())
    for one in candidates:
        comparison = compare(own_record, record(one.person, one.attributes, ()))
        score = comparison.score if comparison.verdict != "none" else None
        one.score = known.get(one.pk, score)
        speaking = [each for each in comparison.evidence if one.score and each.weight > 0]
        one.reasons = [words.reason(Reason(each.sign.code, **each.sign.params)) for each in speaking[:1]]  # fmt: skip
    candidates.sort(key=lambda one: -(one.score or 0))  # else as they stand
    return candidates[: PICKED + 1]
