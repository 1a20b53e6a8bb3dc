"""python -m tools walk context|batch|undo [--json]

How far a reader has to walk to follow one thing that Mio does: it is done once on a database of
its own, without a model, and each call between product files is counted.

- A *stop* is a call that enters another product file than the caller's. Each function counts once,
  however often and from wherever it is called. What Python or a library calls by itself is no stop:
  properties, constructors, managers, fields and guards of statements.
- A *floor* is a layer of the contracts of import-linter (pyproject.toml): of packages, and of
  the modules inside one.
- A *climb* is a stop on a higher floor than that of the file that calls it.

What reads texts and needs no database (``understanding`` and the providers) is one step of such a
walk: a function there is a stop where it is entered from outside, and not walked into. Those of
``understanding`` are counted apart as well, since their names are read as words.
"""

import json
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import BaseCommand

from accounts.models import App, Change, EndUser
from accounts.scope import all_users, user_scope
from contacts import edit
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import undo
from memories.pipeline import buffer, run
from memories.pipeline.buffer import Incoming
from tools.bench.scratch import scratch_database

ROOT = Path(__file__).resolve().parent.parent
READERS = ("understanding", "memories.providers")
# Files of the standard library between a caller and what it calls: context managers and the like.
WRAPPERS = {"contextlib.py", "functools.py"}
EARLIER = (
    "My friend Kim lives in Oslo and works at Equinor.",
    "我朋友小红在腾讯当工程师，她住在深圳。",
    "Kim is allergic to peanuts, so I cooked without them.",
)
LATER = (
    "Kim moved to Bergen last week.",
    "小红养了一只猫，叫奶茶。",
    "My sister Anna visited us yesterday.",
    "She will marry Tom in May.",
)
MESSAGE = "How is Kim?"
SAID_AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class Stop(NamedTuple):
    """A function of a product module, entered from another module."""

    module: str
    function: str


class Walk:
    """The stops of what is done while ``walking``, with the modules that each was entered from."""

    def __init__(self) -> None:
        self.entered_from: dict[Stop, set[str]] = {}

    @contextmanager
    def walking(self) -> Iterator[None]:
        """Notes the stops of what is done inside."""
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _arg: Any) -> None:
        if event != "call" or (stop := stop_of(frame.f_code)) is None:
            return
        caller = frame.f_back
        while caller is not None and Path(caller.f_code.co_filename).name in WRAPPERS:
            caller = caller.f_back
        source = module_of(caller.f_code.co_filename) if caller else None
        if source is None or source == stop.module or _is_reader(source):
            return
        self.entered_from.setdefault(stop, set()).add(source)

    @property
    def climbs(self) -> list[tuple[str, Stop]]:
        """The stops on a higher floor than a caller's, each with that caller."""
        return sorted(
            (source, stop)
            for stop, sources in self.entered_from.items()
            for source in sources
            if floor_of(stop.module) > floor_of(source)
        )

    @property
    def modules(self) -> set[str]:
        """All modules that were entered or left."""
        callers = {source for sources in self.entered_from.values() for source in sources}
        return callers | {stop.module for stop in self.entered_from}


@cache
def module_of(path: str) -> str | None:
    """The product module of a file; None for any other file, and for migrations."""
    file = Path(path)
    if not file.is_relative_to(ROOT) or file.suffix != ".py":
        return None
    parts = file.relative_to(ROOT).with_suffix("").parts
    if parts[0] not in _packages() or "migrations" in parts:
        return None
    return ".".join(parts).removesuffix(".__init__")


@cache
def stop_of(code: CodeType) -> Stop | None:
    """The function of this code, with what is defined inside of it; None for what counts as none."""
    module = module_of(code.co_filename)
    names = code.co_qualname.split(".<locals>")[0].split(".")
    if module is None or names[-1].startswith(("__", "<")):
        return None
    owner: Any = sys.modules.get(module)
    for name in names:
        kind = owner if isinstance(owner, type) else None
        owner = getattr(owner, "__dict__", {}).get(name)
        if kind is not None and (isinstance(owner, property) or "QuerySet" in kind.__name__):
            return None
    return None if owner is None else Stop(module, ".".join(names))


