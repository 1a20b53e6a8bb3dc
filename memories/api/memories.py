"""Memories over HTTP: read, added and corrected, with their links, edges and earlier versions."""

import re
from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from accounts import fields
from accounts.api import UserView, Validated, operation
from accounts.cells import atomic
from accounts.errors import conflict, first_or_404, unknown
from accounts.models import EndUser
from accounts.paging import PageQuery, listed, page, page_of
from accounts.reasons import read
from contacts import store
from contacts.serializers import Named
from memories import graph
from memories.api.contacts import PersonView
from memories.api.serializers import (
    MAX_PEOPLE,
    OWN_METADATA,
    TYPES,
    ChangedMemory,
    Forgotten,
    MemorySerializer,
    TakenAway,
    changed,
    check_memory,
    memory_of,
    named_contacts,
    stated,
    with_relations,
)
from memories.corrections import edit_edges, edit_memories, review_links
from memories.erasure import erase
from memories.erasure.receipts import By
from memories.history import versions
from memories.history.changed import Changed
from memories.history.changed import changed as what_changed
from memories.models import Edge, Link, Memory, MemoryQuerySet
from memories.search.tokens import tokenise
from memories.types import MemoryType, Subtype

MAX_CONTENT = 1000


class _Times(fields.Reasoned):
    """When the event takes place and stops mattering, and from when to when the fact is valid."""

    happens_at = fields.Moment(required=False, allow_null=True)
    happens_until = fields.Moment(required=False, allow_null=True)
    expires_at = fields.Moment(required=False, allow_null=True)
    valid_from = fields.Moment(required=False, allow_null=True)
    valid_to = fields.Moment(required=False, allow_null=True)
    importance = fields.Number(min_value=0, max_value=1, required=False)
    subtype = serializers.ChoiceField([*map(str, Subtype)], required=False)
    metadata = fields.Metadata(required=False, taken=OWN_METADATA)


class NewMemory(_Times):
    content = fields.Text(max_length=MAX_CONTENT)
    type = serializers.ChoiceField(TYPES, default=MemoryType.MISCELLANEOUS.value)
    contacts = fields.BoundedList(child=fields.Identifier(), max_length=MAX_PEOPLE, default=list)


class MemoryEdit(_Times):
    importance = fields.Number(min_value=0, max_value=1, required=False, allow_null=True)
    content = fields.Text(max_length=MAX_CONTENT, required=False)
    type = serializers.ChoiceField(TYPES, required=False)
    status = serializers.ChoiceField(Memory.Status.choices, required=False)


class MoveForm(fields.Reasoned):
    """The contact that the memory was thought to be about, and the one it is about."""

    to = fields.Identifier()

    def get_fields(self) -> dict[str, serializers.Field]:
        return {"from": fields.Identifier(), **super().get_fields()}  # from is a keyword


class MemoryQuery(PageQuery):
    status = serializers.ChoiceField(
        [*Memory.Status.values, "all"], default=Memory.Status.ACTIVE.value
    )
    kind = serializers.ChoiceField([*Memory.Kind.values, "all"], default=Memory.Kind.FACT.value)
    type = serializers.ChoiceField(TYPES, required=False)
    contact = serializers.UUIDField(required=False)
    q = serializers.CharField(required=False, allow_blank=True, max_length=200)
    metadata = fields.MetadataQuery()
    valid_at = fields.PastInstant(required=False)


