"""LangChain's own tests of a retriever, and a chat history that comes back as it was."""

import asyncio
from typing import Any

import pytest
from mio_client import Mio, MioError

pytest.importorskip("langchain_core", reason="pip install langchain-core")
pytest.importorskip("langchain_tests", reason="pip install langchain-tests")

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from mio_client.langchain import MioChatMessageHistory, MioRetriever


# The mark is for the one that is async.
@pytest.mark.asyncio
@pytest.mark.filterwarnings("ignore:.*is marked with")
class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _known(self, mio: Mio) -> None:
        self.mio = mio
        for place in ("Oslo", "Bergen", "Rome", "Lima"):
            mio.add_memory("ann", content=f"Kim plays chess in {place}.")

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return MioRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"mio": self.mio, "user": "ann"}

    @property
    def retriever_query_example(self) -> str:
        return "Where does Kim play chess?"


def test_a_document_says_whom_it_is_about_and_how_relevant_it_is(mio):
    kim = mio.add_contact("ann", name="Kim")
    memory = mio.add_memory("ann", content="Kim plays chess.", contacts=[kim["id"]])
    [found] = MioRetriever(mio=mio, user="ann").invoke("chess")
    assert (found.id, found.page_content) == (memory["id"], "Kim plays chess.")
    assert found.metadata["people"] == ["Kim"]
    strict = MioRetriever(mio=mio, user="ann", min_relevance=1.0)
    assert strict.invoke("What is the price of tin?") == []


SAID = [
    SystemMessage("Be kind."),
    HumanMessage("  My friend Zoe Park is a nurse in Oslo.\n"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "call_1"}]),
    ToolMessage("x" * 50_000, tool_call_id="call_1"),
    AIMessage("Say hello to Zoe 🐝!", id="run-1", response_metadata={"model": "m"}),
    HumanMessage([{"type": "text", "text": "And this?"}, {"type": "image_url", "image_url": "u"}]),
    HumanMessage("yes"),
    HumanMessage("yes"),
]


def test_a_history_comes_back_as_it_was_and_is_learnt_from(mio):
    history = MioChatMessageHistory(mio, "ann", "s1")
    assert history.messages == []
    history.add_messages(SAID)
    assert history.messages == SAID
    assert MioChatMessageHistory(mio, "ann", "s1").messages == SAID
    assert asyncio.run(MioChatMessageHistory(mio, "ann", "s2").aget_messages()) == []
    mio.process("ann", wait=True)
    assert [one["name"] for one in mio.list_contacts("ann")["results"]] == ["Zoe Park"]
    mio.add_messages("ann", messages=[{"role": "user", "content": "By hand", "session_id": "s1"}])
    assert history.messages[-1] == HumanMessage("By hand")
    history.clear()
    history.clear()
    assert history.messages == []


def test_adding_again_after_a_failure_stores_once(mio, address, key):
    with Mio("http://127.0.0.1:1", key, retries=0) as unreachable:
        history = MioChatMessageHistory(unreachable, "ann", "s1")
        with pytest.raises(MioError, match="unreachable"):
            history.add_messages(SAID)
        history._mio = mio
        history.add_messages(SAID)
        history._ids.stored(-len(SAID))  # as when the answer was lost
        history.add_messages(SAID)
    assert history.messages == SAID


def test_a_message_that_is_too_long_is_refused_and_nothing_is_stored(mio):
    history = MioChatMessageHistory(mio, "ann", "s1")
    with pytest.raises(ValueError, match="100,000"):
        history.add_messages([HumanMessage("Hello"), ToolMessage("x" * 200_000, tool_call_id="c")])
    assert history.messages == []
