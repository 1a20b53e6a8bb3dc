"""A backup brings everything back, and a bad one changes nothing."""

import json
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import App
from memories.models import Memory
from tests.factories import make_contact, make_end_user, make_memory

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


def test_what_was_backed_up_comes_back_whole_or_nothing_changes(tmp_path: Path) -> None:
    end_user, file = make_end_user(), tmp_path / "it's mio.backup"
    kept = make_memory(end_user, "Greta hums.", make_contact(end_user, "Greta"))
    call_command("backup", file)
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
    assert list(Memory.objects.values_list("pk", "content")) == [(kept.pk, "Greta hums.")]
    kept.refresh_from_db()
    assert kept.links.count() == 1
    call_command("migrate", check_unapplied=True, verbosity=0)


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
    with pytest.raises(CommandError, match=r"missing in accounts_app\. Nothing was changed"):
        call_command("restore", less, verify=True)
    assert Memory.objects.get().content == "Later still."
    assert databases() == set()


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