class Memories(UserView):
    @operation("memories_list", page_of(MemorySerializer), query=MemoryQuery)
    def get(self, query: Validated) -> Any:
        """What is remembered, the latest first

        With `valid_at`: what was valid at that moment, whether or not it still is."""
        if contact := query.get("contact"):
            current = store.survivor(self.end_user, contact)
            query["contact"] = current.id if current else contact
        rows = _filtered(self.end_user, query)
        return page(self.request, with_relations(rows), "said_at", query, listed(MemorySerializer))

    @operation("memories_create", {200: ChangedMemory, 201: ChangedMemory}, body=NewMemory)
    def post(self, values: Validated) -> Any:
        """Add a memory

        200 with the memory that says exactly this already, if there is one."""
        with atomic():
            end_user = self.end_user_for_writing()
            people = named_contacts(end_user, values.pop("contacts"))
            values.setdefault("subtype", Subtype.OTHER if people else Subtype.SELF)
            memory, change = edit_memories.add(
                end_user,
                " ".join(values.pop("content").split()),
                actor=self.actor,
                contacts=people,
                speaker=self.actor,
                **values,
            )
        return stated(MemorySerializer(memory_of(end_user, memory.id)).data, change)


class OneMemory(UserView):
    @operation("memories_retrieve", MemorySerializer)
    def get(self, memory_id: UUID) -> Any:
        """One memory"""
        return MemorySerializer(memory_of(self.end_user, memory_id)).data

    @operation("memories_update", ChangedMemory, body=MemoryEdit, partial=True)
    def patch(self, values: Validated, memory_id: UUID) -> Any:
        """Correct a memory

        Only the fields given change. What profiles learnt from it is read again."""
        if memory_of(self.end_user, memory_id).kind == Memory.Kind.PROFILE:
            raise conflict("A profile follows from its memories; correct these or the contact.")
        if "content" in values:
            values["content"] = " ".join(values["content"].split())
        why = values.pop("why", "")
        change = edit_memories.edit(self.end_user, memory_id, values, actor=self.actor, why=why)
        return changed(self.end_user, memory_id, change)

    @operation("memories_destroy", Forgotten)
    def delete(self, memory_id: UUID) -> Any:
        """Erase a memory for good

        As `forget/` with `memory`: its words in the messages that it rests on are erased too. This
        can't be undone; `PATCH` with `{"status": "archived"}` only archives it."""
        check_memory(self.end_user, memory_id)
        return asdict(erase.forget_memory(self.end_user, memory_id, By(self.actor)))


class Move(PersonView):
    @operation("memories_move", ChangedMemory, body=MoveForm)
    def post(self, asked: Validated, memory_id: UUID) -> Any:
        """Say that a memory is about another person

        No machine links it to the first person again."""
        check_memory(self.end_user, memory_id)
        old, new = (self.survivor(self.other(at, asked[at])).pk for at in ("from", "to"))
        change = edit_memories.move(self.end_user, memory_id, old, new, **self.by(asked))
        return changed(self.end_user, memory_id, change)


def _filtered(end_user: EndUser, query: dict[str, Any]) -> MemoryQuerySet:
    rows = Memory.objects.of(end_user)
    if moment := query.get("valid_at"):
        rows = rows.exclude(status=Memory.Status.ARCHIVED).true_at(moment)
        query = query | {"status": "all"}
    for field in ("status", "kind", "type"):
        if query.get(field, "all") != "all":
            rows = rows.filter(**{field: query[field]})
    if contact := query.get("contact"):
        rows = rows.about(contact)
    if "metadata" in query:
        rows = rows.noted(query["metadata"])
    if wanted := query.get("q"):
        tokens = tokenise(wanted)
        rows = rows.holding(end_user, tokens) if tokens else rows.filter(content__icontains=wanted)
    return rows


class NewLink(fields.Reasoned):
    contact = fields.Identifier()


class LinkSerializer(fields.RowSerializer):
    """That a memory is about a contact, or that somebody said it is not (``rejected``)."""

    contact = Named()

    class Meta:
        model = Link
        fields: ClassVar = ["contact", "made_by", "confidence", "rejected", "created_at"]


class Links(serializers.Serializer):
    results = LinkSerializer(many=True)


class ChangedLink(LinkSerializer):
    change_id = fields.undo_id("null when it was stated before")


