"""What an operator does, in a real browser at the real product."""

import json
import re
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import PASSWORD, Enter, Household, Site

pytestmark = pytest.mark.xdist_group("e2e")


def names(page: Page) -> Any:
    """The names in the list of people."""
    return page.locator("#people .person-who > a.strong")


def call(site: Site, key: str, path: str, body: dict[str, Any]) -> Any:
    """A POST to the API, as a chat application makes it."""
    request = urllib.request.Request(
        f"{site.url}/api/v1/users/{path}",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_a_wrong_password_is_told_and_the_right_one_lets_in(site: Site, enter: Enter) -> None:
    page = enter()
    page.goto(site.url)
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{site.url}/")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def test_what_an_app_sends_becomes_people_on_the_page(site: Site, enter: Enter) -> None:
    made = site.ask("stage", role="admin")
    turns = ["我朋友小芳在北京当老师。", "My colleague Tom moved to Oslo."]
    sent = [{"role": "user", "content": text} for text in turns]
    call(site, made["key"], "wu/messages/", {"messages": sent})
    call(site, made["key"], "wu/process/", {"wait": True})
    page = enter(made["session"])
    page.goto(site.url)
    page.get_by_role("link", name="wu", exact=True).first.click()
    expect(names(page)).to_have_count(2)
    expect(names(page).filter(has_text="小芳")).to_be_visible()
    expect(names(page).filter(has_text="Tom")).to_be_visible()


def test_a_person_is_found_while_their_name_is_typed_in_pinyin(seen: Household) -> None:
    page = seen.go(f"/u/{seen.user}/people/")
    expect(names(page)).to_have_count(len(seen.people))
    page.keyboard.press("/")
    page.keyboard.type("xiaohong")
    expect(names(page)).to_have_text(["小红"])
    expect(page).to_have_url(re.compile("q=xiaohong"))


def test_two_keystrokes_merge_a_suggested_pair_and_one_takes_it_back(household: Household) -> None:
    page = household.go("/")
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Merge")).to_be_visible()
    page.keyboard.press("m")
    toast = page.locator(".toast")
    expect(toast).to_contain_text("one person now")
    people = enter_beside(household)
    people.goto(f"{household.site.url}/u/{household.user}/people/?q=hong")
    expect(names(people)).to_have_count(1)
    page.keyboard.press("z")
    expect(toast).to_contain_text("Undone")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    people.reload()
    expect(names(people)).to_have_text(["小红", "红红"])


def enter_beside(household: Household) -> Page:
    """A second tab of the same browser."""
    return household.page.context.new_page()


def test_a_memory_of_another_is_moved_and_both_cards_follow(household: Household) -> None:
    page = household.person("小红")
    card = page.locator("#the-card")
    expect(card).to_contain_text("奶茶")
    household.person("小红", "memories")
    page.get_by_role("listitem").filter(has_text="奶茶").get_by_role("checkbox").first.check()
    page.keyboard.press("m")
    page.get_by_role("radio", name=re.compile("红红")).check()
    page.get_by_role("button", name="Move").click()
    expect(page.locator(".toast")).to_contain_text("moved to \u2068红红\u2069")
    household.person("红红")
    expect(card).to_contain_text("奶茶")
    household.person("小红")
    expect(card).not_to_contain_text("奶茶")


def test_a_fact_is_corrected_and_the_correction_taken_back(household: Household) -> None:
    page = household.person("小红")
    fact = page.locator(".facts > li").filter(has_text="腾讯").first
    fact.locator("summary", has_text="Change").click()
    value = fact.locator("input[name=new]")
    value.fill("字节跳动")
    value.press("Enter")
    expect(page.locator("#the-card")).to_contain_text("字节跳动")
    expect(page.locator("#the-card")).not_to_contain_text("公司：腾讯")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#the-card")).to_contain_text("公司：腾讯")
    expect(page.locator("#the-card")).not_to_contain_text("字节跳动")


def test_a_batch_in_quarantine_is_tried_again_and_read(household: Household) -> None:
    household.site.ask("quarantine", user=household.user)
    page = household.go("/pipeline/?state=quarantined")
    expect(page.get_by_text("the model server answered 500")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator(".toast")).to_contain_text("Trying again")
    household.go("/pipeline/?state=done")
    first = page.locator("#live tbody tr").first  # the page asks again by itself
    expect(first).to_contain_text("41–42")
    household.go(f"/u/{household.user}/people/?q=azhen")
    expect(names(page)).to_have_text(["阿珍"])


def test_the_pages_speak_chinese_and_english(household: Household) -> None:
    page = household.go("/")
    html = page.locator("html")
    expect(html).to_have_attribute("lang", "en")
    page.get_by_role("button", name="中文").click()
    expect(html).to_have_attribute("lang", "zh-hans")
    expect(page.locator(".side nav")).to_contain_text("首页")
    household.go(f"/u/{household.user}/people/")
    expect(html).to_have_attribute("lang", "zh-hans")
    page.get_by_role("button", name="English").click()
    expect(html).to_have_attribute("lang", "en")
    expect(page.locator(".side nav")).to_contain_text("Home")


def test_a_viewer_sees_everything_and_can_change_nothing(seen: Household, enter: Enter) -> None:
    page = enter(seen.site.ask("session", role="viewer", app=seen.app))
    base, person = seen.site.url, seen.people["小红"]
    allowed = ("Search", "Find", "Copy", "Close")
    for path in ("/", "/review/", f"/u/{seen.user}/people/{person}/", "/pipeline/"):
        page.goto(base + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        buttons = page.locator("main button:visible")
        said = [text for text in buttons.all_inner_texts() if text.strip() not in allowed]
        assert said == [], path
    answers = page.evaluate(
        """async (paths) => Promise.all(paths.map(async (path) => {
            const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
            const answer = await fetch(path, {method: "POST", headers: {"X-CSRFToken": token}});
            return answer.status;
        }))""",
        [
            f"/u/{seen.user}/people/{person}/attributes/",
            f"/u/{seen.user}/people/{person}/forget/",
            f"/u/{seen.user}/forget/now/",
            "/pipeline/jobs/rescore/run/",
        ],
    )
    assert answers == [403] * 4


def test_an_end_user_is_forgotten_for_good(household: Household) -> None:
    page = household.go(f"/u/{household.user}/")
    page.get_by_role("link", name="Erase…").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("for good?")
    expect(page.locator("main")).to_contain_text("40")  # messages
    page.get_by_label("To confirm, type the ID").fill("li")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator(".toast")).to_contain_text("Erased \u2068li\u2069")
    expect(page).to_have_url(re.compile("/receipts/[0-9a-f-]+/$"))
    answer = page.request.get(f"{household.site.url}/u/{household.user}/")
    assert answer.status == 404


def test_the_question_mark_lists_the_keys_of_the_page(seen: Household) -> None:
    page = seen.go(f"/u/{seen.user}/people/")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("row").filter(has_text="New person")).to_contain_text("n")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/people/new/$"))


