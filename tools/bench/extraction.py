"""What is stored about whom, and what never: buffers of messages through the whole pipeline.

Each buffer belongs to an end user of its own and goes through receive, extract, store, sync
and consolidate; what then stands in the database is compared with the gold.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from accounts.models import App, EndUser
from contacts.models import Contact
from contacts.store import flat_attributes
from memories.models import Memory
from memories.pipeline import run as pipeline
from memories.pipeline.buffer import Incoming, receive
from memories.providers.factory import embedder
from tools.bench.datasets import read_lines
from tools.bench.metrics import f1, ratio
from tools.bench.scratch import scratch_database
from understanding.roles import kinship
from understanding.text import letters

# Cosines of multilingual-e5-small from which a memory matches a gold one, or makes a forbidden claim:
# the formats of the gold sets fix them.
FOUND, FORBIDDEN = 0.88, 0.92
_DISTINCTIVE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d+(?:\.\d+)?|[A-Z]\w+(?: [A-Z]\w+)*")
_SECRET = re.compile(r"(?=\S*\d{3})[\w#@.!+-]{6,}")


@dataclass(frozen=True, slots=True)
class Made:
    """A contact that was made, with the values of its attributes."""

    name: str
    aliases: tuple[str, ...] = ()
    relationship: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that was stored: whom it is linked to, and whether it is the user's own."""

    content: str
    of_user: bool
    people: tuple[Made, ...] = ()