class MemoryLinks(PersonView):
    @operation("memories_links_list", Links)
    def get(self, memory_id: UUID) -> Any:
        """Whom a memory is about, who found that out, and with what confidence"""
        check_memory(self.end_user, memory_id)
        rows = Link.objects.of(self.end_user).filter(memory=memory_id).with_people()
        return Links({"results": rows.order_by("pk")}).data

    @operation("memories_links_create", {200: ChangedLink, 201: ChangedLink}, body=NewLink)
    def post(self, asked: Validated, memory_id: UUID) -> Any:
        """Say that a memory is about a person

        This also confirms a link that a machine found, and takes back a rejection. 200 when that
        was stated before."""
        check_memory(self.end_user, memory_id)
        pk = self.other("contact", asked["contact"])
        contact = self.survivor(pk)
        change = review_links.state(self.end_user, memory_id, pk, **self.by(asked))
        rows = Link.objects.of(self.end_user).with_people()
        row = rows.get(memory=memory_id, contact=contact)
        return stated(LinkSerializer(row).data, change)


class OneLink(PersonView):
    @operation("memories_links_destroy", TakenAway, query=fields.WhyQuery)
    def delete(self, asked: Validated, memory_id: UUID, contact_id: UUID) -> Any:
        """Say that a memory is not about a person

        A correction: it can be undone. The link is rejected: no machine makes it again, and what
        the profile had learnt from the memory is removed."""
        check_memory(self.end_user, memory_id)
        contact = self.survivor(contact_id)
        links = Link.objects.of(self.end_user).standing()
        first_or_404(links.filter(memory=memory_id, contact=contact), "unknown_link")
        change = edit_memories.unlink(self.end_user, memory_id, contact.pk, **self.by(asked))
        return TakenAway({"change_id": change.id}).data


MOST_EDGES = 100
SHARES = Edge.SHARES_ENTITY.rstrip(":")
# Kinds that are valid in both directions.
MUTUAL = (str(Edge.Kind.CONFLICTS), Edge.SHARES_ENTITY)
KINDS = [kind.value for kind in edit_edges.STATED]
_KINDS = [*Edge.Kind, SHARES]
_KIND = rf"^(?:(?:{'|'.join(_KINDS)})$|{Edge.SHARES_ENTITY})"


class KindOfEdge(serializers.CharField):
    described = {"pattern": _KIND}

    def to_internal_value(self, data: Any) -> str:
        kind = super().to_internal_value(data)
        if not re.match(_KIND, kind):
            raise serializers.ValidationError(f"Unknown kind. Known are: {', '.join(_KINDS)}.")
        return Edge.SHARES_ENTITY if kind == SHARES else kind


class EdgesQuery(fields.Strict):
    hops = serializers.IntegerField(min_value=1, max_value=2, default=1)
    kind = KindOfEdge(
        max_length=100,
        required=False,
        help_text=f"One kind of edge; {SHARES} for those by any entity.",
    )
    limit = serializers.IntegerField(min_value=1, max_value=MOST_EDGES, default=50)


class NewEdge(fields.Reasoned):
    """How this memory is related to another one: it ``causes`` the target, …"""

    target = fields.Identifier()
    kind = serializers.ChoiceField(KINDS)


class MemorySummary(serializers.ModelSerializer):
    class Meta:
        model = Memory
        fields = ["id", "content", "type", "status", "said_at"]


