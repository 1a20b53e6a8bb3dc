"""T3, what is kept: which facts of a chat can be had again, and which things that nobody stated.

After each chat the system is asked what it knows of each person in it, and of the user. A statement is
kept where three lines of an answer, one after the other, have what the chat told of it: all of its
numbers and most of its words that the user wrote. So any wording counts that keeps the values. What
must not be kept (jokes, guesses, retracted values, secrets) is kept where the same lines also have most
of the values by which it differs from every fact of the chat; without such values it does not count.

With a judge (``benchmark/judge.py``) a model answers as well whether the answers state each.
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from benchmark import corpus
from benchmark.judge import Judge
from benchmark.scoring import holds, normalised
from benchmark.system import Message, System
from benchmark.timing import Clock

# Chats are moved to before this day, so that they are the same whenever they are played.
TOLD_BEFORE = datetime(2026, 1, 1, tzinfo=UTC)
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


def run(
    system: System, authors: Sequence[str], clock: Clock, judge: Judge | None = None
) -> dict[str, Any]:
    """The shares of facts and of what nobody stated that are kept; ``…_by_judge``: the same by the
    judge's answers, if there is one."""
    kept: list[bool] = []
    made_up: list[bool] = []
    judged: dict[str, list[bool]] = {"kept_by_judge": [], "kept_of_them_by_judge": []}
    for author in authors:
        for case in corpus.cases(author, "extraction"):
            system.open(case["id"])
            with clock.adding():
                system.add(messages(case))
                system.settle()
            answers: list[str] = []
            for question in questions(case):
                with clock.asking():
                    answers.append(system.context(question, []))
                clock.count(answers[-1])
            stretches = [stretch for text in answers for stretch in stretched(text)]
            facts = [memory["content"] for memory in case["gold"]["memories"]]
            others = [statement(one) for one in case["gold"]["not_memories"]]
            said = normalised("\n".join(turn["text"] for turn in case["messages"]))
            kept += [told(fact, said, stretches) for fact in facts]
            fact_text = normalised("\n".join(facts))
            outcomes = (told_besides(one, fact_text, said, stretches) for one in others)
            made_up += [outcome for outcome in outcomes if outcome is not None]
            if judge is not None:
                states = partial(judge.states, "\n".join(answers))
                judged["kept_by_judge"] += map(states, facts)
                judged["kept_of_them_by_judge"] += map(states, others)
    return {
        "facts": len(kept),
        "kept": sum(kept) / max(len(kept), 1),
        "not_facts": len(made_up),
        "kept_of_them": sum(made_up) / max(len(made_up), 1),
        **{name: sum(rows) / len(rows) for name, rows in judged.items() if rows},
    }


def messages(case: dict[str, Any]) -> list[Message]:
    """A chat's messages, so many weeks earlier that all are before TOLD_BEFORE: a system may refuse
    messages of the future."""
    times = [datetime.fromisoformat(turn["time"]) for turn in case["messages"]]
    ahead = max(times) - TOLD_BEFORE
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
    numbers, words = (as_said(values, said) for values in values_of(statement))
    return bool(words) and any(has(stretch, numbers, words) for stretch in stretches)


def told_besides(
    statement: str, fact_text: str, said: str, stretches: Sequence[str]
) -> bool | None:
    """Whether a stretch says what the statement does, and most of its values that ``fact_text`` does
    not have: of these those that were ``said``, or all if none was. None if it has no such value."""
    numbers, words = values_of(statement)
    new_numbers = [number for number in numbers if not holds(fact_text, number)]
    new_words = [word for word in words if not holds(fact_text, word)]
    if not (new_numbers or new_words):
        return None
    if as_said([*new_numbers, *new_words], said):
        new_numbers, new_words = as_said(new_numbers, said), as_said(new_words, said)
    numbers, words = as_said(numbers, said), as_said(words, said)
    return any(
        has(stretch, new_numbers, new_words) and has(stretch, numbers, words)
        for stretch in stretches
    )


def values_of(statement: str) -> tuple[list[str], list[str]]:
    """The numbers of a statement and its words that say something; of Chinese, pairs of characters."""
    text = normalised(statement)
    words = [word for word in _LATIN.findall(text) if word not in _SMALL]
    words += [run[n : n + 2] for run in _HAN.findall(text) for n in range(len(run) - 1)]
    return _NUMBER.findall(text), words


def as_said(values: Sequence[str], said: str) -> list[str]:
    return [one for one in values if (holds(said, one) if one.isdigit() else one in said)]


def has(stretch: str, numbers: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a stretch has all numbers and most of the words."""
    return all(holds(stretch, number) for number in numbers) and (
        sum(word in stretch for word in words) >= MOST_OF_IT * len(words)
    )
