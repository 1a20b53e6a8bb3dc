"""How a memory stands to others, over HTTP: reading the graph, stating and taking away edges."""

import re
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, operation
from accounts.cells import atomic
from accounts.errors import unknown
from accounts.fields import Identifier, Reasoned, StoredReason, Strict, undo_id
from memories import graph
from memories.api.requested import TakenAway, check_memory, stated
from memories.corrections import edit_edges
from memories.models import Edge, Memory

MOST = 100
SHARES = Edge.SHARES_ENTITY.rstrip(":")
# Kinds that hold in both directions.
MUTUAL = (str(Edge.Kind.CONFLICTS), Edge.SHARES_ENTITY)
DIRECTIONS = ("out", "in", "both")

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


class EdgesQuery(Strict):
    hops = serializers.IntegerField(min_value=1, max_value=2, default=1)
    kind = KindOfEdge(
        max_length=100,
        required=False,
        help_text=f"One kind of edge; {SHARES} for those by any entity.",
    )
    limit = serializers.IntegerField(min_value=1, max_value=MOST, default=50)


class NewEdge(Reasoned):
    """This memory stands so to another one: it ``causes`` the target, …"""

    target = Identifier()
    kind = serializers.ChoiceField(KINDS)


class MemorySummary(serializers.ModelSerializer):
    class Meta:
        model = Memory
        fields = ["id", "content", "type", "status", "said_at"]


class EdgeSerializer(serializers.Serializer):
    """A memory beside another, and the edge by which it was reached."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    direction = serializers.ChoiceField(DIRECTIONS)
    reason = StoredReason()
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
    change_id = undo_id("null when it was there")


class MemoryEdges(UserView):
    @operation("memories_edges_list", Edges, query=EdgesQuery)
    def get(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """The memories beside a memory, one or two edges away

        Active and outdated memories; never archived ones."""
        query = self.query(EdgesQuery)
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
            _shown(beside, memories[pk]) for pk, beside in neighbours.items() if pk in memories
        ]
        return Response(Edges({"results": results}).data)

    @operation("memories_edges_create", {200: StatedEdge, 201: StatedEdge}, body=NewEdge)
    def post(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """Say how a memory stands to another

        200 with the edge that says exactly this already, if there is one."""
        asked = self.body(NewEdge)
        check_memory(self.end_user, memory_id)
        if not Memory.objects.of(self.end_user).filter(pk=asked["target"]).exists():
            raise serializers.ValidationError({"target": ["This user has no such memory."]})
        with atomic():
            edge, change = edit_edges.connect(
                self.end_user, memory_id, asked["target"], asked["kind"], **self.by(asked)
            )
        ends = {"source": edge.source_id, "target": edge.target_id}
        return stated({"id": edge.pk, "kind": edge.kind, **ends}, change)


class OneEdge(UserView):
    @operation("memories_edges_destroy", TakenAway)
    def delete(self, _request: Request, memory_id: UUID, edge_id: int, **_path: Any) -> Response:
        """Take an edge of a memory away

        No machine joins the two again, until the change is undone."""
        check_memory(self.end_user, memory_id)
        edges = Edge.both_ways.of(self.end_user).filter(source=memory_id)
        if not edges.filter(pk=edge_id).exists():
            raise unknown("unknown_edge")
        with atomic():
            change = edit_edges.disconnect(self.end_user, memory_id, edge_id, actor=self.actor)
        return Response(TakenAway({"change_id": change.id}).data)


def _shown(beside: graph.Neighbour, memory: Memory) -> dict[str, Any]:
    step = beside.steps[-1]
    mutual = step.kind.startswith(MUTUAL)
    return {
        "id": step.edge,
        "kind": step.kind,
        "direction": "both" if mutual else "in" if step.inverse else "out",
        "reason": step.reason,
        "confidence": step.confidence,
        "hops": beside.hops,
        "weight": round(beside.weight, 4),
        "via": step.source,
        "memory": memory,
    }
