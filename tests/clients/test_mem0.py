"""The methods of mem0's client, as its users call them."""

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
    both = [{"user_id": "ann"}, {"AND": [{"user_id": "ann"}]}]
    assert [client.get_all(user_id="ann", filters=one)["count"] for one in both] == [5, 5]
    assert client.search("What is the price of tin?", threshold=1.0)["results"] == []


def test_whose_memory_it_is_has_to_be_said_and_unknown_filters_are_refused(mio: Mio) -> None:
    client = MemoryClient(mio)
    with pytest.raises(ValueError, match="user_id"):
        client.get_all()
    with pytest.raises(ValueError, match="'categories'"):
        client.search("boats", filters={"user_id": "ann", "categories": "a"})
    with pytest.raises(ValueError, match="user_id"):
        client.get("3f0c0e0e-0000-4000-8000-000000000000")
    assert mio.list_users()["count"] == 0


def test_memories_are_told_apart_by_agent_and_run_and_known_by_their_ids(mio: Mio) -> None:
    client = MemoryClient(mio)
    added = [
        client.add(f"Kim owns {n} boats.", user_id="ann", agent_id=f"a{n}", run_id="r", infer=False,
                   metadata={"n": n})["results"][0]
        for n in range(3)
    ]  # fmt: skip
    assert (added[1]["agent_id"], added[1]["run_id"], added[1]["metadata"]) == ("a1", "r", {"n": 1})
    found = client.search(query="boats", user_id="ann", limit=2, filters={"agent_id": "a2"})
    assert [one["id"] for one in found["results"]] == [added[2]["id"]]
    assert len(client.search(query="boats", user_id="ann", limit=2)["results"]) == 2
    [listed] = client.get_all(user_id="ann", agent_id="a1", limit=5)["results"]
    assert (listed, client.get(listed["id"])) == (client.get(added[1]["id"]),) * 2
    assert client.update(listed["id"], data="Kim owns a ship.")["memory"] == "Kim owns a ship."
    assert [(one["old_memory"], one["new_memory"], one["event"]) for one in client.history(listed["id"])] == [
        (None, "Kim owns 1 boats.", "ADD"), ("Kim owns 1 boats.", "Kim owns a ship.", "UPDATE"),
    ]  # fmt: skip
    client.delete_all(user_id="ann", agent_id="a0")
    assert client.get_all(user_id="ann")["count"] == 2
    client.delete_all(user_id="ann")
    assert client.get_all(user_id="ann")["results"] == []


def test_profiles_are_marked_and_found_when_they_are_asked_for(mio: Mio) -> None:
    client = MemoryClient(mio, user_id="ann")
    client.add([{"role": "user", "content": "My friend Zoe Park is a nurse in Oslo."}])
    mio.process("ann", wait=True)
    found = client.search("Zoe Park nurse Oslo", profiles=True)["results"]
    assert {one["kind"] for one in found} == {"fact", "profile"}
    assert {one["kind"] for one in client.search("Zoe Park nurse Oslo")["results"]} == {"fact"}
    assert not any("consolidated_into" in one["metadata"] for one in found)
