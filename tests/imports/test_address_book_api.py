"""The address book over HTTP: looked at, taken in, chosen, given out, refused."""

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from imports.dumps import read_book
from imports.models import Import
from tests.api import ApiClient, assert_error, user_address
from tests.factories import json_value, make_contact, make_end_user

pytestmark = pytest.mark.django_db

AT = user_address("zoe", "address-book/")
TABLE = "First Name,Last Name,Nickname\nAnn,Lee,\n磊,王,小磊\n"


@pytest.fixture
def api() -> ApiClient:
    return ApiClient()


def test_a_dry_run_shows_each_entry_and_writes_nothing(api) -> None:
    status, told = api.post(AT, {"content": TABLE, "dry_run": True})
    assert (status, told["dry_run"], told["change_id"]) == (200, True, None)
    assert [(e["number"], e["name"], e["outcome"]) for e in told["entries"]] == [
        (1, "Ann Lee", "new"),
        (2, "王磊", "new"),
    ]
    assert not EndUser.objects.exists()


def test_an_import_is_one_change_and_can_be_undone(api) -> None:
    _, told = api.post(AT, {"content": TABLE})
    assert told["counts"]["new"] == 2
    assert {e["contact"] for e in told["entries"]} == set(
        map(str, Contact.objects.values_list("pk", flat=True))
    )
    assert Import.objects.get().state == "done"
    _, again = api.post(AT, {"content": TABLE})
    assert (again["counts"]["same"], again["change_id"]) == (2, None)
    status, _ = api.post(user_address("zoe", f"changes/{told['change_id']}/undo/"), {})
    assert status == 200
    assert not Contact.objects.exists()
    assert Import.objects.get().state == "undone"


def test_who_is_meant_is_chosen_by_id(api) -> None:
    user = make_end_user(app=api.app, external_id="zoe")
    make_contact(user, "王磊", attributes={"company": [json_value("甲")]})
    other = make_contact(user, "王磊", namesake=1, attributes={"company": [json_value("乙")]})
    _, asked = api.post(AT, {"content": TABLE, "dry_run": True})
    assert asked["entries"][1]["outcome"] == "undecided"
    assert str(other.pk) in [one["id"] for one in asked["entries"][1]["candidates"]]
    api.post(AT, {"content": TABLE, "choices": {"1": "skip", "2": str(other.pk)}})
    other.refresh_from_db()
    assert other.aliases == ["小磊"]
    assert not Contact.objects.filter(name="Ann Lee").exists()


@pytest.mark.parametrize(
    ("body", "field", "said"),
    [
        ({"content": "hello"}, "content", "Unknown file type"),
        ({"content": TABLE, "choices": {"1": "nobody"}}, "choices.1", "no such choice"),
        ({"content": TABLE, "choices": {"9": "new"}}, "choices.9", "no entry 9"),
        ({"content": TABLE, "choices": {"x": "new"}}, "choices", "not the number"),
        ({"content": TABLE, "dryrun": True}, "dryrun", ""),
        ({}, "content", "required"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_with_its_place(api, body, field, said) -> None:
    error = assert_error(api.post(AT, body), 400, "invalid")
    assert said in error["fields"][field][0]
    assert not Contact.objects.exists()


def test_a_row_that_can_not_be_read_is_named(api) -> None:
    body = {"content": "First Name,Last Name\nAnn,Lee\nBo,Li,x\n"}
    status, told = api.post(AT, body)
    assert (status, told["counts"]["new"], told["counts"]["unreadable"]) == (200, 1, 1)
    assert told["unreadable"] == ["Row 2 has more cells than the first row names columns."]


def test_the_book_is_given_out_in_both_formats(api) -> None:
    user = make_end_user(app=api.app, external_id="zoe")
    make_contact(user, "沈知夏", aliases=["夏夏"])
    status, text = api.get(AT, HTTP_ACCEPT="text/vcard")
    assert (status, api.reply["Content-Type"]) == (200, "text/vcard; charset=utf-8")
    assert "contacts.vcf" in api.reply["Content-Disposition"]
    assert read_book(text.encode()).entries[0].name == "沈知夏"
    _, table = api.get(f"{AT}?format=google-csv")
    assert read_book(table.encode()).entries[0].aliases == ("夏夏",)
    assert_error(api.get(f"{AT}?format=xml"), 400, "invalid")
    assert_error(api.get(user_address("nobody", "address-book/")), 404, "unknown_user")
