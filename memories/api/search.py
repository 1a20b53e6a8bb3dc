"""Search in words and in meaning."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from memories.api.serializers import Found, SearchForm, with_relations
from memories.models import Memory
from memories.providers.configured import embedder
from memories.search import recall

Results = inline_serializer("SearchResults", {"results": Found(many=True)})


class Search(UserView):
    @documented(
        request=SearchForm,
        responses={200: Results},
        operation_id="search_create",
        summary="The memories that fit a query best",
        description="`intent` weighs words against meaning; it is inferred when not given.",
    )
    def post(self, _request: Request, **_path: Any) -> Response:
        asked = self.body(SearchForm)
        end_user = self.find_user()
        if end_user is None:
            return Response({"results": []})
        statuses = [Memory.Status.ACTIVE]
        if asked["include_outdated"]:
            statuses.append(Memory.Status.OUTDATED)
        hits = recall.search(
            end_user,
            asked["query"],
            embedder=embedder(),
            intent=asked.get("intent"),
            limit=asked["limit"],
            statuses=statuses,
        )
        rows = with_relations(Memory.objects.of(end_user)).in_bulk([h.memory.pk for h in hits])
        found = []
        for hit in hits:
            if memory := rows.get(hit.memory.pk):
                memory.score, memory.reason = round(hit.score, 6), hit.reason
                memory.bm25_rank, memory.vector_rank = hit.bm25_rank, hit.vector_rank
                found.append(memory)
        return Response({"results": Found(found, many=True).data})
