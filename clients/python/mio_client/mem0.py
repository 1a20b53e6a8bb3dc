"""The methods of mem0's client, for those who move from it to Mio."""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast
from uuid import uuid4

from mio_client.client import Mio, MioError
from mio_client.types import Found, Memory, MessageForm

MAX_RESULTS = 100
# What mem0 tells memories of a user apart by; Mio keeps it as metadata.
_NOTED = ("agent_id", "run_id", "app_id")


class MemoryClient:
    """mem0's client on Mio: ``user_id`` (or ``filters={"user_id": …}``) is the end user, ``agent_id``
    and ``run_id`` are noted as metadata, ``run_id`` is the session of a conversation too. The
    ``user_id`` of the client is meant where a call names nobody; a memory that was shown before is
    known to be its user's. Methods raise MioError, and ValueError where no user is named or a filter
    is unknown."""

    def __init__(self, mio: Mio, user_id: str | None = None) -> None:
        self.mio = mio
        self.user_id = user_id
        self._owners: dict[str, str] = {}

    def add(
        self,
        messages: str | Mapping[str, Any] | list[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        infer: bool = True,
    ) -> dict[str, Any]:
        """Sends a conversation, which is read in the background: ``results`` is empty then. With
        ``infer=False`` each message becomes a memory as it stands, named in ``results``."""
        user, told_apart = self._meant(user_id, filters, agent_id=agent_id, run_id=run_id)
        said = messages if isinstance(messages, list) else [messages]
        turns: list[Mapping[str, Any]] = [
            {"role": "user", "content": one} if isinstance(one, str) else one for one in said
        ]
        noted = {**(metadata or {}), **told_apart}
        if not infer:
            stored = [
                self.mio.add_memory(user, content=turn["content"], metadata=noted) for turn in turns
            ]
            return {"results": [{**self._shown(one, user), "event": "ADD"} for one in stored]}
        forms: list[MessageForm] = [
            {
                "id": str(uuid4()),
                "role": turn["role"],
                "content": turn["content"],
                "session_id": told_apart.get("run_id", ""),
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
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int = 10,
        threshold: float | None = None,
        profiles: bool = False,
    ) -> dict[str, Any]:
        """What fits a query best; with ``threshold`` (0 to 1) only what is so likely to have to do
        with it. Profiles, which sum a person up, are among it when they are asked for."""
        user, told_apart = self._meant(user_id, filters, agent_id=agent_id, run_id=run_id)
        most = min(limit or top_k, MAX_RESULTS)
        hits = self.mio.search(user, query=query, limit=min(3 * most, MAX_RESULTS))["results"]
        fitting = [
            one
            for one in hits
            if (threshold is None or (one["relevance"] or 0) >= threshold)
            and (profiles or one["kind"] != "profile")
            and told_apart.items() <= one["metadata"].items()
        ]
        return {
            "results": [{**self._shown(one, user), "score": one["score"]} for one in fitting[:most]]
        }

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        page: int = 1,
        page_size: int = 100,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """A page of the memories that hold, the latest first, and the ``count`` of all."""
        user, told_apart = self._meant(user_id, filters, agent_id=agent_id, run_id=run_id)
        query: Any = {"metadata": json.dumps(told_apart)} if told_apart else {}
        size = limit or page_size
        rows = self.mio.each(self.mio.list_memories, user, limit=min(size, MAX_RESULTS), **query)
        chosen = islice(rows, (page - 1) * size, page * size)
        count = self.mio.list_memories(user, limit=1, **query)["count"]
        return {"count": count, "results": [self._shown(one, user) for one in chosen]}

    def get(self, memory_id: str, *, user_id: str | None = None) -> dict[str, Any]:
        """One memory."""
        user = self._owner(memory_id, user_id)
        return self._shown(self.mio.get_memory(user, memory_id), user)

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        *,
        data: str | None = None,
        user_id: str | None = None,
    ) -> dict[str, Any]:
        """Corrects a memory (``data`` is another name of ``text``); of ``metadata`` the keys that are
        given."""
        user = self._owner(memory_id, user_id)
        given = {"content": text if text is not None else data, "metadata": metadata}
        fields = cast(Any, {key: value for key, value in given.items() if value is not None})
        return self._shown(cast(Memory, self.mio.update_memory(user, memory_id, **fields)), user)

    def history(self, memory_id: str, *, user_id: str | None = None) -> list[dict[str, Any]]:
        """What a memory said, from the first wording to the present one."""
        user = self._owner(memory_id, user_id)
        versions = self.mio.get_memory_history(user, memory_id)["results"]
        texts = ["", *(one["content"] for one in versions)]
        return [
            {
                "id": one["change_id"] or one["memory_id"],
                "memory_id": memory_id,
                "old_memory": before or None,
                "new_memory": one["content"],
                "event": "UPDATE" if before else "ADD",
                "created_at": one["since"],
            }
            for before, one in zip(texts, versions, strict=False)
        ]

    def delete(self, memory_id: str, *, user_id: str | None = None) -> dict[str, str]:
        """Erases a memory for good."""
        self.mio.delete_memory(self._owner(memory_id, user_id), memory_id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> dict[str, str]:
        """Erases all memories of a user for good, or those that are told apart so; people stay."""
        user, told_apart = self._meant(user_id, filters, agent_id=agent_id, run_id=run_id)
        query: Any = {"metadata": json.dumps(told_apart)} if told_apart else {}
        rows = self.mio.each(self.mio.list_memories, user, status="all", **query)
        for memory_id in [one["id"] for one in rows]:
            try:
                self.mio.delete_memory(user, memory_id)
            except MioError as error:
                if error.status != 404:  # one may have gone with another
                    raise
        return {"message": "Memories deleted successfully!"}

    def _owner(self, memory_id: str, user_id: str | None) -> str:
        return self._meant(user_id or self._owners.get(memory_id))[0]

    def _meant(
        self, user_id: str | None, filters: Mapping[str, Any] | None = None, **named: str | None
    ) -> tuple[str, dict[str, str]]:
        """The end user that a call is about, and what else tells memories apart."""
        parts = [filters or {}, *(filters or {}).get("AND", ())]
        given = {key: value for part in parts for key, value in part.items() if key != "AND"}
        given |= {key: value for key, value in named.items() if value}
        in_filters = given.pop("user_id", None)
        user = user_id or in_filters or self.user_id
        if unknown := [key for key in given if key not in _NOTED]:
            filters_known = ", ".join(("user_id", *_NOTED))
            raise ValueError(f"Mio has no filter {', '.join(map(repr, unknown))}: {filters_known}")
        if not user:
            raise ValueError("Say whose memory it is: user_id=, or MemoryClient(mio, user_id=…)")
        return str(user), {key: str(value) for key, value in given.items()}

    def _shown(self, memory: Memory | Found, user: str) -> dict[str, Any]:
        self._owners[memory["id"]] = user
        noted = memory["metadata"]
        return {
            "id": memory["id"],
            "memory": memory["content"],
            "kind": memory["kind"],
            "user_id": user,
            **{key: noted[key] for key in _NOTED if key in noted},
            "metadata": {key: value for key, value in noted.items() if key not in _NOTED},
            "created_at": memory["created_at"],
            "updated_at": memory["updated_at"],
        }
