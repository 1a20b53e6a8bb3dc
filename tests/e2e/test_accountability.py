"""By keys: who did what, receipts of erasures, notes, who is on what, why something was left out."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Enter, Household, Site

pytestmark = pytest.mark.xdist_group("e2e")


def test_a_change_is_found_in_the_audit_log_and_undone(household: Household) -> None:
    page = household.person("小红")
    page.keyboard.press("o")
    page.keyboard.type("ask her brother")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator(".toast")).to_contain_text("Note saved.")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("g")
    page.keyboard.press("y")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
    page.keyboard.press("/")
    page.keyboard.type("xiaohong")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("person=xiaohong"))
    row = page.locator("[data-row]").filter(has_text="ask her brother")
    row.get_by_role("link", name=re.compile("now|ago")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Change")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("main")).to_contain_text("undone by")


def test_an_erased_person_leaves_a_receipt_with_its_id(household: Household) -> None:
    page = household.go(f"/u/{household.user}/people/{household.people['Liz']}/forget/")
    page.get_by_label("Who asked for it?").select_option("officer")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator(".toast")).to_contain_text("Erased for good")
    page = household.go("/activity/")
    page.keyboard.press("2")
    expect(page).to_have_url(re.compile("/receipts/$"))
    expect(page.locator("[data-row]").first).to_contain_text("A data protection officer")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#receipt-id")).to_be_visible()
    expect(page.locator("main")).to_contain_text("A data protection officer")
    expect(page.locator("main")).not_to_contain_text("Liz")
    receipt = page.locator("#receipt-id").inner_text()
    page = household.go(f"/receipts/?q={receipt}")
    expect(page.locator("[data-row]")).to_have_count(1)


def test_a_pair_that_somebody_is_on_says_so_to_others(
    household: Household, site: Site, enter: Enter
) -> None:
    page = household.go("/review/")
    page.keyboard.press("i")
    expect(page.get_by_text("You are on this")).to_be_visible()
    other = enter(site.ask("session", role="reviewer", app=household.app))
    other.goto(f"{site.url}/review/")
    expect(other.locator(".badge.warn").filter(has_text="is on this")).to_be_visible()
    page.keyboard.press("i")
    expect(page.get_by_role("button", name="Assign to me")).to_be_visible()


def test_the_playground_says_why_something_was_left_out(seen: Household) -> None:
    page = seen.go(f"/u/{seen.user}/playground/")
    page.get_by_label("Message", exact=True).fill("小红最近怎么样了")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("heading", name="Who is meant")).to_be_visible()
    page.locator("#answer-title").click()
    page.keyboard.press("w")
    people = page.get_by_role("list", name="People")
    expect(people.locator("[data-row]").first).to_contain_text(re.compile("may mean|does not name"))


def test_an_empty_installation_shows_the_first_steps(site: Site, enter: Enter) -> None:
    made = site.ask("stage", role="admin")
    page = enter(made["session"])
    page.goto(site.url)
    steps = page.get_by_role("region", name="First steps").get_by_role("listitem")
    expect(steps).to_have_count(5)
    expect(steps.first).to_contain_text("done")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Apps and keys")