def test_a_pair_is_merged_and_parted_without_javascript(household: Household, enter: Enter) -> None:
    page = enter(household.session, java_script_enabled=False)
    people = f"{household.site.url}/u/{household.user}/people/"
    page.goto(people)
    page.locator("#find-people").fill("hong")
    page.locator("main").get_by_role("button", name="Search").click()
    for name in ("小红", "红红"):
        page.get_by_role("checkbox", name=f"Select {name}", exact=True).check()
    page.get_by_role("button", name="Merge two").click()
    page.get_by_role("button", name="Merge").click()
    expect(page.locator(".toast")).to_contain_text("one person now")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("Undone")
    page.goto(f"{people}?q=hong")
    expect(names(page)).to_have_text(["小红", "红红"])


def test_what_is_done_with_chosen_people_depends_on_how_many(seen: Household) -> None:
    page = seen.go(f"/u/{seen.user}/people/")
    merge = page.get_by_role("button", name="Merge two")
    apart = page.get_by_role("button", name="Not the same")
    expect(merge).to_be_hidden()
    rows = page.get_by_role("checkbox", name="Select")
    for number, (can_merge, can_part) in enumerate([(False, False), (True, True), (False, True)]):
        rows.nth(number).check()
        expect(merge).to_be_enabled(enabled=can_merge)
        expect(apart).to_be_enabled(enabled=can_part)


def test_the_playground_shows_whom_she_means_and_what_a_model_is_told(seen: Household) -> None:
    page = seen.go(f"/u/{seen.user}/playground/")
    page.get_by_label("Message", exact=True).fill("她最近怎么样了")
    page.get_by_role("button", name="Run").click()
    meant = page.get_by_role("region", name="Who is meant")
    expect(meant.get_by_role("link", name="小红", exact=True)).to_be_visible()
    expect(meant.locator("mark")).to_have_text("她")
    cards = page.get_by_role("region", name="Cards")
    expect(cards).to_contain_text("腾讯")
    expect(cards).not_to_contain_text("刘桂芳")
