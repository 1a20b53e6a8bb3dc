"""Looking waits for nobody: every page and every GET of the API answers while somebody else holds
the end user's row."""

from typing import Any

import pytest
from django.db import connection
from django.urls import get_resolver, reverse

from accounts.models import Change, EndUser
from contacts.edit import edit_contact
from memories.corrections import edit_dates
from memories.models import Erasure, Link, Message, ProcessJob
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.api import ENDPOINTS, ApiClient
from tests.dashboard.addresses import addresses
from tests.dashboard.signin import signed_in
from tests.factories import SOME_DAY, json_value, make_contact, make_suggestion

pytestmark = pytest.mark.django_db(transaction=True)
TALK = [
    Incoming("user", "My friend Brenda lives in Berlin.", id="1"),
    Incoming("user", "Anna is Brenda's sister. Anna works as a nurse in Oslo.", id="2"),
]


def test_every_page_and_every_get_answers_while_the_users_row_is_held() -> None:
    api = ApiClient()
    user = receive(api.app, "zoe", TALK).end_user
    run.process(user.pk)
    user = EndUser.objects.get(pk=user.pk)
    told = {"birthday": [json_value("May 3, 1990")]}
    people = [make_contact(user, "Greta", attributes=told), make_contact(user, "Gretta")]
    make_suggestion(*people)
    ProcessJob.objects.create(end_user=user, up_to_seq=user.message_seq)
    edit_contact(user, people[1].pk, {"personality": "kind"}, actor="operator:ada")
    Erasure.objects.create(end_user=user, due_at=SOME_DAY)
    admin = signed_in("admin")
    pages, calls = addresses(user), gets(user)
    api.get(calls[0])  # notes when the key was used
    holder = connection.copy()
    try:
        with holder.cursor() as lock, connection.cursor() as cursor:
            lock.execute("BEGIN; SET LOCAL mio.scope = 'all'")
            lock.execute("SELECT 1 FROM accounts_enduser WHERE id = %s FOR UPDATE", [user.pk])
            cursor.execute("SET lock_timeout = '100ms'")
            answers = {name: admin.get(at).status_code for name, at in pages.items()}
            answers |= {at: api.get(at)[0] for at in calls}
            cursor.execute("RESET lock_timeout")
    finally:
        holder.close()
    assert {name: code for name, code in answers.items() if code >= 400} == {}


def gets(user: EndUser) -> list[str]:
    """The address of every GET of the API that is about an end user, with rows of theirs."""
    link = Link.objects.of(user).filter(memory__kind="fact")[0]
    rows: dict[str, Any] = {
        "user": user.external_id,
        "contact_id": link.contact_id,
        "memory_id": link.memory_id,
        "message_id": Message.objects.of(user)[0].pk,
        "job_id": ProcessJob.objects.of(user)[0].pk,
        "change_id": Change.objects.of(user)[0].pk,
        "date_id": edit_dates.dates_of(user)[0].id,
        "erasure_id": Erasure.objects.of(user)[0].pk,
    }
    found = []
    for name in (name for name, methods in ENDPOINTS.items() if "GET" in methods):
        _pattern, named = get_resolver().reverse_dict.getlist(name)[0][0][0]
        found.append(reverse(name, kwargs={key: rows[key] for key in named}))
    assert len(found) > 20
    return found
