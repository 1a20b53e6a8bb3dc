"""Links between memories and contacts, edges between memories, and entities."""

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import Any, Self
from uuid import UUID

import pgtrigger
from django.db import models
from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Greatest

from accounts.cells import COUNTED_BITS, fetch
from accounts.models import EndUser, ScopedQuerySet, Tracked, UserRow, between_0_and_1, reference
from accounts.sql_files import sql_pieces
from contacts.models import Contact
from memories.models.memory import AHEAD, STATES_IMPORTANT_DATE, Memory
from memories.sql_triggers import after
from memories.types import EdgeKind
from understanding.attributes import label
from understanding.languages import wording
from understanding.statements.wordings import attributed
from understanding.text import one_line

# The number of memories on a person's card that their profile does not represent.
CARD_NOTES = 6
MAX_QUOTE = 160  # graphemes of a quote on a card
CARD_PLANS = 8
# A link of at most this confidence, a calibrated probability, may well be wrong (a pronoun between
# two people). Above one half, since to be wrong about a person is worse than not to know. The index
# ``link_doubtful`` covers all below 0.8.
DOUBTFUL = 0.6

_SQL = sql_pieces(
    __file__,
    ahead=AHEAD,
    read=4 * CARD_NOTES,
    shown=CARD_NOTES,
    half=1 << (COUNTED_BITS - 1),
    doubtful=DOUBTFUL,
)


def memory_count() -> Coalesce:
    """Returns an expression for a query of contacts: the number of current facts about each. Lists,
    the API and the dashboard all use this count."""
    about = Link.objects.standing().filter(
        contact=OuterRef("pk"), memory__status=Memory.Status.ACTIVE, memory__kind=Memory.Kind.FACT
    )
    return Coalesce(Subquery(about.values("contact").annotate(n=Count("pk")).values("n")), 0)


class LinkQuerySet(ScopedQuerySet):
    def standing(self) -> Self:
        """Returns links that no operator has rejected."""
        return self.filter(rejected=False)

    def likely(self) -> Self:
        """Returns links with enough confidence for their memories to be shown on a card. Those of
        exactly DOUBTFUL are shown and reviewed as well: an undone merge leaves memories that may be
        about either contact on the survivor's card until a person decides."""
        return self.filter(confidence__gte=DOUBTFUL)

    def people_by_memory(self, memories: Iterable[Any]) -> dict[UUID, set[UUID]]:
        """Returns the ids of the contacts that each of these memories is about."""
        people: dict[UUID, set[UUID]] = defaultdict(set)
        links = self.standing().filter(memory__in=memories)
        for memory, contact in links.values_list("memory", "contact"):
            people[memory].add(contact)
        return people

    def with_people(self) -> Self:
        """Returns the links with their contacts, in the same statement."""
        return self.select_related("contact").defer(
            *(f"contact__{column}" for column in ("memory_ids", "timeline", "card"))
        )

    def due(self, end_user: EndUser) -> Self:
        """Returns the links that profiles of the user's contacts are to read now. A memory about
        the future waits until its day is over, unless it also states something current (engaged,
        the wedding in May); an ``unread`` memory has no facts yet and waits."""
        began = end_user.today_began
        ahead = Memory.objects.of(end_user).active().ahead(began).without_states(began)
        read = self.of(end_user).unconsolidated().filter(memory__unread=False)
        return read.exclude(memory__in=ahead.values("pk"))

    def over_since(self, end_user: EndUser) -> Self:
        """Returns links whose memory a profile read before its day, and whose day is over now."""
        ends_at = Greatest("memory__happens_at", "memory__happens_until", "memory__valid_from")
        links = self.of(end_user).standing().alias(over=ends_at)
        return links.filter(
            consolidated_at__lt=F("over"), over__lt=end_user.today_began, memory__status="active"
        )

    def unconsolidated(self) -> Self:
        """Returns likely links to current facts that the contact's profile has not read."""
        return (
            self.standing()
            .likely()
            .filter(consolidated_at=None, memory__status="active", memory__kind="fact")
        )


