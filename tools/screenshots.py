"""python -m tools screenshots: pictures of every page with the demo end user, in English and Chinese;
with ``--every-look`` also dark, and as on a phone."""

import base64
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urljoin
from urllib.request import urlopen

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts.scope import all_users

try:
    from playwright.sync_api import Browser, Page, sync_playwright
except ModuleNotFoundError as error:
    raise CommandError(
        "The screenshots need the tools of tests: make test installs them"
    ) from error

from memories import demo

PASSWORD = "for these pictures only"  # noqa: S105 of a server that lives for a minute
READY_WITHIN = 180  # seconds
QUALITY = 75  # of WebP: letters stay sharp at a quarter of a PNG's size
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
LANGUAGES = {"en": "en-US", "zh": "zh-CN"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip

PAGES = {
    "home": "/",
    "find": "/find/?q=hong",
    "person-merge": "/u/{user}/people/{one}/merge/",
    "review": "/review/",
    "review-links": "/review/links/",
    "review-contradictions": "/review/conflicts/",
    "compare": "/u/{user}/review/{one}/{other}/",
    "people": "/u/{user}/people/",
    "map": "/u/{user}/people/map/",
    "person": "/u/{user}/people/{one}/",
    "person-memories": "/u/{user}/people/{one}/?tab=memories",
    "person-timeline": "/u/{user}/people/{one}/?tab=timeline",
    "person-relations": "/u/{user}/people/{one}/?tab=relations",
    "person-changes": "/u/{user}/people/{one}/?tab=changes",
    "person-sources": "/u/{user}/people/{one}/sources/?m={memory}",
    "person-new": "/u/{user}/people/new/",
    "person-edit": "/u/{user}/people/{one}/edit/",
    "person-split": "/u/{user}/people/{one}/memories/split/?memory={memory}",
    "person-move": "/u/{user}/people/{one}/memories/move/?memory={memory}",
    "person-forget": "/u/{user}/people/{one}/forget/",
    "memories": "/u/{user}/memories/",
    "memories-found": "/u/{user}/memories/?q=小红的工作",
    "memory": "/u/{user}/memories/{memory}/",
    "memory-forget": "/u/{user}/memories/forget/?memory={memory}",
    "playground": "/u/{user}/playground/",
    "changes": "/u/{user}/changes/",
    "lives": "/u/{user}/changes/lives/",
    "dates": "/u/{user}/dates/",
    "imports": "/u/{user}/imports/",
    "gone": "/u/{user}/people/00000000-0000-0000-0000-000000000000/",
    "user": "/u/{user}/",
    "user-forget": "/u/{user}/forget/",
    "users": "/users/?q=",
    "apps": "/apps/",
    "gateway": "/apps/{app}/gateway/",
    "webhooks": "/webhooks/",
    "activity": "/activity/",
    "receipts": "/receipts/",
    "own-page": "{own}",
    "own-person": "{own}people/{one}/",
    "pipeline": "/pipeline/",
    "pipeline-consolidations": "/pipeline/consolidations/",
    "pipeline-jobs": "/pipeline/jobs/",
    "pipeline-calls": "/pipeline/calls/",
}


@dataclass(frozen=True, slots=True)
class Look:
    """A variant of a page."""

    language: str
    theme: str
    phone: bool = False

    @property
    def name(self) -> str:
        return "-".join([self.language, self.theme, *(["phone"] if self.phone else [])])


LOOKS = [Look(language, "light") for language in LANGUAGES]
EVERY_LOOK = [
    Look(language, theme, phone)
    for phone in (False, True) for theme in ("light", "dark") for language in LANGUAGES
]  # fmt: skip
INTO = settings.BASE_DIR / "docs/screenshots"
MADE_OF = "made_of.txt"  # beside the pictures: the digests of what they show


def sources() -> dict[str, str]:
    """The digest of every template and style sheet, by its path."""
    paths = [*settings.BASE_DIR.glob("templates/**/*.html"), *settings.BASE_DIR.glob("dashboard/static/**/*.css")]  # fmt: skip
    return {
        path.relative_to(settings.BASE_DIR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in sorted(paths)
    }  # fmt: skip


def newer_than_pictures() -> list[str]:
    """The templates and style sheets that are not as they were when the pictures were made."""
    lines = (INTO / MADE_OF).read_text("utf-8").splitlines()
    pictured = {path: digest for digest, path in (line.split(" ", 1) for line in lines)}
    now = sources()
    return sorted(path for path in {*now, *pictured} if now.get(path) != pictured.get(path))


class Command(BaseCommand):
    help = "Takes pictures of every page with the demo end user into docs/screenshots."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--into", type=Path, default=INTO)
        parser.add_argument("--only", help="pages whose name begins with this")
        parser.add_argument("--every-look", action="store_true", help="also dark, and on a phone")

    @all_users()
    def handle(self, *, into: Path, only: str | None, every_look: bool, **_options: Any) -> None:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium is None:
            raise CommandError("chromium is not installed: apt-get install chromium")
        into.mkdir(parents=True, exist_ok=True)
        if not only:
            for path in into.glob("*.webp"):
                path.unlink()
        with (
            tempfile.TemporaryDirectory() as home,
            serving(Path(home)) as base,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            places = prepare(browser, base)
            for look in EVERY_LOOK if every_look else LOOKS:
                take(browser, base, look, places, into, only or "")
            browser.close()
        if not only:
            lines = (f"{digest} {path}\n" for path, digest in sources().items())
            (into / MADE_OF).write_text("".join(lines), "utf-8")
        size = sum(path.stat().st_size for path in into.glob("*.webp"))
        self.stdout.write(f"{into}: {size / 1e6:.1f} MB")


def take(
    browser: Browser, base: str, look: Look, places: dict[str, str], into: Path, only: str
) -> None:
    """Every page whose name begins with ``only``, and what precedes them all: signing in."""
    page = open_page(browser, look)
    page.goto(f"{base}/login/")
    if "login".startswith(only):
        picture(page, into / f"login-{look.name}.webp")
    sign_in(page, base)
    for name, address in PAGES.items():
        if not name.startswith(only):
            continue
        page.goto(urljoin(base, address.format(**places)), wait_until="networkidle")
        if name == "playground":
            page.locator("#message").fill(demo.QUESTION)
            page.locator("#run").click()
            page.locator("#answer").wait_for()
        picture(page, into / f"{name}-{look.name}.webp")
    page.context.close()


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The whole product with the demo end user at an address of its own, for a while."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    env = {**kept, "MIO_HOME": str(home), "MIO_OPERATOR_PASSWORD": PASSWORD, "MIO_LLM": "offline"}
    manage: Any = [sys.executable, "manage.py"]
    root = settings.BASE_DIR
    subprocess.run([*manage, "demo"], cwd=root, env=env, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
    process = subprocess.Popen([*manage, "serve", "--port", str(port)], cwd=root, env=env)  # noqa: S603
    try:
        wait_for(process, f"http://127.0.0.1:{port}/readyz")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    """Returns when the address answers with success."""
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=1) as answer:  # noqa: S310 of this machine
                if answer.status == 200:
                    return
        except (URLError, OSError):
            time.sleep(0.2)
    raise CommandError("The server did not become ready.")


def open_page(browser: Browser, look: Look) -> Page:
    context = browser.new_context(
        viewport=PHONE if look.phone else DESK,  # type: ignore[arg-type]
        locale=LANGUAGES[look.language],
        color_scheme="dark" if look.theme == "dark" else "light",
        reduced_motion="reduce",
    )
    return context.new_page()


def sign_in(page: Page, base: str) -> None:
    page.goto(f"{base}/login/")
    page.locator("#id_username").fill("admin")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("#id_password").press("Enter")
    page.locator("h1").wait_for()
    page.wait_for_url(f"{base}/")


def prepare(browser: Browser, base: str) -> dict[str, str]:
    """Lets an operator change something and change their mind; returns where things are: the app,
    its end user, two who may be one person, a memory of the one, and the user's own page."""
    page = open_page(browser, LOOKS[0])
    sign_in(page, base)
    page.locator("main a[href*='/people/']").first.click()
    page.wait_for_url("**/people/")
    user = page.url.rstrip("/").split("/")[-2]
    one, other = (_person(page, f"{base}/u/{user}", pinyin) for pinyin in ("xiaohong", "honghong"))
    page.goto(f"{base}/u/{user}/people/{one}/?tab=memories")
    memory = page.locator("main input[name=memory]").first.get_attribute("value") or ""
    page.goto(f"{base}/u/{user}/people/{one}/")
    page.locator("#alias").fill("红姐")
    page.locator(".add-alias button").click()
    page.locator(".toast button.toast-action").click()
    page.get_by_text("Undone.").wait_for()
    page.goto(f"{base}/apps/")
    page.get_by_role("link", name=demo.APP, exact=True).click()
    page.wait_for_url(lambda url: "app=" in url)
    app = page.url.partition("app=")[2].partition("#")[0]
    page.get_by_role("button", name=f"New key for {demo.APP}").click()
    key = page.locator("#secret").input_value()
    asked = page.request.post(f"{base}/api/v1/users/{demo.USER}/page/", data={"name": "Chat"},
                              headers={"Authorization": f"Bearer {key}"})  # fmt: skip
    own = asked.json()["url"]
    page.context.close()
    return {"user": user, "one": one, "other": other, "memory": memory, "app": app, "own": own}


def _person(page: Page, user: str, pinyin: str) -> str:
    page.goto(f"{user}/people/?q={pinyin}")
    address = page.locator(".person-who > a").first.get_attribute("href") or ""
    return address.rstrip("/").split("/")[-1]


def picture(page: Page, path: Path) -> None:
    """What the window shows, as WebP (which Playwright itself can't write)."""
    page.evaluate("scrollTo(0, 0)")
    browser = page.context.new_cdp_session(page)
    wanted = {"format": "webp", "quality": QUALITY}
    path.write_bytes(base64.b64decode(browser.send("Page.captureScreenshot", wanted)["data"]))
    browser.detach()
