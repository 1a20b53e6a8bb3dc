"""The doctor's checks of the graph: edges and their mirrors, entities, and whose rows are joined."""

from collections.abc import Iterator, Sequence

from django.db import connection

from memories.doctor.findings import Check, Finding, Fix, rows
from memories.models import Edge


def edges_have_mirrors() -> Iterator[Finding]:
    """Beside each stated edge lies its mirror, from the target back to the source and just as
    sure; and no mirror lies alone."""
    for end_user, edge in rows("""
        SELECT e.end_user_id, e.id FROM memories_edge e
        LEFT JOIN memories_edge mirror ON mirror.source_id = e.target_id
            AND mirror.kind = e.kind AND mirror.target_id = e.source_id
            AND mirror.inverse = NOT e.inverse AND mirror.end_user_id = e.end_user_id
        WHERE (mirror.confidence, mirror.reason) IS DISTINCT FROM (e.confidence, e.reason)
    """):
        yield Finding(end_user, edge, "an edge and its mirror differ, or one is missing")


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
            """INSERT INTO memories_edge
                   (end_user_id, source_id, target_id, kind, inverse, reason, confidence, created_at)
               SELECT end_user_id, target_id, source_id, kind, true, reason, confidence, created_at
               FROM memories_edge WHERE id = ANY (%s) AND NOT inverse
               ON CONFLICT DO NOTHING""",
            [ids],
        )


def entity_links_fit() -> Iterator[Finding]:
    """A memory speaks only of entities of its own user."""
    for end_user, link in rows("""
        SELECT l.end_user_id, 'entity link ' || l.id FROM memories_entitylink l
        JOIN memories_entity e ON e.id = l.entity_id
        JOIN memories_memory m ON m.id = l.memory_id
        WHERE l.end_user_id <> e.end_user_id OR l.end_user_id <> m.end_user_id
    """):
        yield Finding(end_user, link, "points at another user's row")


def shared_entities_are_shared() -> Iterator[Finding]:
    """Two memories that an entity joins both speak of it."""
    for end_user, edge in rows(
        """SELECT e.end_user_id, e.id FROM memories_edge e
           WHERE NOT e.inverse AND starts_with(e.kind, %(shares)s) AND 2 > (
               SELECT count(DISTINCT l.memory_id) FROM memories_entitylink l
               JOIN memories_entity n ON n.id = l.entity_id
               WHERE l.memory_id IN (e.source_id, e.target_id)
                 AND n.name = substr(e.kind, length(%(shares)s) + 1))""",
        shares=Edge.SHARES_ENTITY,
    ):
        yield Finding(end_user, edge, "joins memories by an entity that one doesn't speak of")


def _drop_edges(findings: Sequence[Finding]) -> None:
    Edge.objects.filter(pk__in=[finding.subject for finding in findings]).delete()


def merged_memories_lead_on() -> Iterator[Finding]:
    """What was merged into another memory is in the archive, about nobody, and no profile
    speaks for it; the other one says it."""
    for end_user, memory in rows("""
        SELECT m.end_user_id, m.id FROM memories_memory m
        LEFT JOIN memories_memory into_ ON into_.id = m.merged_into_id
            AND into_.end_user_id = m.end_user_id AND into_.kind = 'fact'
        WHERE m.merged_into_id IS NOT NULL AND (
            m.status <> 'archived' OR into_.id IS NULL OR m.consolidated_into_id IS NOT NULL
            OR EXISTS (SELECT FROM memories_link l WHERE l.memory_id = m.id AND NOT l.rejected))
    """):
        yield Finding(end_user, memory, "was merged but still stands, or leads nowhere")


def rows_stay_with_their_user() -> Iterator[Finding]:
    """No link, edge, key or relation crosses from one end user to another."""
    for end_user, row in rows("""
        SELECT l.end_user_id, 'link ' || l.id FROM memories_link l
        JOIN contacts_contact c ON c.id = l.contact_id
        JOIN memories_memory m ON m.id = l.memory_id
        WHERE l.end_user_id <> c.end_user_id OR l.end_user_id <> m.end_user_id
        UNION ALL
        SELECT e.end_user_id, 'edge ' || e.id FROM memories_edge e
        JOIN memories_memory s ON s.id = e.source_id
        JOIN memories_memory t ON t.id = e.target_id
        WHERE e.end_user_id <> s.end_user_id OR e.end_user_id <> t.end_user_id
        UNION ALL
        SELECT k.end_user_id, 'key ' || k.id FROM contacts_contactkey k
        JOIN contacts_contact c ON c.id = k.contact_id WHERE k.end_user_id <> c.end_user_id
        UNION ALL
        SELECT r.end_user_id, 'relation ' || r.id FROM contacts_relation r
        JOIN contacts_contact s ON s.id = r.subject_id
        JOIN contacts_contact o ON o.id = r.object_id
        WHERE r.end_user_id <> s.end_user_id OR r.end_user_id <> o.end_user_id
    """):
        yield Finding(end_user, row, "points at another user's row")


CHECKS: dict[Check, Fix | None] = {
    edges_have_mirrors: _mirror_edges,
    entity_links_fit: None,
    shared_entities_are_shared: _drop_edges,
    merged_memories_lead_on: None,
    rows_stay_with_their_user: None,
}
