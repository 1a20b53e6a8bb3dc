"""Turns of a file become messages of an end user, and those who wrote them contacts: one change,
which undo takes back with all that rests on the messages."""

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
    """The key of the speaker who is the user, by name or key; "" where the file says it. Raises
    NotReadable where the answer is missing or not certain."""
    speaker = chat.find(me) if me else None
    listed = ", ".join(f"{one.name} ({one.messages})" for one in chat.most_first())
    if me and speaker is None:
        raise NotReadable("chat_no_such_writer", name=me, writers=listed)
    if chat.asks and speaker is None:
        raise NotReadable("chat_says_not_who", writers=listed)
    return speaker.key if speaker else ""


@atomic()
def _begin(import_: Import, speakers: Iterable[Speaker], actor: str) -> None:
    """Makes these speakers contacts, as the one Change of this import. Whoever is known by name stays
    who they are, and gets what else the file calls them as aliases."""
    end_user = EndUser.objects.lock(import_.end_user_id)
    if end_user is None:
        raise NotReadable("user_forgotten")
    with recording(end_user, VERB, actor) as (recorder, change):
        people = []
        for speaker in speakers:
            contact, created = _contact(end_user, speaker)
            if contact is None or contact in people:
                continue
            people.append(contact)
            recorder.watch([contact], created=created)
            if store.add_aliases(contact, speaker.aliases) or created:
                store.save(contact, ["aliases"])
        change.subjects = [str(contact.pk) for contact in people]
    Import.objects.filter(pk=import_.pk).update(change=change.pk, state=Import.State.RUNNING)
    import_.change = change.pk


def _contact(end_user: EndUser, speaker: Speaker) -> tuple[Contact | None, bool]:
    """The contact of this name, or a new one; none where several bear it."""
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
    """Makes the people of the chat contacts, and stores their turns and the user's (the key ``me``),
    from where an earlier call left off, a chunk at a time; notes in the row how far it is. False
    when the ``time.monotonic()`` of ``until`` came first."""
    people = chat.people(me)
    if import_.change is None:
        _begin(import_, people, actor)
    end_user, names = import_.end_user, {one.key: one.name for one in people}
    incoming = islice(_incoming(turns, me, names, import_), import_.read, None)
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
    turns: Iterable[Turn], me: str, people: Mapping[str, str], import_: Import
) -> Iterator[buffer.Incoming]:
    same: Counter[str] = Counter()
    moment: datetime | None = None
    for turn in turns:
        speaker = None if turn.role or turn.key == me else people.get(turn.key, "")
        if turn.at is None or speaker == "":
            continue
        if turn.at != moment:
            moment, same = turn.at, Counter()
        identity = "\0".join((turn.role or turn.key, turn.at.isoformat(), turn.text))
        same[identity] += 1
        digest = hashlib.sha256(f"{identity}\0{same[identity]}".encode()).hexdigest()[:32]
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
    """What was taken in until then stays, until it is undone or the file is given again."""
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.FAILED, error=stored(error.reason), finished_at=timezone.now()
    )


@atomic()
def take_back(change: Change) -> None:
    """Undoes an import beyond its contacts: deletes the messages, the memories that rest on them alone,
    and the people whom only these mention."""
    import_ = Import.objects.of(change.end_user_id).filter(change=change.pk).first()
    if import_ is None:
        return
    end_user = import_.end_user
    rows = Message.objects.of(end_user).filter(metadata__contains={"import": str(import_.pk)})
    ids = list(rows.values_list("pk", flat=True))
    resting = Memory.objects.of(end_user).facts().filter(resting_on(ids))
    alone = list(resting.values_list("pk", flat=True))
    met = _met(end_user, import_, ids, change)
    erase.forget_these(end_user, alone, (), ids, ())
    left = [c.pk for c in Contact.objects.of(end_user).filter(pk__in=met, links=None)]
    if left:
        erase.forget_these(end_user, (), left, (), ())
    # An id that comes again is not the same message: the file may be taken in anew.
    Message.objects.of(end_user).filter(pk__in=ids).update(client_id=None)
    Import.objects.filter(pk=import_.pk).update(state=Import.State.UNDONE)


def _met(end_user: EndUser, import_: Import, ids: list[int], change: Change) -> set[UUID]:
    """The contacts that extraction made of the messages, and nobody has touched since."""
    focus = Message.objects.of(end_user).filter(pk__in=ids).values_list("understood", flat=True)
    linked = Contact.objects.of(end_user).filter(links__memory__source_message_ids__overlap=ids)
    contact_ids = {pk for one in focus for pk in one} | set(linked.values_list("pk", flat=True))
    created = Contact.objects.of(end_user).filter(
        pk__in=contact_ids, created_at__gte=import_.created_at
    )
    touched = {
        s
        for c in Change.objects.of(end_user).filter(created_at__gte=change.created_at)
        for s in c.subjects
    }
    return {pk for pk in created.values_list("pk", flat=True) if str(pk) not in touched}
