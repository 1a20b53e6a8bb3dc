"""The six methods of mem0's client, for those who move from it to Mio."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, cast
from uuid import uuid4

from mio_client.client import Mio
from mio_client.types import Found, Memory, MessageForm

MAX_RESULTS = 100


class MemoryClient:
    """mem0's client on Mio: ``user_id`` (or ``filters={"user_id": …}``) is the end user, ``run_id``
    the session; the ``user_id`` of the client is meant where a call names nobody. Methods raise
    MioError, and ValueError where no user is named or a filter is unknown."""

    def __init__(self, mio: Mio, user_id: str | None = None) -> None:
        self.mio = mio
        self.user_id = user_id

    def add(
        self,
        messages: str | Mapping[str, Any] | list[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        infer: bool = True,
    ) -> dict[str, Any]:
        """Sends a conversation, which is read in the background: ``results`` is empty then. With
        ``infer=False`` each message becomes a memory as it stands, named in ``results``."""
        user, session = self._meant(user_id, filters, run_id)
        said = messages if isinstance(messages, list) else [messages]
        turns: list[Mapping[str, Any]] = [
            {"role": "user", "content": one} if isinstance(one, str) else one for one in said
        ]
        noted = metadata or {}
        if not infer:
            stored = [
                self.mio.add_memory(user, content=turn["content"], metadata=noted) for turn in turns
            ]
            return {"results": [{**_shown(one, user), "event": "ADD"} for one in stored]}
        forms: list[MessageForm] = [
            {
                "id": str(uuid4()),
                "role": turn["role"],
                "content": turn["content"],
                "session_id": session,
                "metadata": noted,
            }
            for turn in turns
        ]
        return {"results": [], **self.mio.add_messages(user, messages=forms)}

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 10,
        threshold: float | None = None,
    ) -> dict[str, Any]:
        """What fits a query best; with ``threshold`` (0 to 1) only what is so likely to have to do
        with it."""
        user, _ = self._meant(user_id, filters)
        found = self.mio.search(user, query=query, limit=min(top_k, MAX_RESULTS))["results"]
        kept = [one for one in found if threshold is None or (one["relevance"] or 0) >= threshold]
        return {"results": [{**_shown(one, user), "score": one["score"]} for one in kept]}

    def get_all(
        self,
        *,
        user_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        page: int = 1,
        page_size: int = 100,
    ) -> dict[str, Any]:
        """A page of the memories that hold, the latest first, and the ``count`` of all."""
        user, _ = self._meant(user_id, filters)
        rows = self.mio.each(self.mio.list_memories, user, limit=min(page_size, MAX_RESULTS))
        chosen = islice(rows, (page - 1) * page_size, page * page_size)
        count = self.mio.list_memories(user, limit=1)["count"]
        return {"count": count, "results": [_shown(one, user) for one in chosen]}

    def get(self, memory_id: str, *, user_id: str | None = None) -> dict[str, Any]:
        """One memory."""
        user, _ = self._meant(user_id)
        return _shown(self.mio.get_memory(user, memory_id), user)

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        *,
        user_id: str | None = None,
    ) -> dict[str, Any]:
        """Corrects a memory; of ``metadata`` the keys that are given."""
        user, _ = self._meant(user_id)
        given = {"content": text, "metadata": metadata}
        fields = cast(Any, {key: value for key, value in given.items() if value is not None})
        return _shown(cast(Memory, self.mio.update_memory(user, memory_id, **fields)), user)

    def delete(self, memory_id: str, *, user_id: str | None = None) -> dict[str, str]:
        """Erases a memory for good."""
        self.mio.delete_memory(self._meant(user_id)[0], memory_id)
        return {"message": "Memory deleted successfully!"}

    def _meant(
        self,
        user_id: str | None,
        filters: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> tuple[str, str]:
        """The end user and the session that a call is about."""
        given = dict(filters or {})
        user = user_id or given.pop("user_id", None) or self.user_id
        session = run_id or given.pop("run_id", "")
        if given:
            raise ValueError(f"Mio has no filter {', '.join(map(repr, given))}: user_id, run_id")
        if not user:
            raise ValueError("Say whose memory it is: user_id=, or MemoryClient(mio, user_id=…)")
        return str(user), str(session)


def _shown(memory: Memory | Found, user: str) -> dict[str, Any]:
    return {
        "id": memory["id"],
        "memory": memory["content"],
        "user_id": user,
        "metadata": memory["metadata"],
        "created_at": memory["created_at"],
        "updated_at": memory["updated_at"],
    }
