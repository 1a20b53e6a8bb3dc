"""Whether the database itself keeps end users apart."""

from collections.abc import Iterator, Sequence

from accounts import row_security, scope
from accounts.cells import connection
from memories.doctor.findings import Check, Finding, Fix


def tables_have_their_policy() -> Iterator[Finding]:
    for one in row_security.unprotected(connection):
        yield Finding(None, one.table, one.problem)


def _protect(_findings: Sequence[Finding]) -> None:
    with scope.all_users_of_session(connection):
        row_security.protect(connection)


def warnings() -> list[str]:
    """What of the second wall is missing: its policies hold for nobody, or are kept by a role that
    may change them."""
    if row_security.login_of(connection).role:
        return []
    bound = row_security.is_bound(connection)
    return [
        "Row-level security is "
        + ("kept by the owner of the tables: there is no role that owns nothing." if bound else
           "void: this database role bypasses it, and there is no role that does not.")
        + " See Row-level security in docs/operations.md."
    ]  # fmt: skip


CHECKS: dict[Check, Fix | None] = {tables_have_their_policy: _protect}
