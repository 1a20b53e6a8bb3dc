"""Files that were uploaded, until they are taken in: on disk beside what was found in each, since
both hold names and words. Web and workers share MIO_HOME.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from accounts.models import EndUser
from accounts.reasons import stored
from imports import intake, overview
from imports.models import Import
from imports.types import DayOrderUnknown, NotReadable, Options
from memories.pipeline import cadence

# How long a file waits for an answer.
KEPT = timedelta(days=1)
SHOWN = 100  # writers
LONGEST_NAME = 200
WAITING = (Import.State.UPLOADED, Import.State.READY, Import.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Found:
    """What a page shows of a file: ``speakers`` the most talkative first, each with key, name,
    messages; ``guess`` is a key, ``why`` and ``error`` are stored reasons. ``me`` is the answer, the
    key of the user, which ``actor`` gave."""

    name: str
    format: str = ""
    messages: int = 0
    undated: int = 0
    calls: int = 0
    tokens: int = 0
    first: str = ""
    last: str = ""
    asks: bool = False
    speakers: tuple[dict[str, Any], ...] = ()
    more: int = 0
    guess: str = ""
    why: str = ""
    day_first: bool | None = None
    asks_day_order: bool = False
    error: str = ""
    me: str = ""
    actor: str = ""


def keep(end_user: EndUser, upload: UploadedFile, zone: str = "") -> Import:
    """Puts a file down to be looked through."""
    clean()
    import_ = Import.objects.create(end_user=end_user, zone=zone)
    with path_of(import_).open("wb") as held:
        for chunk in upload.chunks():
            held.write(chunk)
    _write(import_, Found(Path(upload.name or "").name[:LONGEST_NAME]))
    return import_


def path_of(import_: Import) -> Path:
    folder = settings.MIO_HOME / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / str(import_.pk)


def found_in(import_: Import) -> Found | None:
    """What was found in a file; None once it is gone."""
    try:
        held = json.loads(path_of(import_).with_suffix(".json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Found(**{**held, "speakers": tuple(held["speakers"])})


def look(import_: Import) -> None:
    """Reads a file to its end, and notes what is in it or why it can't be taken in."""
    name = (found_in(import_) or Found("")).name
    try:
        held = overview.look(
            path_of(import_), zone_of(import_), Options(import_.day_first),
            import_.end_user.names, name,
        )  # fmt: skip
    except NotReadable as error:
        asks = isinstance(error, DayOrderUnknown)
        _write(import_, Found(name, error=stored(error.reason), asks_day_order=asks))
        state = Import.State.READY if asks else Import.State.FAILED
        Import.objects.filter(pk=import_.pk).update(state=state, error=stored(error.reason))
        return
    batch, speakers = cadence.longest_batch(), intake.most_first(held.speakers.values())
    shown = tuple(
        {"key": one.key, "name": one.name, "messages": one.messages} for one in speakers[:SHOWN]
    )
    day_first = held.day_first if import_.day_first is None else import_.day_first
    _write(
        import_,
        Found(
            name, held.format, held.messages, held.undated, held.calls(batch),
            held.model_tokens(batch), _iso(held.first), _iso(held.last), held.asks, shown,
            len(speakers) - len(shown), held.guess.key if held.guess else "",
            stored(held.guess.reason) if held.guess else "", day_first,
        ),
    )  # fmt: skip
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.READY, error="", format=held.format, total=held.messages
    )


def answer(import_: Import, me: str, actor: str) -> bool:
    """Notes who the user is, so that the file can be taken in; False where that is under way."""
    found = found_in(import_)
    ready = Import.objects.filter(pk=import_.pk, state=Import.State.READY)
    if found is None or not ready.update(state=Import.State.RUNNING):
        return False
    _write(import_, replace(found, me=me, actor=actor))
    return True


def take_in(import_: Import, until: float) -> bool:
    """Takes a file in as far as the time reaches; True when it is all there, or can't be. Then the
    file goes."""
    zone, options = zone_of(import_), Options(import_.day_first)
    told = found_in(import_) or Found("")
    try:
        held = overview.look(path_of(import_), zone, options, (), told.name)
        choice = intake.choose(held, told.me)
        if import_.change is None:
            intake.begin(import_, choice, told.actor)
        turns = overview.turns(path_of(import_), zone, options, told.name)
        if not intake.load(import_, turns, choice, until=until):
            return False
    except NotReadable as error:
        intake.fail(import_, error)
    drop(import_)
    return True


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
    kept = {str(pk) for pk in waiting.values_list("pk", flat=True)}
    for path in _held():
        if path.stem not in kept:
            path.unlink(missing_ok=True)
    Import.objects.filter(state__in=WAITING[:2], created_at__lte=since).delete()


def _held() -> Iterator[Path]:
    folder = settings.MIO_HOME / "imports"
    return folder.iterdir() if folder.exists() else iter(())


def _write(import_: Import, found: Found) -> None:
    path = path_of(import_).with_suffix(".json")
    held = {key: getattr(found, key) for key in found.__slots__}
    path.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


def _iso(moment: Any) -> str:
    return moment.isoformat() if moment else ""
