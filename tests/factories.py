"""One factory a model: sensible defaults, any field overridden by name."""

import itertools
from datetime import UTC, datetime
from typing import Any

from accounts.models import App, EndUser
from contacts import store
from contacts.models import Contact, Suggestion
from contacts.names import name_key
from memories.models import Link, Memory, Message
from memories.models.memory import content_hash
from memories.providers.factory import embedder
from memories.search import vectors
from memories.search.tokens import tokenise

_count = itertools.count(1)
SOME_DAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def make_app(**fields: Any) -> App:
    return App.objects.create(**{"name": f"app {next(_count)}", **fields})


def make_end_user(**fields: Any) -> EndUser:
    fields.setdefault("app", None)
    fields["app"] = fields["app"] or make_app()
    return EndUser.objects.create(**{"external_id": f"user-{next(_count)}", **fields})


def make_contact(end_user: EndUser, name: str = "小红", **fields: Any) -> Contact:
    """A contact with its keys and card; the one that bears the name, where it is taken."""
    name = store.clean_name(name)
    contact = Contact(
        **{"end_user": end_user, "name": name, "name_key": name_key(name), "mention_count": 0}
        | fields
        | {"aliases": []}
    )
    store.add_aliases(contact, fields.get("aliases", ()))
    taken = store.create_all(end_user, [contact], namesakes=[0] if "namesake" in fields else [])
    return Contact.objects.get(pk=taken[0]) if taken else contact


def make_suggestion(one: Contact, other: Contact, **fields: Any) -> Suggestion:
    """That the two are likely one person."""
    first, second = sorted((one.pk, other.pk))
    return Suggestion.objects.create(
        **{
            "end_user_id": one.end_user_id,
            "first_id": first,
            "second_id": second,
            "verdict": "likely",
            "confidence": 0.7,
            **fields,
        }
    )


def make_memory(
    end_user: EndUser, content: str = "小红在腾讯工作", *about: Contact, **fields: Any
) -> Memory:
    """A memory about the given contacts; without a vector unless an ``embedding`` is given,
    of the configured model unless ``space`` names another."""
    space = fields.pop("space", None)
    if fields.get("embedding") is not None:
        fields["embedding_model"] = space or vectors.space(embedder())
    memory = Memory.objects.create(
        **{
            "end_user": end_user,
            "content": content,
            "content_hash": content_hash(content),
            "tokens": tokenise(content),
            "type": "personal",
            "subtype": "friend",
            "said_at": SOME_DAY,
            **fields,
        }
    )
    for contact in about:
        Link.objects.create(
            end_user=end_user, contact=contact, memory=memory, made_by=Link.MadeBy.EXTRACTOR
        )
        store.save(contact, [])
    return memory


def make_message(end_user: EndUser, content: str = "小红在腾讯工作", **fields: Any) -> Message:
    end_user.message_seq += 1
    end_user.save(update_fields=["message_seq"])
    return Message.objects.create(
        **{
            "end_user": end_user,
            "seq": end_user.message_seq,
            "role": "user",
            "content": content,
            "created_at": SOME_DAY,
            **fields,
        }
    )
