"""What a memory has to offer to be measured: five calls, as a class or as a program.

A program reads one JSON object a line, ``{"call": "add", "messages": […]}``, and answers with one:
``{"ok": value}`` or ``{"error": text}``. :func:`serve` makes a program of a class, so that a system
can have a Python of its own.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Protocol, TypedDict


class Message(TypedDict):
    """``created_at`` is ISO 8601 with an offset."""

    id: str
    session_id: str
    role: str
    content: str
    created_at: str


class Turn(TypedDict):
    role: str
    content: str


class System(Protocol):
    def open(self, user: str) -> None:
        """Begins with a user who is new to the system; whoever was open before is left as is."""

    def add(self, messages: Sequence[Message]) -> None:
        """Takes in messages, in order of time."""

    def settle(self) -> None:
        """Returns when all that was added is remembered."""

    def context(self, message: str, history: Sequence[Turn]) -> str:
        """What a model would be told before it answers ``message``; ``history`` are the turns right
        before it, the oldest first. Must not remember the message."""

    def close(self) -> None:
        """Ends the system."""


def offers(system: object, call: str) -> bool:
    """Whether a system has one of the calls that it may leave out: ``same`` (T2), ``search`` (T5)."""
    return system.offers(call) if isinstance(system, Program) else hasattr(system, call)


class Program:
    """A system in a process of its own."""

    def __init__(self, command: Sequence[str]) -> None:
        # So that it finds this package from any folder.
        places = [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
        )  # fmt: skip

    def open(self, user: str) -> None:
        self._ask("open", user=user)

    def add(self, messages: Sequence[Message]) -> None:
        self._ask("add", messages=list(messages))

    def settle(self) -> None:
        self._ask("settle")

    def context(self, message: str, history: Sequence[Turn]) -> str:
        return str(self._ask("context", message=message, history=list(history)))

    def same(self, first: dict[str, Any], second: dict[str, Any]) -> bool:
        return bool(self._ask("same", first=first, second=second))

    def search(self, query: str, limit: int) -> list[str]:
        return [str(text) for text in self._ask("search", query=query, limit=limit)]

    def offers(self, call: str) -> bool:
        """False as well where the program does not know the question."""
        try:
            return bool(self._ask("offers", name=call))
        except RuntimeError:
            return False

    def close(self) -> None:
        self._ask("close")
        self._process.communicate(timeout=60)

    def _ask(self, call: str, **given: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"call": call, **given}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the system ended during {call}: see what it printed above")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{call}: {answer['error']}")
        return answer.get("ok")


def serve(system: System) -> None:
    """Answers the calls on standard input until ``close``. What the system prints goes to the
    error channel."""
    answers = sys.stdout
    for line in sys.stdin:
        given = json.loads(line)
        call = given.pop("call")
        try:
            with redirect_stdout(sys.stderr):
                answer: dict[str, Any]
                if call == "offers":
                    answer = {"ok": hasattr(system, given["name"])}
                else:
                    answer = {"ok": getattr(system, call)(**given)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
        if call == "close":
            return
