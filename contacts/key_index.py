"""The index of lookup keys: the one statement of every lookup, and search while typing."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

from accounts.cells import fetch
from accounts.models import EndUser
from accounts.sql_files import sql_pieces
from understanding.coreference import discourse
from understanding.names import name_key, readings, syllable
from understanding.text import is_cjk, is_han
from understanding.types import Entry, How, NameKey, Person

MAX_ALIKE = 100  # hits per key: a word that more people share refers to none of them

# Plain SQL: building this from expressions takes four times as long as running it. Contacts
# are read by correlated subqueries because the planner overrates how many keys of a sentence
# are names, and would read all contacts of the user to join them.
KNOWN = (
    "json_build_object('id', {0}.id, 'name', {0}.name, 'aliases', {0}.aliases, "
    "'relationship', {0}.relationship, 'gender', {0}.gender, 'card', {0}.card, "
    "'coming', {0}.coming, 'archived', {0}.archived_at IS NOT NULL)"
)
_SQL = sql_pieces(__file__, **{alias: KNOWN.format(alias) for alias in "cso"})


def person_of(known: dict[str, Any]) -> Person:
    """Returns the person of a contact from a row of the statement."""
    pk, aliases = UUID(known["id"]), tuple(known["aliases"])
    return Person(pk, known["name"], aliases, known["relationship"], known["gender"])


class Hit(NamedTuple):
    """A key that is in a text and in the index. ``contact`` is whose it is; ``relations`` are
    theirs, each with ``kind``, ``subject`` and ``object``."""

    key: str
    how: How
    text: str
    contact: dict[str, Any]
    relations: list[dict[str, Any]]

    @property
    def entry(self) -> Entry:
        return Entry(NameKey(self.key, self.how, self.text), person_of(self.contact))


def hits(
    end_user: EndUser,
    keys: Iterable[str],
    *,
    days: Iterable[str] = (),
    contacts: Iterable[UUID] = (),
    related: bool = False,
) -> list[Hit]:
    """Returns the hits among ``keys``, with their contacts and cards, and if ``related`` their
    relations: one statement. ``contacts`` that are not merged are added with the key "". At most
    ``MAX_ALIKE`` hits per key, and as many in all for ``days``, keys that many people may share."""
    wanted = {
        "end_user": end_user.pk,
        "keys": list(keys),
        "days": list(days),
        "contacts": list(contacts),
        "most": MAX_ALIKE,
        "related": related,
    }
    return [Hit(*row) for row in fetch(_SQL["hits"], wanted)]


def relations_of(
    hits: Collection[Hit],
) -> tuple[list[discourse.Relation], dict[UUID, dict[str, Any]]]:
    """Returns the relations of the people of ``hits``, stored or stated by a name such as 阿竹的妈妈,
    and the contacts in the stored ones by id, as the statement returns them."""
    everyone = {p.id: p for hit in hits if (p := person_of(hit.contact))}
    known: dict[UUID, dict[str, Any]] = {}
    stored = []
    for row in {str(row): row for hit in hits for row in hit.relations}.values():
        subject, other = person_of(row["subject"]), person_of(row["object"])
        stored.append(discourse.Relation(subject, row["kind"], other))
        everyone |= {subject.id: subject, other.id: other}
        known |= {subject.id: row["subject"], other.id: row["object"]}
    return [*stored, *discourse.stated_relations(list(everyone.values()))], known


PREFIX = "find:"
# Bounds the keys of one name, and of one person with many aliases.
MAX_PARTS, MAX_KEYS, MAX_LENGTH = 8, 160, 60
MAX_SORT_KEY = 200


def keys_of(person: Person) -> Iterator[NameKey]:
    """Yields every key that typing one of the person's names or aliases may begin."""
    text_by_form: dict[str, str] = {}
    for text in (person.name, *person.aliases):
        for form in _forms(name_key(text)):
            text_by_form.setdefault(form[:MAX_LENGTH], text)
    for form in list(text_by_form)[:MAX_KEYS]:
        # "fuzzy": to find names in a text, these are no evidence.
        yield NameKey(PREFIX + form, "fuzzy", text_by_form[form])


def typed(text: str) -> str:
    """Returns what was typed as the beginning of a key, "" if nothing of it is part of a key."""
    form = name_key(text).replace(" ", "")
    return PREFIX + form[:MAX_LENGTH] if form else ""


def sort_key(name: str) -> str:
    """Returns the key by which lists order a name: Chinese by pronunciation, syllable by syllable,
    among the words of other scripts."""
    return " ".join(_units_and_sounds(name_key(name))[1])[:MAX_SORT_KEY]


def _units_and_sounds(key: str) -> tuple[list[str], list[str]]:
    """The characters of a Chinese name key, or the words of another, and how each is read."""
    units = "".join(f" {char} " if is_cjk(char) else char for char in key).split()
    sounds = [*readings(key)] if key and all(map(is_han, key)) else []
    if len(sounds) != len(units):
        sounds = [syllable(one) if len(one) == 1 and is_han(one) else one for one in units]
    return units, sounds


def _forms(key: str) -> Iterator[str]:
    """Yields what may be typed for a name key from each part on: itself, pinyin, initials."""
    units, sounds = _units_and_sounds(key)
    initials = [sound[:1] for sound in sounds]
    for start in range(min(len(units), MAX_PARTS)):
        yield "".join(units[start:])
        sound = "".join(sounds[start:])
        yield sound
        if "v" in sound:  # 吕 is typed lv or lu
            yield sound.replace("v", "u")
        if len(units) - start > 1:
            yield "".join(initials[start:])
