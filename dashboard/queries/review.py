"""Queries of the review queues: what waits for a person's decision, and what helps to decide it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import F, Max, Min, Model, Prefetch, QuerySet
from django.utils import timezone

from accounts import cells
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts.merge import AS_IT_IS, Choice, InvalidMerge
from contacts.models import Contact, Suggestion
from dashboard import words
from dashboard.queries.contact import namesakes
from dashboard.queries.contacts import tell_apart
from dashboard.queries.memories import linked
from memories.corrections import edit_edges, merge_contacts, review_links
from memories.models import Claim, Edge, Link, Memory, Message
from understanding.attributes import is_single, label
from understanding.text import estimate_tokens, normalise

MOST = 100  # queues are counted up to here: nobody decides more in a sitting
SHOWN_MEMORIES = 6
DIFFERS = -0.001  # weight of an attribute that differs: the lightest evidence against
CLAIMED_FOR = timedelta(minutes=15)
AROUND = 2  # messages before and after the source of a doubtful link

# Statements that count what waits for users, by the one that reads these, with their parameters.
_statements: dict[tuple[str, tuple[Any, ...]], tuple[str, list[Any]]] = {}


def open_suggestions(users: QuerySet[EndUser]) -> QuerySet[Suggestion]:
    """Returns pairs that may be one person, the most probable first; postponed ones come last."""
    return (
        Suggestion.objects.filter(end_user__in=users)
        .filter(state__in=[Suggestion.State.OPEN, Suggestion.State.LATER])
        .filter(first__merged_into=None, second__merged_into=None)
        .listed()
        .with_people()
        .select_related("end_user__app")
        .order_by("-state", "-confidence", "pk")
    )


def doubtful_links(users: QuerySet[EndUser]) -> QuerySet[Link]:
    """Returns links of low confidence or to namesakes, newest first, at most MOST + 1 of each."""
    # As many of each as are counted or shown: the database need not join the others.
    doubtful, twins = (
        rows.filter(end_user__in=users).order_by("-pk").values("pk")[: MOST + 1]
        for rows in (review_links.doubtful(), review_links.between_namesakes())
    )
    return (
        Link.objects.filter(pk__in=doubtful.union(twins), contact__archived_at=None)
        .with_people()
        .select_related("end_user__app", "memory")
        .defer("memory__tokens", "memory__embedding")
        .order_by("-pk")
    )


def conflicts(users: QuerySet[EndUser]) -> QuerySet[Contact]:
    """Returns people with several values for an attribute that has one at a time."""
    return (
        Contact.objects.listed()
        .in_conflict()
        .filter(end_user__in=users)
        .light()
        .select_related("end_user__app")
        .order_by("end_user", "pk")
    )


def contradictions(users: QuerySet[EndUser]) -> QuerySet[Edge]:
    """Returns the edges between memories of which only one can be true, the newest first."""
    large = [f"{end}__{name}" for end in ("source", "target") for name in ("tokens", "embedding")]
    return (
        edit_edges.contradictory()
        .filter(end_user__in=users)
        .select_related("end_user__app", "source", "target")
        .defer(*large)
        .order_by("-pk")
    )


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Values of one attribute of a person, or the two memories of ``edge``, of which only one can
    be true. ``choices`` pair each with a key of the keyboard; ``pk`` is its id in addresses."""

    pk: str
    end_user: EndUser
    people: Sequence[Contact]
    choices: Sequence[tuple[str, Any]]
    key: str = ""
    label: str = ""
    edge: Edge | None = None

    @property
    def subject(self) -> Model:
        """The row that an operator claims: all contradictions of a person are claimed together."""
        return self.edge or self.people[0]


