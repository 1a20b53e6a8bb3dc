"""A backup brings everything back, and a bad one changes nothing."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection

from accounts import scope
from accounts.models import App, EndUser
from memories.models import Memory, Vector
from memories.providers.factory import embedder
from memories.search import recall
from memories.search.recall import SearchRequest
from tests.factories import make_end_user, make_life, make_memory

pytestmark = pytest.mark.django_db(transaction=True)


def with_manifest(file: Path, to: Path, **changed: object) -> Path:
    """A copy whose manifest says something else."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "manifest.json":
                text = json.dumps(json.loads(text) | changed).encode()
            new.writestr(name, text)
    return to


def databases() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE 'mio_scratch%%'")
        return {name for (name,) in cursor.fetchall()}


def ranks(end_user: EndUser) -> dict[Any, int | None]:
    """The memories that a search finds, each with its place among vectors."""
    with scope.user_scope(end_user):
        hits = recall.search(end_user, SearchRequest("小红的猫"), embedder=embedder())
    return {hit.memory.pk: hit.vector_rank for hit in hits}


def test_what_was_backed_up_comes_back_whole_or_nothing_changes(tmp_path: Path) -> None:
    end_user, file = make_life(), tmp_path / "it's mio.backup"
    call_command("backup", file)
    rows = Memory.objects.count(), Vector.objects.count()
    found = ranks(end_user)
    assert any(found.values())
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]
    App.objects.create(name="made later")
    Memory.objects.all().delete()

    cut, changed = tmp_path / "cut", tmp_path / "changed"
    cut.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    middle = file.stat().st_size // 2
    changed.write_bytes(file.read_bytes()[:middle] + b"?" + file.read_bytes()[middle + 1 :])
    newer = with_manifest(file, tmp_path / "newer", migrations=[["memories", "9999_from_then"]])
    for arguments, said in (
        ([cut, "--yes"], "no whole backup"),
        ([changed, "--yes"], "no whole backup"),
        ([newer, "--yes"], "newer Mio"),
        ([file], "--yes"),
        ([tmp_path / "none", "--yes"], "No such file"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("restore", *map(str, arguments))
        assert App.objects.filter(name="made later").exists()
    with pytest.raises(CommandError, match="there already"):
        call_command("backup", file)

    call_command("restore", str(file), "--yes")
    assert not App.objects.filter(name="made later").exists()
    assert (Memory.objects.count(), Vector.objects.count()) == rows
    assert ranks(end_user) == found
    call_command("migrate", check_unapplied=True, verbosity=0)


@pytest.mark.xdist_group("bench")  # which makes scratch databases too
def test_a_backup_is_verified_beside_what_is_there_and_old_ones_go(tmp_path: Path) -> None:
    end_user, folder = make_end_user(), tmp_path / "nightly"
    make_memory(end_user, "Greta hums.")
    call_command("install_schedules", stdout=StringIO())
    for _ in range(3):
        call_command("backup", to=folder, keep=2, stdout=StringIO())
    first, second = sorted(folder.iterdir())

    said = StringIO()
    Memory.objects.update(tokens=[])
    with pytest.raises(CommandError, match=r"in \d of \d+ checks"):
        call_command("backup", to=folder, keep=1, verify=True, stdout=said)
    assert {first, second} < set(folder.iterdir()), "nothing goes before the new one is good"
    Memory.objects.all().delete()
    good = tmp_path / "good"
    call_command("backup", good, verify=True, stdout=said)
    assert "can be restored" in said.getvalue()
    make_memory(end_user, "Later still.")
    with zipfile.ZipFile(good) as archive:
        rows = json.loads(archive.read("manifest.json"))["rows"]
    less = with_manifest(good, tmp_path / "less", rows=rows | {"accounts_app": 7})
    with pytest.raises(
        CommandError, match=r"accounts_app \(\d+ instead of 7\)\. Nothing was changed"
    ):
        call_command("restore", less, yes=True)
    assert Memory.objects.get().content == "Later still."
    assert databases() == set()


def test_no_backup_is_made_that_lacks_rows(tmp_path: Path) -> None:
    make_life()
    with scope.all_users_of_session(connection), connection.cursor() as cursor:
        cursor.execute("DROP POLICY mio_scope ON memories_vector_3")
    with pytest.raises(CommandError, match=r"memories_vector_3: run `migrate`"):
        call_command("backup", tmp_path / "file")
    with scope.all_users_of_session(connection), connection.cursor() as cursor:
        for number in range(16):
            table = f"memories_vector_{number}"
            cursor.execute(f"DROP POLICY IF EXISTS mio_scope ON {table}")
            cursor.execute(f"CREATE POLICY mio_scope ON {table} USING (false)")
    with pytest.raises(CommandError, match=r"memories_vector_0, .*memories_vector_15"):
        call_command("backup", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
    call_command("migrate", verbosity=0)
    call_command("backup", tmp_path / "file", stdout=StringIO())


def test_the_secret_key_comes_back_on_another_machine(
    tmp_path: Path, settings: LazySettings
) -> None:
    file = tmp_path / "backup"
    for name, key in (("here", "the first"), ("there", "another")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret_key").write_text(f"{key}\n")
    settings.MIO_HOME, settings.SECRET_KEY = tmp_path / "here", "the first"
    call_command("backup", file, stdout=StringIO())
    settings.MIO_HOME, settings.SECRET_KEY = tmp_path / "there", "another"
    call_command("restore", file, yes=True, stdout=StringIO())
    place = tmp_path / "there" / "secret_key"
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("the first\n", 0o600)
    assert place.with_name("secret_key.before").read_text() == "another\n"
