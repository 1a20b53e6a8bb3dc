"""Work done without a mouse: where the keys lead after a search, in a picker and in a queue."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Household

pytestmark = pytest.mark.xdist_group("e2e")


def test_after_a_search_the_keys_act_on_the_rows_and_escape_empties_nothing(
    seen: Household,
) -> None:
    page = seen.go(f"/u/{seen.user}/people/")
    page.keyboard.press("/")
    page.keyboard.type("hong")
    page.keyboard.press("Enter")
    links = page.locator("#people .person-who > a.strong")
    expect(links).to_have_count(2)
    expect(links.first).to_be_focused()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#people input:checked")).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    field = page.locator("#find-people")
    expect(field).not_to_be_focused()
    expect(field).to_have_value("hong")
    page.keyboard.press("m")
    expect(page.get_by_role("heading", level=1)).to_contain_text("the same person?")


# Each job with the page that it begins on and the most keys that it takes (docs/architecture.md).
JOBS = {
    "find a person": ("people", ["/", "x", "h", "Enter"], 4),
    "decide a pair of the queue": ("review", ["n"], 1),
    "move a memory to somebody else": ("memories", ["j", "x", "m", "2", "j", "m"], 6),
    "decide a contradiction": ("conflicts", ["b"], 1),
}


def test_each_job_is_done_in_few_keys(household: Household) -> None:
    user, hong = household.user, household.people["小红"]
    household.site.ask("contradict", user=user, person=hong)
    pages = {
        "people": f"/u/{user}/people/", "review": "/review/", "conflicts": "/review/conflicts/",
        "memories": f"/u/{user}/people/{hong}/?tab=memories",
    }  # fmt: skip
    page = household.page
    done = {
        "find a person": page.locator("#people .person-who > a.strong:focus"),
        "decide a pair of the queue": page.locator(".toast", has_text="stay two people"),
        "move a memory to somebody else": page.locator(".toast", has_text="moved to"),
        "decide a contradiction": page.locator(".toast", has_text="Kept"),
    }
    for job, (begins, keys, most) in JOBS.items():
        household.go(pages[begins])
        for number, key in enumerate(keys):
            if key == "2":
                expect(page.locator("#picked").get_by_role("radio").nth(1)).to_be_visible()
            page.keyboard.press(key)
            if number < len(keys) - 1:
                page.wait_for_load_state()
        expect(done[job]).to_be_visible()
        assert len(keys) <= most, job
        if job != "find a person":
            page.keyboard.press("z")
            expect(page.locator(".toast", has_text="Undone")).to_be_visible()


def test_a_memory_is_moved_in_four_clicks_and_a_person_forgotten_in_two(
    household: Household,
) -> None:
    page = household.person("小红", "memories")
    page.locator("main input[name=memory]").first.click()
    page.get_by_role("button", name="Move to…").click()
    page.locator("#picked").get_by_role("radio").first.click()
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("moved to")
    household.person("小红")
    page.get_by_role("link", name="Erase…").click()
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator(".toast")).to_contain_text("Erased")


def test_a_memory_and_a_person_are_forgotten_in_two_keys_each(household: Household) -> None:
    page = household.person("小红", "memories")
    page.locator("main [data-row] a.bare").first.click()
    page.wait_for_url("**/memories/*/")
    for heading in ("Erase this memory?", "Erase 小红?"):
        page.keyboard.press("r")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        page.keyboard.press("y")
        expect(page.locator(".toast")).to_contain_text("Erased")
        household.person("小红")


def test_a_correction_from_the_playground_is_undone_by_its_key(household: Household) -> None:
    page = household.go(f"/u/{household.user}/playground/")
    page.get_by_label("Message", exact=True).fill("小红最近怎么样了")
    page.get_by_role("button", name="Run").click()
    found = page.get_by_role("region", name="Memories")
    found.locator("summary", has_text="This is wrong").first.click()
    found.get_by_role("button", name=re.compile("Not about|No longer true")).first.click()
    toast = page.locator(".toast")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()
    expect(page.get_by_role("region", name="Who is meant")).to_be_visible()
    page.keyboard.press("z")
    expect(toast).to_contain_text("Undone")
    expect(page.get_by_label("Message", exact=True)).to_have_value("小红最近怎么样了")


def test_a_contradiction_is_decided_in_one_key(household: Household) -> None:
    person = household.people["小红"]
    household.site.ask("contradict", user=household.user, person=person)
    page = household.go("/review/conflicts/")
    title = page.get_by_role("heading", level=2)
    expect(title).to_contain_text("小红")
    page.keyboard.press("b")
    expect(page.locator(".toast")).to_contain_text("Kept")
    page.keyboard.press("z")
    expect(title).to_contain_text("小红")
    page.keyboard.press("y")
    expect(page.locator(".toast").get_by_role("button", name="Undo")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("小红"))).to_have_count(0)


def test_what_was_typed_outlives_the_end_of_a_session_and_the_language_button(
    household: Household,
) -> None:
    page = household.person("小红")
    alias = page.locator("#alias")
    alias.fill("小红红")
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(alias).to_have_value("小红红")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.context.clear_cookies(name="sessionid")
    alias.press("Enter")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    session = {"name": "sessionid", "value": household.session, "url": household.site.url}
    page.context.add_cookies([session])
    page.goto(page.locator("main input[name=next]").last.get_attribute("value"))
    expect(alias).to_have_value("小红红")
    alias.press("Enter")
    expect(page.locator(".toast")).to_contain_text("is an alias now")
    expect(alias).to_have_value("")


def test_a_person_forgotten_in_another_tab_is_told_on_a_page_of_the_dashboard(
    household: Household,
) -> None:
    page = household.person("小红")
    other = household.page.context.new_page()
    other.goto(f"{household.site.url}/u/{household.user}/people/{household.people['小红']}/forget/")
    other.get_by_role("button", name="Erase for good").click()
    expect(other.locator(".toast")).to_contain_text("Erased")
    page.locator("#alias").fill("小红红")
    page.locator("#alias").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("This person no longer exists")
    refused = "Your last action was not carried out."
    expect(page.locator("main")).to_contain_text(refused)
    household.person("小红")
    expect(page.locator("main")).to_contain_text("They were erased")
    expect(page.locator("main")).not_to_contain_text(refused)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
