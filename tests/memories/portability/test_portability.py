"""What goes out comes back the same, in this database or beside what is already there."""

import copy
import itertools
import json
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps

from accounts import scope
from accounts.changes import recording
from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact, Relation, Suggestion
from memories import portability
from memories.corrections import derived, edit_memories
from memories.corrections.undo import undo_change
from memories.doctor.invariants import CHECKS
from memories.erasure.erase import forget_everything
from memories.jobs import schedules
from memories.models import Batch, Edge, Link, Memory, Vector
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder
from memories.search import recall
from memories.search.recall import SearchRequest
from tests.factories import (
    json_value,
    make_app,
    make_contact,
    make_end_user,
    make_life,
    make_memory,
    make_message,
    make_suggestion,
)
from tests.memories.portability.documents import comparable

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> EndUser:
    """An end user with rows of every kind and with changes that can be undone."""
    schedules.install()
    end_user = make_end_user(external_id="zoe", language="en", names=["Zoë"], activity_days=3)
    messages = [make_message(end_user, text) for text in ("Greta hums. 𠮷👩‍👩‍👧", "ok", "NUL-free")]
    Batch.objects.create(end_user=end_user, first_seq=1, last_seq=3, state="done")
    EndUser.objects.filter(pk=end_user.pk).update(extracted_seq=3)
    greta, oda = make_contact(end_user, "Greta"), make_contact(end_user, "Oda")
    make_contact(end_user, "Gretel", merged_into=greta)
    Relation.objects.create(end_user=end_user, subject=oda, kind="mother", object=greta)
    make_suggestion(greta, oda)
    source = make_memory(
        end_user, "Greta lives in Oslo.", greta, source_message_ids=[messages[0].pk],
        facts=[{"key": "location", "value": "Oslo", "person": str(greta.id)}],
        batch=Batch.objects.get(),
    )  # fmt: skip
    moved = make_memory(end_user, "She paints.", greta)
    old = make_memory(end_user, "Greta lives in Rome.", greta)
    greta.attributes = {"location": [json_value("Oslo", [source.id])]}
    store.save(greta, ["attributes"])
    Link.objects.filter(memory=source).update(consolidated_at=source.said_at)
    derived.write_profile_memory(greta)
    derived.point_at_profiles(end_user, [source.id])
    end_user.refresh_from_db()
    edit_memories.outdate(end_user, [old], actor="extractor", why="moved", by=source.id)
    edit_memories.move(end_user, moved.id, greta.id, oda.id, actor="operator:x")
    relation = Relation.objects.create(end_user=end_user, subject=greta, kind="x", object=oda)
    with recording(end_user, "unrelate", "operator:x") as (recorder, _):
        recorder.watch([relation])
        relation.delete()
    link = Link.objects.get(memory=source, contact=greta)
    with recording(end_user, "unlink", "operator:x") as (recorder, _):
        recorder.watch([link])
        link.delete()
    undo_change(Change.objects.get(verb="unlink"), actor="operator:x")
    store.save(Contact.objects.get(pk=greta.pk), [])
    embed_missing(end_user, embedder())
    return end_user


def assert_healthy() -> None:
    assert {check.__name__: list(check()) for check in CHECKS if list(check())} == {}


def test_an_export_holds_no_python_objects(zoe: EndUser) -> None:
    document = portability.export_user(zoe)
    assert json.loads(json.dumps(document)) == document


def test_a_forgotten_user_comes_back_without_loss(zoe: EndUser) -> None:
    assert_healthy()
    document = portability.export_user(zoe)
    cards = dict(Contact.objects.of(zoe).values_list("pk", "card"))
    forget_everything(zoe)

    back = portability.import_user(zoe.app, copy.deepcopy(document))

    assert comparable(portability.export_user(back)) == comparable(document)
    assert [row["id"] for row in portability.export_user(back)["memories"]] == [
        row["id"] for row in document["memories"]
    ]
    standing = Contact.objects.of(back).standing()
    assert all(card == cards[pk] for pk, card in standing.values_list("pk", "card"))
    assert not Memory.objects.of(back).filter(vectors=None).exists()
    assert_healthy()