class Link(Tracked):
    """Connects a memory to a contact whom it is about. ``rejected``: an operator stated that it is
    not, and no machine links the two again."""

    tracked = (
        "contact_id", "memory_id", "made_by", "confidence", "rejected", "consolidated_at",
        "end_user_id",
    )  # fmt: skip
    unique_by = ("contact_id", "memory_id")
    found_again = True

    class MadeBy(models.TextChoices):
        EXTRACTOR = "extractor"
        CONSOLIDATOR = "consolidator"
        BACKFILL = "backfill"
        OPERATOR = "operator"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    contact = reference(Contact, related_name="links")
    memory = reference(Memory, related_name="links")
    made_by = models.CharField(max_length=12, choices=MadeBy)
    confidence = models.FloatField(default=1.0)
    rejected = models.BooleanField(default=False)
    consolidated_at = models.DateTimeField(
        null=True, blank=True, help_text="When the contact's profile took the memory in."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contact", "memory"], name="link_once"),
            between_0_and_1("confidence", "link_confidence_in_0_1"),
        ]
        indexes = [
            # Includes the memory, so that a contact's latest links are read from the index alone;
            # without it the planner would walk the links of everybody.
            models.Index(
                fields=["contact", "-id"],
                include=["memory"],
                condition=Q(rejected=False),
                name="link_latest",
            ),
            models.Index(fields=["contact", "end_user"], name="link_of_contact"),
            models.Index(fields=["memory", "end_user"], name="link_of_memory"),
            models.Index(
                fields=["end_user", "contact"],
                condition=Q(rejected=False, consolidated_at=None),
                name="link_unconsolidated",
            ),
        ]
        triggers = [
            after(pgtrigger.Insert, "memory_ids_added", _SQL["added"]),
            after(pgtrigger.Delete, "memory_ids_removed", _SQL["removed"]),
            after(pgtrigger.Update, "memory_ids_changed", _SQL["changed"]),
        ]

    @property
    def is_likely(self) -> bool:
        """Whether the memory may be shown on the contact's card."""
        return self.confidence >= DOUBTFUL


def card_notes(contact: Contact) -> list[str]:
    """Returns lines of a contact's card: the newest memories that its profile does not represent
    (it represents no quote), oldest first; of a memory that is outdated in part, its current
    facts."""
    began = contact.end_user.today_began
    notes = fetch(_SQL["notes"], [contact.pk, began, STATES_IMPORTANT_DATE])[::-1]
    return [
        text
        for content, facts, *more in notes
        if (text := card_note(contact, content, json.loads(facts), *more))
    ]


def card_note(
    contact: Contact,
    said: str,
    facts: list[dict[str, Any]],
    brackets: Any,
    speaker: str,
    said_on: date,
) -> str:
    """Returns a memory as a line of the contact's card: a quote with its speaker and date."""
    if brackets is None or any("outdated_at" in fact for fact in facts):
        return current_content(said, facts, contact)
    words = attributed(one_line(said, MAX_QUOTE), speaker, contact.end_user.writing_language)
    return f"{said_on.isoformat()} {words}"


def current_content(said: str, facts: list[dict[str, Any]], contact: Contact) -> str:
    """Returns the content of a memory; if facts of it ended, the others that the profile lacks."""
    if not any("outdated_at" in fact for fact in facts):
        return said
    language = contact.end_user.language
    words = wording(language)
    own_facts = (fact for fact in facts if fact["person"] == str(contact.pk))
    profile = {(key, v["value"]) for key, values in contact.attributes.items() for v in values}
    remaining = (
        fact
        for fact in own_facts
        if "outdated_at" not in fact and (fact["key"], fact["value"]) not in profile
    )
    return words["semicolon"].join(
        f"{label(fact['key'], language)}{words['colon']}{fact['value']}" for fact in remaining
    )


