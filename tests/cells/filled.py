"""An end user in a cell, with all that may be theirs, and what is there of them."""

from accounts import cells, row_security, scope
from accounts.models import App, EndUser, Placement
from memories import demo
from memories.pipeline import buffer
from tests.api import ApiClient, user_address

SAID = demo.conversation()[:6]


def placed(app: App, external_id: str = "ann") -> Placement:
    return Placement.objects.get(app=app, external_id=external_id)


def rows_of(cell: str, user_pk: int) -> dict[str, int]:
    """How many rows of each table are the user's in a cell."""
    found = {}
    with cells.entered(cell), cells.connection.cursor() as cursor:
        for table in row_security.user_tables():
            column = "id" if table == "accounts_enduser" else "end_user_id"
            cursor.execute(f"SELECT count(*) FROM {table} WHERE {column} = %s", [user_pk])
            if count := cursor.fetchone()[0]:
                found[table] = count
    return found


def a_user(app: App, cell: str, external_id: str = "ann") -> EndUser:
    """With messages, a batch that a worker holds, people and a change that can be undone."""
    with cells.entered(cell):
        end_user = buffer.receive(app, external_id, SAID).end_user
        with scope.undeclared(), scope.user_scope(end_user):
            buffer.claim_next(end_user.pk, now=end_user.created_at, everything=True)
    client = ApiClient(app)
    _, made = client.post(user_address(external_id, "contacts/"), {"name": "小红"})
    client.patch(user_address(external_id, f"contacts/{made['id']}/"), {"relationship": "同事"})
    client.post(user_address(external_id, "memories/"), {"content": "小红在腾讯工作"})
    return end_user