def test_what_was_learnt_from_a_talk_is_searched_and_shown_in_a_copy_as_in_the_original() -> None:
    end_user = make_life()
    schedules.install()

    copied = portability.import_user(
        make_app(), json.loads(json.dumps(portability.export_user(end_user)))
    )

    assert_healthy()
    for model in (Memory, Contact, Link, Vector, Batch):
        assert model.objects.of(copied).count() == model.objects.of(end_user).count() > 0
    found, there = (searched(user) for user in (copied, end_user))
    assert found == there
    assert any(rank for _, rank in found)
    cards = [
        list(Contact.objects.of(user).order_by("name").values_list("name", "card"))
        for user in (copied, end_user)
    ]
    assert cards[0] == cards[1]


def searched(end_user: EndUser) -> list[tuple[str, int | None]]:
    """What a search finds, each with its place among vectors."""
    with scope.user_scope(end_user):
        hits = recall.search(end_user, SearchRequest("小红的猫"), embedder=embedder())
    return [(hit.memory.content, hit.vector_rank) for hit in hits]


def test_a_copy_beside_the_original_has_ids_of_its_own(zoe: EndUser) -> None:
    document = portability.export_user(zoe)

    copied = portability.import_user(make_app(), document)

    for model in (Contact, Memory, Change):
        assert model.objects.of(copied).count() == model.objects.of(zoe).count() > 0
    greta = Contact.objects.of(copied).get(name="Greta")
    assert greta.id != Contact.objects.of(zoe).get(name="Greta").id
    profile = Memory.objects.of(copied).get(kind="profile")
    assert profile.content_hash == f"profile:{greta.id}"
    source = Memory.objects.of(copied).get(content="Greta lives in Oslo.")
    assert source.consolidated_into == profile
    assert source.facts[0]["person"] == str(greta.id)
    assert greta.attributes["location"][0]["sources"] == [str(source.id)]
    assert Batch.objects.of(copied).get() == source.batch
    assert Edge.objects.of(copied).get().source == source
    assert Relation.objects.of(copied).get().object == greta
    pair = Suggestion.objects.of(copied).get()
    assert {pair.first.name, pair.second.name} == {"Greta", "Oda"}
    assert_healthy()


def test_undoing_in_a_copy_never_touches_the_original(zoe: EndUser) -> None:
    copied = portability.import_user(make_app(), portability.export_user(zoe))
    before = portability.export_user(zoe)

    for change in Change.objects.of(copied).filter(undone_at=None).order_by("-created_at"):
        undo_change(change, actor="operator:y")

    assert comparable(portability.export_user(zoe)) == comparable(before)
    moved = Memory.objects.of(copied).get(content="She paints.")
    names = moved.links.filter(rejected=False).values_list("contact__name", flat=True)
    assert list(names) == ["Greta"]
    assert Memory.objects.of(copied).get(content="Greta lives in Rome.").status == "active"
    kinds = Relation.objects.of(copied).values_list("kind", flat=True)
    assert sorted(kinds) == ["mother", "x"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_suggested_pair_comes_back_under_ids_of_any_order(
    monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]
) -> None:
    end_user = make_end_user()
    three_people = [make_contact(end_user, name) for name in ("Ada", "Bea", "Cleo")]
    one, two, three = sorted(three_people, key=lambda contact: contact.id)
    pair = make_suggestion(one, three)
    with recording(end_user, "merge", "operator:x") as (recorder, _):
        recorder.watch([pair])
        Suggestion.objects.filter(pk=pair.pk).update(first=two)
    fresh = (UUID(int=10 + n) for n in (*order, *range(3, 99)))
    monkeypatch.setattr("memories.portability.load.uuid4", lambda: next(fresh))

    copied = portability.import_user(make_app(), portability.export_user(end_user))
    undo_change(Change.objects.of(copied).get(), actor="operator:y")

    again = Suggestion.objects.of(copied).get()
    assert {again.first.name, again.second.name} == {one.name, three.name}


