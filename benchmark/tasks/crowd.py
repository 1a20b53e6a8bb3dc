"""T5, a crowd: what is found of one person among two hundred?

Only for systems with a search of their own: ``search(query, limit)`` → the texts found, the best first.
"""

import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from benchmark.scoring import normalised
from benchmark.system import Message, offers
from benchmark.timing import Clock

PEOPLE, EACH = 200, 50
LIMIT = 50
_DATA = Path(__file__).resolve().parent.parent / "crowd.toml"
# What a memory may add to a message: brackets with a date or with who is meant.
_ADDED = re.compile(r"\[[^\]]*\]|\([^)]*\)|（[^）]*）")
_SIGNS = re.compile(r"[\W_]+")


def run(system: Any, clock: Clock, people: int = PEOPLE, each: int = EACH) -> dict[str, Any] | None:
    """By language the mean share of a person's messages among the first 50 found, of as many as
    there are."""
    if not offers(system, "search"):
        return None
    messages = list(crowd(people, each))
    system.open("crowd")
    with clock.adding():
        for start in range(0, len(messages), 100):
            system.add([message for _person, _language, message in messages[start : start + 100]])
        system.settle()
    of_person: dict[tuple[str, str], set[str]] = {}
    for person, language, message in messages:
        of_person.setdefault((person, language), set()).add(_plain(message["content"]))
    asks = {language: one["ask"] for language, one in _data().items()}
    shares: dict[str, list[float]] = {language: [] for language in asks}
    for (person, language), wanted in of_person.items():
        with clock.asking():
            texts = system.search(asks[language].format(p=person), LIMIT)
        clock.count("\n".join(texts))
        plain = [_plain(text) for text in texts]
        hits = sum(any(one in text for text in plain) for one in wanted)
        shares[language].append(hits / min(len(wanted), LIMIT))
    recall = {language: sum(one) / len(one) for language, one in shares.items() if one}
    return {"people": people, "messages": len(messages), "recall_at_50": recall}


def crowd(people: int, each: int) -> Iterator[tuple[str, str, Message]]:
    """The same messages each time: ``each`` about every person, half of the people with Chinese
    names; with whom and which language each is about."""
    random = Random(5)
    data = _data()
    names = {
        language: [
            last + first if language == "zh" else f"{first} {last}"
            for last in one["last"].split()
            for first in one["first"].split()
        ][: people // 2]
        for language, one in data.items()
    }
    start = datetime(2025, 1, 1, 8, tzinfo=UTC)
    number = 1000
    for turn in range(each):
        for language, persons in names.items():
            one = data[language]
            slots = {key: re.split(r"\|" if "|" in value else " ", value)
                     for key, value in one.items() if key not in ("ask", "texts")}  # fmt: skip
            for person in persons:
                number += 1
                chosen = {key: random.choice(values) for key, values in slots.items()}
                other = random.choice(persons)
                text = one["texts"][(turn + number) % len(one["texts"])]
                content = text.format(**chosen, p=person, q=other, n=number)
                at = start + timedelta(minutes=37 * number)
                yield person, language, {
                    "id": f"crowd-{number}",
                    "session_id": f"crowd-{turn}",
                    "role": "user",
                    "content": content,
                    "created_at": at.isoformat(),
                }  # fmt: skip


def _data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_DATA.read_text("utf-8"))


def _plain(text: str) -> str:
    return _SIGNS.sub("", normalised(_ADDED.sub("", text)))
