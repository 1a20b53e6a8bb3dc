"""A backup brings everything back, and a bad one changes nothing."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import App
from memories.models import Memory
from tests.factories import make_contact, make_end_user, make_memory


@pytest.mark.django_db(transaction=True)
def test_what_was_backed_up_comes_back_whole_or_nothing_changes(tmp_path: Path) -> None:
    end_user, file = make_end_user(), tmp_path / "it's mio.dump"
    kept = make_memory(end_user, "Greta hums.", make_contact(end_user, "Greta"))
    call_command("backup", file)
    assert file.stat().st_mode & 0o777 == 0o600
    App.objects.create(name="made later")
    Memory.objects.all().delete()

    broken = tmp_path / "broken"
    broken.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    for arguments in ([broken, "--yes"], [file], [tmp_path / "none", "--yes"]):
        with pytest.raises(CommandError):
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
