"""Saying the same in other memories, over HTTP: split one, merge several."""

from typing import Any
from uuid import UUID

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.fields import BoundedList, Identifier, Reasoned, Text
from memories.api.requested import changed, check_memory
from memories.api.serializers import MAX_CONTENT, ChangedMemory, MemorySerializer, with_relations
from memories.corrections import rewrite
from memories.models import Edge, Memory


class SplitMemoryForm(Reasoned):
    """Sentences that each stand alone and say together what the memory says."""

    pieces = BoundedList(
        child=Text(max_length=MAX_CONTENT), min_length=2, max_length=rewrite.MOST_PIECES
    )


class MergeMemoriesForm(Reasoned):
    """The memories that say the same, and a sentence that says all that they say."""

    ids = BoundedList(child=Identifier(), min_length=2, max_length=rewrite.MOST_MERGED)
    content = Text(max_length=MAX_CONTENT)


class Pieces(serializers.Serializer):
    """The pieces of a memory, new ones and those that were known already."""

    change_id = serializers.UUIDField(help_text="Undo it with changes/{id}/undo/.")
    pieces = MemorySerializer(many=True)


class SplitMemory(UserView):
    @documented(
        request=SplitMemoryForm,
        responses={201: Pieces},
        operation_id="memories_split",
        summary="Split a memory into pieces",
        description="The memory stays; the pieces stand beside it, each about those of its "
        "people whom it names, with its facts and sources. A piece that is known already is "
        "not stored twice.",
    )
    def post(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        asked = self.body(SplitMemoryForm)
        check_memory(self.end_user, memory_id)
        change = rewrite.split(self.end_user, memory_id, asked["pieces"], **self.by(asked))
        made = [row["id"] for row in change.rows if row["model"] == Edge._meta.label_lower]
        parts = Edge.objects.of(self.end_user).filter(
            kind=Edge.Kind.PART_OF, target=memory_id, pk__in=made
        )
        rows = Memory.objects.of(self.end_user).filter(pk__in=parts.values("source"))
        pieces = with_relations(rows).order_by("created_at", "pk")
        answer = Pieces({"change_id": change.id, "pieces": pieces})
        return Response(answer.data, status=status.HTTP_201_CREATED)


class MergeMemories(UserView):
    @documented(
        request=MergeMemoriesForm,
        responses={201: ChangedMemory},
        operation_id="memories_merge",
        summary="Merge memories that overlap",
        description="The answer is a new memory, which takes over the links, edges, facts, "
        "sources and counts of the others and their place in profiles. These are archived.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(MergeMemoriesForm)
        ids = list(dict.fromkeys(asked["ids"]))
        rows = Memory.objects.of(self.end_user).filter(pk__in=ids)
        known = set(rows.values_list("pk", flat=True))
        if unknown := [str(pk) for pk in ids if pk not in known]:
            problem = f"This user has no such memory: {', '.join(unknown[:5])}."
            raise serializers.ValidationError({"ids": [problem]})
        memory, change = rewrite.merge_memories(
            self.end_user, ids, asked["content"], **self.by(asked)
        )
        answer = changed(self.end_user, memory.pk, change)
        return Response(answer, status=status.HTTP_201_CREATED)
