"""Setting an app's upstream, by the command."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.encryption import decrypt
from accounts.models import ApiKey, App
from gateway.models import Upstream
from tests.factories import make_app

pytestmark = pytest.mark.django_db


def command(*args: str) -> dict[str, Any]:
    out = StringIO()
    call_command("gateway", *args, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_command_sets_what_is_given_and_shows_no_secret(tmp_path: Path) -> None:
    app, key = make_app(), tmp_path / "key"
    key.write_text("sk-1\n")
    told = command(
        app.name, "--upstream-url", "http://127.0.0.1:11434/v1/", "--upstream-key-file", str(key)
    )
    assert told == {
        "app": app.name, "upstream": "http://127.0.0.1:11434/v1", "key": "kept", "placement": "tail"
    }  # fmt: skip
    command(app.name, "--placement", "system", "--open-webui-secret-file", str(key))
    row = Upstream.objects.get()
    assert (row.placement, row.url) == ("system", "http://127.0.0.1:11434/v1")
    assert decrypt(row.key) == decrypt(row.open_webui_secret) == "sk-1"
    assert "sk-1" not in row.key
    key.write_text("")
    assert command(app.name, "--upstream-key-file", str(key))["key"] == "passed through"
    assert command(app.name, "--remove")["upstream"] is None
    assert not Upstream.objects.exists()


@pytest.mark.parametrize(
    "url", ["api.openai.com", "ftp://x/v1", "http://", "http://u:p@x/v1", "http://x/v1?a=1",
            "http://x:99999/v1", "http://x/ v1", f"http://x/{'a' * 500}"]
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(CommandError, match="Give an address"):
        command(make_app().name, "--upstream-url", url)
    assert not Upstream.objects.exists()


def test_an_unknown_app_and_an_unreadable_file_are_refused() -> None:
    with pytest.raises(CommandError, match="create_app"):
        command("nobody")
    with pytest.raises(CommandError, match="can't be read"):
        command(make_app().name, "--upstream-url", "http://x/v1", "--upstream-key-file", "/no")


def test_a_key_that_no_header_can_carry_is_refused(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-1\nsk-2")
    with pytest.raises(CommandError, match="one word"):
        command(make_app().name, "--upstream-url", "http://x/v1", "--upstream-key-file", str(key))
    assert not Upstream.objects.exists()


def test_a_key_is_made_trusted_by_the_command() -> None:
    call_command("create_app", "chats", "--trusted", stdout=StringIO())
    call_command("create_app", "chats", "--new-key", stdout=StringIO())
    assert list(ApiKey.objects.order_by("pk").values_list("trusted", flat=True)) == [True, False]


@pytest.mark.django_db
def test_an_app_is_made_with_its_upstream() -> None:
    out = StringIO()
    call_command("create_app", "one", "--upstream-url", "http://127.0.0.1:11434/v1/", stdout=out)
    assert out.getvalue().startswith("mio_")
    assert Upstream.objects.get(app__name="one").url == "http://127.0.0.1:11434/v1"
    with pytest.raises(CommandError, match="begins with http:"):
        call_command("create_app", "two", "--upstream-url", "localhost:11434")
    assert not App.objects.filter(name="two").exists()
