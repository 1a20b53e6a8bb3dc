"""Uploaded files until they are taken in: in MIO_HOME, which web and workers share, each beside what
was found in it, since both hold names and words."""

import json
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from accounts.fair_queue import put
from accounts.models import EndUser
from accounts.reasons import Skipped, stored
from accounts.scope import all_users
from imports import dumps, intake, overview, people_intake
from imports.entry_matching import Known, Matched, UnknownChoice
from imports.models import Import
from imports.types import DayOrderUnknown, Dump, NotReadable
from understanding.text import estimate_tokens

# Seconds after which an import leaves the worker to others for a while.
TURN = 300.0
# How long a file waits for an answer.
KEPT = timedelta(days=1)
SHOWN = 100  # writers
SHOWN_ENTRIES = 300
# Who has to be chosen comes first, then what would change.
_ORDER = ("undecided", "changed", "new", "skipped", "same")
LONGEST_NAME = 200
WAITING = (Import.State.UPLOADED, Import.State.READY, Import.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Found:
    """What a page shows of a file. ``guess``, ``me`` and ``choices`` are keys, by the speaker or the number of
    an entry; ``why``, ``error`` and ``skipped`` stored reasons. Of people and memories ``owners`` are
    who may be the user until it is ``answered``; then ``counts`` and ``entries`` say what would become
    of them."""

    name: str
    format: str = ""
    messages: int = 0
    undated: int = 0
    model_calls: int = 0
    model_tokens: int = 0
    first: Any = None
    last: Any = None
    asks: bool = False
    speakers: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    guess: str = ""
    why: str = ""
    day_first: bool | None = None
    asks_day_order: bool = False
    error: str = ""
    me: str = ""
    actor: str = ""
    owners: list[dict[str, Any]] = field(default_factory=list)
    may_be_none: bool = False
    answered: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)
    choices: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    unreadable: int = 0
    skipped: list[str] = field(default_factory=list)


def keep(end_user: EndUser, upload: UploadedFile, zone: str = "") -> Import:
    """Stores an uploaded file, to be looked through."""
    clean()
    import_ = Import.objects.create(end_user=end_user, zone=zone)
    with path_of(import_).open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    _write(import_, Found(Path(upload.name or "").name[:LONGEST_NAME]))
    return import_


def path_of(import_: Import) -> Path:
    return _folder() / str(import_.pk)


def _folder() -> Path:
    folder: Path = settings.MIO_HOME / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def found_in(import_: Import) -> Found | None:
    """What was found in a file; None once it is gone."""
    try:
        text = path_of(import_).with_suffix(".json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return Found(**json.loads(text))


def enqueue(task: str, import_: Import) -> None:
    """Queues ``look`` or ``take_in``, in the turn of the import's end user."""
    put(f"imports.uploads.{task}", str(import_.pk), end_user_id=import_.end_user_id)


def _of(import_id: str, state: str) -> Import | None:
    rows = Import.objects.select_related("end_user__app")
    return rows.filter(pk=import_id, state=state).first()


@all_users()
def look(import_id: str) -> None:
    """A task: reads an uploaded file to its end, and notes what is in it or why it can't be taken
    in. May run twice."""
    if (import_ := _of(import_id, Import.State.UPLOADED)) is None:
        return
    before = found_in(import_) or Found("")
    path, zone = path_of(import_), zone_of(import_)
    try:
        dump = dumps.read(path, before.me if before.answered else None, before.name)
        if dump is not None:
            _note(import_, _of_people(import_, dump, before), len(dump.entries))
            return
        names = import_.end_user.names
        chat = overview.look(path, zone, import_.day_first, names, before.name)
    except NotReadable as error:
        asks = isinstance(error, DayOrderUnknown)
        _write(import_, Found(before.name, error=stored(error.reason), asks_day_order=asks))
        state = Import.State.READY if asks else Import.State.FAILED
        Import.objects.filter(pk=import_.pk).update(
            state=state, error=stored(error.reason), looked_at=timezone.now()
        )
        return
    _note(import_, _of_chat(import_, chat, before.name), chat.messages)


def _note(import_: Import, found: Found, total: int) -> None:
    _write(import_, found)
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.READY,
        error="",
        format=found.format,
        total=total,
        looked_at=timezone.now(),
    )


def _of_chat(import_: Import, chat: overview.Overview, name: str) -> Found:
    speakers = chat.most_first()
    found = Found(
        name,
        **chat.figures(chat.guess),
        asks=chat.asks,
        speakers=[
            {"key": one.key, "name": one.name, "messages": one.messages} for one in speakers[:SHOWN]
        ],
        more=max(0, len(speakers) - SHOWN),
        guess=chat.guess,
        why=stored(chat.guess_reason or ""),
        skipped=_named(chat.skipped),
    )
    return found if import_.day_first is None else replace(found, day_first=import_.day_first)


