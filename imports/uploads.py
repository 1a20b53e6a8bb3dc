"""Uploaded files until they are imported. They are in MIO_HOME, which web and workers share, each
beside what was found in it, since both contain names and texts."""

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

from accounts import cells
from accounts.fair_queue import put
from accounts.models import EndUser
from accounts.reasons import Skipped, stored
from accounts.scope import all_users
from imports import dumps, intake, overview, people_intake
from imports.entry_matching import EntryOutcome, KnownContact, UnknownChoice
from imports.models import Import
from imports.types import DayOrderUnknown, Dump, NotReadable
from understanding.text import estimate_tokens

# Seconds after which an import leaves the worker to other tasks for a while.
TURN = 300.0
# How long a file waits for an answer.
KEPT = timedelta(days=1)
SHOWN = 100  # writers
SHOWN_ENTRIES = 300
# Entries that somebody has to decide come first, then those that would change something.
_ORDER = ("undecided", "changed", "new", "skipped", "same")
LONGEST_NAME = 200
RUNNING_KEPT = timedelta(days=7)  # how long a running import has its file
UNANSWERED = (Import.State.UPLOADED, Import.State.READY)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a page shows of an uploaded file. ``guess`` and ``me`` are keys of speakers or owners,
    ``choices`` are by the number of an entry; ``why``, ``error`` and ``skipped`` are stored
    reasons. ``owners`` are those who may be the user until that is ``answered``; then ``counts``
    and ``entries`` say what the import would change."""

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
    """Stores an uploaded file, which ``look`` then reads."""
    clean()
    import_ = Import.objects.create(end_user=end_user, zone=zone)
    with path_of(import_).open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)
    _store_preview(import_, Preview(Path(upload.name or "").name[:LONGEST_NAME]))
    return import_


def path_of(import_: Import) -> Path:
    return _folder() / str(import_.pk)


def _folder() -> Path:
    folder: Path = settings.MIO_HOME / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def preview_of(import_: Import) -> Preview | None:
    """Returns what was found in a file; None once it is deleted."""
    try:
        text = path_of(import_).with_suffix(".json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return Preview(**json.loads(text))


def enqueue(task: str, import_: Import) -> None:
    """Queues ``look`` or ``take_in`` as a task of the import's end user."""
    put(f"imports.uploads.{task}", str(import_.pk), end_user_id=import_.end_user_id)


def _import_in(import_id: str, state: str) -> Import | None:
    rows = Import.objects.select_related("end_user__app")
    return rows.filter(pk=import_id, state=state).first()


@all_users()
def look(import_id: str) -> None:
    """Task: reads an uploaded file, and notes what is in it or why it can't be imported. May run
    twice."""
    if (import_ := _import_in(import_id, Import.State.UPLOADED)) is None:
        return
    earlier = preview_of(import_) or Preview("")
    path, zone = path_of(import_), zone_of(import_)
    try:
        dump = dumps.read(path, earlier.me if earlier.answered else None, earlier.name)
        if dump is not None:
            _mark_ready(import_, _preview_of_dump(import_, dump, earlier), len(dump.entries))
            return
        names = import_.end_user.names
        chat = overview.look(path, zone, import_.day_first, names, earlier.name)
    except NotReadable as error:
        asks = isinstance(error, DayOrderUnknown)
        _store_preview(
            import_, Preview(earlier.name, error=stored(error.reason), asks_day_order=asks)
        )
        state = Import.State.READY if asks else Import.State.FAILED
        Import.objects.filter(pk=import_.pk).update(
            state=state, error=stored(error.reason), looked_at=timezone.now()
        )
        return
    _mark_ready(import_, _preview_of_chat(import_, chat, earlier.name), chat.messages)


def _mark_ready(import_: Import, preview: Preview, total: int) -> None:
    _store_preview(import_, preview)
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.READY,
        error="",
        format=preview.format,
        total=total,
        looked_at=timezone.now(),
    )


def _preview_of_chat(import_: Import, chat: overview.Overview, name: str) -> Preview:
    speakers = chat.most_first()
    preview = Preview(
        name,
        **chat.figures(chat.guess),
        asks=chat.asks,
        speakers=[
            {"key": one.key, "name": one.name, "messages": one.messages} for one in speakers[:SHOWN]
        ],
        more=max(0, len(speakers) - SHOWN),
        guess=chat.guess,
        why=stored(chat.guess_reason or ""),
        skipped=_stored_reasons(chat.skipped),
    )
    return preview if import_.day_first is None else replace(preview, day_first=import_.day_first)


def _preview_of_dump(import_: Import, dump: Dump, earlier: Preview) -> Preview:
    """Returns who of a file may be the user; once that is answered, what the import would change."""
    preview = Preview(
        earlier.name,
        format=dump.format,
        owners=[
            {"key": key, "memories": count} for key, count in islice(dump.owners.items(), SHOWN)
        ],
        more=max(0, len(dump.owners) - SHOWN),
        may_be_none=dump.may_be_none,
        me=earlier.me,
        answered=earlier.answered,
        unreadable=dump.skipped.count,
        skipped=_stored_reasons(dump.skipped),
    )
    if dump.owners and not earlier.answered:
        return preview
    planned = people_intake.plan(import_.end_user, dump)
    matched = sorted(planned.matched, key=lambda one: _ORDER.index(one.outcome))
    return replace(
        preview,
        counts=planned.counts,
        entries=[_entry_as_json(one) for one in matched[:SHOWN_ENTRIES]],
        answered=True,
        more=max(0, len(matched) - SHOWN_ENTRIES),
        model_calls=len(planned.memories),
        model_tokens=sum(
            overview.PROMPT_TOKENS + estimate_tokens(memory.content)
            for memory, _ in planned.memories
        ),
    )


