"""manage.py import_vcard --user U FILE.vcf"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from rest_framework.exceptions import APIException

from accounts.api import check_external_id
from accounts.cells import atomic
from accounts.errors import described
from accounts.management.command import MioCommand
from accounts.models import App, EndUser
from contacts.store import InvalidContact
from contacts.text import truncate
from contacts.vcard import read, sync
from memories import queue
from memories.corrections import auto_merge, edit_memories
from memories.models import Memory
from memories.types import MemoryType, Subtype

# Graphemes of a note that are kept as a memory.
MAX_NOTE = 2000


class Command(MioCommand):
    help = "Makes contacts of an address book (vCard 2.1, 3.0 or 4.0), all of it or nothing."
    user_required = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        super().add_arguments(parser)

    def handle(self, *, file: str, user: str, app: str, json: bool, **_options: Any) -> None:
        try:
            check_external_id(user)
            entries = read.read(Path(file).read_bytes())
        except OSError as error:
            raise CommandError(f"{file} can't be read: {error.strerror}.") from error
        except (APIException, read.NotVCard) as error:
            said = described(error) if isinstance(error, APIException) else str(error)
            raise CommandError(f"{said} Nothing was imported.") from error
        with atomic(), self.bar(len(entries), "entry") as bar:
            owner, _ = App.objects.get_or_create(name=app)
            EndUser.objects.get_or_create(app=owner, external_id=user)
            held = EndUser.objects.select_for_update(no_key=True).get(app=owner, external_id=user)
            taken: list[sync.TakenIn] = []
            for entry in entries:
                try:
                    taken += sync.take_in(held, [entry])
                except InvalidContact as error:
                    raise CommandError(
                        f"Entry {entry.number}: {error} Nothing was imported."
                    ) from error
                bar.update(1)
            relations = sync.relate(held, taken)
            notes = sum(_remember(held, item, note) for item in taken for note in item.entry.notes)
            if notes:
                queue.enqueue("embed", held.pk)
            auto_merge.follow(held)
        self.report(
            json,
            user=user,
            entries=len(entries),
            created=sum(item.made for item in taken),
            updated=sum(item.changed for item in taken),
            skipped=len(entries) - len(taken),
            relations=relations,
            notes=notes,
        )


def _remember(end_user: EndUser, item: sync.TakenIn, note: str) -> bool:
    """A note becomes a memory that names its person; once, even if it was taken away since."""
    note = truncate(note, MAX_NOTE)
    noted = Memory.objects.of(end_user).filter(
        metadata__vcard_note=note, metadata__vcard_of=str(item.contact.id)
    )
    if noted.exists():
        return False
    line = " ".join(note.split())
    named = any(name in line for name in (item.contact.name, *item.contact.aliases))
    colon = "：" if end_user.language == "zh" else ": "
    _, change = edit_memories.add(
        end_user,
        line if named else f"{item.contact.name}{colon}{line}",
        actor=sync.ACTOR,
        why=sync.WHY,
        contacts=[item.contact],
        type=MemoryType.MISCELLANEOUS,
        subtype=Subtype.OTHER,
        speaker=sync.ACTOR,
        said_at=timezone.now(),
        metadata={"vcard_note": note, "vcard_of": str(item.contact.id)},
    )
    return change is not None