def _of_people(import_: Import, dump: Dump, before: Found) -> Found:
    """Who of a file may be the user, or once that is said, what would become of it."""
    found = Found(
        before.name,
        format=dump.format,
        owners=[
            {"key": key, "memories": count} for key, count in islice(dump.owners.items(), SHOWN)
        ],
        more=max(0, len(dump.owners) - SHOWN),
        may_be_none=dump.may_be_none,
        me=before.me,
        answered=before.answered,
        unreadable=dump.skipped.count,
        skipped=_named(dump.skipped),
    )
    if dump.owners and not before.answered:
        return found
    planned = people_intake.plan(import_.end_user, dump)
    matched = sorted(planned.matched, key=lambda one: _ORDER.index(one.outcome))
    return replace(
        found,
        counts=planned.counts,
        entries=[_entry(one) for one in matched[:SHOWN_ENTRIES]],
        answered=True,
        more=max(0, len(matched) - SHOWN_ENTRIES),
        model_calls=len(planned.memories),
        model_tokens=sum(
            overview.PROMPT_TOKENS + estimate_tokens(memory.content)
            for memory, _ in planned.memories
        ),
    )


def _named(skipped: Skipped) -> list[str]:
    return [stored(one) for one in skipped.named[:SHOWN]]


def _added(one: Matched) -> dict[str, list[str]]:
    """The values that an entry adds, by attribute or column: all of them where it is new."""
    adds = asdict(one.entry) if one.outcome == "new" else one.adds
    plain = {name: [adds[name]] for name in ("relationship", "gender") if adds.get(name)}
    attributes = {key: list(values) for key, values in adds.get("attributes", {}).items()}
    return {**plain, "aliases": list(adds.get("aliases", ())), **attributes}


def _entry(one: Matched) -> dict[str, Any]:
    return {
        "number": one.entry.number,
        "name": one.entry.name,
        "outcome": one.outcome,
        "contact": str((one.known and one.known.stored_id) or ""),
        "known": one.known.contact.name if one.known and one.outcome != "new" else "",
        "why": stored(one.why or ""),
        "adds": _added(one),
        "candidates": [
            {"key": known.key, "name": _distinguished(known)} for known in one.candidates
        ],
        "fixed": one.outcome == "skipped",
    }


def _distinguished(known: Known) -> str:
    keys = ("company", "birthday", "phone", "location")
    values = [known.contact.relationship, *(v for key in keys for v in known.values(key)[:1])]
    more = ", ".join([value for value in values if value][:2])
    return f"{known.contact.name} ({more})" if more else known.contact.name


def answer(import_: Import, state: Import.State, **noted: Any) -> bool:
    """Notes in ``Found`` what somebody answered, and has the file looked at again (UPLOADED) or taken in
    (RUNNING); False where that is under way."""
    found = found_in(import_)
    ready = Import.objects.filter(pk=import_.pk, state=Import.State.READY)
    if found is None or not ready.update(state=state):
        return False
    _write(import_, replace(found, **noted))
    enqueue("look" if state == Import.State.UPLOADED else "take_in", import_)
    return True


@all_users()
def take_in(import_id: str) -> None:
    """A task: takes a file in, in as many turns as it needs; then the file goes. May run twice."""
    if (import_ := _of(import_id, Import.State.RUNNING)) is None:
        return
    until = time.monotonic() + TURN
    path, found = path_of(import_), found_in(import_) or Found("")
    try:
        dump = dumps.read(path, found.me if found.answered else None, found.name)
        if dump is not None:
            _take_in_people(import_, dump, found)
        elif not _take_in_chat(import_, found, path, until):
            enqueue("take_in", import_)
            return
    except NotReadable as error:
        intake.fail(import_, error)
    drop(import_)


def _take_in_chat(import_: Import, found: Found, path: Path, until: float) -> bool:
    zone, day_first = zone_of(import_), import_.day_first
    chat = overview.look(path, zone, day_first, (), found.name)
    turns = overview.turns(path, zone, day_first, found.name)
    me = intake.choose(chat, found.me)
    return intake.load(import_, chat, me, turns, found.actor, until=until)


def _take_in_people(import_: Import, dump: Dump, found: Found) -> None:
    """Raises NotReadable. A choice that can't be any more, since its person is gone, is none."""
    choices = {int(number): choice for number, choice in found.choices.items()}
    while True:
        try:
            people_intake.take_in(
                import_.end_user, dump, choices, actor=found.actor, import_=import_
            )
            return
        except UnknownChoice as error:
            del choices[error.number]


def zone_of(import_: Import) -> Any:
    return ZoneInfo(import_.zone) if import_.zone else import_.end_user.zone


def drop(import_: Import) -> None:
    """Deletes the file and what was found in it."""
    for path in (path_of(import_), path_of(import_).with_suffix(".json")):
        path.unlink(missing_ok=True)


def clean() -> None:
    """Deletes files that nobody waits for: of imports that are over, gone with their user, or left
    without an answer."""
    since = timezone.now() - KEPT
    waiting = Import.objects.filter(state__in=WAITING, created_at__gt=since)
    names = {str(pk) for pk in waiting.values_list("pk", flat=True)}
    for path in _folder().iterdir():
        if path.stem not in names:
            path.unlink(missing_ok=True)
    Import.objects.filter(state__in=WAITING[:2], created_at__lte=since).delete()


def _write(import_: Import, found: Found) -> None:
    path = path_of(import_).with_suffix(".json")
    text = json.dumps(asdict(found), cls=DjangoJSONEncoder, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
