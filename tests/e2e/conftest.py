"""The real product as one process tree with a home of its own, and a real browser at it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from mio_site import serve

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct-horse-battery"
READY_WITHIN = 120  # seconds: on a busy machine embedding the demo takes most of them
WAIT = 20_000  # milliseconds that the browser waits for something to appear
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Site:
    """``manage.py serve`` with its own embedded PostgreSQL, and the process backstage."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        kept = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        self._env = {
            **kept,
            "MIO_HOME": str(home),
            "MIO_OPERATOR_PASSWORD": PASSWORD,
            "MIO_WORKERS": "1",
            "DJANGO_SETTINGS_MODULE": "mio_site.settings",
        }
        self._log = home.with_suffix(".log").open("w+")
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port)]
        self._serve = subprocess.Popen(
            command, cwd=ROOT, env=self._env, stdout=self._log, stderr=subprocess.STDOUT
        )
        self._backstage: subprocess.Popen[str] | None = None

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not serve.answers("127.0.0.1", self.port, "/readyz"):
            late = time.monotonic() > deadline
            if late or self._serve.poll() is not None:
                self._log.seek(0)
                pytest.fail(f"serve did not become ready: {self._log.read()[-3000:]}")
            time.sleep(0.1)

    def ask(self, do: str, **given: Any) -> Any:
        """Has the process backstage do something at the server's database."""
        if self._backstage is None:
            self._backstage = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.backstage"],
                cwd=ROOT,
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
            )
        assert self._backstage.stdin is not None
        assert self._backstage.stdout is not None
        self._backstage.stdin.write(json.dumps({"do": do, **given}) + "\n")
        self._backstage.stdin.flush()
        answer = self._backstage.stdout.readline()
        if not answer:
            self._log.seek(0)
            pytest.fail(f"backstage {do}: {self._log.read()[-3000:]}")
        return json.loads(answer)

    def end(self) -> None:
        if self._backstage is not None:
            self._backstage.communicate(timeout=30)  # it ends with its input
        self._serve.send_signal(signal.SIGTERM)
        self._serve.wait(30)
        self._log.close()


@dataclass(frozen=True)
class Household:
    """An end user with the people of the demo, and a page that its operator is signed in at."""

    site: Site
    page: Page
    app: str
    key: str
    user: int
    people: dict[str, str]
    session: str

    def go(self, path: str) -> Page:
        self.page.goto(self.site.url + path)
        return self.page

    def person(self, name: str, tab: str = "card") -> Page:
        return self.go(f"/u/{self.user}/people/{self.people[name]}/?tab={tab}")


# Of the package and not of the session: a worker of xdist goes on with tests that use the
# database, which Django refuses beside the running loop of Playwright.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        missing = "chromium is not installed: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield one
        one.close()


@pytest.fixture(scope="package")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    one = Site(tmp_path_factory.mktemp("e2e") / "home")
    try:
        one.wait_until_ready()
        yield one
    finally:
        one.end()


Enter = Callable[..., Page]


def press_when_loaded(page: Page) -> None:
    """Has keys wait until the page's scripts have run, which is later than its heading is seen."""
    press = page.keyboard.press

    def wait_and_press(key: str, **options: Any) -> None:
        page.wait_for_load_state("load")
        press(key, **options)

    page.keyboard.press = wait_and_press  # type: ignore[method-assign]


@pytest.fixture
def enter(browser: Browser, site: Site) -> Iterator[Enter]:
    """Makes a page, signed in where a session is given."""
    contexts: list[BrowserContext] = []

    def page(session: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"locale": "en-US", **options})
        context.set_default_timeout(WAIT)
        contexts.append(context)
        if session:
            context.add_cookies([{"name": "sessionid", "value": session, "url": site.url}])
        opened = context.new_page()
        press_when_loaded(opened)
        return opened

    yield page
    for context in contexts:
        context.close()


@pytest.fixture
def household(site: Site, enter: Enter) -> Household:
    """Of the test alone, which may change it."""
    made = site.ask("household", role="admin")
    return Household(site=site, page=enter(made["session"]), **made)


@pytest.fixture(scope="package")
def known(site: Site) -> dict[str, Any]:
    return site.ask("household", role="admin")


@pytest.fixture
def seen(site: Site, enter: Enter, known: dict[str, Any]) -> Household:
    """Shared by tests that change nothing."""
    return Household(site=site, page=enter(known["session"]), **known)
