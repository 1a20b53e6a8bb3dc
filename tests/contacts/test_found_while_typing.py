"""Finding people by the beginnings of their names, behind row-level security."""

import pytest
from django.db import connection

from accounts.scope import user_scope
from contacts.models import Contact, ContactKey
from tests.emptying import forget_counts
from tests.factories import make_contact, make_end_user

pytestmark = pytest.mark.django_db


def test_an_index_finds_the_keys_that_begin_so_for_the_role_that_policies_bind():
    forget_counts()
    end_user = make_end_user()
    contact = make_contact(end_user)
    rows = [
        ContactKey(end_user=end_user, contact=contact, key=f"find:{first}{n}", how="find")
        for first, count in (("x", 300), ("y", 3000))  # of fewer any index is as good
        for n in range(count)
    ]
    ContactKey.objects.bulk_create(rows)
    with connection.cursor() as cursor, user_scope(end_user):
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        plan = ContactKey.objects.of(end_user).filter(key__prefix="find:x").explain()
    assert "~>=~ 'find:x'" in plan


def test_people_are_found_by_the_beginning_of_a_name_alone():
    end_user = make_end_user()
    greta = make_contact(end_user, "Greta Lund")
    make_contact(end_user, "Margret")
    found = Contact.objects.found_by(end_user, "gre")
    assert list(found) == [greta]
    assert list(Contact.objects.found_by(end_user, "%")) == []
