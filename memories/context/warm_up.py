"""What a process loads before somebody waits for it: dictionaries, patterns, statements, the local
model."""

from uuid import uuid4

from accounts.models import App, EndUser
from accounts.scope import user_scope
from memories.context import build
from memories.context.request import ALL, ContextRequest
from memories.providers.factory import embedder
from understanding.people.mentions import entries_of, find_mentions
from understanding.requests import forget_reading
from understanding.types import Person

# In each language: a name, a turn that has it, a message that refers back to it, and one that asks
# to forget, which each stored message is looked through for.
_TALKS = (
    (
        "小红",
        "我同事小红在腾讯上班，她妈妈是医生",
        "她最近怎么样了，那个养猫的朋友还在忙吗？",
        "请忘掉小红这个人吧",
    ),
    (
        "Greta",
        "My friend Greta works at Siemens, her mum is a nurse.",
        "How is she, and who paints?",
        "Please forget Greta.",
    ),
)


def warm_up() -> None:
    """Builds a context in each language for an end user that no database has; takes a second or
    two. A model server is not asked."""
    nobody = EndUser(pk=0, app=App())
    wanted = [part for part in ALL if part != "search" or embedder().in_process]
    with user_scope(nobody):
        for name, turn, message, request in _TALKS:
            forget_reading.read(request)
            find_mentions(turn, entries_of([Person(uuid4(), name)]))
            build.trace(
                nobody,
                ContextRequest(
                    message, history=[("user", turn)], include=wanted, resolve="fast", deadline_ms=0
                ),
            )
    build.is_warm = True
