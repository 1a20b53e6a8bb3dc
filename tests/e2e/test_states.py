"""What pages show in states that are rare: work that failed, namesakes, doubted links, many people; and
corrections of the end user's own page."""

import csv
import io
import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Enter, Household

pytestmark = pytest.mark.xdist_group("e2e")


def api(household: Household, method: str, path: str, body: object) -> httpx.Response:
    return httpx.request(
        method,
        f"{household.site.url}/api/v1/{path}",
        json=body,
        headers={"Authorization": f"Bearer {household.key}"},
    ).raise_for_status()


def own_page(household: Household, enter: Enter) -> Page:
    address = api(household, "POST", "users/li/page/", {"language": "en"}).json()["url"]
    page = enter(viewport={"width": 390, "height": 844})
    page.goto(address)
    return page


def test_home_tells_what_failed_and_leads_to_it(household: Household) -> None:
    household.site.ask("quarantine", user=household.user)
    page = household.go("/")
    main = page.locator("main")
    expect(main).not_to_contain_text("No failures")
    expect(main).not_to_contain_text("Nothing needs your attention")
    main.locator("[data-row]", has_text="quarantine").get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/pipeline/\?state=quarantined$"))
    expect(page.locator("main")).to_contain_text("the model server answered 500")


def test_two_of_one_name_are_told_apart_in_the_list_and_when_compared(household: Household) -> None:
    for relationship, city in (("neighbour", "Ghent"), ("dentist", "Bruges")):
        person = {"name": "Li Na", "relationship": relationship, "attributes": {"location": [city]}}
        api(household, "POST", "users/li/contacts/", {**person, "namesake": True})
    page = household.go(f"/u/{household.user}/people/?q=li+na")
    rows = page.locator("#people [data-row]", has_text="Li Na")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="neighbour")).to_have_count(1)
    expect(rows.filter(has_text="dentist")).to_have_count(1)
    rows.filter(has_text="neighbour").get_by_role("link").first.click()
    expect(page.locator("main")).to_contain_text("Others with this name")
    page.get_by_role("link", name="compare").first.click()
    expect(page.locator("main")).to_contain_text("Ghent")
    expect(page.locator("main")).to_contain_text("Bruges")


def test_a_delivery_has_a_button_of_plain_text_and_loopback_is_refused_by_its_setting(
    household: Household,
) -> None:
    page = household.go("/webhooks/")
    page.get_by_label("URL").fill("http://127.0.0.1:9/hook")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#url-problem")).to_contain_text(re.compile("MIO_[A-Z_]+"))
    page.get_by_label("URL").fill("https://hooks.example.com/mio")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name=re.compile("Send a test")).click()
    row = page.locator("tbody [data-row]").first
    expect(row).to_be_visible()
    assert re.fullmatch(
        r"Send [\w.]+ of [^<>]+ again", row.get_by_role("button").get_attribute("aria-label") or ""
    )


def test_links_are_decided_together_in_one_key(household: Household) -> None:
    household.site.ask("doubt", user=household.user)
    page = household.go("/review/links/")
    boxes = page.locator("nav.queue input[name=link]")
    expect(boxes).not_to_have_count(0)
    waiting = boxes.count()
    page.get_by_label("All shown").check()
    page.keyboard.press("b")
    toast = page.locator(".toast")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()
    expect(boxes).to_have_count(0)
    page.keyboard.press("z")
    expect(boxes).to_have_count(waiting)


def test_a_picker_is_walked_by_keys_and_says_that_there_are_more(household: Household) -> None:
    for number in range(30):
        api(household, "POST", "users/li/contacts/", {"name": f"Walker {number}"})
    hong = household.people["小红"]
    page = household.go(f"/u/{household.user}/people/{hong}/merge/")
    expect(page.get_by_text("There are more people")).to_be_visible()
    choices = page.locator("#picked input[type=radio]")
    page.keyboard.press("j")
    expect(choices.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(choices.nth(1)).to_be_focused()
    page.keyboard.press("x")
    expect(choices.nth(1)).to_be_checked()
    page.keyboard.press("c")
    expect(page.get_by_role("heading", level=1)).to_contain_text("the same person?")


def test_a_contradiction_waits_and_those_of_one_user_are_shown_alone(household: Household) -> None:
    for name in ("小红", "刘桂芳"):
        household.site.ask("contradict", user=household.user, person=household.people[name])
    page = household.go("/review/conflicts/")
    title = page.get_by_role("heading", level=2).first
    first = title.inner_text()
    page.keyboard.press("l")
    expect(title).not_to_have_text(first)
    expect(title).to_contain_text("which is right?")
    expect(page.locator("nav.queue [data-row]")).to_have_count(2)
    api(household, "POST", "users/lo/messages/", {"messages": [{"role": "user", "content": "Hi."}]})
    page = household.go("/users/")
    other = page.get_by_role("link", name="lo", exact=True).first.get_attribute("href") or ""
    page = household.go(f"/review/conflicts/?user={re.sub(r'[^0-9]', '', other)}")
    expect(page.get_by_text("No contradictions")).to_be_visible()


def test_a_note_is_seen_by_operators_and_given_to_no_prompt(household: Household) -> None:
    page = household.person("小红")
    page.get_by_role("textbox", name="Note").fill("Rang us about the ladder.")
    page.locator("#note-title + form").get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_be_visible()
    expect(page.get_by_role("textbox", name="Note")).to_have_value("Rang us about the ladder.")
    context = api(household, "POST", "users/li/context/", {"message": "小红怎么样了？"}).json()
    assert "小红" in context["system_prompt"]
    assert "ladder" not in context["system_prompt"]


def test_results_stand_in_the_order_of_the_number_that_they_show(household: Household) -> None:
    page = household.go(f"/u/{household.user}/memories/?q=小红的工作")
    shown = page.locator("main > ol .score strong").all_inner_texts()
    matches = [int(re.sub(r"\D", "", text)) for text in shown]
    assert len(matches) > 2
    assert matches == sorted(matches, reverse=True)


def test_an_import_reads_its_dates_in_the_one_way_and_is_listed_by_its_file(
    household: Household,
) -> None:
    page = household.go(f"/u/{household.user}/imports/")
    chat = "13/03/2026, 10:00 - Bo: My friend Oda is in town.\n14/03/2026, 10:01 - Li: Good!\n"
    file = {"name": "WhatsApp Chat with Li.txt", "mimeType": "text/plain", "buffer": chat.encode()}
    page.get_by_label("Choose a file").set_input_files(file)
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_role("heading", name="What it holds")).to_be_visible()
    expect(page.get_by_text(re.compile("Mar(ch|\\.) 13, 2026"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("comes first"))).to_have_count(0)
    page.get_by_role("link", name="All imports").click()
    expect(page.locator("#live [data-row]").first).to_contain_text("WhatsApp Chat with Li.txt")


def test_the_audit_log_is_taken_along_as_a_table_without_content(household: Household) -> None:
    api(household, "POST", "users/li/memories/", {"content": "Figs are ripe in September."})
    page = household.go("/activity/")
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("CSV")).click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) > 1
    assert "Figs" not in text


