"""The playground as tests use it: a question, its answer, and the traces it must not leave."""

from typing import Any

from django.test import Client
from django_q.models import OrmQ

from accounts.models import EndUser
from memories.context.request import ALL
from memories.models import Edge, Injected, Memory, Retrieval
from memories.pipeline.buffer import Incoming, receive

SHE = "她最近怎么样了"
OPTIONS = {"limit": 10, "token_budget": 1500, "include": list(ALL)}


def at(user: EndUser, path: str = "") -> str:
    return f"/u/{user.pk}/playground/{path}"


def ask(client: Client, user: EndUser, message: str = SHE, **fields: Any) -> Any:
    sent = {"message": message, "before": "session:", **OPTIONS, **fields}
    return Client.post(client, at(user), sent)  # a question: it carries nothing of what was shown


def text(response: Any) -> str:
    return response.content.decode()


def talk(user: EndUser, *said: str, session: str = "s1") -> None:
    receive(
        user.app,
        user.external_id,
        [
            Incoming("user" if n % 2 == 0 else "assistant", words, session_id=session)
            for n, words in enumerate(said)
        ],
    )
    user.refresh_from_db()


def marks(user: EndUser) -> list[object]:
    return [
        Injected.objects.count(),
        Retrieval.objects.count(),
        OrmQ.objects.count(),
        user.changes.count(),
        Edge.objects.count(),
        list(Memory.objects.of(user).order_by("pk").values_list("access_count", "importance")),
    ]
