"""One door to the rows of end users."""

import pytest
from django.db import connection, transaction

from accounts import scope
from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Memory
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db


def rows(sql: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


READS = {
    "all": lambda: list(Memory.objects.all()),
    "count": Contact.objects.count,
    "iterator": lambda: list(Memory.objects.iterator()),
    "raw": lambda: rows("SELECT 1 FROM memories_link"),
    "update": lambda: Contact.objects.update(name="x"),
    "end users": EndUser.objects.first,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_without_a_scope_nothing_is_even_sent(read) -> None:
    with scope.undeclared(), pytest.raises(scope.Unscoped, match="say whose"):
        read()


def test_a_scope_holds_for_its_block_and_never_turns_to_another_user() -> None:
    mine, others = make_end_user(), make_end_user()
    make_memory(mine)
    with scope.undeclared(), transaction.atomic():
        with scope.user_scope(mine):
            assert Memory.objects.of(mine).get().end_user_id == mine.pk
            asked = "SELECT current_setting('mio.end_user'), current_setting('mio.scope')"
            assert rows(asked) == [(str(mine.pk), "")]
            with pytest.raises(scope.CrossesUsers), scope.user_scope(others):
                pass
        with pytest.raises(scope.Unscoped):
            Memory.objects.of(mine).get()
