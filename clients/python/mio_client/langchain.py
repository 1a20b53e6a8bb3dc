"""LangChain: a retriever of memories, and a chat history that Mio learns from."""

from collections.abc import Sequence

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from mio_client.client import Mio, MioError
from mio_client.transcript import Ids, Item, batches, item_of, message_of
from mio_client.types import Found, Message, MessageForm, RoleEnum

ROLES: dict[str, RoleEnum] = {"human": "user", "ai": "assistant", "system": "system"}
TYPES = {"user": "human", "assistant": "ai", "system": "system", "tool": "system"}
PAGE = 200


class MioRetriever(BaseRetriever):
    """The memories of one end user that fit a query best, at most ``k`` (1 to 100), and only what
    is as likely to have to do with it as ``min_relevance`` (0 to 1) says. Raises MioError."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    mio: Mio
    user: str
    k: int = 10
    min_relevance: float = 0.0

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        found = self.mio.search(self.user, query=query, limit=k or self.k)["results"]
        return [_document(one) for one in found if (one["relevance"] or 0) >= self.min_relevance]


def _document(memory: Found) -> Document:
    metadata = {
        "type": memory["type"],
        "people": [person["name"] for person in memory["people"]],
        "said_at": memory["said_at"],
        "score": memory["score"],
        "relevance": memory["relevance"],
        "reason": memory["reason"],
        "metadata": memory["metadata"],
    }
    return Document(id=memory["id"], page_content=memory["content"], metadata=metadata)


class MioChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session of one end user, as they were added. ``clear`` erases them for
    good, with what was learnt from them alone. Raises MioError, and ValueError for a message that
    is too long."""

    def __init__(self, mio: Mio, user: str, session_id: str) -> None:
        super().__init__()
        self.user = user
        self.session_id = session_id
        self._mio = mio
        self._ids = Ids()

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages of the session, the oldest first."""
        return messages_from_dict([_item(message) for message in reversed(self._stored())])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds messages at the end; all that are added again after a failure are stored once."""
        forms = [_message(message_to_dict(message), self.session_id) for message in messages]
        self._ids.give(forms)
        for batch in batches(forms):
            self._mio.add_messages(self.user, messages=batch)
        self._ids.stored(len(forms))

    def clear(self) -> None:
        """Erases the messages of the session."""
        if self._stored():
            self._mio.delete_session(self.user, session_id=self.session_id)

    def _stored(self) -> list[Message]:
        """The messages, the latest first; none of a user that Mio doesn't know yet."""
        listed = self._mio.each(
            self._mio.list_messages, self.user, session_id=self.session_id, limit=PAGE
        )
        try:
            return list(listed)
        except MioError as error:
            if error.code == "unknown_user":
                return []
            raise


def _message(item: Item, session_id: str) -> MessageForm:
    spoken = isinstance(item["data"]["content"], str)
    at = ("data", "content") if spoken else None
    return message_of(item, ROLES.get(item["type"]), at, session_id)


def _item(message: Message) -> Item:
    """The message as LangChain keeps it; of one that something else stored, what was said."""
    said = {"type": TYPES[message["role"]], "data": {"content": message["content"]}}
    return item_of(message) or said
