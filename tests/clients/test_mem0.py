"""The six methods of mem0's client."""

import pytest
from mio_client import Mio, MioError
from mio_client.mem0 import MemoryClient


def test_a_conversation_becomes_memories_that_are_found_read_corrected_and_erased(mio: Mio) -> None:
    client = MemoryClient(mio)
    said = [
        {"role": "user", "content": "My friend Zoe Park is a nurse in Oslo."},
        {"role": "assistant", "content": "Good to know."},
    ]
    sent = client.add(said, user_id="ann", run_id="s1", metadata={"from": "chat"})
    assert (sent["results"], sent["accepted"]) == ([], 2)
    assert {one["session_id"] for one in mio.list_messages("ann")["results"]} == {"s1"}
    mio.process("ann", wait=True)
    found = client.search("Where does Zoe work?", filters={"user_id": "ann"}, top_k=3)["results"]
    assert "Zoe" in found[0]["memory"]
    assert found[0]["score"] > 0
    [listed] = client.get_all(user_id="ann")["results"]
    one = client.get(listed["id"], user_id="ann")
    assert one == listed
    assert one["user_id"] == "ann"
    changed = client.update(one["id"], "Zoe Park is a doctor.", {"seen": 1}, user_id="ann")
    assert (changed["memory"], changed["metadata"]["seen"]) == ("Zoe Park is a doctor.", 1)
    client.delete(one["id"], user_id="ann")
    with pytest.raises(MioError, match="unknown_memory"):
        client.get(one["id"], user_id="ann")


def test_memories_are_stored_as_they_stand_and_read_by_pages(mio: Mio) -> None:
    client = MemoryClient(mio, user_id="ann")
    for n in range(5):
        [stored] = client.add(f"Kim owns {n} boats.", infer=False, metadata={"n": n})["results"]
        assert (stored["memory"], stored["event"]) == (f"Kim owns {n} boats.", "ADD")
    pages = [client.get_all(page=n, page_size=2) for n in (1, 2, 3, 4)]
    assert [[one["metadata"]["n"] for one in page["results"]] for page in pages] == [
        [4, 3], [2, 1], [0], [],
    ]  # fmt: skip
    assert {page["count"] for page in pages} == {5}
    assert client.search("What is the price of tin?", threshold=1.0)["results"] == []


def test_whose_memory_it_is_has_to_be_said_and_unknown_filters_are_refused(mio: Mio) -> None:
    client = MemoryClient(mio)
    with pytest.raises(ValueError, match="user_id"):
        client.get_all()
    with pytest.raises(ValueError, match="'agent_id'"):
        client.search("boats", filters={"user_id": "ann", "agent_id": "a"})
    assert mio.list_users()["count"] == 0
