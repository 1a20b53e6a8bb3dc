"""The doctor's check of secrets that were stored before they were refused."""

from collections.abc import Iterator

from contacts.models import Contact
from memories.doctor.findings import CHUNK, Check, Finding, Fix
from memories.models import Memory
from understanding.statements.secrets import refusal

_MEMORY = (
    "memory tells a secret: erase it (DELETE memories/{id}/ of the API, or Forget on its page)"
)
_CONTACT = "an attribute of the contact tells a secret: remove it (PATCH contacts/{id}/ of the API, or its page)"


def nothing_tells_a_secret() -> Iterator[Finding]:
    """No memory and no attribute of a contact tells what would be refused today. A finding says
    where it stands, not what it is; a profile follows from its contact."""
    facts = Memory.objects.filter(kind=Memory.Kind.FACT).order_by("pk")
    told = facts.values_list("end_user_id", "pk", "content", "quote", "facts")
    for end_user, memory, content, quote, known in told.iterator(CHUNK):
        values = [{fact["key"]: fact["value"]} for fact in known]
        if refusal(content=content, quote=quote, facts=values):
            yield Finding(end_user, memory, _MEMORY)
    people = Contact.objects.standing().order_by("pk")
    for end_user, contact, attributes in people.values_list(
        "end_user_id", "pk", "attributes"
    ).iterator(CHUNK):
        values = [{key: [one["value"] for one in said]} for key, said in attributes.items()]
        if refusal(attributes=values):
            yield Finding(end_user, contact, _CONTACT)


CHECKS: dict[Check, Fix | None] = {nothing_tells_a_secret: None}
