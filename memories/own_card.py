"""The end user's own card: what a model should always know about the user, whatever the topic."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from itertools import chain, zip_longest
from typing import Any

from accounts.cells import fetch
from accounts.models import EndUser
from accounts.sql_files import sql_pieces
from contacts.cards import line
from understanding.attributes import ON_OWN_CARD, is_single, label
from understanding.languages import wording
from understanding.names import KIN, kinds_of
from understanding.roles import is_relation_of_other, roles_of, terms
from understanding.text import estimate_tokens, normalise, one_line

_SQL = sql_pieces(__file__)

MOST_TOKENS = 150
MAX_VALUE = 80  # graphemes of one value
MOST_FAMILY = 6  # contacts

Facts = Sequence[Mapping[str, Any]]
# As Contact.attributes.
Attributes = dict[str, list[dict[str, Any]]]


def attributes_of(facts: Facts, at: datetime) -> Attributes:
    """Returns the values of ``EndUser.own_facts`` valid at ``at`` by key, in the order of the card,
    the last stated first: each once with the memories that state it, one for a single key."""
    values_by_key: dict[str, dict[str, dict[str, Any]]] = {key: {} for key in ON_OWN_CARD}
    for fact in facts:
        values = values_by_key.get(fact["kind"])
        if values is None or not _is_valid(fact, at):
            continue
        normal = normalise(fact["value"])
        if normal in values:
            values[normal]["sources"].append(fact["memory"])
        elif not (values and is_single(fact["kind"])):
            since = fact.get("since")
            values[normal] = {"value": fact["value"], "sources": [fact["memory"]], "since": since}
    return {key: list(values.values()) for key, values in values_by_key.items() if values}


def current_attributes(end_user: EndUser) -> Attributes:
    """Returns what is valid for the user at the end of the day of the conversation."""
    day_ends = datetime.combine(end_user.day_of_talk, time.max, end_user.zone)
    return attributes_of(end_user.own_facts, day_ends)


def _is_valid(fact: Mapping[str, Any], at: datetime) -> bool:
    since, until = (
        fact.get(name) and datetime.fromisoformat(fact[name]) for name in ("since", "until")
    )
    return not (since and since > at) and not (until and until <= at)


def text_of(end_user: EndUser) -> str:
    """Returns the card for a prompt: what is known about the user, and the contacts who are
    partners or relatives, the most mentioned first. One statement."""
    attributes = current_attributes(end_user)
    kin = [KIN + kind for group in ("partner", "family") for kind in kinds_of(group)]
    with_role = wording(end_user.writing_language)["note"]
    # Twice as many as are shown, since a name alone may look like a relative's.
    contacts = fetch(_SQL["family"], [end_user.pk, end_user.pk, kin, 2 * MOST_FAMILY])
    relatives = [
        {"value": with_role.format(name, role) if role and role != name else name}
        for name, role in contacts
        if is_family(name, role)
    ][:MOST_FAMILY]
    shown = {**attributes, "family": [*attributes.get("family", []), *relatives]}
    return render(
        {key: shown[key] for key in ON_OWN_CARD if shown.get(key)}, end_user.writing_language
    )


def is_family(name: str, relationship: str) -> bool:
    """Whether a contact is a partner or relative of the user: by its relationship, or if that is
    empty by a name that is such a word. A former partner is not, nor somebody who is only addressed
    like a relative (王阿姨, Auntie Wang) or by a word that also means others (老大, eldest or boss)."""
    roles = roles_of(relationship or name)
    if not roles or any(r.subtype not in ("partner", "family") or "ex" in r.tags for r in roles):
        return False
    return not is_relation_of_other(relationship) if relationship else normalise(name) in terms()


def render(known: Attributes, language: str) -> str:
    """Returns the card in at most MOST_TOKENS, one line per key, labels in ``language``. If not all
    values fit, the last stated value of each key goes before the others."""
    shown: dict[str, list[str]] = {}
    left = MOST_TOKENS
    # The first value of each key, then the second of each, and so on.
    rounds = zip_longest(*([(key, one["value"]) for one in known[key]] for key in known))
    for key, value in filter(None, chain(*rounds)):
        text = one_line(value, MAX_VALUE)
        caption = 0 if key in shown else estimate_tokens(label(key, language)) + 1
        # With the separator to the next value: an upper bound.
        cost = caption + estimate_tokens(text) + 1
        if text and cost <= left:
            shown.setdefault(key, []).append(text)
            left -= cost
    return "\n".join(line(key, shown[key], language) for key in known if key in shown)
