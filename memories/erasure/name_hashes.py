"""Hashes of erased names, so that a message from before the erasure that is read only now creates
no contact again. Who mentions such a person later states something new."""

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
    """Returns a hash of ``text`` keyed by the secret of this installation and the end user's id."""
    return hashes_ever(end_user, text)[0]


def hashes_ever(end_user: EndUser, text: str) -> list[str]:
    """Returns the hash and those under SECRET_KEY_FALLBACKS: what is hashed can't be rehashed."""
    salt = f"{SALT}.{end_user.external_id}"
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [salted_hmac(salt, text, secret=key, algorithm="sha256").hexdigest() for key in keys]


def hashes_of(end_user: EndUser, names: Iterable[str]) -> list[str]:
    """Returns the sorted hashes of the keys of these names."""
    return sorted({hash_of(end_user, name_key(name)) for name in names} - {hash_of(end_user, "")})


def forgotten(end_user: EndUser) -> dict[str, datetime]:
    """Returns when each name was last asked to be forgotten, by its hash. Sends no statement for a
    user of whom nothing was ever erased."""
    if end_user.forgetting_until is None:
        return {}
    rows = Erasure.objects.of(end_user).filter(state=Erasure.State.ERASED)
    erasures = rows.exclude(name_hashes=[]).order_by("requested_at")
    pairs = erasures.values_list("name_hashes", "requested_at")
    return {name_hash: requested_at for hashes, requested_at in pairs for name_hash in hashes}


def named_in(end_user: EndUser, text: str, held: Iterable[str]) -> set[str]:
    """Returns the hashes among ``held`` of names that ``text`` may contain."""
    keys = candidate_keys(text)
    return {one for key in keys for one in hashes_ever(end_user, key)} & {*held}


def without_forgotten(
    end_user: EndUser, found: Extraction, turns: Sequence[Turn], hashes: Mapping[str, datetime]
) -> Extraction:
    """Returns ``found`` without erased people, and what it states about them, unless a turn said
    and received after the erasure names them. ``hashes`` as ``forgotten`` returns them."""
    erased = dict(hashes)
    if not erased:
        return found
    rows = Message.objects.of(end_user).filter(pk__in=[turn.id for turn in turns])
    received = dict(rows.values_list("pk", "received_at"))
    for turn in turns:
        arrived_at = min(turn.said_at, received.get(turn.id, turn.said_at))
        for name_hash in named_in(end_user, turn.content, erased):
            if name_hash in erased and arrived_at > erased[name_hash]:
                del erased[name_hash]
    return _drop(end_user, found, erased) if erased else found


def _drop(end_user: EndUser, extraction: Extraction, erased: Mapping[str, datetime]) -> Extraction:
    """Returns an extraction without people whose name is ``erased``, and what is about them."""

    def is_erased(person: ExtractedPerson) -> bool:
        keys = {name_key(name) for name in (person.name, *person.aliases)} - {""}
        return any(one in erased for key in keys for one in hashes_ever(end_user, key))

    refs = {person.ref for person in extraction.people if is_erased(person)}
    names = {
        normalise(n) for p in extraction.people if p.ref not in refs for n in (p.name, *p.aliases)
    }

    def names_erased(text: str) -> bool:
        text = normalise(text)
        for name in sorted(names, key=len, reverse=True):  # 王小红 is not 小红
            text = text.replace(name, " ")
        return bool(named_in(end_user, text, erased))

    def is_about_erased(memory: ExtractedMemory) -> bool:
        people = {*memory.people, *(fact.person for fact in memory.facts)}
        return not refs.isdisjoint(people) or names_erased(memory.content)

    people = [person for person in extraction.people if person.ref not in refs]
    return replace(
        extraction,
        people=tuple(
            replace(person, relationship="") if names_erased(person.relationship) else person
            for person in people
        ),
        memories=tuple(memory for memory in extraction.memories if not is_about_erased(memory)),
        relations=tuple(
            one for one in extraction.relations if refs.isdisjoint({one.subject, one.object})
        ),
    )
