"""Who is whose mother, partner, boss, over HTTP."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, operation
from accounts.errors import first_or_404
from accounts.fields import Identifier, Reasoned, RowSerializer, Text, WhyQuery, undo_id
from accounts.paging import PageQuery, listed, page, page_of
from contacts import edit, relations
from contacts.models import Relation
from contacts.serializers import Named
from memories.api.contacts import PersonView
from memories.api.requested import TakenAway, stated


class RelationQuery(PageQuery):
    contact = serializers.UUIDField(required=False)


class NewRelation(Reasoned):
    """``subject`` is the ``kind`` of ``object``."""

    subject = Identifier()
    kind = Text(max_length=relations.MAX_KIND)
    object = Identifier()


class RelationSerializer(RowSerializer):
    """``subject`` is the ``kind`` of ``object``."""

    subject = Named()
    object = Named()
    sources = serializers.ListField(child=serializers.UUIDField())

    class Meta:
        model = Relation
        fields = ["id", "subject", "kind", "object", "sources", "created_at"]


class ChangedRelation(RelationSerializer):
    change_id = undo_id("null when it was stated before")


class Relations(PersonView):
    @operation("relations_list", page_of(RelationSerializer), query=RelationQuery)
    def get(self, request: Request, **_path: Any) -> Response:
        """How the people in a user's life are related to each other

        The latest first. What somebody is to the user is the contact's `relationship`."""
        query = self.query(RelationQuery)
        rows = Relation.objects.of(self.end_user)
        if "contact" in query:
            rows = rows.among([self.survivor(query["contact"]).pk])
        return page(request, rows.with_people(), "created_at", query, listed(RelationSerializer))

    @operation("relations_create", {200: ChangedRelation, 201: ChangedRelation}, body=NewRelation)
    def post(self, _request: Request, **_path: Any) -> Response:
        """Say how two people are related

        Both cards say it from then on, and no correction of a memory takes it away. 200 when that
        was stated before."""
        asked = self.body(NewRelation)
        subject, of = (
            self.survivor(self.other(field, asked[field])).pk for field in ("subject", "object")
        )
        change = edit.add_relation(self.end_user, subject, asked["kind"], of, **self.by(asked))
        kind = relations.cleaned(asked["kind"])
        rows = Relation.objects.of(self.end_user).with_people()
        row = rows.get(subject=subject, object=of, kind=kind)
        return stated(RelationSerializer(row).data, change)


class OneRelation(UserView):
    @operation("relations_destroy", TakenAway, query=WhyQuery)
    def delete(self, _request: Request, relation_id: int, **_path: Any) -> Response:
        """Say that two people are not so related

        A correction: it can be undone."""
        by = self.by(self.query(WhyQuery))
        first_or_404(Relation.objects.of(self.end_user).filter(pk=relation_id), "unknown_relation")
        change = edit.remove_relation(self.end_user, relation_id, **by)
        return Response(TakenAway({"change_id": change.id}).data)
