"""Who is whose mother, partner, boss, over HTTP."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.errors import ApiError
from accounts.fields import Identifier, Strict, Text, WhyQuery
from accounts.paging import Page, PageQuery, page
from contacts import edit, relations
from contacts.models import Relation
from contacts.serializers import Named
from memories.api.contacts import PersonView, refusals
from memories.api.requested import TakenAway, stated


class RelationQuery(PageQuery):
    contact = serializers.UUIDField(required=False, help_text="Only those of this contact.")


class NewRelation(Strict):
    """``subject`` is the ``kind`` of ``object``."""

    subject = Identifier(help_text="The contact who is somebody's mother, boss, partner …")
    kind = Text(max_length=relations.MAX_KIND, help_text="In the user's words: mother, 上司")
    object = Identifier(help_text="… and whose.")
    why = Text(max_length=500, allow_blank=True, required=False)


class RelationSerializer(serializers.ModelSerializer):
    """``subject`` is the ``kind`` of ``object``."""

    subject = Named()
    object = Named()
    sources = serializers.ListField(
        child=serializers.UUIDField(), help_text="The memories that say so; none: it was stated."
    )

    class Meta:
        model = Relation
        fields = ["id", "subject", "kind", "object", "sources", "created_at"]


class ChangedRelation(RelationSerializer):
    change_id = serializers.UUIDField(
        allow_null=True,
        help_text="Undo it with changes/{id}/undo/; null when it was stated before.",
    )

    class Meta(RelationSerializer.Meta):
        fields = [*RelationSerializer.Meta.fields, "change_id"]


class RelationPage(Page):
    results = RelationSerializer(many=True)


def _shown(rows: Sequence[Relation]) -> list[dict[str, Any]]:
    return list(RelationSerializer(rows, many=True).data)


class Relations(PersonView):
    @documented(
        responses={200: RelationPage},
        parameters=[RelationQuery],
        operation_id="relations_list",
        summary="How the people in a user's life are related to each other",
        description="The latest first. What somebody is to the user is the contact's "
        "`relationship`.",
    )
    def get(self, request: Request, **_path: Any) -> Response:
        query = self.query(RelationQuery)
        rows = Relation.objects.of(self.end_user)
        if "contact" in query:
            rows = rows.among([self.contact(query["contact"], or_survivor=True).pk])
        return page(request, rows.with_people(), "created_at", query, _shown)

    @documented(
        request=NewRelation,
        responses={200: ChangedRelation, 201: ChangedRelation},
        operation_id="relations_create",
        summary="Say how two people are related",
        description="Both cards say it from then on, and no correction of a memory takes it away. "
        "200 when that was stated before.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(NewRelation)
        sides = [
            self.contact(self.other(field, asked[field]), or_survivor=True).pk
            for field in ("subject", "object")
        ]
        with refusals():
            change = edit.add_relation(
                self.end_user,
                sides[0],
                asked["kind"],
                sides[1],
                actor=self.actor,
                why=asked.get("why", ""),
            )
        kind = relations.cleaned(asked["kind"])
        held = Relation.objects.of(self.end_user).with_people()
        row = held.get(subject=sides[0], object=sides[1], kind=kind)
        return stated(RelationSerializer(row).data, change)


class OneRelation(UserView):
    @documented(
        responses={200: TakenAway},
        parameters=[WhyQuery],
        operation_id="relations_destroy",
        summary="Say that two people are not so related",
        description="A correction: it can be undone.",
    )
    def delete(self, _request: Request, relation_id: int, **_path: Any) -> Response:
        why = self.query(WhyQuery).get("why", "")
        held = Relation.objects.of(self.end_user)
        if not held.filter(pk=relation_id).exists():
            raise ApiError(404, "unknown_relation", "This user has no such relation.")
        change = edit.remove_relation(self.end_user, relation_id, actor=self.actor, why=why)
        return Response(TakenAway({"change_id": change.id}).data)