def card_plans(contact: Contact) -> list[tuple[date, date | None, str]]:
    """Returns a contact's plans, the next first: the day by the user's clock, the last day of a
    longer period (in August) or None, and the content."""
    user = contact.end_user
    params = [user.pk, user.today_began, STATES_IMPORTANT_DATE, contact.pk, CARD_PLANS]
    return [
        (at.astimezone(user.zone).date(), until and until.astimezone(user.zone).date(), content)
        for at, until, content in fetch(_SQL["plans"], params)
    ]


class LinkedContact(Contact):
    """A proxy of Contact that puts the trigger for links on the contact table."""

    class Meta:
        proxy = True
        triggers = [
            pgtrigger.Trigger(
                name="memory_ids_guard",
                level=pgtrigger.Row,
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("memory_ids"),
                condition=pgtrigger.Condition("pg_trigger_depth() = 0"),
                func=_SQL["own_links"],
            )
        ]


_EdgeManager = models.Manager.from_queryset(ScopedQuerySet)


class StatedEdges(_EdgeManager):
    """Reads edges as they were stated, without their mirrors."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(inverse=False)


class Edge(Tracked):
    """A relation between two memories: ``source`` supersedes ``target``, …

    Code writes stated edges only (``objects``); the database adds a mirror (``inverse``) of each,
    from the target to the source, so that a traversal reads ``both_ways`` by ``source`` alone.
    ``shares_entity:NAME`` and ``conflicts`` hold in both directions, the others in the stated one.

    To add a kind: a row of ``types.EdgeKind``, its weights in ``graph.WEIGHTS``,
    ``types.Relationship`` and ``prompts/classify.txt`` if a model may state it,
    ``edit_edges.STATED`` if people may, the words of both languages in ``dashboard.words``, a row
    in docs/api_corrections.md.
    """

    tracked = ("source_id", "target_id", "kind", "reason", "confidence", "end_user_id")
    unique_by = ("source_id", "kind", "target_id")
    found_again = True

    Kind = EdgeKind

    SHARES_ENTITY = "shares_entity:"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    source = reference(Memory, related_name="edges_out")
    target = reference(Memory, related_name="edges_in")
    kind = models.CharField(max_length=100)
    inverse = models.BooleanField(default=False, editable=False, db_default=False)
    reason = models.TextField(blank=True, default="")
    confidence = models.FloatField(default=1.0, db_default=1.0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = StatedEdges()
    both_ways = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "kind", "target", "inverse"], name="edge_once"
            ),
            models.CheckConstraint(condition=~Q(source=F("target")), name="edge_between_two"),
            between_0_and_1("confidence", "edge_confidence_in_0_1"),
        ]
        indexes = [
            models.Index(fields=["source", "end_user"], name="edge_outbound"),
            models.Index(fields=["target", "end_user"], name="edge_inbound"),
            # Contradictions that wait for a person to decide which memory is right.
            models.Index(
                fields=["end_user", "id"],
                name="edge_in_conflict",
                condition=Q(kind="conflicts", inverse=False),
            ),
        ]
        triggers = [
            after(pgtrigger.Insert, "mirror_added", _SQL["mirror_added"]),
            after(pgtrigger.Delete, "mirror_removed", _SQL["mirror_removed"]),
        ]


class Entity(UserRow):
    """A named place, organisation, work or person that memories mention. ``key`` is the normal form
    of ``name``."""

    class Kind(models.TextChoices):
        PLACE = "place"
        ORGANISATION = "organisation"
        WORK = "work"
        PERSON = "person"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="entities")
    kind = models.CharField(max_length=12, choices=Kind)
    name = models.CharField(max_length=80)
    key = models.CharField(max_length=80)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "entities"
        constraints = [
            models.UniqueConstraint(fields=["end_user", "id"], name="entity_of_user"),
            models.UniqueConstraint(fields=["end_user", "key"], name="entity_once"),
        ]


class EntityLink(UserRow):
    """Connects a memory to an entity that it mentions."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    entity = reference(Entity, related_name="links")
    memory = reference(Memory, related_name="entity_links")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["memory", "end_user", "entity"], name="entity_link_once"
            )
        ]
        indexes = [
            models.Index(fields=["entity", "end_user", "memory"], name="entity_link_of_entity")
        ]
