"""The doctor is silent about a healthy database, and finds and mends each kind of damage."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction

from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories.corrections import derived
from memories.doctor.invariants import CHECKS
from memories.jobs import schedules
from memories.management.commands.doctor import Command as Doctor
from memories.models import Batch, Edge, Link, Memory
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder
from mio_site.management.commands.restore import NO_DAMAGE
from tests.factories import json_value, make_contact, make_end_user, make_memory, make_message
from tests.memories.doctor.damage import (
    DAMAGE,
    LONG_AGO,
    abandon_a_batch,
    greta,
    hums,
    keep_a_password,
    lose_a_profile_memory,
)
from tests.queue import queued

pytestmark = pytest.mark.django_db


def found() -> set[str]:
    return {check.__name__ for check in CHECKS if list(check())}


def settle() -> None:
    """As if nobody had written for a day: nothing is still to come from a worker."""
    Contact.objects.update(updated_at=LONG_AGO)
    Memory.objects.update(updated_at=LONG_AGO)


@pytest.fixture
def healthy() -> EndUser:
    """An end user with one of everything, as the pipeline leaves it."""
    schedules.install()
    end_user = make_end_user(language="en")
    for _ in range(3):
        make_message(end_user)
    for first, last in ((1, 2), (3, 3)):
        Batch.objects.create(end_user=end_user, first_seq=first, last_seq=last, state="done")
    EndUser.objects.filter(pk=end_user.pk).update(extracted_seq=3)
    end_user.refresh_from_db()
    greta = make_contact(end_user, "Greta")
    source = make_memory(end_user, "Greta lives in Oslo.", greta)
    make_memory(end_user, "Greta hums.", greta)
    make_contact(end_user, "Gretel", merged_into=greta)
    greta.attributes = {"location": [json_value("Oslo", [source.id])]}
    store.save(greta, ["attributes"])
    Link.objects.filter(memory=source).update(consolidated_at=LONG_AGO)
    derived.write_profile_memory(greta)
    derived.point_at_profiles(end_user, [source.id])
    store.save(greta, [])
    embed_missing(end_user, embedder())
    settle()
    return end_user


def test_a_healthy_database_passes_every_check(healthy: EndUser) -> None:
    assert found() == set()
    call_command("doctor")


def test_each_damage_is_seen_and_what_is_derived_is_mended(
    healthy: EndUser, subtests: pytest.Subtests
) -> None:
    for damage, (seen_by, mendable) in DAMAGE.items():
        with subtests.test(damage.__name__), transaction.atomic():
            try:
                _see_and_mend(damage, seen_by, mendable)
            finally:
                transaction.set_rollback(True)
        healthy.refresh_from_db()
    assert found() == set()


def _see_and_mend(damage: Callable[[], None], seen_by: set[str], mendable: bool) -> None:
    damage()

    assert seen_by <= found()
    with pytest.raises(CommandError):
        call_command("doctor")

    if not mendable:
        with pytest.raises(CommandError):
            call_command("doctor", "--fix")
        return
    call_command("doctor", "--fix")
    settle()
    assert found() == set()
    assert "Location: Rome" not in greta().card


def test_abandoned_work_is_handed_to_the_workers_again(healthy: EndUser) -> None:
    abandon_a_batch()
    with pytest.raises(CommandError):
        call_command("doctor", "--fix")
    assert queued() == ["memories.tasks.extract"]


def test_a_lost_profile_memory_is_written_again(healthy: EndUser) -> None:
    lose_a_profile_memory()
    settle()
    assert "profile_memories_are_current" in found()
    call_command("doctor", "--fix")
    assert Memory.objects.get(kind="profile").content.startswith("Greta")


def test_what_workers_are_about_to_do_is_not_wrong(healthy: EndUser) -> None:
    memory = make_memory(healthy, "Greta paints.", greta())
    assert not memory.vectors.exists()
    assert found() == set()


def test_a_user_with_nothing_is_healthy(healthy: EndUser) -> None:
    make_end_user()
    assert found() == set()


def test_superseded_memories_do_not_trouble_the_doctor(healthy: EndUser) -> None:
    old = make_memory(healthy, "Greta lived in Rome.", greta(), status="outdated")
    new = Memory.objects.get(content="Greta hums.")
    Edge.objects.create(end_user=healthy, source=new, target=old, kind="supersedes")
    assert found() == set()


def test_a_secret_is_named_by_its_row_and_never_shown(
    healthy: EndUser, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_a_password()
    with pytest.raises(CommandError):
        call_command("doctor")
    shown = capsys.readouterr().out
    assert f"user {healthy.pk}, {hums().pk}: memory tells a secret: erase it" in shown
    assert "hunter2" not in shown
    # A copy has it because the original has it: trying a backup leaves it out.
    Doctor().handle(fix=False, json=False, leave_out=NO_DAMAGE)


def test_a_model_whose_cosines_nobody_measured_is_named(
    healthy: EndUser, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("doctor")
    assert "not calibrated" not in capsys.readouterr().out
    settings.MIO_EMBEDDING_MODEL = "bge-m3"
    call_command("doctor")
    assert "not calibrated for bge-m3" in capsys.readouterr().out
