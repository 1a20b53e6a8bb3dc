"""Getting about: the way back, the keys of a list, a server that is away, signing out."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Enter, Household, Site

pytestmark = pytest.mark.xdist_group("e2e")


def leave_and_come_back(page: Page) -> None:
    page.locator(".side").get_by_role("link", name="Home").click()
    expect(page).to_have_title("Home · Mio")
    page.go_back()


def test_the_way_back_shows_whole_pages_where_parts_are_fetched(seen: Household) -> None:
    for path, title in (("/pipeline/", "Pipeline"), (f"/u/{seen.user}/playground/", "Play")):
        page = seen.go(path)
        leave_and_come_back(page)
        expect(page).to_have_title(re.compile(title))
        expect(page.get_by_role("heading", level=1)).to_contain_text(title)
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def test_the_way_back_to_a_search_shows_it_whole_also_from_another_document(
    seen: Household,
) -> None:
    page = seen.go(f"/u/{seen.user}/people/")
    page.keyboard.press("/")
    page.keyboard.type("xiaohong")
    expect(page).to_have_url(re.compile("q=xiaohong"))
    seen.go(f"/u/{seen.user}/memories/")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("People")
    expect(page.locator("#find-people")).to_have_value("xiaohong")


def test_a_page_that_is_gone_to_begins_at_its_top_and_the_way_back_where_one_was(
    seen: Household,
) -> None:
    page = seen.page
    page.set_viewport_size({"width": 900, "height": 300})
    seen.go(f"/u/{seen.user}/people/")
    last, title = page.locator(".people a.strong").last, page.get_by_role("heading", level=1)
    last.scroll_into_view_if_needed()
    expect(title).not_to_be_in_viewport()
    last.click()
    expect(page.get_by_role("navigation", name="About this person")).to_be_visible()
    expect(title).to_be_in_viewport()
    page.go_back()
    expect(title).to_have_text("People")
    expect(last).to_be_in_viewport()


def test_enter_opens_the_row_that_the_keys_led_to(seen: Household) -> None:
    page = seen.go(f"/u/{seen.user}/people/")
    second = page.locator(".people a.strong").nth(1)
    name = second.inner_text()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(second).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", name=f"Select {name}", exact=True)).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_a_server_that_is_away_is_told_and_nothing_typed_is_lost(household: Household) -> None:
    page = household.person("小红")
    page.get_by_label("Add an alias").fill("小红红")
    page.context.set_offline(True)
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("was not reached")
    expect(page.get_by_label("Add an alias")).to_have_value("小红红")
    page.context.set_offline(False)
    page.get_by_label("Add an alias").press("Enter")
    expect(page.locator(".toast")).to_contain_text("is an alias now")
    expect(page.locator(".toast")).to_have_count(1)


def test_a_list_that_asks_again_after_signing_out_leads_to_the_door(seen: Household) -> None:
    page = seen.go("/pipeline/")
    page.context.clear_cookies()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/login/\?next=/pipeline/$"))
    expect(page.get_by_role("navigation")).to_have_count(0)


def test_an_address_that_is_made_up_gives_no_further_tries(site: Site, enter: Enter) -> None:
    browser = enter().context
    browser.request.get(f"{site.url}/login/")
    token = next(c["value"] for c in browser.cookies() if c["name"] == "csrftoken")
    form = {"username": "somebody", "password": "a guess", "csrfmiddlewaretoken": token}

    def guess(number: int) -> int:
        headers = {"X-Forwarded-For": f"10.0.0.{number}"}
        return browser.request.post(f"{site.url}/login/", form=form, headers=headers).status

    assert [guess(number) for number in range(7)] == [200] * 5 + [429] * 2
