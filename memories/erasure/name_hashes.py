"""Hashes of forgotten names, so that a message from before the erasure that is read only now makes
nobody anew. Who speaks of such a person later tells something new."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.utils.crypto import salted_hmac

from accounts.models import EndUser
from memories.models import Erasure, Message
from memories.types import ExtractedMemory, ExtractedPerson, Extraction, Turn
from understanding.names import name_key
from understanding.people.mentions import candidate_keys
from understanding.text import normalise

SALT = "mio.forgotten-name"


def hash_of(end_user: EndUser, text: str) -> str:
    """A hash keyed by the secret of this installation and the end user's id."""
    return hashes_ever(end_user, text)[0]


def hashes_ever(end_user: EndUser, text: str) -> list[str]:
    """Its hash, and those under SECRET_KEY_FALLBACKS: what was hashed can't be hashed anew."""
    salt = f"{SALT}.{end_user.external_id}"
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [salted_hmac(salt, text, secret=key, algorithm="sha256").hexdigest() for key in keys]


def hashes_of(end_user: EndUser, names: Iterable[str]) -> list[str]:
    return sorted({hash_of(end_user, name_key(name)) for name in names} - {hash_of(end_user, "")})


def forgotten(end_user: EndUser) -> dict[str, datetime]:
    """When each name was last asked to be forgotten, by its hash. No statement for a user of whom
    nothing was ever erased."""
    if end_user.forgetting_until is None:
        return {}
    rows = Erasure.objects.of(end_user).filter(state=Erasure.State.ERASED)
    kept = rows.exclude(name_hashes=[]).order_by("requested_at")
    pairs = kept.values_list("name_hashes", "requested_at")
    return {one: asked for hashes, asked in pairs for one in hashes}


def named_in(end_user: EndUser, text: str, held: Iterable[str]) -> set[str]:
    """The hashes among ``held`` of names that ``text`` may contain."""
    keys = candidate_keys(text)
    return {one for key in keys for one in hashes_ever(end_user, key)} & {*held}


def without_forgotten(
    end_user: EndUser, found: Extraction, turns: Sequence[Turn], hashes: Mapping[str, datetime]
) -> Extraction:
    """``found`` without people whom no turn said or received after their erasure names, and what it
    tells of them. ``hashes`` as ``forgotten`` returns them."""
    held = dict(hashes)
    if not held:
        return found
    rows = Message.objects.of(end_user).filter(pk__in=[turn.id for turn in turns])
    received = dict(rows.values_list("pk", "received_at"))
    for turn in turns:
        came = min(turn.said_at, received.get(turn.id, turn.said_at))
        for one in named_in(end_user, turn.content, held):
            if one in held and came > held[one]:
                del held[one]
    return _without(end_user, found, held) if held else found


def _without(end_user: EndUser, found: Extraction, held: Mapping[str, datetime]) -> Extraction:
    def gone(person: ExtractedPerson) -> bool:
        keys = {name_key(name) for name in (person.name, *person.aliases)} - {""}
        return any(one in held for key in keys for one in hashes_ever(end_user, key))

    refs = {person.ref for person in found.people if gone(person)}
    known = {normalise(n) for p in found.people if p.ref not in refs for n in (p.name, *p.aliases)}

    def names_them(text: str) -> bool:
        text = normalise(text)
        for name in sorted(known, key=len, reverse=True):  # 王小红 is not 小红
            text = text.replace(name, " ")
        return bool(named_in(end_user, text, held))

    def of_them(memory: ExtractedMemory) -> bool:
        people = {*memory.people, *(fact.person for fact in memory.facts)}
        return not refs.isdisjoint(people) or names_them(memory.content)

    people = [person for person in found.people if person.ref not in refs]
    return replace(
        found,
        people=tuple(
            replace(person, relationship="") if names_them(person.relationship) else person
            for person in people
        ),
        memories=tuple(memory for memory in found.memories if not of_them(memory)),
        relations=tuple(
            one for one in found.relations if refs.isdisjoint({one.subject, one.object})
        ),
    )