def test_a_map_of_many_people_fits_the_screen(household: Household) -> None:
    for number in range(60):
        person = {"name": f"Person {number}", "relationship": "colleague"}
        api(household, "POST", "users/li/contacts/", person)
    page = household.go(f"/u/{household.user}/people/map/")
    drawn = page.locator("main svg.chart").first
    expect(drawn).to_be_visible()
    box = drawn.bounding_box()
    assert box is not None
    assert box["height"] < 1600
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_who_is_no_person_leaves_the_own_page_and_comes_back_by_undo(
    household: Household, enter: Enter
) -> None:
    page = own_page(household, enter)
    page.get_by_role("link", name="小红").click()
    page.locator("summary", has_text="Not a person").click()
    page.get_by_role("button", name="小红 is not a person").click()
    expect(page.get_by_role("status")).to_contain_text("Not a person")
    expect(page.get_by_role("link", name="小红", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Recent changes").click()
    expect(page.get_by_role("button", name=re.compile("May be a person"))).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()
    page.get_by_role("link", name="What's remembered").click()
    expect(page.get_by_role("link", name="小红", exact=True)).to_be_visible()
    page.locator("summary", has_text="Download my data").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="To read").click()
    assert "小红" in download.value.path().read_text(encoding="utf-8")


def test_a_memory_of_the_user_is_taken_back_from_a_friend(
    household: Household, enter: Enter
) -> None:
    page = own_page(household, enter)
    page.get_by_role("link", name="小红").click()
    memory = page.get_by_role("region", name="What you said").locator("[data-row]").first
    words = memory.locator("p").first.inner_text()
    memory.locator("summary", has_text="That's wrong").click()
    memory.get_by_role("button", name="It is about me").click()
    expect(page.get_by_role("status")).to_contain_text("Saved whom it is about")
    expect(page.get_by_role("region", name="What you said")).not_to_contain_text(words)


def test_the_button_for_the_theme_changes_what_the_system_has_set(household: Household) -> None:
    household.page.emulate_media(color_scheme="dark")
    page = household.go("/")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    expect(page.get_by_role("button", name="Dark theme")).to_be_hidden()
    page.get_by_role("button", name="Light theme").click()
    expect(page.get_by_role("button", name="Dark theme")).to_be_visible()
    assert page.evaluate(paper) != dark
    page.get_by_role("button", name="Dark theme").click()
    expect(page.get_by_role("button", name="Light theme")).to_be_visible()
    assert page.evaluate(paper) == dark


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_tabs_and_the_name_of_a_person_fit_a_phone(household: Household, language: str) -> None:
    household.page.set_viewport_size({"width": 390, "height": 844})
    household.page.set_extra_http_headers({"Accept-Language": language})
    page = household.person("小红")
    tabs, name = page.locator("main .tabs"), page.locator("h1").bounding_box()
    assert tabs.evaluate("one => one.scrollWidth <= one.clientWidth")
    edit = page.locator("[data-key=e]").bounding_box()
    assert name
    assert edit
    assert edit["y"] - 40 < name["y"] < edit["y"] + edit["height"]


def test_memories_are_filtered_on_a_phone_behind_one_button(household: Household) -> None:
    household.page.set_viewport_size({"width": 390, "height": 844})
    page = household.go(f"/u/{household.user}/memories/")
    expect(page.get_by_label("Status")).to_be_hidden()
    first = page.locator("main [data-row]").first.bounding_box()
    assert first
    assert first["y"] < 844 / 3
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Status").select_option("archived")
    page.get_by_role("button", name="Find").click()
    expect(page).to_have_url(re.compile("status=archived"))
    expect(page.locator("main [data-row]")).to_have_count(0)
