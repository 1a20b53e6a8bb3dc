"""Every page for everyone: no barrier that axe knows, both themes, a phone's width, no errors."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, expect

from tests.dashboard.addresses import KINDS
from tests.e2e.conftest import WAIT, Site

pytestmark = pytest.mark.xdist_group("e2e")

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
GRAVE = ("serious", "critical")
NO_PAGES = {
    "activity-csv",
    "export",
    "address-book",
    "health",
    "pick",
}  # downloads, and parts of pages
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


class Watched:
    """A page, with what went wrong in it since it was last asked."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._wrong: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._wrong.append(str(error)))
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":  # violations of the content security policy, too
            self._wrong.append(message.text)

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self._wrong.append(f"{response.status} {response.url}")

    def wrong(self) -> list[str]:
        found, self._wrong = self._wrong, []
        return found


@pytest.fixture(scope="module")
def visitor(browser: Browser, site: Site) -> Iterator[tuple[Watched, dict[str, str]]]:
    made = site.ask("household", role="admin")
    context: BrowserContext = browser.new_context(locale="en-US", reduced_motion="reduce")
    context.set_default_timeout(WAIT)
    context.add_cookies([{"name": "sessionid", "value": made["session"], "url": site.url}])
    site.ask("quarantine", user=made["user"])
    yield Watched(context.new_page()), site.ask("pages", user=made["user"])
    context.close()


def barriers(page: Page, only: str = "") -> list[str]:
    """What axe calls serious or critical, with where it stands."""
    # Without details of what passes, and without reading the style sheets again.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if only:
        options["runOnly"] = {"type": "rule", "values": [only]}
    run = "(options) => axe.run(document, options).then((results) => results.violations)"
    return [
        f"{one['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
        for one in page.evaluate(run, options)
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NO_PAGES])
def test_a_page_has_no_barrier_in_either_theme_and_fits_a_phone(
    visitor: tuple[Watched, dict[str, str]], site: Site, kind: str
) -> None:
    watched, addresses = visitor
    page = watched.page
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")
    page.goto(site.url + addresses[kind])
    assert watched.wrong() == []
    page.evaluate(AXE)  # by the debugger, which the page's policy does not bind
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    assert barriers(page, "color-contrast") == []
    page.set_viewport_size(PHONE)
    width = page.evaluate("document.scrollingElement.scrollWidth")
    assert width <= PHONE["width"]
    assert watched.wrong() == []


@pytest.mark.parametrize("path", ["/api/docs/", "/api/docs"])
def test_the_page_of_the_api_lists_its_endpoints(
    path: str, site: Site, enter: Callable[[], Page]
) -> None:
    watched = Watched(enter())
    watched.page.goto(site.url + path)
    expect(watched.page.get_by_role("heading", name="Mio")).to_be_visible()
    expect(watched.page.locator(".opblock").first).to_be_visible()
    assert watched.wrong() == []
