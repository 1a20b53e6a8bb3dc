"""Memories over HTTP: list, read, add, correct, move to another person."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, operation
from accounts.cells import atomic
from accounts.errors import conflict, unknown
from accounts.models import EndUser
from accounts.paging import listed, page, page_of
from contacts import store
from contacts.models import Contact
from memories import queue
from memories.api.requested import (
    Forgotten,
    changed,
    check_memory,
    memory_of,
    stated,
)
from memories.api.serializers import (
    ChangedMemory,
    MemoryEdit,
    MemoryQuery,
    MemorySerializer,
    MoveForm,
    NewMemory,
    with_relations,
)
from memories.corrections import edit_memories
from memories.erasure import erase
from memories.erasure.receipts import By
from memories.models import Memory, MemoryQuerySet
from memories.search.tokens import tokenise
from memories.types import Subtype


class Memories(UserView):
    @operation("memories_list", page_of(MemorySerializer), query=MemoryQuery)
    def get(self, request: Request, **_path: Any) -> Response:
        """What is remembered, the latest first

        With `valid_at`: what held at that moment, true or no longer."""
        query = self.query(MemoryQuery)
        if contact := query.get("contact"):
            current = store.survivor(self.end_user, contact)
            query["contact"] = current.id if current else contact
        rows = _chosen(self.end_user, query)
        return page(request, with_relations(rows), "said_at", query, listed(MemorySerializer))

    @operation("memories_create", {200: ChangedMemory, 201: ChangedMemory}, body=NewMemory)
    def post(self, _request: Request, **_path: Any) -> Response:
        """Add a memory

        200 with the memory that says exactly this already, if there is one."""
        values = self.body(NewMemory)
        with atomic():
            end_user = self.end_user_for_writing()
            people = _contacts(end_user, values.pop("contacts"), "contacts")
            values.setdefault("subtype", Subtype.OTHER if people else Subtype.SELF)
            memory, change = edit_memories.add(
                end_user,
                " ".join(values.pop("content").split()),
                actor=self.actor,
                contacts=people,
                speaker=self.actor,
                **values,
            )
            queue.enqueue("embed", end_user.pk)
        return stated(MemorySerializer(memory_of(end_user, memory.id)).data, change)


class OneMemory(UserView):
    @operation("memories_retrieve", MemorySerializer)
    def get(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """One memory"""
        return Response(MemorySerializer(memory_of(self.end_user, memory_id)).data)

    @operation("memories_update", ChangedMemory, body=MemoryEdit)
    def patch(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """Correct a memory

        Only the fields given change. What profiles learnt from it is read again."""
        values = self.body(MemoryEdit, partial=True)
        if memory_of(self.end_user, memory_id).kind == Memory.Kind.PROFILE:
            raise conflict("A profile follows from its memories; correct these or the contact.")
        if "content" in values:
            values["content"] = " ".join(values["content"].split())
        why = values.pop("why", "")
        with atomic():
            change = edit_memories.edit(self.end_user, memory_id, values, actor=self.actor, why=why)
            queue.enqueue("embed", self.end_user.pk)
        return Response(changed(self.end_user, memory_id, change))

    @operation("memories_destroy", Forgotten)
    def delete(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """Erase a memory for good

        As `forget/` with `memory`: its words in the messages that it rests on go too. This can't be
        undone; `PATCH` with `{"status": "archived"}` only puts it away."""
        try:
            return Response(asdict(erase.forget_memory(self.end_user, memory_id, By(self.actor))))
        except erase.NothingToForget as error:
            raise unknown("unknown_memory") from error


class Move(UserView):
    @operation("memories_move", ChangedMemory, body=MoveForm)
    def post(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """Say that a memory is about another person

        No machine links it to the first person again."""
        asked = self.body(MoveForm)
        check_memory(self.end_user, memory_id)
        (source,) = _contacts(self.end_user, [asked["from"]], "from")
        (target,) = _contacts(self.end_user, [asked["to"]], "to")
        with atomic():
            change = edit_memories.move(
                self.end_user, memory_id, source.id, target.id, **self.by(asked)
            )
            queue.enqueue("embed", self.end_user.pk)
        return Response(changed(self.end_user, memory_id, change))


def _chosen(end_user: EndUser, query: dict[str, Any]) -> MemoryQuerySet:
    rows = Memory.objects.of(end_user)
    if moment := query.get("valid_at"):
        rows = rows.exclude(status=Memory.Status.ARCHIVED).held_at(moment)
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


def _contacts(end_user: EndUser, ids: Sequence[UUID], field: str) -> list[Contact]:
    """The contacts with these ids, or those that they were merged into, each once."""
    contacts = [store.survivor(end_user, pk) for pk in ids]
    if None in contacts:
        raise serializers.ValidationError({field: ["This user has no such contact."]})
    return list({contact.id: contact for contact in contacts if contact}.values())
