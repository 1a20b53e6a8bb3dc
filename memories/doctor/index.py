"""The doctor's checks of what finds memories: their words and vectors."""

from collections.abc import Iterator, Sequence

from django.db.models import F
from django.utils import timezone

from accounts.cells import atomic, connection
from accounts.models import EndUser
from memories.doctor.findings import CHUNK, GRACE, Check, Finding, Fix, rows, stated
from memories.models import AROUND, AROUND_SHARE, Memory
from memories.models.search_index import POSTINGS
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder
from memories.search import context_tokens
from memories.search.tokens import own, tokenise
from memories.search.vectors import space


def tokens_are_current() -> Iterator[Finding]:
    """A memory is found by exactly the words of its content."""
    rows = Memory.objects.order_by("pk").values_list("end_user_id", "pk", "content", "tokens")
    for end_user, memory, content, tokens in rows.iterator(CHUNK):
        if own(tokens) != tokenise(content):
            yield Finding(end_user, memory, "search tokens differ from the content")


def _rebuild_tokens(findings: Sequence[Finding]) -> None:
    ids = [finding.subject for finding in findings]
    for end_user in {finding.end_user_id for finding in findings}:
        with atomic():
            if held := EndUser.objects.lock(end_user or 0):
                context_tokens.retokenise(held, ids)


def embeddings_are_current() -> Iterator[Finding]:
    """Every memory has an embedding of the configured model and size, and is found by it."""
    for end_user, memory in rows(
        """SELECT m.end_user_id, m.id FROM memories_memory m
           LEFT JOIN memories_vector v ON v.end_user_id = m.end_user_id
               AND v.memory_id = m.id AND v.space = %(space)s
           WHERE (m.embedding_model <> %(space)s
                  OR v.embedding IS DISTINCT FROM m.embedding::halfvec)
               AND (m.embedding_model <> '' OR m.updated_at <= %(before)s)""",
        space=space(embedder()),
        before=timezone.now() - GRACE,
    ):
        yield Finding(end_user, memory, "has no embedding of the configured model and size")


def _embed(findings: Sequence[Finding]) -> None:
    ids = [finding.subject for finding in findings]
    embedded = Memory.objects.filter(pk__in=ids, embedding_model=space(embedder()))
    embedded.update(embedding=F("embedding"))  # the index follows
    embed_users(findings)


def embed_users(findings: Sequence[Finding]) -> None:
    """Embeds whatever the end users of these findings have without a vector."""
    for end_user in EndUser.objects.filter(pk__in={finding.end_user_id for finding in findings}):
        embed_missing(end_user, embedder())


# What is put back here returns something, so that Citus makes no COPY of it, which row-level security
# forbids.
postings_equal_tokens = stated(
    "postings_equal_tokens",
    "is indexed under other words or another status",
    around=AROUND,
    share=AROUND_SHARE,
)


def _rebuild_postings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        with atomic(), connection.cursor() as cursor:
            EndUser.objects.lock(finding.end_user_id or 0)
            at = {"end_user": finding.end_user_id, "memory": finding.subject}
            cursor.execute(
                """DELETE FROM memories_posting
                   WHERE end_user_id = %(end_user)s AND memory_id = %(memory)s;
                   UPDATE memories_vector v SET status = m.status FROM memories_memory m
                   WHERE v.end_user_id = %(end_user)s AND v.memory_id = %(memory)s
                       AND m.id = v.memory_id""",
                at,
            )
            found = (
                "WITH found AS MATERIALIZED (SELECT * FROM memories_memory WHERE id = %(memory)s)"
            )
            cursor.execute(
                found + POSTINGS.replace("%'", "%%'").format(source="found") + " RETURNING 1", at
            )


corpora_count_memories = stated(
    "corpora_count_memories", "the number of memories is not what word search knows"
)


def _count_memories(findings: Sequence[Finding]) -> None:
    for finding in findings:
        with atomic(), connection.cursor() as cursor:
            EndUser.objects.lock(finding.end_user_id or 0)
            at = {"end_user": finding.end_user_id}
            cursor.execute("DELETE FROM memories_corpus WHERE end_user_id = %(end_user)s", at)
            cursor.execute(
                """WITH counted AS MATERIALIZED (
                       SELECT end_user_id, status, count(*), sum(cardinality(tokens))
                       FROM memories_memory WHERE end_user_id = %(end_user)s GROUP BY 1, 2)
                   INSERT INTO memories_corpus (end_user_id, status, size, length)
                   SELECT * FROM counted RETURNING 1""",
                at,
            )


CHECKS: dict[Check, Fix | None] = {
    tokens_are_current: _rebuild_tokens,
    postings_equal_tokens: _rebuild_postings,
    corpora_count_memories: _count_memories,
    embeddings_are_current: _embed,
}
