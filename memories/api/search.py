"""Search by words, meaning, edges and time."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from accounts import fields
from accounts.api import UserView, Validated, operation
from accounts.models import EndUser
from memories.api.serializers import (
    MAX_PEOPLE,
    TYPES,
    MemorySerializer,
    named_contacts,
    with_relations,
)
from memories.models import Memory
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.query import understand
from memories.search.recall import Hit, SearchRequest


class SearchForm(fields.Strict):
    query = fields.Text(max_length=10_000)
    intent = serializers.ChoiceField(
        ["recall", "explore", "exact", "general"], required=False, allow_null=True
    )
    limit = fields.Whole(min_value=1, max_value=100, default=10)
    types = fields.BoundedList(
        child=serializers.ChoiceField(TYPES), max_length=len(TYPES), default=list
    )
    statuses = fields.BoundedList(
        child=serializers.ChoiceField(Memory.Status.choices),
        min_length=1,
        max_length=3,
        default=[Memory.Status.ACTIVE.value],
    )
    include_outdated = fields.Flag(default=False)
    contacts = fields.BoundedList(child=fields.Identifier(), max_length=MAX_PEOPLE, default=list)
    since = fields.Moment(required=False, allow_null=True)
    until = fields.Moment(required=False, allow_null=True)
    valid_at = fields.Moment(required=False, allow_null=True)
    min_importance = fields.Number(min_value=0, max_value=1, default=0.0)
    min_relevance = fields.Number(min_value=0, max_value=1, required=False)
    metadata = fields.Metadata(required=False)
    hops = fields.Whole(min_value=0, max_value=2, default=1)

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        since, until = asked.get("since"), asked.get("until")
        if since and until and since >= until:
            raise serializers.ValidationError({"until": ["This must be after since."]})
        return asked


class PathStep(serializers.Serializer):
    kind = serializers.CharField()
    memory = serializers.UUIDField()


class TimeRange(serializers.Serializer):
    """The time that a query asks about, and the words that state it."""

    since = fields.LocalMoment(allow_null=True)
    until = fields.LocalMoment(allow_null=True)
    words = serializers.CharField()


RELEVANCE = (
    "How likely it has to do with what was asked, 0 to 1: of ten memories with 0.8, about eight "
    "do. Null where that is not known: not embedded yet, with an embedding model that was not "
    "calibrated, or not found by search."
)


class Found(MemorySerializer):
    """A memory with its place in the search, and why it is there."""

    score = serializers.FloatField()
    relevance = serializers.FloatField(allow_null=True)
    bm25_rank = serializers.IntegerField(allow_null=True)
    vector_rank = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    hops = serializers.IntegerField()
    path = PathStep(many=True)
    in_range = serializers.BooleanField(allow_null=True)
    history = serializers.BooleanField()


Results = inline_serializer(
    "SearchResults",
    {
        "results": Found(many=True),
        "intent": serializers.CharField(),
        "range": TimeRange(allow_null=True),
    },
)


class Search(UserView):
    reads = True

    @operation("search_create", Results, body=SearchForm)
    def post(self, asked: Validated) -> Any:
        """The memories that fit a query best

        `intent` weighs words against meaning; it is inferred when not given. A time that the query
        asks about ("last week") puts memories of it first and is shown as `range`; `since` and
        `until` leave out all others instead. `score` orders the results; `relevance` says how
        likely one is related to the query at all. A query to which nothing is likely to be
        related finds nothing (`min_relevance`)."""
        end_user = self.find_user()
        zone = end_user.zone if end_user else self.app.zone
        understood = understand(asked["query"], asked.get("intent"), timezone.localtime(None, zone))
        strict = bool(asked.get("since") or asked.get("until"))
        reply: dict[str, Any] = {
            "results": [],
            "intent": understood.intent,
            "range": None if strict or not understood.span else TimeRange(understood.span).data,
        }
        if end_user:
            hits = _search(end_user, asked)
            reply["results"] = Found(_memories_of(end_user, hits), many=True).data
        return reply


def _search(end_user: EndUser, asked: dict[str, Any]) -> list[Hit]:
    statuses = {*asked.pop("statuses")}
    if asked.pop("include_outdated") or asked.get("valid_at"):
        statuses.add(Memory.Status.OUTDATED)
    min_relevance = asked.pop("min_relevance", None)
    contacts = named_contacts(end_user, asked.pop("contacts"))
    request = SearchRequest(
        **asked,
        contact_ids=[contact.id for contact in contacts],
        statuses=sorted(statuses),
        floor=relevance.FLOOR if min_relevance != 0 else 0.0,
        least=min_relevance or 0.0,
    )
    return recall.search(end_user, request, embedder=embedder())


def _memories_of(end_user: EndUser, hits: Sequence[Hit]) -> list[Memory]:
    """Returns the memories as the serializer reads them, with what their hits say of each."""
    rows = with_relations(Memory.objects.of(end_user)).in_bulk([h.memory.pk for h in hits])
    memories = []
    for hit in hits:
        if memory := rows.get(hit.memory.pk):
            for name in ("bm25_rank", "vector_rank", "reason", "hops", "in_range", "history"):
                setattr(memory, name, getattr(hit, name))
            memory.score = round(hit.score, 6)
            memory.relevance = hit.relevance and round(hit.relevance.likely, 3)
            memory.path = [{"kind": kind, "memory": pk} for kind, pk in hit.path]
            memories.append(memory)
    return memories
