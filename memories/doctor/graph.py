"""The doctor's checks of the graph: edges and their mirrors, entities, and whose rows are joined."""

from collections.abc import Sequence

from accounts.cells import connection
from memories.doctor.findings import Check, Finding, Fix, stated
from memories.models import Edge

edges_have_mirrors = stated(
    "edges_have_mirrors", "an edge and its mirror differ, or one is missing"
)


def _mirror_edges(findings: Sequence[Finding]) -> None:
    """Mirrors follow from the stated edges: what is wrong goes, what is missing is written."""
    ids = [finding.subject for finding in findings]
    with connection.cursor() as cursor:
        cursor.execute(
            """DELETE FROM memories_edge mirror USING memories_edge wrong
               WHERE wrong.id = ANY (%s) AND mirror.inverse AND (mirror.id = wrong.id OR (
                   NOT wrong.inverse AND mirror.kind = wrong.kind
                   AND mirror.source_id = wrong.target_id AND mirror.target_id = wrong.source_id))
            """,
            [ids],
        )
        cursor.execute(
            """WITH stated AS MATERIALIZED (
                   SELECT end_user_id, target_id, source_id, kind, reason, confidence, created_at
                   FROM memories_edge WHERE id = ANY (%s) AND NOT inverse)
               INSERT INTO memories_edge
                   (end_user_id, source_id, target_id, kind, inverse, reason, confidence, created_at)
               SELECT end_user_id, target_id, source_id, kind, true, reason, confidence, created_at
               FROM stated ON CONFLICT DO NOTHING""",
            [ids],
        )


entity_links_fit = stated("entity_links_fit", "points at another user's row")


shared_entities_are_shared = stated(
    "shared_entities_are_shared",
    "joins memories by an entity that one doesn't speak of",
    shares=Edge.SHARES_ENTITY,
)


def _drop_edges(findings: Sequence[Finding]) -> None:
    Edge.objects.filter(pk__in=[finding.subject for finding in findings]).delete()


merged_memories_lead_on = stated(
    "merged_memories_lead_on", "was merged but still stands, or leads nowhere"
)


rows_stay_with_their_user = stated("rows_stay_with_their_user", "points at another user's row")


CHECKS: dict[Check, Fix | None] = {
    edges_have_mirrors: _mirror_edges,
    entity_links_fit: None,
    shared_entities_are_shared: _drop_edges,
    merged_memories_lead_on: None,
    rows_stay_with_their_user: None,
}
