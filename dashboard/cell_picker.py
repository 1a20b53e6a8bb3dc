"""Which cell a page shows: that of the end user in the address, else the one that was chosen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest

from accounts import cells, placement
from accounts.models import Cell

CELL = "cell"  # of the session
MAX_DIGITS = 19  # of an id


@contextmanager
def entered(request: HttpRequest, named: Mapping[str, Any]) -> Iterator[None]:
    """Enters the cell that a page shows; ``named`` is what its address names."""
    if not cells.several():
        yield
        return
    user = named.get("user") or _asked_for(request)
    with cells.entered(placement.cell_of(user) if user else chosen(request)):
        yield


def _asked_for(request: HttpRequest) -> int | None:
    """The end user to whom ``?user=`` narrows a queue."""
    sent = request.GET.get("user", "")
    return int(sent) if sent.isdecimal() and len(sent) < MAX_DIGITS else None


def chosen(request: HttpRequest) -> str:
    """The cell that was chosen; the first that answers where none was, or that one is away."""
    names = [row.name for row in Cell.objects.all() if row.name in cells.names()]
    wanted = request.session.get(CELL)
    first = [wanted] if wanted in names else []
    return next(
        (name for name in [*first, *reversed(names)] if not cells.is_away(name)), cells.SHARED
    )


def choose(request: HttpRequest, name: str) -> None:
    """Has pages show a cell from now on; nothing where there is none of this name."""
    if name in cells.names():
        request.session[CELL] = name


def away() -> list[str]:
    """The cells that do not answer, none where there is one."""
    return [name for name, is_away in to_choose() if is_away]


def to_choose() -> list[tuple[str, bool]]:
    """All cells with whether their server does not answer; none where there is one cell."""
    names = cells.names() if cells.several() else ()
    return [(name, cells.is_away(name)) for name in names]