DAMAGED: dict[str, Any] = {
    "no format": lambda d: d.pop("format"),
    "the version before": lambda d: d.update(version=1),
    "no erasures": lambda d: d.pop("erasures"),
    "an entity link to no entity": lambda d: d["entity_links"].append(
        {"id": 1, "entity_id": 7, "memory_id": d["memories"][0]["id"]}
    ),
    "an erasure of no state": lambda d: d["erasures"].append({"id": d["changes"][0]["id"]}),
    "an edge to itself": lambda d: d["edges"][0].update(source_id=d["edges"][0]["target_id"]),
    "a document that is a list": lambda d: None,
    "no user": lambda d: d.pop("user"),
    "no messages": lambda d: d.pop("messages"),
    "messages an object": lambda d: d.update(messages={}),
    "a message a string": lambda d: d["messages"].append("x"),
    "a message without content": lambda d: d["messages"][0].pop("content"),
    "a message twice": lambda d: d["messages"].append(dict(d["messages"][0])),
    "a role of its own": lambda d: d["messages"][0].update(role="x" * 30),
    "a time that is none": lambda d: d["messages"][0].update(created_at="soon"),
    "a link to nobody": lambda d: d["links"][0].update(contact_id=d["memories"][0]["id"]),
    "importance above 1": lambda d: d["memories"][0].update(importance=2),
    "a time zone that is none": lambda d: d["user"].update(time_zone="Mars/Olympus"),
    "an offset that is none": lambda d: d["memories"][0].update(said_offset=9000),
    "an id that is none": lambda d: d["memories"][0].update(id="x"),
    "facts of no form": lambda d: d["changes"][0].update(rows=[7]),
}


def test_a_damaged_document_is_refused_whole(zoe: EndUser, subtests: pytest.Subtests) -> None:
    whole = json.dumps(portability.export_user(zoe))
    app = make_app()
    rows = {model: model._base_manager.count() for model in apps.get_models()}
    for kind, damage in DAMAGED.items():
        document = json.loads(whole)
        damage(document)
        given = [document] if kind == "a document that is a list" else document
        with subtests.test(kind):
            with pytest.raises(portability.CannotImport) as refused:
                portability.import_user(app, given)
            assert len(str(refused.value)) > 20
            assert "Error" not in str(refused.value).split("(")[0]
            assert {model: model._base_manager.count() for model in apps.get_models()} == rows


def test_time_zones_are_carried_and_an_export_of_before_them_is_read(zoe: EndUser) -> None:
    zoe.settle("Asia/Shanghai")
    zoe.messages.update(utc_offset=480)
    document = portability.export_user(zoe)
    copied = portability.import_user(make_app(), copy.deepcopy(document))
    assert (str(copied.zone), copied.messages.first().utc_offset) == ("Asia/Shanghai", 480)

    for row in [document["user"], *document["messages"], *document["memories"]]:
        for name in ("time_zone", "learnt_offset", "utc_offset", "said_offset", "happens_offset"):
            row.pop(name, None)
    old = portability.import_user(make_app(), document)
    memory = Memory.objects.of(old).first()
    assert (str(old.zone), memory.said_there.tzname()) == ("UTC", "UTC")


def test_an_existing_user_is_never_overwritten(zoe: EndUser) -> None:
    with pytest.raises(portability.CannotImport, match="already"):
        portability.import_user(zoe.app, portability.export_user(zoe))
    other = portability.import_user(zoe.app, portability.export_user(zoe), external_id="zoe 2")
    assert other.external_id == "zoe 2"


# What a user has that no document holds, and why nothing is lost by it.
NOT_CARRIED: dict[str, str] = {
    "memories.claim": "which operator looks at what now",
    "contacts.contactkey": "derived from the contacts",
    "imports.import": "a log of files; what they brought is in messages and contacts",
    "memories.consolidation": "work; what is due follows from the links",
    "memories.injected": "a log of prompts, read for the next batch only",
    "memories.processjob": "work; what is due follows from the messages",
    "memories.modelcall": "a log of cost",
    "memories.corpus": "derived from the memories",
    "memories.posting": "derived from the memories",
    "memories.receipt": "a proof of what was erased here, for those who run this installation",
    "memories.retrieval": "a count of how often the text fallback was needed",
    "memories.vector": "derived from the memories",
    "webhooks.delivery": "messages to the app that the user was of",
}


def test_every_table_of_a_user_is_carried_or_left_with_a_reason() -> None:
    owned = {
        model._meta.label_lower
        for model in apps.get_models()
        if not model._meta.proxy and any(f.name == "end_user" for f in model._meta.fields)
    }
    carried = {model._meta.label_lower for model in portability.SECTIONS.values()}
    assert carried | NOT_CARRIED.keys() == owned
    assert not carried & NOT_CARRIED.keys()
