"""MioStore behaves as LangGraph's own stores do in the tests of these, on a Mio server."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from mio_client import Mio, MioError

pytest.importorskip("langgraph.store.base", reason="pip install langgraph-checkpoint")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from mio_client.langgraph import MioStore, namespace

ANN, ANNA = namespace("ann"), namespace("anna")


@pytest.fixture
def store(mio: Mio) -> MioStore:
    return MioStore(mio)


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


def test_a_value_comes_back_as_it_was_put_and_is_a_memory_of_mio(store, mio):
    value = {
        "text": "Kim keeps 三只 bees in 奥斯陆 🐝.",
        "kind": "fact",
        "tags": {"a": [1, None, "é"]},
    }
    store.put(ANN, "k1", value)
    item = store.get(ANN, "k1")
    assert (item.value, item.key, item.namespace) == (value, "k1", ANN)
    assert item.created_at.tzinfo
    [memory] = mio.list_memories("ann")["results"]
    assert memory["content"] == value["text"]
    store.put(ANN, "k1", {"content": "Kim sold the bees."})
    assert store.get(ANN, "k1").value == {"content": "Kim sold the bees."}
    assert store.get(ANN, "k1").created_at == item.created_at
    assert store.get(ANN, "k2") is None
    assert store.get(ANN, str(uuid4())) is None
    assert store.get(namespace("nobody"), "k1") is None
    store.delete(ANN, "k1")
    store.delete(ANN, "k1")
    assert store.get(ANN, "k1") is None
    assert mio.list_memories("ann", status="all")["count"] == 0


def test_results_come_in_the_order_of_their_ops_and_reads_see_what_was_before(store):
    store.put(ANN, "old", {"text": "Kim sings."})
    results = store.batch(
        [
            GetOp(ANN, "old"),
            PutOp(ANN, "new", {"text": "Tom drives a bus."}),
            SearchOp(ANN, limit=10),
            GetOp(ANN, "new"),
            PutOp(ANN, "old", None),
            ListNamespacesOp(),
            GetOp(ANN, "missing"),
        ]
    )
    assert results[0].value == {"text": "Kim sings."}
    assert (results[1], results[3], results[4], results[6]) == (None, None, None, None)
    assert keys(results[2]) == ["old"]
    assert results[5] == [ANN, namespace("ann", "people")]
    assert [store.get(ANN, key) is None for key in ("old", "new")] == [True, False]


def test_the_last_write_of_a_key_counts(store, mio):
    store.batch(
        [
            PutOp(ANN, "k", {"text": "Kim lives in Oslo."}),
            PutOp(ANN, "gone", {"text": "Tom sings."}),
            PutOp(ANN, "k", {"text": "Kim lives in Bergen."}),
            PutOp(ANN, "gone", None),
        ]
    )
    assert [one["content"] for one in mio.each(mio.list_memories, "ann")] == [
        "Kim lives in Bergen."
    ]


def test_two_keys_may_say_the_same_and_part_again(store, mio):
    store.put(ANN, "a", {"text": "Kim sings.", "from": "a"})
    store.put(ANN, "b", {"text": "Kim sings.", "from": "b"})
    assert mio.list_memories("ann")["count"] == 1
    assert [store.get(ANN, key).value["from"] for key in "ab"] == ["a", "b"]
    assert sorted(keys(store.search(ANN))) == ["a", "b"]
    store.put(ANN, "a", {"text": "Kim dances."})
    assert store.get(ANN, "b").value == {"text": "Kim sings.", "from": "b"}
    store.put(ANN, "a", {"text": "Kim sings."})
    store.delete(ANN, "b")
    assert store.get(ANN, "a").value == {"text": "Kim sings."}
    assert keys(store.search(ANN)) == ["a"]


def test_search_filters_and_pages(store):
    for n in range(5):
        store.put(ANN, f"k{n}", {"text": f"Kim owns {n} boats.", "n": n, "odd": bool(n % 2)})
    assert keys(store.search(ANN, limit=2)) == ["k4", "k3"]
    assert keys(store.search(ANN, limit=2, offset=3)) == ["k1", "k0"]
    assert keys(store.search(ANN, filter={"odd": True})) == ["k3", "k1"]
    assert keys(store.search(ANN, filter={"n": {"$gte": 2, "$lt": 4}, "odd": True})) == ["k3"]
    assert keys(store.search(ANN, filter={"n": {"$ne": 4}}, limit=1, offset=1)) == ["k2"]
    assert keys(store.search(ANN, filter={"missing": {"$gt": 1}})) == []
    assert keys(store.search(ANN, filter={"n": {"$eq": 1}})) == ["k1"]
    with pytest.raises(ValueError, match="Unknown operator"):
        store.search(ANN, filter={"n": {"$in": [1]}})


def test_search_by_meaning_orders_and_filters(store):
    store.put(ANN, "boat", {"text": "Kim bought a sailing boat.", "of": "kim"})
    store.put(ANN, "bus", {"text": "Tom drives a bus in Oslo.", "of": "tom"})
    found = store.search(ANN, query="Who has a boat for sailing?")
    assert found[0].key == "boat"
    assert found[0].score > 0
    assert keys(store.search(ANN, query="boat", filter={"of": "tom"})) in ([], ["bus"])


def test_a_prefix_ends_at_a_label_and_signs_of_patterns_mean_themselves(store):
    for user in ("a_b", "axb", "a%b", "ann", "anna"):
        store.put(namespace(user), "k", {"text": f"This is {user}."})
    assert [item.namespace for item in store.search(ANN)] == [ANN]
    assert [item.namespace for item in store.search(("mio", "ann"))] == [ANN]
    assert [item.namespace for item in store.search(namespace("a_b"))] == [namespace("a_b")]
    assert [item.namespace for item in store.search(namespace("a%b"))] == [namespace("a%b")]
    assert len(store.search(("mio",))) == len(store.search(())) == 5
    assert store.search(namespace("an")) == []


def test_users_with_dots_have_namespaces_and_whatever_is_none_of_mios_is_refused(store, mio):
    mail = namespace("ann.lee@example.com")
    store.put(mail, "k", {"text": "Kim sings."})
    assert mio.list_memories("ann.lee@example.com")["count"] == 1
    assert store.get(mail, "k").namespace == mail
    for wrong in (
        (), ("mio",), ("mio", "ann"), ("mio", "ann", "notes"), ("notes", "ann", "memories"),
        ("mio", "ann", "memories", "more"), ("mio", "ann.lee", "memories"), ("mio", "a%b", "memories"),
        ("mio", "", "memories"), ("langgraph", "ann", "memories"),
    ):  # fmt: skip
        with pytest.raises(InvalidNamespaceError):
            store.put(wrong, "k", {"text": "Kim sings."})
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(wrong, "k", {"text": "Kim sings."})])
    with pytest.raises(InvalidNamespaceError, match=r"mio_client\.langgraph\.namespace"):
        store.search(("notes",))
    assert mio.list_users()["count"] == 1


def test_a_batch_with_a_value_that_is_no_memory_writes_nothing(store, mio):
    for wrong in ({}, {"text": ""}, {"text": 3}, {"content": {"nested": "x"}}):
        with pytest.raises(ValueError, match='"text" or "content"'):
            store.batch([PutOp(ANN, "a", {"text": "Kim sings."}), PutOp(ANN, "b", wrong)])
    assert mio.list_users()["count"] == 0
    with pytest.raises(NotImplementedError):
        store.put(ANN, "a", {"text": "Kim sings."}, ttl=5)
    with pytest.raises(MioError, match="metadata"):
        store.put(ANN, "a", {"text": "Kim sings.", "rest": "x" * 5000})


def test_namespaces_are_listed_by_prefix_suffix_wildcard_depth_and_page(store):
    for user in ("zoe", "ann", "kim"):
        store.put(namespace(user), "k", {"text": "Bees."})
    every = [namespace(u, kind) for u in ("ann", "kim", "zoe") for kind in ("memories", "people")]
    assert store.list_namespaces() == every
    assert store.list_namespaces(prefix=("mio", "kim")) == every[2:4]
    assert store.list_namespaces(suffix=("people",)) == every[1::2]
    assert store.list_namespaces(prefix=("mio", "*", "people")) == every[1::2]
    assert store.list_namespaces(prefix=("*", "ki")) == []
    assert store.list_namespaces(suffix=("ann", "*")) == every[:2]
    assert store.list_namespaces(max_depth=2) == [("mio", "ann"), ("mio", "kim"), ("mio", "zoe")]
    assert store.list_namespaces(limit=2, offset=3) == every[3:5]
    both = (MatchCondition("prefix", ("mio", "ann")), MatchCondition("suffix", ("people",)))
    [found] = store.batch([ListNamespacesOp(match_conditions=both)])
    assert found == [every[1]]


def test_people_are_read_found_corrected_and_erased(store, mio):
    kim = mio.add_contact("ann", name="Kim Lee", relationship="friend", attributes={"job": "nurse"})
    tom = mio.add_contact("ann", name="Tom")
    people = namespace("ann", "people")
    item = store.get(people, kim["id"])
    assert item.value["relationship"] == "friend"
    assert "Kim" in item.value["card"]
    store.put(
        people, kim["id"], {**item.value, "relationship": "sister", "attributes": {"city": "Oslo"}}
    )
    changed = mio.get_contact("ann", kim["id"])
    assert (changed["relationship"], changed["attributes"]) == ("sister", {"city": "Oslo"})
    assert set(keys(store.search(people))) == {kim["id"], tom["id"]}
    [found] = store.search(people, query="How is Kim Lee?")
    assert (found.key, found.score > 0.5) == (kim["id"], True)
    assert keys(store.search(people, filter={"relationship": "sister"})) == [kim["id"]]
    with pytest.raises(ValueError, match="add_contact"):
        store.put(people, "zoe", {"name": "Zoe"})
    store.delete(people, tom["id"])
    assert mio.list_contacts("ann")["count"] == 1


def test_what_mio_learnt_is_found_under_its_id_and_can_be_corrected(store, mio):
    memory = mio.add_memory("ann", content="Kim sings.")
    item = store.get(ANN, memory["id"])
    assert item.value["text"] == "Kim sings."
    store.put(ANN, memory["id"], {"text": "Kim sings in a choir."})
    assert mio.get_memory("ann", memory["id"])["content"] == "Kim sings in a choir."
    assert store.get(ANN, memory["id"]).value == {"text": "Kim sings in a choir."}


def test_the_awaited_store_is_the_same(store):
    async def used() -> Any:
        await asyncio.gather(
            *(store.aput(ANN, f"k{n}", {"text": f"Kim has {n} boats."}) for n in range(5))
        )
        return await asyncio.gather(*(store.aget(ANN, f"k{n}") for n in range(5)))

    assert keys(asyncio.run(used())) == [f"k{n}" for n in range(5)]
