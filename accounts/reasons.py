"""Reasons and errors as codes with parameters, and the one table that puts them into words.

The ``str`` of a :class:`Reason` is English; a screen shows it in its own language. A text column
stores it as ``stored``, which ``read`` reads again. What a person or a model wrote stays text."""

import json
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parent.parent


def _(text: str) -> str:
    """Marks a text for the catalogue of translations, which this module knows nothing of."""
    return text


# A row of the table: a code, and its text, marked for the catalogue of translations or not.
_ROW = re.compile(r"(\w+): (?:\{% translate (?P<quote>[\"'])(.*)(?P=quote) %\}|(.*))")


_LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
# The text of each code.
TEMPLATES = {
    row[1]: row[3] if row["quote"] else row[4] for row in map(_ROW.fullmatch, _LINES) if row
}
HOLES = {
    code: frozenset(name for _text, name, _form, _conversion in Formatter().parse(text) if name)
    for code, text in TEMPLATES.items()
}
# Separators of reasons in a list, by the hole that they fill.
BETWEEN = _(", ")
OTHERWISE = {"clauses": _("; "), "values": _("; "), "errors": " "}


@dataclass(frozen=True, slots=True, init=False)
class Reason:
    """``code`` names a template; ``params`` fill it: texts, numbers, keys, reasons, lists of these."""

    code: str
    params: Mapping[str, Any] = field(hash=False)

    def __init__(self, code: str, /, **params: Any) -> None:
        if missing := HOLES[code] - params.keys():
            raise TypeError(f"The reason {code} lacks {', '.join(sorted(missing))}.")
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "params", params)

    def __str__(self) -> str:
        return render(self)

    @property
    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "params": {k: _jsonable(v) for k, v in self.params.items()}}

    @property
    def stored(self) -> str:
        """The reason as a column of text keeps it."""
        return json.dumps(self.as_json, ensure_ascii=False)


@dataclass(slots=True)
class Skipped:
    """The parts of a file that can't be read and are left out: their number, and the first reasons."""

    MOST: ClassVar[int] = 100

    count: int = 0
    named: list[Reason] = field(default_factory=list)

    def add(self, reason: Reason) -> None:
        self.count += 1
        if len(self.named) < self.MOST:
            self.named.append(reason)


class CodedError(Exception):
    """A request that can't be done, or that failed. ``api_code`` is the code of the API's refusal."""

    api_code: ClassVar[str] = "conflict"

    def __init__(self, reason: Reason | str) -> None:
        super().__init__(reason)
        self.reason = reason


# Modules through which every statement passes.
_SENDING = ("/accounts/scope.py", "/accounts/tracing.py", "/mio_site/postgres/base.py")


def fault(error: BaseException) -> Reason | str:
    """Returns why something failed; without a reason the error's type and place, never its words."""
    if isinstance(error, CodedError):
        return error.reason
    ours = [
        f"{frame.filename.removeprefix(f'{ROOT}/')}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(f"{ROOT}/")
        and "/site-packages/" not in frame.filename
        and not frame.filename.endswith(_SENDING)
    ]
    where = ours[-1] if ours else "?"
    return Reason("step_failed", error=type(error).__name__, where=where)


def stored(reason: Reason | str) -> str:
    """Returns a reason as a text column stores it; other words as they are."""
    return reason.stored if isinstance(reason, Reason) else reason


def read(text: str) -> Reason | str:
    """Returns the reason or the words in a text column."""
    if not text.startswith('{"code"'):
        return text
    try:
        return json.loads(text, object_hook=_reason)
    except (KeyError, TypeError, ValueError):  # of a table that has changed since
        return text


def _reason(value: dict[str, Any]) -> Reason | dict[str, Any]:
    coded = value.keys() == {"code", "params"}
    return Reason(value["code"], **value["params"]) if coded else value


def _jsonable(value: Any) -> Any:
    if isinstance(value, Reason):
        return value.as_json
    return [_jsonable(one) for one in value] if isinstance(value, list | tuple) else value


def spaced(key: str) -> str:
    """Returns a readable name of a key without a label."""
    return key.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Wording:
    """How a language puts reasons into words; English by default."""

    translate: Callable[[str], str] = str
    attribute: Callable[[str], str] = spaced
    edge_kind: Callable[[str], str] = str
    between: str = ", "


ENGLISH = Wording()


def render(reason: Reason | str, wording: Wording = ENGLISH) -> str:
    """Returns a reason in words; words as they are."""
    if isinstance(reason, str):
        return reason
    holes = {name: _worded(name, value, wording) for name, value in reason.params.items()}
    return wording.translate(TEMPLATES[reason.code]).format(**holes)


def _worded(name: str, value: Any, wording: Wording) -> str:
    """Returns the text for a hole, by its name (attribute keys, kinds of edges) or its value's type."""
    if name == "kinds":
        return " → ".join(map(wording.edge_kind, value))
    if name in ("attribute", "key"):
        return wording.attribute(value)
    if name == "keys":
        keys = value.split(", ") if isinstance(value, str) else value  # one text in older rows
        return wording.between.join(map(wording.attribute, keys))
    if isinstance(value, Reason):
        return render(value, wording)
    if isinstance(value, list | tuple):
        coded = any(isinstance(one, Reason) for one in value)
        mark = wording.translate(OTHERWISE.get(name, BETWEEN))
        return (mark if coded else wording.between).join(_worded("", v, wording) for v in value)
    return str(value)