def open_contradictions(users: QuerySet[EndUser], most: int, language: str) -> list[Contradiction]:
    """Returns the first contradictions: those within a person, then those between memories."""
    doubts = [
        Contradiction(f"{person.pk}:{key}", person.end_user, [person],
                      _with_shortcuts(person.attributes[key]), key, label(key, language))
        for person in conflicts(users)[:most]
        for key in person.contradictions
    ]  # fmt: skip
    links = Link.objects.standing().with_people().filter(contact__merged_into=None).order_by("pk")
    ends = (Prefetch(f"{end}__links", links) for end in ("source", "target"))
    for edge in contradictions(users).prefetch_related(*ends)[: max(0, most - len(doubts))]:
        pair = sorted((edge.source, edge.target), key=lambda memory: memory.said_at)
        people = list(dict.fromkeys(linked(pair)))
        doubts.append(
            Contradiction(str(edge.pk), edge.end_user, people, _with_shortcuts(pair), edge=edge)
        )
    return doubts[:most]


def _with_shortcuts(values: Sequence[Any]) -> list[tuple[str, Any]]:
    """Returns each value with its key of the keyboard: a to f, then ""."""
    return list(zip_longest("abcdef"[: len(values)], values, fillvalue=""))


def queues(users: QuerySet[EndUser]) -> dict[str, QuerySet]:
    """Returns the queue of each kind of decision, by its name."""
    return {
        "merges": open_suggestions(users),
        "links": doubtful_links(users),
        "conflicts": conflicts(users),
        "contradictions": contradictions(users),
    }


def waiting_for(users: QuerySet[EndUser], names: Sequence[str]) -> set[EndUser]:
    """Returns the end users whom the first MOST decisions of each of these queues concern."""
    waiting = queues(users)
    ids = {pk for name in names for pk in waiting[name].values_list("end_user", flat=True)[:MOST]}
    return set(users.filter(pk__in=ids))


def capped(waiting: Mapping[str, QuerySet]) -> dict[str, int]:
    """Returns the number of rows of each queue, counted up to MOST + 1. One statement."""
    [row] = cells.fetch(*_counting(waiting))
    return dict(zip(waiting, row, strict=True))


def waiting_count(users: QuerySet[EndUser]) -> int:
    """Returns the number of decisions that wait, each queue counted up to MOST + 1. One statement,
    kept for each set of users that an operator may see: building it takes longer than running it."""
    try:
        seen, params = users.query.sql_with_params()
    except EmptyResultSet:
        return 0
    statement = _statements.get(key := (seen, tuple(params)))
    if statement is None:
        statement = _statements[key] = _counting(queues(users))
    [row] = cells.fetch(*statement)
    return sum(row)


def _counting(waiting: Mapping[str, QuerySet]) -> tuple[str, list[Any]]:
    """Returns the statement that counts each queue up to MOST + 1, and its parameters."""
    counts, params = [], list[Any]()
    for rows in waiting.values():
        # In the order of the queue, which has an index: else the planner overestimates how many
        # rows wait, and reads the whole table to find that many.
        ids = rows.values("pk")[: MOST + 1]
        try:
            sql, values = ids.query.sql_with_params()
        except EmptyResultSet:
            counts.append("0")
            continue
        counts.append(f"(SELECT count(*) FROM ({sql}) AS counted)")  # noqa: S608 values are params
        params += values
    return f"SELECT {', '.join(counts)}", params


def elsewhere(waiting: Mapping[str, QuerySet]) -> list[tuple[str, int]]:
    """Returns the other reachable cells in which decisions wait, each with how many."""
    counts = []
    for other in cells.reachable() if cells.several() else ():
        if other != cells.current():
            with cells.entered(other):
                counts.append((other, sum(capped(waiting).values())))
    return [(name, count) for name, count in counts if count]


def side(contact: Contact) -> dict[str, Any]:
    """Returns a person for the comparison, with the latest memories and how many are current."""
    about = Memory.objects.of(contact.end_user_id).active().about(contact.pk)
    facts = about.facts().annotate(link=F("links__id")).order_by("-link")
    return {
        "contact": contact,
        "memories": list(facts.defer("tokens")[:SHOWN_MEMORIES]),
        "memory_count": Contact.objects.filter(pk=contact.pk).memory_counts().get(contact.pk, 0),
    }