def run(paths: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """Contact F1 by name or alias, relationship accuracy of those found, attribute F1 by
    value, recall of memories, and the share of what must not be stored that was (and that
    of which the memory is nearer to it than to any of the gold); the same for each language under ``by_lang``."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with scratch_database():
        app = App.objects.create(name="bench")
        for case in tqdm(read_lines(paths), desc="extraction", disable=not progress):
            end_user = _told(app, case)
            counts[case["lang"]] += score(*_stored(end_user), case["gold"])
    overall: Counter[str] = sum(counts.values(), Counter())
    return figures(overall) | {"by_lang": {lang: figures(counts[lang]) for lang in counts}}


def figures(count: Counter[str]) -> dict[str, Any]:
    """The figures that the counts of some chats make."""
    return {
        "buffers": count["buffers"],
        "contact_f1": f1(count["contact"], count["contacts_gold"], count["contacts_made"]),
        "relationship_accuracy": ratio(count["relationship"], count["relationships"]),
        "attribute_f1": f1(count["attribute"], count["attributes_gold"], count["attributes_made"]),
        "memory_recall": ratio(count["memory"], count["memories_gold"]),
        "forbidden_stored": ratio(count["forbidden"], count["forbidden_gold"]),
        "forbidden_nearer": ratio(count["forbidden_nearer"], count["forbidden_gold"]),
    }


def _told(app: App, case: dict[str, Any]) -> EndUser:
    messages = [
        Incoming(
            m["role"], m["text"], created_at=datetime.fromisoformat(m["time"]).replace(tzinfo=UTC)
        )
        for m in case["messages"]
    ]
    end_user = receive(app, case["id"], messages).end_user
    pipeline.process(end_user.pk)
    return end_user


def _stored(end_user: EndUser) -> tuple[list[Made], list[Kept]]:
    """Who and what stands in the database of a user."""
    made = {
        contact.pk: Made(
            contact.name, tuple(contact.aliases), contact.relationship, tuple(_values(contact))
        )
        for contact in Contact.objects.of(end_user).standing().light()
    }
    facts = Memory.objects.of(end_user).active().facts().prefetch_related("links")
    kept = [
        Kept(
            memory.content,
            memory.subtype == "self",
            tuple(
                made[link.contact_id]
                for link in memory.links.all()
                if not link.rejected and link.contact_id in made
            ),
        )
        for memory in facts
    ]
    return list(made.values()), kept


def score(contacts: Sequence[Made], stored: Sequence[Kept], gold: dict[str, Any]) -> Counter[str]:
    """What of a chat's gold was made, and what not; :func:`figures` are made of such counts."""
    pairs = same_people(gold["contacts"], contacts)
    count = Counter(
        buffers=1,
        contact=len(pairs),
        contacts_gold=len(gold["contacts"]),
        contacts_made=len(contacts),
        **_forbidden(gold, stored),
        forbidden_gold=len(gold["not_memories"]),
        memory=_remembered(gold, stored),
        memories_gold=len(gold["memories"]),
        attributes_gold=sum(len(row["attributes"]) for row in gold["contacts"]),
    )
    for row, contact in pairs:
        count["attribute"] += _same_values(list(row["attributes"].values()), contact.values)
        count["attributes_made"] += len(contact.values)
        if row["relationship"]:
            count["relationships"] += 1
            count["relationship"] += _same_relation(row["relationship"], contact.relationship)
    return count


def _names(name: str, aliases: Sequence[str]) -> set[str]:
    """The normalised names; "用户的妈妈" is also 妈妈."""
    plain = {letters(n) for n in (name, *aliases)}
    return {n.removeprefix("用户的").removeprefix("theusers") for n in plain} | plain


def same_people(
    gold: Sequence[dict[str, Any]], contacts: Sequence[Made]
) -> list[tuple[dict[str, Any], Made]]:
    """Gold contacts with the stored contact that shares a name or alias, one to one."""
    left = list(contacts)
    pairs = []
    for row in gold:
        names = _names(row["name"], row["aliases"])
        found = next((c for c in left if names & _names(c.name, c.aliases)), None)
        if found is not None:
            left.remove(found)
            pairs.append((row, found))
    return pairs


def _values(contact: Contact) -> list[str]:
    flat = flat_attributes(contact).values()
    return [v for value in flat for v in (value if isinstance(value, list) else [value])]


def _same_values(gold: Sequence[str], made: Sequence[str]) -> int:
    """How many gold values have a stored one that contains them or is contained, one to one."""
    left = [plain for value in made if (plain := letters(value))]
    hits = 0
    for value in map(letters, gold):
        found = next((other for other in left if other in value or value in other), None)
        if found is not None:
            left.remove(found)
            hits += 1
    return hits


def _same_relation(gold: str, made: str) -> bool:
    """Whether both name the same relation: one within the other, or the same kinship."""
    one, other = letters(gold), letters(made)
    if not other:
        return False
    roles = {role.kind for term in (gold, made) if (role := kinship(term))}
    return (
        one in other
        or other in one
        or (len(roles) == 1 and bool(kinship(gold)) and bool(kinship(made)))
    )


def _embedded(texts: Sequence[str]) -> np.ndarray:
    vectors = embedder().embed_passages(texts) if texts else []
    return np.asarray(vectors, dtype=float).reshape(len(texts), -1)


def _remembered(gold: dict[str, Any], stored: Sequence[Kept]) -> int:
    """Gold memories that a stored one of the same subject says: near in meaning, or holding
    its distinctive values; one to one, the surest pairs first."""
    names = {row["name"]: _names(row["name"], row["aliases"]) for row in gold["contacts"]}
    near = (
        _embedded([m["content"] for m in gold["memories"]])
        @ _embedded([m.content for m in stored]).T
        if gold["memories"] and stored
        else np.zeros((0, 0))
    )
    candidates = []
    for i, row in enumerate(gold["memories"]):
        person = row["person"]
        subject = names.get(person, _names(person, ())) if person else None
        wanted = _distinctive(row["content"], subject or set())
        for j, memory in enumerate(stored):
            if not _same_subject(subject, memory):
                continue
            whole = bool(wanted) and all(value in letters(memory.content) for value in wanted)
            if whole or near[i, j] >= FOUND:
                candidates.append((1.0 if whole else float(near[i, j]), i, j))
    found: set[int] = set()
    taken: set[int] = set()
    for _, i, j in sorted(candidates, reverse=True):
        if i not in found and j not in taken:
            found.add(i)
            taken.add(j)
    return len(found)


def _distinctive(content: str, names: set[str]) -> set[str]:
    values = {letters(value) for value in _DISTINCTIVE.findall(content)}
    return values - names - {"the", "user", "theuser", ""}


def _same_subject(subject: set[str] | None, memory: Kept) -> bool:
    if subject is None:
        return not memory.people or memory.of_user
    return any(subject & _names(person.name, person.aliases) for person in memory.people)


def _forbidden(gold: dict[str, Any], stored: Sequence[Kept]) -> dict[str, int]:
    """How many claims a stored memory makes, or whose secret it holds; and how many a memory that
    is nearer to them than to all that was to be stored. In Chinese the model takes a right memory
    and a wrong claim about one matter for one statement, so only the second figure tells a
    reader that keeps what it should from one that doesn't."""
    claims = gold["not_memories"]
    if not claims or not stored:
        return {}
    made = _embedded([memory.content for memory in stored])
    near = _embedded(claims) @ made.T
    right = _embedded([memory["content"] for memory in gold["memories"]]) @ made.T
    best = right.max(axis=0) if len(right) else np.zeros(len(stored))
    secret = [
        any(word in memory.content for word in _SECRET.findall(claim) for memory in stored)
        for claim in claims
    ]
    made_it = near >= FORBIDDEN
    return {
        "forbidden": int(np.sum(made_it.any(axis=1) | secret)),
        "forbidden_nearer": int(np.sum((made_it & (near > best)).any(axis=1) | secret)),
    }
