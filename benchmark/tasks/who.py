"""T1, who is meant: is a context about those whom the message means, and nobody else?

The user introduces everybody, each with a locker number of their own; a context that has the number
is about that person. Ordinary talk are the messages of ``sentences`` without a trap; hard are
``mentions`` and ``pronouns``, of which a third are traps.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark import corpus
from benchmark.corpus import Person
from benchmark.scoring import holds, normalised
from benchmark.system import Message, System, Turn
from benchmark.timing import Clock


@dataclass(frozen=True)
class Asked:
    """``known``: of these it is known whether they are meant."""

    kind: str
    message: str
    history: Sequence[Turn]
    expected: frozenset[str]
    known: frozenset[str]


def run(system: System, authors: Sequence[str], clock: Clock) -> dict[str, Any]:
    """Per kind of talk: the share of needed people who are found, wrong people per 100 messages,
    and the share of messages with exactly the right people."""
    needed: dict[str, list[bool]] = defaultdict(list)
    wrong: dict[str, int] = defaultdict(int)
    exact: dict[str, list[bool]] = defaultdict(list)
    for author in authors:
        circle = corpus.circle(author)
        system.open(f"who-{author}")
        with clock.adding():
            system.add(introductions(author, circle))
            system.settle()
        for asked in questions(author, circle):
            with clock.asking():
                text = system.context(asked.message, asked.history)
            clock.count(text)
            text = normalised(text)
            present = {one.key for one in circle if holds(text, str(one.locker))} & asked.known
            needed[asked.kind] += [key in present for key in sorted(asked.expected)]
            wrong[asked.kind] += len(present - asked.expected)
            exact[asked.kind].append(present == asked.expected)
    return {
        kind: {
            "messages": len(exact[kind]),
            "needed_found": sum(needed[kind]) / max(len(needed[kind]), 1),
            "wrong_per_100": 100 * wrong[kind] / len(exact[kind]),
            "exact": sum(exact[kind]) / len(exact[kind]),
        }
        for kind in exact
    }


def introductions(author: str, circle: Sequence[Person]) -> list[Message]:
    chinese = corpus.writes_chinese(author)
    return [
        {
            "id": f"{author}-{number}",
            "session_id": f"{author}-{number}",
            "role": "user",
            "content": corpus.introduction(person, chinese),
            "created_at": f"2026-01-{1 + number // 24:02}T{number % 24:02}:00:00+00:00",
        }
        for number, person in enumerate(circle)
    ]


def questions(author: str, circle: Sequence[Person]) -> Iterator[Asked]:
    everybody = frozenset(one.key for one in circle)
    by_name: dict[str, set[str]] = defaultdict(set)
    for one in circle:
        for name in one.names:
            by_name[normalised(name)].add(one.key)
    for case in corpus.cases(author, "sentences"):
        expected = named(case["spans"], by_name)
        if expected is not None:
            yield Asked("ordinary", case["text"], [], expected, everybody)
    for kind in ("mentions", "pronouns"):
        for case in corpus.cases(author, kind):
            history: list[Turn] = [
                {"role": turn["role"], "content": turn["text"]} for turn in case.get("history", ())
            ]
            known = frozenset(contact["key"] for contact in case["contacts"])
            expected = frozenset(case["expect"]) | set(case.get("named", ()))
            yield Asked(kind, case["message"], history, expected, known)


def named(spans: Sequence[dict[str, Any]], by_name: dict[str, set[str]]) -> frozenset[str] | None:
    """The people of the circle whom the spans of a message mean; None where it has a trap, or means
    somebody who is not in the circle or has the name of two."""
    if any(span["kind"] == "trap" for span in spans):
        return None
    meant: dict[str, set[str]] = defaultdict(set)
    for span in spans:
        meant[span["key"] or span["text"]] |= by_name.get(normalised(span["text"]), set())
    if any(len(keys) != 1 for keys in meant.values()):
        return None
    return frozenset(key for keys in meant.values() for key in keys)