def beside(left: Contact, right: Contact, language: str) -> list[dict[str, Any]]:
    """Returns the attributes of two people: contradicting ones first, then those in common."""
    rows = []
    for key in dict.fromkeys([*left.attributes, *right.attributes]):
        sides = [
            [str(value["value"]) for value in contact.attributes.get(key, ())]
            for contact in (left, right)
        ]
        left_values, right_values = ({normalise(value) for value in side} for side in sides)
        both, same = bool(left_values and right_values), bool(left_values & right_values)
        row = {"key": key, "label": label(key, language), "left": sides[0], "right": sides[1]}
        rows.append(row | {"same": same, "conflict": both and is_single(key) and not same})
    return sorted(rows, key=lambda row: (not row["conflict"], not row["same"]))


def evidence(suggestion: Suggestion, rows: Sequence[dict[str, Any]]) -> list[tuple[str, float]]:
    """Returns what speaks for (positive weight) and against a suggestion, the heaviest first, then
    the attributes that differ. The oldest suggestions have a text instead of a code."""
    shown = [
        (f"{row['label']}: {row['left'][0]} ≠ {row['right'][0]}", DIFFERS)
        for row in rows
        if row["conflict"]
    ]
    for row in suggestion.known_evidence:
        why = Reason(row["code"], **row["params"]) if "code" in row else row["text"]
        shown.append((words.reason(why), float(row["weight"])))
    return sorted(shown, key=lambda one: -abs(one[1]))


def preview(
    loser: Contact, survivor: Contact, actor: str, choice: Choice = AS_IT_IS
) -> dict[str, Any] | Reason | str:
    """Returns the survivor's card after a merge and its tokens, or the reason of a refusal."""
    try:
        card = merge_contacts.rehearsed_card(
            loser.end_user, loser.pk, survivor.pk, actor=actor, choice=choice
        )
    except InvalidMerge as error:
        return error.reason
    return {"card": card, "tokens": estimate_tokens(card)}


def beside_link(link: Link) -> dict[str, Any]:
    """Returns what helps to judge a link: the messages ``around`` its source, each with whether it
    is a source, and the person's names and namesakes (``twins``)."""
    person = link.contact
    tell_apart(twins := namesakes(person))
    ids = link.memory.source_message_ids[:AROUND]
    messages = Message.objects.of(link.end_user_id)
    ends = messages.filter(pk__in=ids).aggregate(first=Min("seq"), last=Max("seq"))
    around: list[tuple[Message, bool]] = []
    if (first := ends["first"]) is not None:
        last = min(ends["last"], first + 10) + AROUND
        rows = messages.filter(seq__range=(first - AROUND, last)).order_by("seq")
        around = [(row, row.pk in ids) for row in rows]
    return {"around": around, "names": [person.name, *person.aliases], "twins": twins}


def claims_of(rows: Sequence[Any]) -> dict[Any, Claim]:
    """Returns the current claims of these rows of a queue, by the rows' ``pk``. One statement."""
    names = {row.pk: Claim.name_of(getattr(row, "subject", row)) for row in rows}
    claims = Claim.objects.filter(
        end_user__in={row.end_user.pk for row in rows},
        what__in=names.values(),
        at__gt=timezone.now() - CLAIMED_FOR,
    )
    by_name = {claim.what: claim for claim in claims}
    return {pk: by_name[name] for pk, name in names.items() if name in by_name}


def claim(end_user: EndUser, what: str, operator: str) -> str:
    """Claims a row for the operator unless it is claimed; returns the name of its claimant."""
    now = timezone.now()
    Claim.objects.of(end_user).filter(at__lte=now - CLAIMED_FOR).delete()
    row, _made = Claim.objects.of(end_user).get_or_create(
        what=what, defaults={"end_user": end_user, "operator": operator, "at": now}
    )
    return row.operator