def _is_reader(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in READERS)


@cache
def floor_of(module: str) -> tuple[int, int]:
    """The floors of a module, 0 the lowest: of its package, and of the module within it."""
    package, _, rest = module.partition(".")
    floors = _floors()
    return floors[""][package], floors.get(package, {}).get(rest.partition(".")[0], 0)


@cache
def _floors() -> dict[str, dict[str, int]]:
    """The floor of each name of a layers contract, by the package whose modules these are."""
    contracts = _linter()["contracts"]
    return {
        container: {
            name.strip(): floor
            for floor, names in enumerate(contract["layers"][::-1], 1)
            for name in names.split("|")
        }
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract.get("containers", [""])
    } | {"": _package_floors(contracts)}


def _package_floors(contracts: list[dict[str, Any]]) -> dict[str, int]:
    layers = next(one["layers"] for one in contracts if "containers" not in one)[::-1]
    found = {
        name.strip(): floor for floor, names in enumerate(layers, 1) for name in names.split("|")
    }
    return dict.fromkeys(_linter()["root_packages"], len(layers)) | found


def _linter() -> dict[str, Any]:
    linter: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
        "importlinter"
    ]
    return linter


@cache
def _packages() -> frozenset[str]:
    return frozenset(_linter()["root_packages"]) - {"tools"}


def _told(end_user: EndUser, texts: tuple[str, ...]) -> None:
    buffer.receive(
        end_user.app,
        end_user.external_id,
        [Incoming("user", text, session_id="walk", created_at=SAID_AT) for text in texts],
    )


def walk_context(end_user: EndUser) -> Walk:
    """Of a context for a message that names somebody."""
    walk = Walk()
    request = ContextRequest(message=MESSAGE, session_id="walk")
    with walk.walking():
        build.build(end_user, request)
    return walk


def walk_batch(end_user: EndUser) -> Walk:
    """Of the extraction of a batch of messages, some about people who are known."""
    walk = Walk()
    _told(end_user, LATER)
    with walk.walking():
        run.extract_next(end_user.pk, everything=True)
    return walk


def walk_undo(end_user: EndUser) -> Walk:
    """Of the undo of a contact's new name."""
    walk = Walk()
    contact = Contact.objects.of(end_user).get(name="Kim")
    edit.edit_contact(end_user, contact.pk, {"name": "Kimberly"}, actor="walk")
    change = Change.objects.of(end_user).latest("created_at")
    with walk.walking():
        undo.undo_change(change, actor="walk")
    return walk


WALKS: dict[str, Callable[[EndUser], Walk]] = {
    "context": walk_context,
    "batch": walk_batch,
    "undo": walk_undo,
}


class Command(BaseCommand):
    help = "Counts the stops, files, climbs and floors of a context, a batch or an undo."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=WALKS)
        parser.add_argument("--json", action="store_true", help="the figures as one JSON object")

    def handle(self, *, what: str, **options: Any) -> None:
        settings.MIO_LLM = "offline"
        with scratch_database(), all_users():
            end_user = EndUser.objects.create(
                app=App.objects.create(name="walk"), external_id="walker"
            )
            _told(end_user, EARLIER)
            with user_scope(end_user):
                run.process(end_user.pk)
                end_user.refresh_from_db()
                walk = WALKS[what](end_user)
        figures = {
            "stops": len(walk.entered_from),
            "of them in understanding": sum(
                stop.module.startswith("understanding") for stop in walk.entered_from
            ),
            "files": len(walk.modules),
            "climbs": len(walk.climbs),
            "floors": len({floor_of(module) for module in walk.modules}),
        }
        if options["json"]:
            self.stdout.write(json.dumps(figures))
            return
        for stop, sources in walk.entered_from.items():
            self.stdout.write(f"{stop.module}.{stop.function}  from {', '.join(sorted(sources))}")
        for source, stop in walk.climbs:
            self.stdout.write(f"climb: {source} -> {stop.module}.{stop.function}")
        self.stdout.write(", ".join(f"{name}: {number}" for name, number in figures.items()))