class EdgeSerializer(serializers.Serializer):
    """A neighbour of a memory, and the edge by which it was reached."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    direction = serializers.ChoiceField(["out", "in", "both"])
    reason = fields.StoredReason()
    confidence = serializers.FloatField()
    hops = serializers.IntegerField()
    weight = serializers.FloatField()
    via = serializers.UUIDField()
    memory = MemorySummary()


class Edges(serializers.Serializer):
    results = EdgeSerializer(many=True)


class StatedEdge(serializers.Serializer):
    id = serializers.IntegerField()
    kind = serializers.CharField()
    source = serializers.UUIDField()  # type: ignore[assignment]
    target = serializers.UUIDField()
    change_id = fields.undo_id("null when it was there")


class MemoryEdges(UserView):
    @operation("memories_edges_list", Edges, query=EdgesQuery)
    def get(self, query: Validated, memory_id: UUID) -> Any:
        """The memories one or two edges away from a memory

        Active and outdated memories; never archived ones."""
        check_memory(self.end_user, memory_id)
        neighbours = graph.neighbours(
            self.end_user,
            [memory_id],
            hops=query["hops"],
            limit=query["limit"],
            kinds=[query["kind"]] if "kind" in query else [],
        )
        memories = (
            Memory.objects.of(self.end_user).filter(pk__in=neighbours).defer("tokens").in_bulk()
        )
        results = [
            _shown_edge(found, memories[pk]) for pk, found in neighbours.items() if pk in memories
        ]
        return Edges({"results": results}).data

    @operation("memories_edges_create", {200: StatedEdge, 201: StatedEdge}, body=NewEdge)
    def post(self, asked: Validated, memory_id: UUID) -> Any:
        """Say how a memory is related to another

        200 with the edge that says exactly this already, if there is one."""
        check_memory(self.end_user, memory_id)
        if not Memory.objects.of(self.end_user).filter(pk=asked["target"]).exists():
            raise serializers.ValidationError({"target": ["This user has no such memory."]})
        edge, change = edit_edges.connect(
            self.end_user, memory_id, asked["target"], asked["kind"], **self.by(asked)
        )
        ends = {"source": edge.source_id, "target": edge.target_id}
        return stated({"id": edge.pk, "kind": edge.kind, **ends}, change)


class OneEdge(UserView):
    @operation("memories_edges_destroy", TakenAway)
    def delete(self, memory_id: UUID, edge_id: int) -> Any:
        """Remove an edge of a memory

        No machine joins the two again, until the change is undone."""
        check_memory(self.end_user, memory_id)
        edges = Edge.both_ways.of(self.end_user).filter(source=memory_id, pk=edge_id)
        first_or_404(edges, "unknown_edge")
        change = edit_edges.disconnect(self.end_user, memory_id, edge_id, actor=self.actor)
        return TakenAway({"change_id": change.id}).data


def _shown_edge(neighbour: graph.Neighbour, memory: Memory) -> dict[str, Any]:
    step = neighbour.steps[-1]
    mutual = step.kind.startswith(MUTUAL)
    return {
        "id": step.edge,
        "kind": step.kind,
        "direction": "both" if mutual else "in" if step.inverse else "out",
        "reason": step.reason,
        "confidence": step.confidence,
        "hops": neighbour.hops,
        "weight": round(neighbour.weight, 4),
        "via": step.source,
        "memory": memory,
    }


_STATUS = serializers.ChoiceField(Memory.Status.choices)
Versions = inline_serializer(
    "Versions", {"results": type(fields.of_dataclass(versions.Version, status=_STATUS))(many=True)}
)
ChangedFacts = inline_serializer(
    "ChangedFacts", {"results": type(fields.of_dataclass(Changed))(many=True)}
)


class ChangedQuery(fields.Strict):
    contact = fields.Identifier(required=False)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=1000)


class WhatChanged(PersonView):
    @operation("changed_facts_list", ChangedFacts, query=ChangedQuery)
    def get(self, query: Validated) -> Any:
        """What changed in the lives of the user and their people

        Facts that are no longer true, with those that replaced them."""
        who = self.survivor(query["contact"]).id if query.get("contact") else None
        facts = what_changed(self.end_user, who)[: query.get("limit")]
        return {"results": [asdict(one) for one in facts]}


class MemoryHistory(UserView):
    @operation("memories_history", Versions)
    def get(self, memory_id: UUID) -> Any:
        """All versions of a memory: what it replaced, its edits, what replaced it"""
        found = versions.versions(self.end_user, memory_id)
        if not found:
            raise unknown("unknown_memory")
        return {"results": [asdict(one) | {"why": str(read(one.why))} for one in found]}
