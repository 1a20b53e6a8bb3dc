"""Whom a memory is about, over HTTP: linking it to a person, and rejecting a link."""

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import operation
from accounts.cells import atomic
from accounts.errors import unknown
from accounts.fields import Identifier, Reasoned, RowSerializer, WhyQuery, undo_id
from contacts.serializers import Named
from memories import queue
from memories.api.contacts import PersonView
from memories.api.requested import TakenAway, check_memory, stated
from memories.corrections import edit_memories, review_links
from memories.models import Link


class NewLink(Reasoned):
    contact = Identifier()


class LinkSerializer(RowSerializer):
    """That a memory is about a contact, or that somebody said it is not (``rejected``)."""

    contact = Named()

    class Meta:
        model = Link
        fields: ClassVar = ["contact", "made_by", "confidence", "rejected", "created_at"]


class Links(serializers.Serializer):
    results = LinkSerializer(many=True)


class ChangedLink(LinkSerializer):
    change_id = undo_id("null when it was stated before")


class MemoryLinks(PersonView):
    @operation("memories_links_list", Links)
    def get(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """Whom a memory is about, who found that out, and how sure it is"""
        check_memory(self.end_user, memory_id)
        rows = Link.objects.of(self.end_user).filter(memory=memory_id).with_people()
        return Response(Links({"results": rows.order_by("pk")}).data)

    @operation("memories_links_create", {200: ChangedLink, 201: ChangedLink}, body=NewLink)
    def post(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """Say that a memory is about a person

        Also what a machine found out is confirmed so, and a rejection taken back. 200 when that was
        stated before."""
        asked = self.body(NewLink)
        check_memory(self.end_user, memory_id)
        pk = self.other("contact", asked["contact"])
        contact = self.survivor(pk)
        with atomic():
            change = review_links.state(self.end_user, memory_id, pk, **self.by(asked))
            queue.enqueue("embed", self.end_user.pk)
        rows = Link.objects.of(self.end_user).with_people()
        row = rows.get(memory=memory_id, contact=contact)
        return stated(LinkSerializer(row).data, change)


class OneLink(PersonView):
    @operation("memories_links_destroy", TakenAway, query=WhyQuery)
    def delete(
        self, _request: Request, memory_id: UUID, contact_id: UUID, **_path: Any
    ) -> Response:
        """Say that a memory is not about a person

        A correction: it can be undone. The link is rejected: no machine makes it again, and what
        the profile had learnt from the memory goes."""
        by = self.by(self.query(WhyQuery))
        check_memory(self.end_user, memory_id)
        contact = self.survivor(contact_id)
        linked = Link.objects.of(self.end_user).standing().filter(memory=memory_id)
        if not linked.filter(contact=contact).exists():
            raise unknown("unknown_link")
        with atomic():
            change = edit_memories.unlink(self.end_user, memory_id, contact.pk, **by)
            queue.enqueue("embed", self.end_user.pk)
        return Response(TakenAway({"change_id": change.id}).data)
