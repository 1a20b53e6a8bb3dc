"""The management commands, as a person or a script runs them."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django_q.models import Schedule

from accounts.models import ApiKey, App, EndUser
from contacts.models import Contact
from memories.models import Batch, Link, Memory, Message, ModelCall
from tests.commands import run, run_json
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_end_user, make_memory
from tests.queue import queued

pytestmark = pytest.mark.django_db

TALK = [
    {"id": "1", "role": "user", "content": "My colleague Greta moved to Oslo last year."},
    {"id": "2", "role": "assistant", "content": "Oslo is lovely."},
    {"id": "3", "role": "user", "content": "Greta is a nurse."},
]


def write(path: Path, *lines: Any) -> str:
    text = "\n".join(x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def talk(tmp_path: Path) -> str:
    return write(tmp_path / "talk.jsonl", *TALK)


def test_create_app_prints_a_key_that_works_once_and_stores_its_hash() -> None:
    (key,) = re.findall(r"mio_[\w-]+", run("create_app", "chat"))
    assert ApiKey.objects.valid(key).get().app.name == "chat"
    assert not ApiKey.objects.filter(digest__contains=key).exists()


def test_create_app_again_is_refused_unless_a_new_key_is_asked_for() -> None:
    first = run_json("create_app", "chat")
    with pytest.raises(CommandError, match="--new-key"):
        call_command("create_app", "chat")
    second = run_json("create_app", "chat", "--new-key")
    assert first["key"] != second["key"]
    assert App.objects.count() == 1
    assert ApiKey.objects.valid(first["key"]).exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", "a\x00b"])
def test_an_app_needs_a_printable_name(name: str) -> None:
    with pytest.raises(CommandError):
        call_command("create_app", name)
    assert not App.objects.exists()


def test_a_command_says_when_migrations_are_missing() -> None:
    MigrationRecorder.Migration.objects.filter(app="memories").delete()
    with pytest.raises(CommandError, match=r"Migrations are missing: memories\..*bin/mio migrate"):
        call_command("create_app", "chat")


def test_ingest_stores_messages_and_skips_those_it_knows(talk: str) -> None:
    first = run_json("ingest", "--user", "zoe", talk)
    assert (first["accepted"], first["duplicates"]) == (3, 0)
    second = run_json("ingest", "--user", "zoe", talk)
    assert (second["accepted"], second["duplicates"]) == (0, 3)
    assert EndUser.objects.get().app.name == "default"


def test_ingest_with_wait_runs_the_tracks_to_the_end(talk: str, capfd: Any) -> None:
    figures = run_json("ingest", "--user", "zoe", talk, "--wait")
    assert figures["extracted"] == 3
    assert figures["seconds"] > 0
    assert Batch.objects.get().state == "done"
    assert not Link.objects.unconsolidated().exists()
    assert "%" not in capfd.readouterr().err  # nobody looks: no bar


def test_ingest_without_wait_leaves_the_work_to_the_workers(tmp_path: Path) -> None:
    lines = [{"role": "user", "content": f"hello {n}"} for n in range(25)]
    run("ingest", "--user", "zoe", write(tmp_path / "x.jsonl", *lines))
    assert queued() == ["memories.tasks.extract"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{nope", "not valid JSON"),
        ("[]", "line 3"),
        ({"role": "wizard", "content": "x"}, "role"),
        ({"role": "user", "content": " "}, "content"),
        ({"role": "user", "content": "x", "time": "now"}, "time"),
        ('{"role":"user","content":"\\ud800"}', "surrogate"),
    ],
)
def test_ingest_names_the_bad_line_and_stores_nothing_of_its_chunk(
    tmp_path: Path, line: Any, problem: str
) -> None:
    file = write(tmp_path / "x.jsonl", TALK[0], "", line, TALK[2])
    with pytest.raises(CommandError, match=r"^line 3: ") as caught:
        call_command("ingest", "--user", "zoe", file)
    assert problem in str(caught.value)
    assert not Message.objects.exists()


def test_ingest_refuses_a_file_or_user_that_is_none(tmp_path: Path, talk: str) -> None:
    with pytest.raises(CommandError, match="can't be read"):
        call_command("ingest", "--user", "zoe", str(tmp_path / "missing"))
    with pytest.raises(CommandError, match="user id"):
        call_command("ingest", "--user", "x" * 201, talk)
    assert not EndUser.objects.exists()


def test_ingest_of_an_empty_file_stores_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", "")
    assert run_json("ingest", "--user", "zoe", file, "--wait")["accepted"] == 0


def test_extract_consolidate_and_context_do_the_whole_job(talk: str) -> None:
    run("ingest", "--user", "zoe", talk)
    assert run_json("extract", "--user", "zoe")["batches"] == 1
    contact = Contact.objects.get(name="Greta")
    assert contact.memory_ids
    assert run_json("consolidate", "--user", "zoe")["runs"] >= 1

    body = run_json("context", "--user", "zoe", "How is Greta?")
    assert [c["name"] for c in body["contacts"]] == ["Greta"]
    assert "Oslo" in body["system_prompt"]
    assert {"memories", "timing_ms"} <= set(body)
    text = run("context", "--user", "zoe", "How is Greta?")
    assert "Greta: name" in text
    assert body["contacts"][0]["card"] in text


def test_a_second_consolidate_with_nothing_new_asks_no_model(talk: str) -> None:
    run("ingest", "--user", "zoe", talk, "--wait")
    calls = ModelCall.objects.count()
    assert run_json("consolidate", "--user", "zoe") == {"contacts": 0, "runs": 0, "left": 0}
    assert ModelCall.objects.count() == calls


def test_extract_without_a_user_takes_all_of_the_app(talk: str) -> None:
    for user in ("zoe", "yan"):
        run("ingest", "--user", user, talk)
    run("ingest", "--user", "other", "--app", "another", talk)
    figures = run_json("extract")
    assert (figures["users"], figures["batches"], figures["pending"]) == (2, 2, 0)
    assert Batch.objects.count() == 2


def test_link_backfill_links_what_names_a_contact() -> None:
    app = App.objects.create(name="default")
    end_user = make_end_user(app=app, external_id="zoe")
    contact = make_contact(end_user, "Greta")
    memory = make_memory(end_user, "Greta hums.")
    make_memory(end_user, "It rains.")
    assert run_json("link_backfill", "--user", "zoe") == {"contacts": 1, "links": 1}
    assert run_json("link_backfill") == {"contacts": 1, "links": 0}
    contact.refresh_from_db()
    assert contact.memory_ids == [memory.id]


def test_a_user_goes_out_is_forgotten_and_comes_back(talk: str, tmp_path: Path) -> None:
    run("ingest", "--user", "zoe", talk, "--wait")
    before = run_json("context", "--user", "zoe", "How is Greta?")
    file = str(tmp_path / "zoe.json")
    assert run_json("export_user", "--user", "zoe", file)["messages"] == 3
    assert json.loads(run("export_user", "--user", "zoe"))["format"] == "mio-user"

    with pytest.raises(CommandError, match="already"):
        call_command("import_user", file)
    with pytest.raises(CommandError, match="--yes"):
        call_command("forget_user", "--user", "zoe")
    assert run_json("forget_user", "--user", "zoe", "--yes")["messages"] == 3
    assert not EndUser.objects.exists()
    assert not Memory.objects.exists()

    assert run_json("import_user", file)["messages"] == 3
    after = run_json("context", "--user", "zoe", "How is Greta?")
    assert after["contacts"] == before["contacts"]
    run("install_schedules")
    call_command("doctor")


def test_import_refuses_a_file_that_is_no_export(tmp_path: Path) -> None:
    for content in ("{nope", "[]", "{}", '{"format": "mio-user", "version": 9}'):
        with pytest.raises(CommandError):
            call_command("import_user", write(tmp_path / "x.json", content))
    assert not EndUser.objects.exists()


@pytest.mark.parametrize(
    "arguments",
    [("context", "--user", "nobody", "hi"), ("consolidate", "--user", "nobody"),
     ("extract", "--user", "nobody"), ("extract", "--app", "nothing"),
     ("export_user", "--user", "nobody"), ("forget_user", "--user", "nobody", "--yes"),
     ("link_backfill", "--app", "nothing")],
)  # fmt: skip
def test_a_user_or_app_that_is_not_there_is_an_error(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"nobody|nothing"):
        call_command(*arguments)
    assert not App.objects.exists()


def test_without_app_the_one_that_is_there_is_meant(talk: str) -> None:
    App.objects.create(name="chatter")
    run("ingest", "--user", "zoe", talk)
    assert EndUser.objects.get().app.name == "chatter"
    for name in ("default", "other"):
        App.objects.create(name=name)
    assert run_json("extract", "--user", "zoe")["batches"] == 1
    run("ingest", "--user", "yan", talk)
    assert EndUser.objects.get(external_id="yan").app.name == "default"
    run("ingest", "--user", "zoe", "--app", "other", talk)
    with pytest.raises(CommandError, match="chatter, other"):
        run("extract", "--user", "zoe")


def test_the_demo_is_read_by_a_worker_and_only_in_an_empty_database() -> None:
    run("load_demo")
    demo_user = EndUser.objects.get(external_id="demo")
    assert (demo_user.message_seq > 0, demo_user.extracted_seq) == (True, 0)
    assert queued() == ["memories.tasks.load_demo"]
    run("load_demo")
    assert queued() == ["memories.tasks.load_demo"]
    viewer = signed_in("viewer")
    for state, reads in (("", True), ("running", True), ("failed", True), ("done", False)):
        if state:
            EndUser.objects.update(extracted_seq=F("message_seq"))
            Batch.objects.create(end_user=demo_user, first_seq=1, last_seq=1, state=state)
        assert ("The demo is being read" in viewer.get("/").content.decode()) is reads, state
        Batch.objects.all().delete()


def test_install_schedules_twice_installs_once() -> None:
    assert run_json("install_schedules")["installed"] > 0
    assert run_json("install_schedules")["installed"] == 0
    assert Schedule.objects.filter(name__startswith="mio: ").exists()


def test_doctor_says_what_is_wrong_in_json_and_in_its_exit_code() -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="1 things"):
        call_command("doctor", "--json", stdout=out)
    body = json.loads(out.getvalue().splitlines()[-1])
    assert body["ok"] is False
    assert list(body["findings"]) == ["schedules_are_installed"]
    assert run_json("doctor", "--fix")["ok"] is True
