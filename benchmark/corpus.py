"""The cases of the corpus, author by author."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
FIRST_LOCKER = 4101


@dataclass(frozen=True)
class Person:
    """Somebody of an author's circle. ``locker`` is a number that nothing else tells: a context that
    has it is about this person."""

    key: str
    name: str
    aliases: tuple[str, ...]
    relationship: str
    locker: int

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


def authors() -> list[str]:
    return sorted(path.name for path in CORPUS.glob("a[0-9][0-9]"))


def cases(author: str, kind: str) -> Iterator[dict[str, Any]]:
    """The cases of an author's file, none where there is no such file."""
    path = CORPUS / author / f"{kind}.jsonl"
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def circle(author: str) -> list[Person]:
    """Everybody whom the cases of an author know, with all their aliases."""
    names: dict[str, dict[str, Any]] = {}
    for kind in ("mentions", "pronouns"):
        for case in cases(author, kind):
            for contact in case["contacts"]:
                known = names.setdefault(contact["key"], {**contact, "aliases": []})
                known["aliases"] += [
                    alias for alias in contact["aliases"] if alias not in known["aliases"]
                ]
    return [
        Person(key, one["name"], tuple(one["aliases"]), one["relationship"], FIRST_LOCKER + number)
        for number, (key, one) in enumerate(sorted(names.items()))
    ]


def people_in_chats(author: str) -> list[Person]:
    """Everybody of whom an author's chats tell, by name; their relationship is not introduced."""
    names = {
        contact["name"]
        for case in cases(author, "extraction")
        for contact in case["gold"]["contacts"]
    }
    return [Person(one, one, (), "", FIRST_LOCKER + n) for n, one in enumerate(sorted(names))]


def writes_chinese(author: str) -> bool:
    """Whether most of an author's messages are Chinese."""
    languages = [case["lang"] for case in cases(author, "mentions")]
    return languages.count("zh") > len(languages) / 2


def introduction(person: Person, chinese: bool) -> str:
    """What the user says of somebody, so that every system knows the same."""
    name, also = person.name, person.aliases
    if chinese:
        called = f"，我也管{name}叫{'或'.join(f'“{one}”' for one in also)}" if also else ""
        who = f"{name}是我的{person.relationship}{called}。" if person.relationship else ""
        return f"{who}{name}的储物柜号是{person.locker}。"
    called = f"; I also call {name} {' or '.join(f'“{one}”' for one in also)}" if also else ""
    who = f"{name} is my {person.relationship}{called}. " if person.relationship else ""
    return f"{who}{name} has locker number {person.locker}."
