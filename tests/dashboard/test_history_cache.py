"""Whole pages and parts of them: the way back shows a whole page, and one of now."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import EndUser
from tests.dashboard.addresses import PAGES, addresses
from tests.factories import make_contact, make_memory

PART = {"HX-Request": "true"}
BACK = {**PART, "HX-History-Restore-Request": "true"}
BOOSTED = {**PART, "HX-Boosted": "true"}


@pytest.mark.parametrize("name", ["pipeline", "consolidations", "jobs", "calls", "playground"])
def test_a_poll_gets_a_part_and_the_way_back_a_whole_page(
    reviewer: Client, user: EndUser, name: str
) -> None:
    at = reverse(f"dashboard:{name}", args=[user.pk] if name == "playground" else [])
    assert "<html" not in reviewer.get(at, headers=PART).content.decode()
    for headers in (BACK, BOOSTED, {}):
        assert "<html" in reviewer.get(at, headers=headers).content.decode()


def test_no_page_stays_in_the_browser(reviewer: Client, user: EndUser) -> None:
    one = make_contact(user, "小红")
    make_contact(user, "小明")
    make_memory(user, "小红会弹琴", one)
    pages = addresses(user)
    answers = {page.name: reviewer.get(pages[str(page.name)]) for page in PAGES}
    kept = [
        name
        for name, answer in answers.items()
        if answer.status_code == 200 and "no-store" not in answer.get("Cache-Control", "")
    ]
    assert kept == []


def test_the_address_of_a_form_with_a_mistake_shows_its_page(
    reviewer: Client, user: EndUser
) -> None:
    memory = make_memory(user, "小红会弹琴", make_contact(user, "小红"))
    for name in ("edit-memory", "connect"):
        at = reverse(f"dashboard:{name}", args=[user.pk, memory.pk])
        assert "小红会弹琴" in reviewer.get(at).content.decode()
