"""From a file to messages, contacts and what is known of them, and back."""

import json
from datetime import UTC
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Change, EndUser
from contacts.models import Contact
from imports.models import Import
from memories.corrections.undo import undo_change
from memories.models import Memory, Message
from memories.pipeline import run
from tests.factories import make_app, make_contact, make_end_user
from tests.imports.files import CASES, HONG, write

pytestmark = pytest.mark.django_db

# An invented chat: Anna tells of herself, of him, of others; Ben (the user) tells of himself.
CHAT = """\
14/10/2021, 15:30 - Messages and calls are end-to-end encrypted
14/10/2021, 15:34 - Anna: I just moved to Lisbon
14/10/2021, 15:35 - Ben: wow! I moved to Berlin in May
14/10/2021, 15:36 - Anna: I'm allergic to peanuts
14/10/2021, 15:37 - Anna: you live in Rome?
14/10/2021, 15:38 - Anna: my sister works in Porto
14/10/2021, 15:39 - Ben: My colleague Greta moved to Oslo.
"""


def imported(path: Path, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("import_chat", str(path), user="zoe", json=True, stdout=out, **options)
    return json.loads(out.getvalue().splitlines()[-1])


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(app=make_app(name="default"), external_id="zoe")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write(tmp_path, "WhatsApp Chat with Anna.txt", CHAT)


def test_what_a_friend_writes_of_herself_lands_on_her_and_nothing_on_the_user(zoe, chat) -> None:
    done = imported(chat, me="Ben", time_zone="Europe/Lisbon")
    assert done["accepted"] == 6
    anna = Contact.objects.of(zoe).get()
    assert anna.name == "Anna"
    run.process(zoe.pk)
    anna.refresh_from_db()
    assert anna.attributes["location"][0]["value"] == "Lisbon"
    hers = Memory.objects.of(zoe).facts().about(anna.pk)
    assert {(m.content, m.speaker) for m in hers} == {
        ("I just moved to Lisbon", "Anna"),
        ("I'm allergic to peanuts", "Anna"),
    }
    own = Memory.objects.of(zoe).facts().filter(links=None)
    assert [(m.content, m.speaker) for m in own] == [("I moved to Berlin in May", "user")]
    first = Message.objects.of(zoe).earliest("seq")
    assert first.created_at.astimezone(UTC).isoformat() == "2021-10-14T14:34:00+00:00"


def test_the_same_file_again_adds_nothing(zoe, chat, tmp_path) -> None:
    imported(chat, me="Ben")
    longer = CHAT + "15/10/2021, 15:39 - Anna: hello\n"
    again = imported(write(tmp_path, "renamed.txt", longer), me="Ben")
    assert (again["accepted"], again["duplicates"], again["conflicts"]) == (1, 6, 0)
    assert Contact.objects.of(zoe).count() == 1


def test_without_an_answer_who_the_user_is_nothing_is_imported(zoe, chat) -> None:
    for wrong in ("", "Carla"):
        with pytest.raises(CommandError, match=r"Anna \(4\), Ben \(2\)"):
            imported(chat, me=wrong)
    assert not Message.objects.exists()
    assert not Import.objects.exists()
    assert not Contact.objects.exists()


def test_a_dry_run_counts_and_takes_in_nothing(zoe, chat, settings) -> None:
    told = StringIO()
    offline = imported(chat, dry_run=True, stderr=StringIO())
    assert (offline["model_calls"], offline["model_tokens"]) == (0, 0)
    settings.MIO_LLM = "openai"
    counted = imported(chat, dry_run=True, stderr=told)
    assert (counted["messages"], counted["speakers"]) == (6, {"Anna": 4, "Ben": 2})
    assert (counted["model_calls"], counted["first"][:16]) == (1, "2021-10-14 15:34")
    assert counted["model_tokens"] > 1000
    assert "Ben  maybe the user (the file is named after the other one)" in told.getvalue()
    assert not Message.objects.exists()


def test_an_unknown_file_is_an_error_that_names_the_formats(zoe, tmp_path) -> None:
    with pytest.raises(CommandError, match="WhatsApp, Telegram"):
        imported(write(tmp_path, "a.json", {"a": 1}), me="Ben")


def test_undo_takes_back_all_of_it_and_the_file_can_come_again(zoe, chat) -> None:
    kept = make_contact(zoe, "Carla")
    done = imported(chat, me="Anna")  # the wrong answer
    run.process(zoe.pk)
    assert {c.name for c in Contact.objects.of(zoe)} >= {"Carla", "Ben"}
    undo_change(Change.objects.get(pk=done["change"]), actor="operator:test")
    assert not Memory.objects.of(zoe).exists()
    assert not Message.objects.of(zoe).not_erased().exists()
    assert list(Contact.objects.of(zoe)) == [kept]
    assert Import.objects.get().state == Import.State.UNDONE
    again = imported(chat, me="Ben")
    assert (again["accepted"], again["conflicts"]) == (6, 0)
    run.process(zoe.pk)
    assert Contact.objects.of(zoe).get(name="Anna").attributes["location"]


def test_another_answer_without_undo_changes_nothing(zoe, chat) -> None:
    imported(chat, me="Ben")
    again = imported(chat, me="Anna")
    assert (again["accepted"], again["conflicts"]) == (0, 6)
    assert not Message.objects.of(zoe).filter(speaker="Ben").exists()


def test_who_is_known_stays_who_they_are_and_gets_the_other_names(zoe, tmp_path) -> None:
    known = make_contact(zoe, "小红", relationship="同事")
    done = imported(write(tmp_path, "chat.json", CASES["weflow"][1]))
    assert list(Contact.objects.of(zoe)) == [known]
    known.refresh_from_db()
    assert (known.aliases, known.relationship) == (["Honghong"], "同事")
    undo_change(Change.objects.get(pk=done["change"]), actor="operator:test")
    known.refresh_from_db()
    assert known.aliases == []


def test_what_states_who_the_owner_is_asks_nobody(zoe, tmp_path) -> None:
    for case in ("chatgpt", "claude", "weflow", "memotrace csv", "chatlog json", "sillytavern"):
        name, content, _form, expected = CASES[case]
        done = imported(write(tmp_path, name, content))
        assert done["accepted"] + done["duplicates"] == len(expected), case
    assert set(Contact.objects.of(zoe).values_list("name", flat=True)) == {"小红"}


def test_in_a_group_only_who_speaks_often_becomes_a_contact(zoe, tmp_path) -> None:
    lines = [f"14/10/2021, 15:{at:02} - {name}: line {at}\n" for at, name in enumerate(
        ["Anna"] * 5 + ["Ben"] * 3 + ["Carla"] * 4 + ["+44 7700 900123"] * 9
    )]  # fmt: skip
    done = imported(write(tmp_path, "Group.txt", "".join(lines)), me="Ben")
    assert [c.name for c in Contact.objects.of(zoe)] == ["Anna"]
    assert done["accepted"] == 8


def test_one_says_the_same_twice_in_a_minute(zoe, tmp_path) -> None:
    chat = (
        "14/10/2021, 15:34 - Anna: ok\n14/10/2021, 15:34 - Anna: ok\n14/10/2021, 15:35 - Ben: ok\n"
    )
    assert imported(write(tmp_path, "a.txt", chat), me="Ben")["accepted"] == 3


def test_a_wrong_time_zone_is_refused(zoe, chat) -> None:
    with pytest.raises(CommandError, match="--time-zone"):
        imported(chat, me="Ben", time_zone="Mars/Olympus")


def test_a_name_of_the_users_is_the_guess_but_never_taken(zoe, tmp_path) -> None:
    zoe.names = ["老周"]
    zoe.save()
    path = write(tmp_path, "chat.txt", CASES["wechat"][1])
    with pytest.raises(CommandError, match="Say who the user is"):
        imported(path)
    told = StringIO()
    imported(path, dry_run=True, stderr=told)
    assert "老周  maybe the user (bears a name of the user's)" in told.getvalue()
    assert imported(path, me="老周")["accepted"] == len(HONG)
