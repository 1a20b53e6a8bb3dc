"""Who is whose, as the contacts' own names say it: "文文的弟弟", "Omar's mother"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contacts.names import name_key
from contacts.roles import roles_of
from contacts.types import Person

_STATED = re.compile(r"^(?P<owner>.+?)(?:的|家的|['’]s?\s+|['’]\s+)(?P<kind>.+)$")


@dataclass(frozen=True, slots=True)
class Relation:
    """``subject`` is the ``kind`` of ``object``: (小李, "partner", 小红), (Tom, "boss", Anna)."""

    subject: Person
    kind: str
    object: Person


def stated_relations(people: Sequence[Person]) -> list[Relation]:
    """The relations among ``people`` that a name, alias or relationship of one states by
    the name of another. Linear in their number."""
    named: dict[str, list[Person]] = {}
    for person in people:
        for text in {person.name, *person.aliases}:
            named.setdefault(name_key(text), []).append(person)
    found = []
    for person in people:
        for text in dict.fromkeys((person.name, *person.aliases, person.relationship)):
            match = _STATED.match(text)
            owners = named.get(name_key(match["owner"]), ()) if match else ()
            if match and len(owners) == 1 and owners[0].id != person.id and roles_of(match["kind"]):
                found.append(Relation(person, match["kind"], owners[0]))
    return found
