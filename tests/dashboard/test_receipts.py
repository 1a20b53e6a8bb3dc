"""Receipts: each erasure leaves one that says who asked, who did it and how much went, and no word
of it; it is found by whoever may see the app, also when the end user is gone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import EndUser
from memories.corrections import erasure_requests
from memories.corrections.erasure_requests import ForgetScope, schedule
from memories.erasure import erase
from memories.erasure.receipts import By
from memories.models import Receipt
from tests.api import ApiClient, user_address
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory
from tests.memories.erasure.stored import places_of

pytestmark = pytest.mark.django_db
LIST = "/receipts/"
ADA = By("operator:ada", "officer")


@pytest.fixture
def ann() -> EndUser:
    ann = make_end_user(external_id="ann@example.org", app=make_app(name="chat"))
    make_memory(ann, "Zebulon lives in Oslo", make_contact(ann, "Zebulon"))
    return ann


def told(receipt: Receipt) -> tuple[Any, ...]:
    counts = (receipt.contacts, receipt.memories, receipt.messages)
    return receipt.what, receipt.asked_by, receipt.done_by, counts


def test_each_way_to_erase_leaves_a_receipt_with_its_counts_and_no_word(ann: EndUser) -> None:
    client = ApiClient(ann.app)
    memory = make_memory(ann, "Zebulon sings")
    client.delete(user_address(ann.external_id, f"memories/{memory.pk}/"))
    swims = make_memory(ann, "Zebulon swims")
    wish = schedule(ann, None, ForgetScope({swims.pk: swims}))
    erase.carry_out(wish.pk)
    person = ann.contacts.get()
    gone = erase.forget_contact(ann, person.pk, ADA)
    _, sent = client.delete(user_address(ann.external_id, ""))
    receipts = list(Receipt.objects.order_by("erased_at"))
    assert [told(one) for one in receipts] == [
        ("memories", "app:chat", "app:chat", (0, 1, 0)),
        ("request", "user", "forgetting", (0, 1, 0)),
        ("person", "officer", "operator:ada", (1, 1, 0)),
        ("user", "app:chat", "app:chat", (0, 0, 0)),
    ]
    assert [str(one.pk) for one in receipts[1:]] == [
        str(wish.pk), str(gone.report), sent["receipt"],
    ]  # fmt: skip
    assert receipts[1].requested_at == wish.requested_at
    assert places_of("zebulon", "ann@example.org") == []


def test_an_undone_hiding_leaves_no_receipt(ann: EndUser) -> None:
    memory = ann.memories.get()
    change = erasure_requests.hide(ann, [memory], actor="extractor")
    wish = schedule(ann, change, ForgetScope({memory.pk: memory}))
    wish.state = wish.State.CANCELLED
    wish.save()
    erase.carry_out(wish.pk)
    assert not Receipt.objects.exists()


def test_the_form_says_who_asked_and_leads_to_the_receipt(ann: EndUser) -> None:
    admin = signed_in("admin", name="ada")
    address = f"/u/{ann.pk}/forget/"
    assert "A data protection officer" in admin.get(address).content.decode()
    answer = admin.post(
        f"{address}now/", {"asked_by": "officer", "confirm": ann.external_id}, follow=True
    )
    receipt = Receipt.objects.get()
    assert answer.request["PATH_INFO"] == f"{LIST}{receipt.pk}/"
    assert told(receipt) == ("user", "officer", "operator:ada", (1, 1, 0))
    html = answer.content.decode()
    for said in (str(receipt.pk), "A data protection officer", "ada", "Backups made before"):
        assert said in html


def test_a_receipt_is_found_by_its_id_and_by_the_id_of_an_end_user_who_is_gone(
    ann: EndUser, settings: Any
) -> None:
    erase.forget_everything(ann, ADA)
    erase.forget_contact(bob := make_end_user(), make_contact(bob).pk, ADA)
    receipt = Receipt.objects.get(what="user")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "new"
    client = signed_in("viewer")
    for wanted in (str(receipt.pk), "ann@example.org"):
        assert client.get(LIST, {"q": wanted}).context["page"].rows == [receipt]
    assert client.get(LIST, {"q": "ann"}).context["page"].rows == []
    assert len(client.get(LIST).context["page"].rows) == 2


def test_of_other_apps_no_receipt_is_seen(ann: EndUser) -> None:
    erase.forget_everything(ann, ADA)
    receipt = Receipt.objects.get()
    stranger = signed_in("admin", [make_app()], name="stranger")
    mine = signed_in("admin", [ann.app], name="mine")
    for client, code, rows in ((stranger, 404, []), (mine, 200, [receipt])):
        assert client.get(f"{LIST}{receipt.pk}/").status_code == code
        assert client.get(LIST, {"q": str(receipt.pk)}).context["page"].rows == rows
        assert client.get(LIST, {"q": ann.external_id}).context["page"].rows == rows


def test_what_is_undecided_is_told_until_it_is_decided(ann: EndUser) -> None:
    first = ann.contacts.get()
    make_contact(ann, "Zebulon Smith")
    gone = erase.forget_contact(ann, first.pk, ADA)
    assert gone.unsure == 1
    client = signed_in("viewer")
    address = f"{LIST}{gone.receipt}/"
    assert "still to be decided" in client.get(address).content.decode()
    ann.erasures.update(unsure_message_ids=[], unsure_contact_ids=[])
    assert "All of it is decided." in client.get(address).content.decode()


def test_the_list_costs_as_many_statements_for_many(
    ann: EndUser, django_assert_max_num_queries: Any
) -> None:
    now = timezone.now()
    values = {"app": ann.app, "end_user": ann, "what": "person", "requested_at": now}
    Receipt.objects.bulk_create(
        Receipt(**values, erased_at=now - timedelta(days=number)) for number in range(60)
    )
    client = signed_in("viewer")
    with django_assert_max_num_queries(10):
        page = client.get(LIST).context["page"]
    assert len(page.rows) == 50
    assert len(client.get(LIST, {"after": page.next}).context["page"].rows) == 10