def _stored_reasons(skipped: Skipped) -> list[str]:
    return [stored(one) for one in skipped.named[:SHOWN]]


def _added_values(matched: EntryOutcome) -> dict[str, list[str]]:
    """Returns the values that an entry adds, by attribute or column; of a new contact, all values."""
    adds = asdict(matched.entry) if matched.outcome == "new" else matched.adds
    plain = {name: [adds[name]] for name in ("relationship", "gender") if adds.get(name)}
    attributes = {key: list(values) for key, values in adds.get("attributes", {}).items()}
    return {**plain, "aliases": list(adds.get("aliases", ())), **attributes}


def _entry_as_json(matched: EntryOutcome) -> dict[str, Any]:
    return {
        "number": matched.entry.number,
        "name": matched.entry.name,
        "outcome": matched.outcome,
        "contact": str((matched.known and matched.known.stored_id) or ""),
        "known": matched.known.contact.name if matched.known and matched.outcome != "new" else "",
        "why": stored(matched.why or ""),
        "adds": _added_values(matched),
        "candidates": [
            {"key": known.key, "name": _name_with_details(known)} for known in matched.candidates
        ],
        "fixed": matched.outcome == "skipped",
    }


def _name_with_details(known: KnownContact) -> str:
    keys = ("company", "birthday", "phone", "location")
    values = [known.contact.relationship, *(v for key in keys for v in known.values(key)[:1])]
    details = ", ".join([value for value in values if value][:2])
    return f"{known.contact.name} ({details})" if details else known.contact.name


def answer(import_: Import, state: Import.State, **answers: Any) -> bool:
    """Stores answers in ``Preview``, and queues the file to be read again (UPLOADED) or imported
    (RUNNING). Returns False if the import does not wait for an answer."""
    preview = preview_of(import_)
    ready = Import.objects.filter(pk=import_.pk, state=Import.State.READY)
    if preview is None or not ready.update(state=state):
        return False
    _store_preview(import_, replace(preview, **answers))
    enqueue("look" if state == Import.State.UPLOADED else "take_in", import_)
    return True


@all_users()
def take_in(import_id: str) -> None:
    """Task: imports a file, in as many turns as it needs, then deletes it. May run twice."""
    if (import_ := _import_in(import_id, Import.State.RUNNING)) is None:
        return
    until = time.monotonic() + TURN
    path, preview = path_of(import_), preview_of(import_) or Preview("")
    try:
        dump = dumps.read(path, preview.me if preview.answered else None, preview.name)
        if dump is not None:
            _take_in_people(import_, dump, preview)
        elif not _take_in_chat(import_, preview, path, until):
            enqueue("take_in", import_)
            return
    except NotReadable as error:
        intake.fail(import_, error)
    drop(import_)


def _take_in_chat(import_: Import, preview: Preview, path: Path, until: float) -> bool:
    """Imports turns until the time ``until``; returns whether all are stored."""
    zone, day_first = zone_of(import_), import_.day_first
    chat = overview.look(path, zone, day_first, (), preview.name)
    turns = overview.turns(path, zone, day_first, preview.name)
    me = intake.choose(chat, preview.me)
    return intake.load(import_, chat, me, turns, preview.actor, until=until)


def _take_in_people(import_: Import, dump: Dump, preview: Preview) -> None:
    """Imports people and memories, without choices whose person is gone. Raises NotReadable."""
    choices = {int(number): choice for number, choice in preview.choices.items()}
    while True:
        try:
            people_intake.take_in(
                import_.end_user, dump, choices, actor=preview.actor, import_=import_
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
    """Deletes imports that got no answer within a day, and the files of those, of imports that are
    over or run for a week, and of users who are gone. Does nothing while a cell is away, whose
    imports may have files."""
    if cells.reachable() != cells.names():
        return
    since, needed = timezone.now() - KEPT, set[str]()
    for cell in cells.names():
        with cells.entered(cell):
            Import.objects.filter(state__in=UNANSWERED, created_at__lte=since).delete()
            unfinished = Import.objects.filter(state__in=(*UNANSWERED, Import.State.RUNNING))
            unfinished = unfinished.filter(created_at__gt=timezone.now() - RUNNING_KEPT)
            needed |= {str(pk) for pk in unfinished.values_list("pk", flat=True)}
    for path in _folder().iterdir():
        if path.stem not in needed:
            path.unlink(missing_ok=True)


def _store_preview(import_: Import, preview: Preview) -> None:
    path = path_of(import_).with_suffix(".json")
    text = json.dumps(asdict(preview), cls=DjangoJSONEncoder, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
