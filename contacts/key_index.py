"""The one statement behind every lookup of names: which of these keys are whose."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from accounts.models import EndUser
from contacts.types import Entry, How, NameKey, Person

# People that one key is looked up for: a word that means more of them means none of them,
# and it bounds the cost of "someone in Shenzhen".
MAX_ALIKE = 100

# Plain SQL: building this from expressions takes four times as long as running it. Contacts
# are read by correlated subqueries because the planner overrates how many keys of a sentence
# are names, and would read all contacts of the user to join them.
_KNOWN = (
    "json_build_object('id', {0}.id, 'name', {0}.name, 'aliases', {0}.aliases, "
    "'relationship', {0}.relationship, 'gender', {0}.gender, 'card', {0}.card)"
)
_HITS = f"""
WITH found AS (
    SELECT key, how, text, contact_id FROM (
        SELECT key, how, text, contact_id,
               row_number() OVER (PARTITION BY key ORDER BY contact_id) AS place
        FROM contacts_contactkey WHERE end_user_id = %(end_user)s AND key = ANY (%(keys)s)
    ) named WHERE place <= %(most)s
    UNION ALL (
        SELECT key, how, text, contact_id FROM contacts_contactkey
        WHERE end_user_id = %(end_user)s AND key = ANY (%(attributes)s)
        ORDER BY length(key) DESC, contact_id LIMIT %(most)s)
)
SELECT found.key, found.how, found.text,
       (SELECT {_KNOWN.format("c")} FROM contacts_contact c WHERE c.id = found.contact_id),
       ARRAY(SELECT json_build_object(
                 'kind', r.kind, 'subject', {_KNOWN.format("s")}, 'object', {_KNOWN.format("o")})
             FROM contacts_relation r
             JOIN contacts_contact s ON s.id = r.subject_id
             JOIN contacts_contact o ON o.id = r.object_id
             WHERE %(related)s AND found.contact_id IN (r.subject_id, r.object_id) ORDER BY r.id)
FROM found
"""  # noqa: S608 only constants are put together


def person_of(known: dict[str, Any]) -> Person:
    """The person of a contact as the statement returns it."""
    return Person(
        UUID(known["id"]),
        known["name"],
        tuple(known["aliases"]),
        known["relationship"],
        known["gender"],
    )


class Hit(NamedTuple):
    """A key that occurs in a text. ``known`` is the contact; ``relations`` are its relations,
    each with ``kind``, ``subject`` and ``object``."""

    key: str
    how: How
    text: str
    known: dict[str, Any]
    relations: list[dict[str, Any]]

    @property
    def entry(self) -> Entry:
        return Entry(NameKey(self.key, self.how, self.text), person_of(self.known))


def hits(
    end_user: EndUser,
    keys: Iterable[str],
    *,
    attributes: Iterable[str] = (),
    related: bool = False,
) -> list[Hit]:
    """The keys of the end user's contacts that are among ``keys``, with their contacts and
    cards, and if ``related`` their relations: one statement. At most ``MAX_ALIKE`` a key; of
    ``attributes``, keys that many people may share, so many in all, the most specific first.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _HITS,
            {
                "end_user": end_user.pk,
                "keys": list(keys),
                "attributes": list(attributes),
                "most": MAX_ALIKE,
                "related": related,
            },
        )
        return [Hit(*row) for row in cursor.fetchall()]
