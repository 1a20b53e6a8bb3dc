"""Who may be one person, over HTTP: the questions that wait, and answering them."""

from typing import Any, ClassVar

from django.db.models import Q
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import operation
from accounts.errors import first_or_404
from accounts.fields import Identifier, Reasoned, RowSerializer, undo_id
from accounts.paging import PageQuery, listed, page, page_of
from accounts.reasons import Reason
from contacts.merge import not_the_same, put_off
from contacts.models import Suggestion
from contacts.resolution.suggestions import survivor_first
from contacts.serializers import Named
from memories.api.contacts import PersonView
from memories.api.requested import with_change
from memories.corrections import merge_contacts

STATES = [state.value for state in Suggestion.State]
DECISIONS = ["merge", "different", "later"]


class SuggestionQuery(PageQuery):
    state = serializers.ChoiceField(
        [*STATES, "all"],
        default=Suggestion.State.OPEN.value,
    )
    contact = serializers.UUIDField(required=False)


class DecisionForm(Reasoned):
    """``merge``: one person; ``different``: two, never asked again; ``later``: put off."""

    decision = serializers.ChoiceField(DECISIONS)
    into = Identifier(
        required=False,
    )


class EvidenceSerializer(serializers.Serializer):
    code = serializers.CharField()
    text = serializers.CharField()
    weight = serializers.FloatField()

    def to_representation(self, row: dict[str, Any]) -> dict[str, Any]:
        code = row.get("code", "")
        text = str(Reason(code, **row["params"])) if code else row["text"]
        return {"code": code, "text": text, "weight": row["weight"]}


class SuggestionSerializer(RowSerializer):
    """Two contacts that may be one person."""

    contacts = serializers.SerializerMethodField()
    evidence = EvidenceSerializer(many=True, source="known_evidence")

    judgement = serializers.CharField()

    class Meta:
        model = Suggestion
        fields: ClassVar = [
            "id", "contacts", "verdict", "confidence", "evidence", "state", "decided_by",
            "decided_at", "judgement", "judged_reason", "judged_by", "created_at",
        ]  # fmt: skip

    @extend_schema_field(Named(many=True))
    def get_contacts(self, row: Suggestion) -> list[dict[str, Any]]:
        return list(Named([row.first, row.second], many=True).data)


class DecidedSuggestion(SuggestionSerializer):
    change_id = undo_id("null when it was put off")


class Suggestions(PersonView):
    @operation("suggestions_list", page_of(SuggestionSerializer), query=SuggestionQuery)
    def get(self, request: Request, **_path: Any) -> Response:
        """Who may be one person, the surest first"""
        query = self.query(SuggestionQuery)
        rows = Suggestion.objects.of(self.end_user).listed().with_people()
        if query["state"] != "all":
            rows = rows.filter(state=query["state"])
        if "contact" in query:
            pk = self.survivor(query["contact"]).pk
            rows = rows.filter(Q(first=pk) | Q(second=pk))
        return page(request, rows, "confidence", query, listed(SuggestionSerializer))


class DecideSuggestion(PersonView):
    @operation("suggestions_decide", DecidedSuggestion, body=DecisionForm)
    def post(self, _request: Request, suggestion_id: int, **_path: Any) -> Response:
        """Say whether two contacts are one person

        409 when one of them was merged already, or when what is to be put off was decided. A
        decision can be undone."""
        asked = self.body(DecisionForm)
        rows = Suggestion.objects.of(self.end_user).with_people().filter(pk=suggestion_id)
        row = first_or_404(rows, "unknown_suggestion")
        pair = row.first_id, row.second_id
        into = asked.get("into")
        if into and (asked["decision"] != "merge" or into not in pair):
            raise serializers.ValidationError({"into": ["Of a merge: one of the two contacts."]})
        change = None
        if asked["decision"] == "merge":
            stays, goes = survivor_first(self.end_user, pair)
            if into == goes:
                stays, goes = goes, stays
            change = merge_contacts.merge(self.end_user, goes, stays, **self.by(asked))
        elif asked["decision"] == "different":
            change = not_the_same(self.end_user, *pair, **self.by(asked))
        else:
            put_off(self.end_user, *pair, actor=self.actor)
        return Response(with_change(SuggestionSerializer(rows.get()).data, change))
