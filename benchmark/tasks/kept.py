"""T3, what is kept: which facts of a chat can be had again, and which things that nobody stated.

After each chat the system is asked what it knows of each person in it, and of the user. A statement is
kept where three lines of an answer, one after the other, have what the chat told of it: all of its
numbers and most of its words that the user wrote. So any wording counts that keeps the values. The same
is counted of what must not be kept: jokes, guesses, retracted values, secrets.
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmark import corpus
from benchmark.scoring import holds, normalised
from benchmark.system import Message, System
from benchmark.timing import Clock

# So much of the words of a statement must stand in so many lines.
MOST_OF_IT, LINES = 0.6, 3
_LATIN = re.compile(r"[a-z][a-z'’-]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_NUMBER = re.compile(r"\d+")
# Words that say nothing of what is told.
_SMALL = frozenset(
    "a an the of to in on at for and or but is are was were be been has have had with by from as his "
    "her their its my our your he she they it i you we who that this user user's".split()
)


def run(system: System, authors: Sequence[str], clock: Clock) -> dict[str, Any]:
    kept: list[bool] = []
    made_up: list[bool] = []
    for author in authors:
        for case in corpus.cases(author, "extraction"):
            system.open(case["id"])
            with clock.adding():
                system.add(messages(case))
                system.settle()
            stretches: list[str] = []
            for question in questions(case):
                with clock.asking():
                    text = system.context(question, [])
                clock.count(text)
                stretches += stretched(text)
            gold = case["gold"]
            said = normalised("\n".join(turn["text"] for turn in case["messages"]))
            kept += [told(memory["content"], said, stretches) for memory in gold["memories"]]
            made_up += [told(statement(one), said, stretches) for one in gold["not_memories"]]
    return {
        "facts": len(kept),
        "kept": sum(kept) / max(len(kept), 1),
        "not_facts": len(made_up),
        "kept_of_them": sum(made_up) / max(len(made_up), 1),
    }


def messages(case: dict[str, Any]) -> list[Message]:
    """A chat's messages, so many weeks earlier that all have been sent: a system may refuse others."""
    times = [datetime.fromisoformat(turn["time"]) for turn in case["messages"]]
    ahead = max(times) - datetime.now(UTC)
    earlier = timedelta(weeks=max(0, math.ceil(ahead / timedelta(weeks=1))))
    return [
        {
            "id": f"{case['id']}-{number}",
            "session_id": case["id"],
            "role": turn["role"],
            "content": turn["text"],
            "created_at": (time - earlier).isoformat(),
        }
        for number, (turn, time) in enumerate(zip(case["messages"], times, strict=True))
    ]


def questions(case: dict[str, Any]) -> list[str]:
    chinese = case["lang"] == "zh"
    names = [contact["name"] for contact in case["gold"]["contacts"]]
    about = [
        f"关于{name}你都知道什么？" if chinese else f"What do you know about {name}?"
        for name in names
    ]
    return [*about, "关于我你都知道什么？" if chinese else "What do you know about me?"]


def statement(one: Any) -> str:
    return str(one["content"]) if isinstance(one, dict) else str(one)


def stretched(text: str) -> list[str]:
    """Each line of a text with the two after it."""
    lines = text.splitlines()
    return [normalised(" ".join(lines[n : n + LINES])) for n in range(max(len(lines), 1))]


def told(statement: str, said: str, stretches: Sequence[str]) -> bool:
    """Whether a stretch says what the statement does, by those of its values that were ``said``."""
    text = normalised(statement)
    numbers = [number for number in _NUMBER.findall(text) if holds(said, number)]
    words = [word for word in _LATIN.findall(text) if word not in _SMALL]
    words += [run[n : n + 2] for run in _HAN.findall(text) for n in range(len(run) - 1)]
    words = [word for word in words if word in said]
    return bool(words) and any(
        all(holds(stretch, number) for number in numbers)
        and sum(word in stretch for word in words) >= MOST_OF_IT * len(words)
        for stretch in stretches
    )
