"""The end user's own page on a phone: a wrong fact is found and mended, a person forgotten."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Enter, Household
from tests.e2e.test_pages import AXE, barriers

pytestmark = pytest.mark.xdist_group("e2e")
PHONE = {"width": 390, "height": 844}


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate(AXE)
    assert barriers(page) == []


def test_a_wrong_fact_is_mended_and_a_person_forgotten(household: Household, enter: Enter) -> None:
    made = httpx.post(
        f"{household.site.url}/api/v1/users/li/page/",
        json={"name": "Chatty", "color": "#1f6b5a", "language": "en"},
        headers={"Authorization": f"Bearer {household.key}"},
    )
    page = enter(viewport=PHONE, bypass_csp=True)
    page.goto(made.json()["url"])
    fits(page)
    page.get_by_role("link", name="小红").click()
    fact = page.locator(".fact").filter(has=page.locator(".strong", has_text="工程师"))
    fact.locator("summary", has_text="Your words").press("Enter")
    expect(fact.locator("blockquote").first).to_be_visible()
    fact.locator("summary", has_text="Change").press("Enter")
    fact.get_by_label("Job").fill("医生")
    fact.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Saved")
    expect(page.locator(".fact .strong", has_text="医生")).to_be_visible()
    fits(page)
    page.locator("summary", has_text="Forget this person").click()
    page.get_by_role("button", name="Forget 小红").click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    expect(page.get_by_role("link", name="小红", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Recent changes").click()
    expect(page.locator("main")).to_contain_text(re.compile("erased for good"))
    fits(page)
    page.get_by_role("button", name="Bring back").click()
    page.get_by_role("link", name="What's remembered").click()
    expect(page.get_by_role("link", name="小红", exact=True)).to_be_visible()
