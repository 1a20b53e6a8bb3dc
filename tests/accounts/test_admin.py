"""Django's admin shows every model of ours and lets nobody delete what has one way to go."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import CompositePrimaryKey
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.changes import recording
from accounts.models import ApiKey, App, EndUser
from contacts.models import Relation
from dashboard.models import Operator
from memories.models import Batch, Consolidation, Edge, ModelCall, Retrieval
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db

# Tables that the database keeps for search have no page: their keys are of several columns.
OURS = [
    model
    for label in ("accounts", "contacts", "memories")
    for model in apps.get_app_config(label).get_models()
    if not isinstance(model._meta.pk, CompositePrimaryKey) and not model._meta.proxy
]


@pytest.fixture
def admin_client(client: Client) -> Client:
    """Signed in without the price of hashing a password."""
    client.force_login(User.objects.create(username="admin", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def someone() -> EndUser:
    """An end user with a row of (nearly) every kind."""
    end_user = make_end_user(external_id="zoe")
    ApiKey.issue(end_user.app)
    make_message(end_user)
    greta, oda = make_contact(end_user, "Greta"), make_contact(end_user, "Oda")
    one = make_memory(end_user, "Greta hums.", greta)
    two = make_memory(end_user, "Oda sings.", oda)
    Edge.objects.create(end_user=end_user, source=one, target=two, kind="complements")
    Relation.objects.create(end_user=end_user, subject=oda, kind="aunt", object=greta)
    Batch.objects.create(end_user=end_user, first_seq=1, last_seq=1, state="quarantined")
    Consolidation.objects.create(end_user=end_user, contact=greta)
    ModelCall.objects.create(end_user=end_user, provider="p", model="m", purpose="x", outcome="ok")
    Retrieval.objects.create(end_user=end_user, day=SOME_DAY.date())
    with recording(end_user, "edit", "operator:x", "", [one.id]) as (recorder, _):
        recorder.watch([one])
    return end_user


def test_every_model_is_registered() -> None:
    assert set(OURS) <= set(admin.site._registry)


def at(model: Any, page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def test_lists_searches_and_pages_open(admin_client: Client, someone: EndUser) -> None:
    for model in OURS:
        label = model._meta.label
        assert admin_client.get(at(model, "changelist")).status_code == 200, label
        assert admin_client.get(at(model, "changelist"), {"q": "zoe"}).status_code == 200, label
        row = model._default_manager.first()
        if row is not None:
            page = admin_client.get(at(model, "change", row.pk))
            assert page.status_code == 200, label
            assert "digest" not in page.content.decode(), label


def test_a_list_takes_the_same_statements_whatever_its_length(
    admin_client: Client, someone: EndUser
) -> None:
    def statements(model: Any) -> int:
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(at(model, "changelist"))
        return len(queries)

    few = {model: statements(model) for model in OURS}
    for number in range(5):
        other = make_end_user()
        contact = make_contact(other, f"Person {number}")
        memory = make_memory(other, f"fact {number}", contact)
        last = make_memory(other, f"fact {number} again", contact)
        Edge.objects.create(end_user=other, source=memory, target=last, kind="complements")
        make_message(other)
        Batch.objects.create(end_user=other, first_seq=1, last_seq=1)
        Consolidation.objects.create(end_user=other, contact=contact)
        ModelCall.objects.create(end_user=other, provider="p", model="m", purpose="x", outcome="ok")
    assert [model._meta.label for model in OURS if statements(model) > few[model]] == []


def test_nothing_is_deleted_here(
    admin_client: Client, someone: EndUser, subtests: pytest.Subtests
) -> None:
    for model in OURS:
        row = model._default_manager.first()
        base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        bulk = {"action": "delete_selected", "_selected_action": [str(row.pk) if row else "1"]}
        with subtests.test(model._meta.label):
            if row is not None:
                address = reverse(f"{base}_delete", args=[row.pk])
                assert admin_client.post(address, {"post": "yes"}).status_code == 403
                assert model._default_manager.filter(pk=row.pk).exists()
            admin_client.post(reverse(f"{base}_changelist"), bulk)
            assert row is None or model._default_manager.filter(pk=row.pk).exists()


def test_a_new_app_gets_a_key_that_is_shown_once(admin_client: Client) -> None:
    form = {"name": "chat", "keys-TOTAL_FORMS": 0, "keys-INITIAL_FORMS": 0}
    page = admin_client.post(reverse("admin:accounts_app_add"), form, follow=True).content.decode()
    secret = page.partition("<code>")[2].partition("</code>")[0]
    assert ApiKey.objects.valid(secret).get().app.name == "chat"
    address = reverse("admin:accounts_app_change", args=[App.objects.get().pk])
    assert secret not in admin_client.get(address).content.decode()


def act(client: Client, model: str, action: str, pk: Any) -> None:
    address = reverse(f"admin:{model}_changelist")
    client.post(address, {"action": action, "_selected_action": [str(pk)]})


def test_a_key_is_revoked(admin_client: Client, someone: EndUser) -> None:
    act(admin_client, "accounts_apikey", "revoke", ApiKey.objects.get().pk)
    assert ApiKey.objects.get().revoked_at is not None


def test_only_superusers_of_all_apps_enter(client: Client, someone: EndUser) -> None:
    staff = User.objects.create(username="staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.all())
    limited = User.objects.create(username="limited", is_staff=True, is_superuser=True)
    Operator.objects.create(user=limited).apps.set([someone.app])
    for user in (staff, limited):
        client.force_login(user)
        act(client, "accounts_apikey", "revoke", ApiKey.objects.get().pk)
        for model in OURS:
            page = client.get(at(model, "changelist"))
            assert page["Location"].startswith("/admin/login/"), model._meta.label
    assert ApiKey.objects.get().revoked_at is None


def test_what_the_user_is_called_is_all_that_is_edited(
    admin_client: Client, someone: EndUser
) -> None:
    address = reverse("admin:accounts_enduser_change", args=[someone.pk])
    form = {"names": '["Zoë"]', "external_id": "other", "message_seq": "99"}
    assert admin_client.post(address, form).status_code == 302
    someone.refresh_from_db()
    assert (someone.names, someone.external_id, someone.message_seq) == (["Zoë"], "zoe", 1)
