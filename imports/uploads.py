"""Files that were uploaded, until they are taken in: on disk beside what was found in each, since
both hold names and words. Web and workers share MIO_HOME.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from accounts.models import EndUser
from accounts.reasons import Skipped, stored
from contacts.address_books.entry_matching import Known, Matched, UnknownChoice
from imports import dumps, intake, overview, people_intake
from imports.models import Import
from imports.people_plan import Plan, plan
from imports.types import DayOrderUnknown, Dump, NotReadable, Options
from memories.pipeline import cadence
from understanding.text import estimate_tokens

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
    """What a page shows of a file: ``speakers`` the most talkative first, each with key, name,
    messages; ``guess`` is a key, ``why`` and ``error`` are stored reasons. ``me`` is the answer, the
    key of the user, which ``actor`` gave. Of people and memories ``owners`` are those who may be
    the user (``may_be_none``: or none of them) until it is ``answered``; then ``counts`` and
    ``entries`` say what would become of them, and ``choices`` what was chosen, by number. ``left_out``
    messages are of those who become nobody, by the guess who is the user. Of what can't be read ``unreadable`` is the count, ``skipped`` the first reasons, stored."""

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
    owners: tuple[dict[str, Any], ...] = ()
    may_be_none: bool = False
    answered: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    entries: tuple[dict[str, Any], ...] = ()
    choices: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    unreadable: int = 0
    skipped: tuple[str, ...] = ()


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
    return Found(
        **{
            **held,
            **{name: tuple(held[name]) for name in ("speakers", "owners", "entries", "skipped")},
        }
    )


def look(import_: Import) -> None:
    """Reads a file to its end, and notes what is in it or why it can't be taken in."""
    told = found_in(import_) or Found("")
    name = told.name
    try:
        dump = dumps.read(path_of(import_), told.me if told.answered else None, name)
        if dump is not None:
            _look_at_people(import_, dump, told)
            return
        held = overview.look(
            path_of(import_), zone_of(import_), Options(import_.day_first),
            import_.end_user.names, name,
        )  # fmt: skip
    except NotReadable as error:
        asks = isinstance(error, DayOrderUnknown)
        _write(import_, Found(name, error=stored(error.reason), asks_day_order=asks))
        state = Import.State.READY if asks else Import.State.FAILED
        Import.objects.filter(pk=import_.pk).update(
            state=state, error=stored(error.reason), looked_at=timezone.now()
        )
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
            left_out=held.left_out(held.guess.key if held.guess else ""), **_skipped(held.skipped),
        ),
    )  # fmt: skip
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.READY,
        error="",
        format=held.format,
        total=held.messages,
        looked_at=timezone.now(),
    )


def _look_at_people(import_: Import, dump: Dump, told: Found) -> None:
    """Notes who of a file may be the user, or once that is said, what would become of it."""
    found = Found(
        told.name, dump.format, owners=tuple({"key": one.key, "memories": one.memories} for one in dump.owners[:SHOWN]),
        more=max(0, len(dump.owners) - SHOWN), may_be_none=dump.may_be_none,
        me=told.me, answered=told.answered, **_skipped(dump.skipped),
    )  # fmt: skip
    if told.answered or not dump.owners:
        wanted = plan(import_.end_user, dump)
        shown = sorted(wanted.matched, key=lambda one: _ORDER.index(one.outcome))
        rows = tuple(_entry(one) for one in shown[:SHOWN_ENTRIES])
        found = replace(found, counts=wanted.counts, entries=rows, answered=True,
                        more=len(shown) - len(rows), calls=len(wanted.memories), tokens=_tokens(wanted))  # fmt: skip
    _write(import_, found)
    Import.objects.filter(pk=import_.pk).update(
        state=Import.State.READY,
        error="",
        format=dump.format,
        total=len(dump.entries),
        looked_at=timezone.now(),
    )


def _skipped(skipped: Skipped) -> dict[str, Any]:
    return {
        "unreadable": skipped.count,
        "skipped": tuple(stored(one) for one in skipped.named[:SHOWN]),
    }


def _tokens(wanted: Plan) -> int:
    """About what a model reads, which looks for the facts of each new memory."""
    texts = sum(estimate_tokens(one.content) for one in wanted.memories)
    return texts + overview.PROMPT_TOKENS * len(wanted.memories)


def _added(one: Matched) -> dict[str, list[str]]:
    """What an entry adds, by attribute, or by what else it says: its whole where it is new."""
    entry = one.entry
    new: dict[str, Any] = {"attributes": entry.attributes, "aliases": entry.aliases,
           "relationship": entry.relationship, "gender": entry.gender}  # fmt: skip
    adds = new if one.outcome == "new" else one.adds
    plain = {name: [adds[name]] for name in ("relationship", "gender") if adds.get(name)}
    return plain | {"aliases": list(adds.get("aliases", ()))} | {
        key: list(values) for key, values in adds.get("attributes", {}).items()
    }  # fmt: skip


def _entry(one: Matched) -> dict[str, Any]:
    contact = one.known.contact if one.known else None
    return {
        "number": one.entry.number,
        "name": one.entry.name,
        "outcome": one.outcome,
        "contact": str(contact.pk) if contact else "",
        "known": one.known.name if one.known and one.outcome != "new" else "",
        "why": stored(one.why) if one.why else "",
        "adds": _added(one),
        "candidates": [{"key": known.key, "name": _told_apart(known)} for known in one.candidates],
        "fixed": one.outcome == "skipped",
    }


def _told_apart(known: Known) -> str:
    """A name with what tells its bearer from others of that name."""
    held = [known.relationship, *(v for key in _TELLING for v in known.attributes.get(key, ())[:1])]
    more = ", ".join([one for one in held if one][:2])
    return f"{known.name} ({more})" if more else known.name


_TELLING = ("company", "birthday", "phone", "location")


def say_who(import_: Import, me: str) -> bool:
    """Notes who of a file is the user, so that it can be looked at again; False where that is under
    way. ``me`` is "" for nobody of it."""
    found = found_in(import_)
    ready = Import.objects.filter(pk=import_.pk, state=Import.State.READY)
    if found is None or not ready.update(state=Import.State.UPLOADED):
        return False
    _write(import_, replace(found, me=me, answered=True))
    return True


def answer(import_: Import, me: str, actor: str, choices: Mapping[str, str] | None = None) -> bool:
    """Notes who the user is, or what was chosen, so that the file can be taken in; False where that
    is under way."""
    found = found_in(import_)
    ready = Import.objects.filter(pk=import_.pk, state=Import.State.READY)
    if found is None or not ready.update(state=Import.State.RUNNING):
        return False
    _write(import_, replace(found, me=me, actor=actor, choices=dict(choices or {})))
    return True


def take_in(import_: Import, until: float) -> bool:
    """Takes a file in as far as the time reaches; True when it is all there, or can't be. Then the
    file goes."""
    zone, options = zone_of(import_), Options(import_.day_first)
    told = found_in(import_) or Found("")
    try:
        dump = dumps.read(path_of(import_), told.me if told.answered else None, told.name)
        if dump is not None:
            _take_in_people(import_, dump, told)
            drop(import_)
            return True
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


def _take_in_people(import_: Import, dump: Dump, told: Found) -> None:
    """Raises NotReadable. A choice that can't be any more, since its person is gone, is none."""
    choices = {int(number): choice for number, choice in told.choices.items()}
    while True:
        try:
            done = people_intake.take_in(import_.end_user, dump, choices, actor=told.actor)
        except UnknownChoice as error:
            del choices[error.number]
            continue
        import_.close(dump.format, done.plan.counts, done.change)
        return


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
