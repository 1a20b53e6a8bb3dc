"""Stores the turns of a file as messages of an end user, and their writers as contacts, in one
change; its undo also removes what rests on these messages alone."""

import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from accounts.reasons import stored
from contacts import store
from contacts.models import Contact
from imports.models import Import
from imports.overview import Overview, Speaker
from imports.types import NotReadable, Turn
from memories import queue
from memories.erasure import erase
from memories.models import Memory, Message
from memories.models.memory import resting_on
from memories.pipeline import buffer

VERB = "import_chat"
CHUNK = 500
MAX_SPEAKER = 100

Progress = Callable[[int], object]


def choose(chat: Overview, me: str) -> str:
    """Returns the key of the speaker who is the user, found by name or key; "" if the file states
    it. Raises NotReadable if the answer is missing or ambiguous."""
    speaker = chat.find(me) if me else None
    listed = ", ".join(f"{one.name} ({one.messages})" for one in chat.most_first())
    if me and speaker is None:
        raise NotReadable("chat_no_such_writer", name=me, writers=listed)
    if chat.asks and speaker is None:
        raise NotReadable("chat_says_not_who", writers=listed)
    return speaker.key if speaker else ""


@atomic()
def _store_speakers(import_: Import, speakers: Iterable[Speaker], actor: str) -> None:
    """Stores these speakers as contacts, in the one Change of this import. A speaker whose name is
    known stays that contact, and gets the other names in the file as aliases."""
    end_user = EndUser.objects.lock(import_.end_user_id)
    if end_user is None:
        raise NotReadable("user_forgotten")
    with recording(end_user, VERB, actor) as (recorder, change):
        contacts = []
        for speaker in speakers:
            contact, created = _find_or_create(end_user, speaker)
            if contact is None or contact in contacts:
                continue
            contacts.append(contact)
            recorder.watch([contact], created=created)
            if store.add_aliases(contact, speaker.aliases) or created:
                store.save(contact, ["aliases"])
        change.subjects = [str(contact.pk) for contact in contacts]
    Import.objects.filter(pk=import_.pk).update(change=change.pk, state=Import.State.RUNNING)
    import_.change = change.pk


def _find_or_create(end_user: EndUser, speaker: Speaker) -> tuple[Contact | None, bool]:
    """Returns the contact of this name, created if needed, and whether it was created; None if
    several people have the name, or it is no valid name."""
    if bearers := store.find(end_user, speaker.name):
        return (bearers[0] if len(bearers) == 1 else None), False
    try:
        return store.create(end_user, speaker.name, mentioned_at=speaker.last)
    except store.InvalidContact:
        return None, False


def load(
    import_: Import,
    chat: Overview,
    me: str,
    turns: Iterable[Turn],
    actor: str,
    progress: Progress = lambda _read: None,
    until: float = math.inf,
) -> bool:
    """Stores the people of the chat as contacts, and their turns and those of the user (the key
    ``me``) as messages, CHUNK at a time, from where an earlier call stopped; the row notes the
    progress. Returns False if it stopped because ``time.monotonic()`` passed ``until``."""
    people = chat.people(me)
    if import_.change is None:
        _store_speakers(import_, people, actor)
    end_user, name_by_key = import_.end_user, {one.key: one.name for one in people}
    incoming = islice(_incoming(turns, me, name_by_key, import_), import_.read, None)
    while chunk := list(islice(incoming, CHUNK)):
        with atomic():
            received = buffer.receive(end_user.app, end_user.external_id, chunk)
            if received.extraction_due:
                queue.enqueue("extract", end_user.pk)
            import_.read += len(chunk)
            import_.accepted += received.accepted
            import_.duplicates += received.duplicates
            import_.conflicts += len(received.conflicts)
            import_.save(update_fields=["read", "accepted", "duplicates", "conflicts"])
        progress(import_.read)
        if time.monotonic() > until:
            return False
    Import.objects.filter(pk=import_.pk).update(state=Import.State.DONE, finished_at=timezone.now())
    return True


def _incoming(
    turns: Iterable[Turn], me: str, name_by_key: Mapping[str, str], import_: Import
) -> Iterator[buffer.Incoming]:
    """Yields the turns to store, without undated ones and those of speakers who become no contact.
    The id is a hash of writer, time and text, and of a count if these come again."""
    repeats: Counter[str] = Counter()
    moment: datetime | None = None
    for turn in turns:
        speaker = None if turn.role or turn.key == me else name_by_key.get(turn.key, "")
        if turn.at is None or speaker == "":
            continue
        if turn.at != moment:
            moment, repeats = turn.at, Counter()
        identity = "\0".join((turn.role or turn.key, turn.at.isoformat(), turn.text))
        repeats[identity] += 1
        digest = hashlib.sha256(f"{identity}\0{repeats[identity]}".encode()).hexdigest()[:32]
        chat = hashlib.sha256(turn.chat.encode()).hexdigest()[:16]
        yield buffer.Incoming(
            role=turn.role or Message.Role.USER,
            content=turn.text,
            id=f"imp:{import_.format}:{digest}",
            created_at=turn.at,
            session_id=f"imp:{import_.format}:{chat}",
            metadata={"import": str(import_.pk)},
            speaker=speaker and speaker[:MAX_SPEAKER],
        )


def fail(import_: Import, error: NotReadable) -> None:
    """Marks an import as failed. What it stored stays, until it is undone or imported again."""
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.FAILED, error=stored(error.reason), finished_at=timezone.now()
    )


@atomic()
def take_back(change: Change) -> None:
    """Undo hook of an import: deletes its messages, the memories that rest on them alone, and the
    contacts that only these memories mention."""
    import_ = Import.objects.of(change.end_user_id).filter(change=change.pk).first()
    if import_ is None:
        return
    end_user = import_.end_user
    rows = Message.objects.of(end_user).filter(metadata__contains={"import": str(import_.pk)})
    message_ids = list(rows.values_list("pk", flat=True))
    memories = Memory.objects.of(end_user).facts().filter(resting_on(message_ids))
    memory_ids = list(memories.values_list("pk", flat=True))
    new_contacts = _new_contacts(end_user, import_, message_ids, change)
    erase.forget_these(end_user, memory_ids, (), message_ids, ())
    unlinked = [c.pk for c in Contact.objects.of(end_user).filter(pk__in=new_contacts, links=None)]
    if unlinked:
        erase.forget_these(end_user, (), unlinked, (), ())
    # An id that comes again is not the same message: the file may be taken in anew.
    Message.objects.of(end_user).filter(pk__in=message_ids).update(client_id=None)
    Import.objects.filter(pk=import_.pk).update(state=Import.State.UNDONE)


def _new_contacts(end_user: EndUser, import_: Import, ids: list[int], change: Change) -> set[UUID]:
    """Returns the contacts that extraction made of the messages ``ids``, untouched since then."""
    focus = Message.objects.of(end_user).filter(pk__in=ids).values_list("understood", flat=True)
    linked = Contact.objects.of(end_user).filter(links__memory__source_message_ids__overlap=ids)
    contact_ids = {pk for pks in focus for pk in pks} | set(linked.values_list("pk", flat=True))
    created = Contact.objects.of(end_user).filter(
        pk__in=contact_ids, created_at__gte=import_.created_at
    )
    touched = {
        s
        for c in Change.objects.of(end_user).filter(created_at__gte=change.created_at)
        for s in c.subjects
    }
    return {pk for pk in created.values_list("pk", flat=True) if str(pk) not in touched}
