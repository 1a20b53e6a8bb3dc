"""The pages of one person, and what is done from them."""

from django.test import Client

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Link, Memory
from tests.factories import make_memory


def at(contact: Contact, path: str = "") -> str:
    return f"/u/{contact.end_user_id}/people/{contact.pk}/{path}"


def page(client: Client, contact: Contact, path: str = "") -> str:
    response = client.get(at(contact, path))
    assert response.status_code == 200, response
    return response.content.decode()


def undo_latest(client: Client, user: EndUser) -> None:
    change = user.changes.order_by("-created_at").first()
    client.post(f"/u/{user.pk}/changes/{change.pk}/undo/")


def undo_from_toast(client: Client, response) -> None:
    [form] = [message.extra_tags.split() for message in response.context["messages"]]
    client.post(f"/u/{form[1]}/changes/undo/", {"change": form[2:]})


def fresh(contact: Contact) -> Contact:
    return Contact.objects.get(pk=contact.pk)


TABS = ["", "?tab=memories", "?tab=timeline", "?tab=relations", "?tab=changes", "?tab=nonsense"]


def three(user: EndUser, contact: Contact) -> list[Memory]:
    return [make_memory(user, f"小红 {number}", contact) for number in range(3)]


def ids(memories: list[Memory]) -> dict[str, list[str]]:
    return {"memory": [str(memory.pk) for memory in memories]}


def links(contact: Contact) -> int:
    return Link.objects.standing().filter(contact=contact, memory__kind="fact").count()
