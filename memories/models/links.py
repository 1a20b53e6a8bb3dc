"""Which memories are about whom, and how memories stand to each other."""

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
from contacts.models import Contact
from memories.models.memory import AHEAD, TELL_DATES, Memory
from memories.sql_files import after, sql_pieces
from memories.types import EdgeKind
from understanding.attributes import label
from understanding.languages import wording
from understanding.statements.wordings import attributed
from understanding.text import one_line

# So many memories of a person that no profile speaks for yet stand on their card.
CARD_NOTES = 6
MAX_QUOTE = 160  # graphemes of a quote on a card
CARD_PLANS = 8
# A link that is no surer than this may well be wrong: its confidence is calibrated (a pronoun between
# two people). Above one half, as to be wrong about a person is worse than not to know. The index
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
    """How many memories about a contact hold now, for a query of contacts: the one count of lists,
    of the API and of the dashboard."""
    about = Link.objects.standing().filter(
        contact=OuterRef("pk"),
        memory__status=Memory.Status.ACTIVE,
        memory__kind=Memory.Kind.FACT,
    )
    return Coalesce(Subquery(about.values("contact").annotate(n=Count("pk")).values("n")), 0)


class LinkQuerySet(ScopedQuerySet):
    def standing(self) -> Self:
        """Links that no operator has rejected."""
        return self.filter(rejected=False)

    def likely(self) -> Self:
        """Those whose memories may stand on a card."""
        return self.filter(confidence__gte=DOUBTFUL)

    def people_by_memory(self, memories: Iterable[Any]) -> dict[UUID, set[UUID]]:
        """The ids of the contacts that each of these memories is about."""
        people: dict[UUID, set[UUID]] = defaultdict(set)
        links = self.standing().filter(memory__in=memories)
        for memory, contact in links.values_list("memory", "contact"):
            people[memory].add(contact)
        return people

    def with_people(self) -> Self:
        """With their contacts, in the same statement."""
        return self.select_related("contact").defer(
            *(f"contact__{column}" for column in ("memory_ids", "timeline", "card"))
        )

    def due(self, end_user: EndUser) -> Self:
        """Those that the profiles of the user's contacts are to take in now: what lies ahead is
        no fact of a life before its day is over, unless it tells what holds already (engaged, the
        wedding in May), and what is unread tells none yet."""
        began = end_user.today_began
        ahead = Memory.objects.of(end_user).active().ahead(began).without_states(began)
        read = self.of(end_user).unconsolidated().filter(memory__unread=False)
        return read.exclude(memory__in=ahead.values("pk"))

    def over_since(self, end_user: EndUser) -> Self:
        """Those whose memory a profile took in before its day, and whose day is over now."""
        over = Greatest("memory__happens_at", "memory__happens_until", "memory__valid_from")
        taken = self.of(end_user).standing().alias(over=over)
        return taken.filter(
            consolidated_at__lt=F("over"), over__lt=end_user.today_began, memory__status="active"
        )

    def unconsolidated(self) -> Self:
        """Likely links to current facts that the contact's profile has not taken in."""
        return (
            self.standing()
            .likely()
            .filter(consolidated_at=None, memory__status="active", memory__kind="fact")
        )


class Link(Tracked):
    """This memory is about this contact.

    ``rejected``: an operator said that it is not, and no machine makes the link again.
    """

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
            # With the memory: the latest of a person are read from the index alone, where the
            # planner would else walk the links of everybody.
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
        """Whether its memory may stand on the card of the contact."""
        return self.confidence >= DOUBTFUL


def card_notes(contact: Contact) -> list[str]:
    """What the newest memories of a contact say that its profile doesn't speak for, as it does for
    no quote; the oldest of them first, as the card shows them. Of one that is outdated in part,
    what still stands."""
    began = contact.end_user.today_began
    notes = fetch(_SQL["notes"], [contact.pk, began, TELL_DATES])[::-1]
    return [
        text
        for said, facts, *more in notes
        if (text := card_note(contact, said, json.loads(facts), *more))
    ]


def card_note(
    contact: Contact,
    said: str,
    facts: list[dict[str, Any]],
    brackets: Any,
    speaker: str,
    said_on: date,
) -> str:
    """A memory as the card of the contact says it: a quote with who said it and when."""
    if brackets is None or any("outdated_at" in fact for fact in facts):
        return what_stands(said, facts, contact)
    words = attributed(one_line(said, MAX_QUOTE), speaker, contact.end_user.reads)
    return f"{said_on.isoformat()} {words}"


def what_stands(said: str, facts: list[dict[str, Any]], contact: Contact) -> str:
    """What a memory says of the contact, less what has ended of it and what the profile says."""
    if not any("outdated_at" in fact for fact in facts):
        return said
    language = contact.end_user.language
    words = wording(language)
    mine = (fact for fact in facts if fact["person"] == str(contact.pk))
    profile = {(key, v["value"]) for key, values in contact.attributes.items() for v in values}
    left = (
        fact
        for fact in mine
        if "outdated_at" not in fact and (fact["key"], fact["value"]) not in profile
    )
    return words["semicolon"].join(
        f"{label(fact['key'], language)}{words['colon']}{fact['value']}" for fact in left
    )


def card_plans(contact: Contact) -> list[tuple[date, date | None, str]]:
    """What lies ahead of a contact, the next first: the day, by the user's clock, the last day of
    a longer time (in August), and what is then."""
    user = contact.end_user
    params = [user.pk, user.today_began, TELL_DATES, contact.pk, CARD_PLANS]
    return [
        (at.astimezone(user.zone).date(), until and until.astimezone(user.zone).date(), said)
        for at, until, said in fetch(_SQL["plans"], params)
    ]


class LinkedContact(Contact):
    """A contact, for the trigger that its links keep on its table."""

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
    """Edges as they were found, without their mirrors."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(inverse=False)


class Edge(Tracked):
    """A relation between two memories: ``source`` supersedes ``target``, …

    Code writes stated edges only (``objects``); the database keeps beside each its mirror
    (``inverse``), which runs from the target back to the source, so that a traversal reads
    ``both_ways`` by ``source`` alone. ``shares_entity:NAME`` and ``conflicts`` hold in both
    directions, the others in the stated one.

    To add a kind: a row of ``types.EdgeKind``, its weights in ``graph.WEIGHTS``, ``types.Relationship``
    and ``prompts/classify.txt`` where a model may say so, ``edit_edges.STATED`` where people may, the words
    of both languages in ``dashboard.words``, a row in docs/api_corrections.md.
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
            # What waits for a person to say which of two memories is right.
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
    """A named place, organisation, work or person that memories speak of. ``key`` is the
    normal form of ``name``."""

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
    """This memory speaks of this entity."""

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
