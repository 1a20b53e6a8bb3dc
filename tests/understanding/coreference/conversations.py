"""People who are spoken of, and conversations in which pronouns mean them. All are invented."""

from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from understanding.coreference.resolve import resolve_turns
from understanding.types import Mention, Person, Utterance

KEYS: dict[UUID, str] = {}


def person(key: str, name: str, **known: Any) -> Person:
    """A contact with an id of its own that the tests call ``key``."""
    one = Person(uuid5(NAMESPACE_URL, key), name, **known)
    KEYS[one.id] = key
    return one


YUN = person("yun", "阿云", relationship="室友", gender="female")
QIN = person("qin", "秦岚", relationship="同事", gender="female")
HAI = person("hai", "大海", relationship="高中同学", gender="male")
DENG = person("deng", "邓总", relationship="老板", gender="male")
XI = person("xi", "奚然", relationship="新邻居")
LENA = person("lena", "Lena", relationship="friend", gender="female")
RITA = person("rita", "Rita", relationship="coworker", gender="female")
OTTO = person("otto", "Otto", relationship="brother", gender="male")
FINN = person("finn", "Finn", relationship="landlord", gender="male")
SKY = person("sky", "Sky", relationship="partner", gender="nonbinary")
ALL = (YUN, QIN, HAI, DENG, XI, LENA, RITA, OTTO, FINN, SKY)


def say(text: str, role: str = "user") -> Utterance:
    """An utterance in which the people above are found by name."""
    mentions = []
    for person in ALL:
        start = text.find(person.name)
        if start >= 0:
            end = start + len(person.name)
            mentions.append(Mention(person, start, end, text[start:end], "name", 0.98))
    return Utterance(role, text, tuple(mentions))


def talk(*texts: str) -> list[Utterance]:
    """A conversation; what the assistant says begins with "> "."""
    return [
        say(text.removeprefix("> "), "assistant" if text.startswith("> ") else "user")
        for text in texts
    ]


def resolve(message: Utterance, *before: Any, **known: Any) -> list[Mention]:
    """Whom a message means without naming them."""
    return resolve_turns(message, *before, **known)[-1]


def meant(message: str, *history: str, before: tuple[str, ...] = ()) -> set[str]:
    found = resolve(say(message), talk(*history), talk(*before))
    return {KEYS[mention.person.id] for mention in found}
