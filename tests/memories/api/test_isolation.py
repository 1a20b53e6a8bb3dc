"""No endpoint shows or changes anything of another app's user, or of another user."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import serializers
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern, URLResolver
from django.utils import timezone

from accounts.changes import recording
from accounts.models import Change, EndUser
from contacts.models import Contact, Relation, Suggestion
from memories.corrections import edit_dates
from memories.models import Erasure, Memory, Message, ProcessJob
from tests.api import ENDPOINTS, ApiClient, assert_error
from tests.factories import (
    json_value,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
    make_suggestion,
)

pytestmark = pytest.mark.django_db

# Of an app, not of its users: tests/webhooks has them.
OF_APPS = ("api-app", "api-users", "api-webhook", "api-deliver")
# Asked about a user that the app does not know: an answer without anything in it.
EMPTY_ANSWERS = {"api-context", "api-search"}
# These make the app's own user of that id.
WRITERS = {("api-messages", "POST"), ("api-contacts", "POST"), ("api-memories", "POST"),
           ("api-contacts-bulk", "POST"), ("api-dates", "POST"),
           ("api-address-book", "POST"), ("api-user", "PATCH"), ("api-card", "PATCH")}  # fmt: skip


def named_patterns(resolver: URLResolver) -> list[str]:
    names = []
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            names += named_patterns(entry)
        elif isinstance(entry, URLPattern) and (entry.name or "").startswith("api-"):
            names.append(str(entry.name))
    return names


def test_every_endpoint_is_in_the_table_of_these_tests() -> None:
    of_users = {name for name in named_patterns(get_resolver()) if not name.startswith(OF_APPS)}
    assert of_users == set(ENDPOINTS)


@pytest.fixture
def victim() -> EndUser:
    end_user = make_end_user(external_id="zoe")
    make_message(end_user, "Nora has a secret garden.")
    contact = make_contact(end_user, "Nora", attributes={"birthday": [json_value("May 3")]})
    make_suggestion(contact, other := make_contact(end_user, "Nori"))
    Relation.objects.create(end_user=end_user, subject=contact, kind="boss", object=other)
    memory = make_memory(end_user, "Nora has a secret garden.", contact)
    with recording(end_user, "edit", "operator:x", "", [memory.id]) as (recorder, _):
        recorder.watch([memory])
    due = timezone.now() + timedelta(days=7)
    Erasure.objects.create(end_user=end_user, memory_ids=[memory.id], due_at=due)
    ProcessJob.objects.create(end_user=end_user, up_to_seq=1)
    return end_user


def ids(end_user: EndUser, name: str) -> dict[str, Any]:
    """The ids of the user's rows that an endpoint's address needs."""
    model: type[Any] | None = None
    if name.startswith("api-contact") and not name.startswith("api-contacts"):
        return {"contact_id": Contact.objects.of(end_user).get(name="Nora").pk}
    if name.startswith("api-memory"):
        model = Memory
        found = {"memory_id": model.objects.of(end_user).get().pk}
        if name == "api-memory-link":
            found["contact_id"] = Contact.objects.of(end_user).get(name="Nora").pk
        return {**found, "edge_id": 1} if name == "api-memory-edge" else found
    for of, key, held in (
        ("api-relation", "relation_id", Relation),
        ("api-suggestion-decide", "suggestion_id", Suggestion),
        ("api-message", "message_id", Message),
        ("api-job", "job_id", ProcessJob),
    ):
        if name == of:
            return {key: held.objects.of(end_user).get().pk}
    if name == "api-date":
        return {"date_id": edit_dates.dates_of(end_user)[0].id}
    if name.startswith("api-forgetting") and name != "api-forgettings":
        return {"erasure_id": Erasure.objects.of(end_user).get().pk}
    if name in ("api-change", "api-change-undo"):
        return {"change_id": Change.objects.of(end_user).get().pk}
    return {}


def everything(end_user: EndUser) -> str:
    rows: list[Any] = [end_user]
    for model in (Message, Contact, Memory, Change, Erasure, Relation, Suggestion):
        rows += model.objects.of(end_user).order_by("pk")
    return serializers.serialize("json", rows)


def test_another_apps_user_is_unknown_and_stays_untouched(
    victim: EndUser, subtests: pytest.Subtests
) -> None:
    before = everything(victim)
    for name, method in [(one, method) for one in ENDPOINTS for method in ENDPOINTS[one]]:
        intruder = ApiClient()
        address = reverse(name, kwargs={"user": "zoe", **ids(victim, name)})

        with subtests.test(f"{method} {name}"):
            status, body = intruder.call(method, address, ENDPOINTS[name][method])

            if name in EMPTY_ANSWERS:
                assert status == 200
            elif (name, method) in WRITERS:
                assert status in (200, 201, 202)
            else:
                assert_error((status, body), 404, "unknown_user")
            assert "secret" not in str(body)
            victim.refresh_from_db()
            assert everything(victim) == before


# Their addresses name no row.
OF_NO_ROW = {
    "api-export", "api-forget", "api-search", "api-context", "api-user",
    "api-contacts-bulk", "api-calendar", "api-page", "api-address-book", "api-card",
}  # fmt: skip


def test_rows_of_another_user_of_the_same_app_are_404(
    victim: EndUser, subtests: pytest.Subtests
) -> None:
    before = everything(victim)
    client = ApiClient(victim.app)
    make_end_user(app=victim.app, external_id="yan")
    of_rows = [name for name in ENDPOINTS if not name.endswith("s") and name not in OF_NO_ROW]
    assert len(of_rows) > 15
    for name, method in [(one, method) for one in of_rows for method in ENDPOINTS[one]]:
        address = reverse(name, kwargs={"user": "yan", **ids(victim, name)})
        with subtests.test(f"{method} {name}"):
            assert_error(client.call(method, address, ENDPOINTS[name][method]), 404)
            victim.refresh_from_db()
            assert everything(victim) == before


def test_ids_of_others_in_a_body_are_refused(victim: EndUser) -> None:
    client = ApiClient(victim.app)
    yan = make_end_user(app=victim.app, external_id="yan")
    own = make_memory(yan, "Oda sings.", make_contact(yan, "Oda"))
    nora = str(Contact.objects.of(victim).get(name="Nora").pk)
    before = everything(victim)

    reply = client.post("users/yan/memories/", {"content": "x", "contacts": [nora]})
    assert list(assert_error(reply, 400)["fields"]) == ["contacts"]
    oda = str(Contact.objects.of(yan).get().pk)
    for sides, field in (((oda, nora), "to"), ((nora, oda), "from")):
        body = dict(zip(("from", "to"), sides, strict=True))
        reply = client.post(f"users/yan/memories/{own.pk}/move/", body)
        assert list(assert_error(reply, 400)["fields"]) == [field]
    for kind, pk in (("contact", nora), ("memory", str(Memory.objects.of(victim).get().pk))):
        assert_error(client.post("users/yan/forget/", {kind: pk}), 404)
    found = client.get(f"users/yan/memories/?contact={nora}")[1]
    assert found["count"] == 0
    victim.refresh_from_db()
    assert everything(victim) == before
