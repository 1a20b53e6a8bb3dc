"""Which pairs are worth comparing: people who share a key, and never all with all.

A key is shared by those whom one sign could unite: a name in any spelling, the character a
nickname is made from, a surname and a role, a rare word. Work
grows with the number of people: each is compared with at most ``MAX_PAIRS`` others, those
with whom the rarest and strongest keys are shared.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from understanding import names
from understanding.names import name_key
from understanding.roles import roles_of
from understanding.same_person import (
    claims,
    name_similarity,
    name_types,
    relationships,
)
from understanding.same_person.records import Record
from understanding.text import is_han
from understanding.types import NameKey

MAX_PAIRS = 24
# Keys by strength; more people than this share one by chance, and it says nothing.
NAME, NICKNAME, ROLE, WORD = range(4)
MOST = {NAME: 60, NICKNAME: 40, ROLE: 40, WORD: 12}


@dataclass(frozen=True, slots=True)
class Block:
    """A key with its strength."""

    tier: int
    key: str


def blocks_of(record: Record, keys: Iterable[NameKey], words: Iterable[str]) -> set[Block]:
    """The keys of a person; ``keys`` are those by which texts name them, ``words`` what is
    said of them."""
    found = {Block(NAME, key.key) for key in keys if key.how in ("name", "alias")}
    found |= {Block(NICKNAME, key.key) for key in keys if key.how == "fuzzy"}
    found |= {Block(NAME, key) for key in claims.stated_keys(record)}
    found |= {Block(WORD, word) for word in words}
    for name in record.names:
        found |= {Block(NICKNAME, key) for key in _nickname_keys(name)}
    return found | {Block(ROLE, key) for key in _role_keys(record)}


def _nickname_keys(name: str) -> Iterator[str]:
    key = name_key(name)
    sort = name_types.kind_of(name)
    if sort == "role" or not key:
        return
    if not is_han(key[0]):
        for word in key.split(" "):
            yield f"sound:{name_similarity.sounds(word)}"
        return
    head, _ = name_types.title_of(key)
    surname = names.surname_of(key)
    for char in set(head or key[len(surname) if sort == "full" else 0 :]):
        yield f"char:{char}"


def _role_keys(record: Record) -> Iterator[str]:
    """Role words for whoever has no other name, and the role with the surname."""
    stated = relationships.stated(record)
    roles = {role.kind for role in roles_of(stated)} or {name_key(stated)} - {""}
    for kind in roles:
        if any(name_types.kind_of(name) == "role" for name in record.names):
            yield f"unnamed:{kind}"
        if kind in relationships.ONE_AT_A_TIME:
            yield f"unnamed:{kind}"
    for name in record.names:
        key = name_key(name)
        surname = name_types.title_of(key)[0] or names.surname_of(key)
        if len(key) == 2 and key[0] in "小老大" and is_han(key[1]):
            surname = key[1]
        if surname:
            for kind in roles or {""}:
                yield f"surname:{surname}:{kind}"


def pairs(
    blocks: Mapping[UUID, Collection[Block]], only: Collection[UUID] | None = None
) -> list[tuple[UUID, UUID]]:
    """The pairs to compare, the smaller id first. With ``only``, those with one of these."""
    members: dict[Block, list[UUID]] = defaultdict(list)
    for person in sorted(blocks):
        for block in blocks[person]:
            members[block].append(person)
    shared = [b for b, people in members.items() if 2 <= len(people) <= MOST[b.tier]]
    shared.sort(key=lambda block: (block.tier, len(members[block]), block.key))
    found: set[tuple[UUID, UUID]] = set()
    spent: dict[UUID, int] = defaultdict(int)
    for block in shared:
        people = members[block]
        for place, one in enumerate(people):
            for other in people[place + 1 :]:
                if only is not None and one not in only and other not in only:
                    continue
                full = spent[one] >= MAX_PAIRS or spent[other] >= MAX_PAIRS
                if full or (one, other) in found:
                    continue
                found.add((one, other))
                spent[one] += 1
                spent[other] += 1
    return sorted(found)
