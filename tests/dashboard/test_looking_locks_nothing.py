"""Looking waits for nobody: every page and every GET of the API answers while somebody else holds
the end user's row."""

import pytest
from django.db import connection
from django.urls import reverse

from accounts.models import EndUser
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.api import ENDPOINTS, ApiClient
from tests.dashboard.addresses import addresses
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_suggestion

pytestmark = pytest.mark.django_db(transaction=True)
TALK = [
    Incoming("user", "My friend Brenda lives in Berlin.", id="1"),
    Incoming("user", "Anna is Brenda's sister. Anna works as a nurse in Oslo.", id="2"),
]


def test_every_page_and_every_get_answers_while_the_users_row_is_held() -> None:
    api = ApiClient()
    user = receive(api.app, "zoe", TALK).end_user
    run.process(user.pk)
    people = [make_contact(user, "Greta"), make_contact(user, "Gretta")]
    make_suggestion(*people)
    admin = signed_in("admin")
    pages = addresses(EndUser.objects.get(pk=user.pk))
    calls = [reverse(name, kwargs={"user": "zoe"}) for name in ENDPOINTS
             if "GET" in ENDPOINTS[name] and _of_user_alone(name)]  # fmt: skip
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
    assert len(calls) > 10
    assert {name: code for name, code in answers.items() if code >= 400} == {}


def _of_user_alone(name: str) -> bool:
    try:
        reverse(name, kwargs={"user": "zoe"})
    except Exception:  # noqa: BLE001 it needs the id of a row
        return False
    return True
