"""T1, who is meant: is a context about those whom the message means, and nobody else?

The user introduces everybody, each with a locker number of their own; a context that has the number
is about that person. Ordinary talk are the messages of ``sentences`` without a trap. ``mentions`` and
``pronouns`` are hard: a third of each, also reported together as ``traps``, mean nobody.
``descriptions`` mean somebody without a name or role, by what the chats before told of them; half are
look-alikes that mean nobody.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark import corpus
from benchmark.corpus import Person
from benchmark.scoring import holds, normalised
from benchmark.system import Message, System, Turn
from benchmark.tasks import kept
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
    answers: dict[str, list[tuple[Asked, set[str]]]] = defaultdict(list)
    for author in authors:
        circle, people = corpus.circle(author), corpus.people_in_chats(author)
        introduced = introductions(author, circle)
        messages = [*chats(author), *introductions(author, people)]
        rows = [
            *answered(
                system, f"who-{author}", circle, introduced, questions(author, circle), clock
            ),
            *answered(
                system, f"told-{author}", people, messages, descriptions(author, people), clock
            ),
        ]
        for asked, present in rows:
            answers[asked.kind].append((asked, present))
    answers["traps"] = [
        one for kind in ("mentions", "pronouns") for one in answers[kind] if not one[0].expected
    ]
    return {kind: figures(rows) for kind, rows in answers.items() if rows}


def answered(
    system: System,
    user: str,
    circle: Sequence[Person],
    messages: Sequence[Message],
    asks: Iterable[Asked],
    clock: Clock,
) -> Iterator[tuple[Asked, set[str]]]:
    """Tells the messages of a new user, then yields each message asked with those of whom its context is."""
    system.open(user)
    with clock.adding():
        system.add(messages)
        system.settle()
    for asked in asks:
        with clock.asking():
            text = system.context(asked.message, asked.history)
        clock.count(text)
        text = normalised(text)
        yield asked, {one.key for one in circle if holds(text, str(one.locker))} & asked.known


def figures(rows: Sequence[tuple[Asked, set[str]]]) -> dict[str, Any]:
    needed = [key in present for asked, present in rows for key in asked.expected]
    wrong = sum(len(present - asked.expected) for asked, present in rows)
    return {
        "messages": len(rows),
        "needed_found": sum(needed) / len(needed) if needed else None,
        "wrong_per_100": 100 * wrong / len(rows),
        "exact": sum(present == asked.expected for asked, present in rows) / len(rows),
    }


def chats(author: str) -> Iterator[Message]:
    """Yields what an author's user told before anybody got a locker."""
    for case in corpus.cases(author, "extraction"):
        yield from kept.messages(case)


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


def descriptions(author: str, people: Sequence[Person]) -> Iterator[Asked]:
    everybody = frozenset(one.key for one in people)
    for case in corpus.cases(author, "descriptions"):
        yield Asked("descriptions", case["message"], [], frozenset(case["expect"]), everybody)


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
