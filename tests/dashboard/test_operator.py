"""Who may sign in: the first operator, further ones, and how many wrong passwords they get."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import App
from dashboard.views.account import FROM_ANYWHERE
from tests.commands import run
from tests.factories import make_app

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings, tmp_path: Path) -> Path:
    settings.MIO_OPERATOR_PASSWORD = ""
    settings.MIO_HOME = tmp_path / "home"
    return settings.MIO_HOME


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def signs_in(password: str, name: str = "admin", **more: str) -> bool:
    form = {"username": name, "password": password}
    return Client().post(reverse("dashboard:login"), form, **more).status_code == 302


def test_the_first_password_is_in_a_private_file_and_never_in_a_log(home):
    said = run("ensure_operator")
    file = home / "operator_password"
    password = file.read_text().strip()
    assert (str(file) in said, password in said) == (True, False)
    assert (file.stat().st_mode & 0o777, home.stat().st_mode & 0o777) == (0o600, 0o700)
    assert signs_in(password)
    assert not signs_in("a guess")


def test_a_terminal_shows_the_first_password_once(home):
    screen = Terminal()
    call_command("ensure_operator", stdout=screen)
    assert (home / "operator_password").read_text().strip() in screen.getvalue()
    assert run("ensure_operator") == ""


def test_the_first_start_makes_an_app_which_is_not_made_again_once_deleted():
    run("ensure_operator")
    assert App.objects.get().name == "default"
    App.objects.all().delete()
    run("ensure_operator")
    assert not App.objects.exists()


def test_a_given_password_is_used_and_kept_nowhere(settings, home):
    settings.MIO_OPERATOR_PASSWORD = "given-by-the-host"
    assert "given-by-the-host" not in run("ensure_operator")
    assert signs_in("given-by-the-host")
    assert not home.exists()


def test_a_password_that_can_not_be_kept_makes_no_operator(settings, home):
    home.touch()
    with pytest.raises(CommandError, match="MIO_OPERATOR_PASSWORD"):
        run("ensure_operator")
    settings.MIO_OPERATOR_PASSWORD = "chosen then"
    run("ensure_operator")
    assert signs_in("chosen then")


def test_another_operator_sees_the_apps_named_and_has_the_role():
    make_app(name="mine")
    make_app(name="other")
    password = run("add_operator", "ann", "--role", "viewer", "--only", "mine").strip()
    client = Client()
    client.post(reverse("dashboard:login"), {"username": "ann", "password": password})
    page = client.get(reverse("dashboard:users"))
    assert [app.name for app in page.context["apps"]] == ["mine"]
    assert client.get(reverse("dashboard:apps")).status_code == 403
    for arguments in (["ann"], ["eve", "--only", "nothing"]):
        with pytest.raises(CommandError, match=r"ann|nothing"):
            run("add_operator", *arguments)
    run("remove_operator", "ann")
    assert client.get(reverse("dashboard:users")).status_code == 302
    assert not signs_in(password, "ann")
    with pytest.raises(CommandError, match="eve"):
        run("remove_operator", "eve")


def test_wrong_passwords_from_everywhere_lock_a_name_and_no_other():
    for name in ("ann", "bob"):
        call_command("add_operator", name, stdout=(out := StringIO()))
        password = out.getvalue().strip()
    for number in range(FROM_ANYWHERE):
        assert not signs_in("a guess", "ann", REMOTE_ADDR=f"10.0.0.{number}")
    form = {"username": "ann", "password": "a guess"}
    locked = Client().post(reverse("dashboard:login"), form, REMOTE_ADDR="10.0.1.1")
    assert locked.status_code == 429
    assert signs_in(password, "bob", REMOTE_ADDR="10.0.0.1")
