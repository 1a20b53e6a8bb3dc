"""One factory a model: sensible defaults, any field overridden by name."""

import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from accounts import scope
from accounts.models import App, EndUser
from contacts import store
from contacts.models import Contact, Suggestion
from memories.models import Link, Memory, Message, Vector
from memories.models.memory import content_hash
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.providers.factory import embedder
from memories.search.tokens import tokenise
from understanding.names import name_key

_count = itertools.count(1)
SOME_DAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def json_value(value: str, sources: Iterable[Any] = (), since: str | None = None) -> dict[str, Any]:
    """One attribute value as an entry of ``Contact.attributes``."""
    return {"value": value, "sources": [str(source) for source in sources], "since": since}


def make_app(**fields: Any) -> App:
    return App.objects.create(**{"name": f"app {next(_count)}", **fields})


def make_end_user(**fields: Any) -> EndUser:
    fields.setdefault("app", None)
    fields["app"] = fields["app"] or make_app()
    return EndUser.objects.create(**{"external_id": f"user-{next(_count)}", **fields})


LIFE = (
    "我朋友小红在腾讯当工程师，她住在深圳。",
    "小红养了一只猫，叫奶茶。",
    "My friend Kim lives in Oslo and works at Equinor.",
    "Kim is allergic to peanuts, so I cooked without them.",
)


def make_life(
    app: App | None = None, external_id: str = "ann", said: Sequence[str] = LIFE
) -> EndUser:
    """An end user whose messages went through the pipeline: memories with vectors and tokens,
    contacts, links, edges, profiles."""
    incoming = [Incoming("user", text, session_id="life") for text in said]
    end_user = receive(app or make_app(), external_id, incoming).end_user
    with scope.undeclared(), scope.user_scope(end_user):
        run.process(end_user.pk)
    assert Vector.objects.of(end_user).exists()
    end_user.refresh_from_db()
    return end_user


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
        fields["embedding_model"] = space or embedder().space
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
