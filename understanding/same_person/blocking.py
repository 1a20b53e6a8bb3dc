"""Selects the pairs of people worth comparing: those that share a key, and never all with all.

People share a key if one kind of evidence could unite them: a name in any spelling, the character
of a nickname, a surname and a role, a rare word. Work grows with the number of people: each is
compared with at most ``MAX_PAIRS`` others, those with the strongest and rarest keys in common."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from understanding import names
from understanding.names import name_key
from understanding.roles import roles_of
from understanding.same_person import claims, name_similarity, name_types, relationships
from understanding.same_person.records import Record
from understanding.text import is_han
from understanding.types import NameKey

MAX_PAIRS = 24
# Tiers of keys, the strongest first; a key that more people have is shared by chance and ignored.
NAME, NICKNAME, ROLE, WORD = range(4)
MOST = {NAME: 60, NICKNAME: 40, ROLE: 40, WORD: 12}


@dataclass(frozen=True, slots=True)
class Block:
    """A blocking key with its tier."""

    tier: int
    key: str


def blocks_of(record: Record, keys: Iterable[NameKey], words: Iterable[str]) -> set[Block]:
    """Returns the blocking keys of a person with these lookup ``keys`` and rare ``words``."""
    blocks = {Block(NAME, key.key) for key in keys if key.how in ("name", "alias")}
    blocks |= {Block(NICKNAME, key.key) for key in keys if key.how == "fuzzy"}
    blocks |= {Block(NAME, key) for key in claims.stated_keys(record)}
    blocks |= {Block(WORD, word) for word in words}
    for name in record.names:
        blocks |= {Block(NICKNAME, key) for key in _nickname_keys(name)}
    return blocks | {Block(ROLE, key) for key in _role_keys(record)}


def _nickname_keys(name: str) -> Iterator[str]:
    """Yields the sounds of a Latin name, or the characters from which nicknames are made."""
    key = name_key(name)
    kind = name_types.kind_of(name)
    if kind == "role" or not key:
        return
    if not is_han(key[0]):
        for word in key.split(" "):
            yield f"sound:{name_similarity.sounds(word)}"
        return
    head, _ = name_types.title_of(key)
    surname = names.surname_of(key)
    for char in set(head or key[len(surname) if kind == "full" else 0 :]):
        yield f"char:{char}"


def _role_keys(record: Record) -> Iterator[str]:
    """Yields keys for a role that is unique or the only name, and for surname and role together."""
    relationship = relationships.stated_relationship(record)
    roles = {role.kind for role in roles_of(relationship)} or {name_key(relationship)} - {""}
    has_role_as_name = any(name_types.kind_of(name) == "role" for name in record.names)
    for kind in roles:
        if has_role_as_name or kind in relationships.ONE_AT_A_TIME:
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
    """Returns the pairs to compare (smaller id first), or just those with one of ``only``."""
    members: dict[Block, list[UUID]] = defaultdict(list)
    for person in sorted(blocks):
        for block in blocks[person]:
            members[block].append(person)
    shared = [b for b, people in members.items() if 2 <= len(people) <= MOST[b.tier]]
    shared.sort(key=lambda block: (block.tier, len(members[block]), block.key))
    chosen: set[tuple[UUID, UUID]] = set()
    pair_counts: dict[UUID, int] = defaultdict(int)
    for block in shared:
        people = members[block]
        for place, one in enumerate(people):
            for other in people[place + 1 :]:
                if only is not None and one not in only and other not in only:
                    continue
                full = pair_counts[one] >= MAX_PAIRS or pair_counts[other] >= MAX_PAIRS
                if full or (one, other) in chosen:
                    continue
                chosen.add((one, other))
                pair_counts[one] += 1
                pair_counts[other] += 1
    return sorted(chosen)
