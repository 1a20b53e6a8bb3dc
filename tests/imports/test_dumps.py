"""Memories of other programs: mem0, and the reference memory server of MCP."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Change, EndUser
from contacts.models import Contact, Relation
from imports import dumps
from imports.models import Import
from imports.types import NotReadable
from memories.corrections.undo import undo_change
from memories.models import Memory
from tests.factories import make_app, make_contact, make_end_user
from tests.imports.files import write

# All invented.
MEM0: list[dict[str, Any]] = [
    {"id": "a1", "memory": "Is allergic to peanuts", "hash": "x", "user_id": "ben-7",
     "created_at": "2025-03-02T09:30:00-08:00", "updated_at": None,
     "metadata": {"channel": "web"}, "categories": ["health"]},
    {"id": "a2", "memory": "Friend Maria is vegetarian", "user_id": "ben-7",
     "created_at": "2025-03-03T09:30:00-08:00", "metadata": None},
    {"id": "a3", "memory": "用户的同事李敏喜欢喝咖啡", "user_id": "ben-7"},
    {"id": "a4", "memory": "Name is Ben", "user_id": "ben-7"},
    {"id": "a5", "memory": "Likes tea", "user_id": "carla"},
    {"id": "a6", "memory": "Answers briefly", "agent_id": "helper"},
    {"id": "a7", "memory": "Is on holiday", "user_id": "ben-7", "expiration_date": "2020-01-01"},
]  # fmt: skip
GRAPH = [
    {"type": "entity", "name": "default_user", "entityType": "person",
     "observations": ["Speaks Spanish"]},
    {"type": "entity", "name": "Anna Berg", "entityType": "person",
     "observations": ["Works at Acme", "Anna Berg likes tea"]},
    {"type": "entity", "name": "小红", "entityType": "朋友", "observations": ["住在深圳"]},
    {"type": "entity", "name": "Acme", "entityType": "organization", "observations": ["Makes anvils"]},
    {"type": "relation", "from": "Anna Berg", "to": "小红", "relationType": "is_sister_of"},
    {"type": "relation", "from": "Anna Berg", "to": "Acme", "relationType": "works_at"},
    {"type": "relation", "from": "default_user", "to": "Anna Berg", "relationType": "married_to"},
    {"type": "relation", "from": "小红", "to": "Anna Berg", "relationType": "reportsTo"},
]  # fmt: skip
JSONL = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in GRAPH)


@pytest.fixture
def zoe(db) -> EndUser:
    return make_end_user(app=make_app(name="default"), external_id="zoe")


def imported(path: Path, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("import_chat", str(path), user="zoe", json=True, stdout=out, **options)
    return json.loads(out.getvalue().splitlines()[-1])


def stated(user: EndUser) -> dict[str, set[str]]:
    rows = Memory.objects.of(user).facts().prefetch_related("links__contact")
    return {one.content: {link.contact.name for link in one.links.all()} for one in rows}


@pytest.mark.parametrize(
    "form",
    [MEM0, {"results": MEM0}, {"memories": MEM0}, {"count": 7, "next": None, "results": MEM0}],
)
def test_the_memories_of_one_mem0_user_are_taken_in(zoe, tmp_path, form) -> None:
    done = imported(write(tmp_path, "dump.json", form), me="ben-7")
    assert (done["format"], done["memories"], done["left_out"]) == ("mem0", 4, 3)
    assert stated(zoe) == {
        "Is allergic to peanuts": set(),
        "Friend Maria is vegetarian": {"Maria"},
        "用户的同事李敏喜欢喝咖啡": {"李敏"},
        "Name is Ben": set(),
    }
    first = Memory.objects.of(zoe).get(content="Is allergic to peanuts")
    assert first.said_at.isoformat() == "2025-03-02T17:30:00+00:00"
    assert (first.metadata["channel"], first.metadata["categories"]) == ("web", ["health"])
    assert first.speaker == "import:mem0"


def test_the_same_dump_again_adds_nothing_and_a_longer_one_what_is_new(zoe, tmp_path) -> None:
    imported(write(tmp_path, "a.json", MEM0), me="ben-7")
    assert imported(write(tmp_path, "b.json", MEM0), me="ben-7")["change"] is None
    Memory.objects.of(zoe).filter(content="Name is Ben").update(status="archived")
    more = [*MEM0, {"id": "a8", "memory": "Plays chess", "user_id": "ben-7"}]
    assert imported(write(tmp_path, "c.json", more), me="ben-7")["memories"] == 1


def test_whose_memories_they_are_is_asked_and_never_guessed(zoe, tmp_path) -> None:
    path, graph = write(tmp_path, "a.json", MEM0[:3]), write(tmp_path, "memory.jsonl", JSONL)
    with pytest.raises(CommandError, match=r"Say who of the file is the user.*ben-7"):
        imported(path)
    with pytest.raises(CommandError, match="Nobody in this file is called dora"):
        imported(path, me="dora")
    with pytest.raises(CommandError, match="default_user"):
        imported(graph)
    assert not Import.objects.exists()
    told = StringIO()
    assert imported(path, dry_run=True, stderr=told)["memories"] == 3
    assert "3  ben-7" in told.getvalue()
    assert not Memory.objects.exists()


def test_a_graph_becomes_people_memories_and_relations(zoe, tmp_path) -> None:
    done = imported(write(tmp_path, "memory.jsonl", JSONL), me="default_user")
    assert (done["new"], done["memories"], done["relations"]) == (2, 6, 2)
    assert stated(zoe) == {
        "The user: Speaks Spanish": set(),
        "Anna Berg: Works at Acme": {"Anna Berg"},
        "Anna Berg likes tea": {"Anna Berg"},
        "小红：住在深圳": {"小红"},
        "Acme: Makes anvils": set(),
        "Anna Berg works at Acme": {"Anna Berg"},
    }
    people = dict(Contact.objects.of(zoe).values_list("name", "relationship"))
    assert people == {"Anna Berg": "spouse", "小红": "朋友"}
    told = Relation.objects.of(zoe).values_list("subject__name", "kind", "object__name")
    assert set(told) == {("Anna Berg", "sister", "小红"), ("Anna Berg", "manager", "小红")}
    assert imported(write(tmp_path, "again.jsonl", JSONL), me="default_user")["change"] is None


def test_nobody_of_a_graph_may_be_the_user(zoe, tmp_path) -> None:
    imported(write(tmp_path, "memory.jsonl", JSONL), me="")
    assert Contact.objects.of(zoe).count() == 3
    assert "default_user: Speaks Spanish" in stated(zoe)


def test_who_is_known_gets_the_memories_and_undo_takes_them_back(zoe, tmp_path) -> None:
    anna = make_contact(zoe, "Anna Berg")
    done = imported(write(tmp_path, "memory.jsonl", JSONL), me="default_user")
    anna.refresh_from_db()
    assert (anna.relationship, len(anna.memory_ids)) == ("spouse", 3)
    undo_change(Change.objects.get(pk=done["change"]), actor="operator:test")
    anna.refresh_from_db()
    assert (anna.relationship, anna.memory_ids) == ("", [])
    assert list(Contact.objects.of(zoe)) == [anna]
    assert not Memory.objects.of(zoe).exists()
    assert Import.objects.get().state == "undone"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", [{"memory": "x", "user_id": "a"}, {"memory": ""}], "Memory 2"),
        ("a.json", [{"memory": "x", "user_id": "a"}, "text"], "Memory 2"),
        ("a.json", '[{"memory": "x", "user_id": "a"}, {"mem', "damaged behind what was read"),
        ("m.jsonl", JSONL + "{broken\n", "line 9"),
        ("m.jsonl", JSONL + '{"type":"event"}\n', "Line 9"),
        ("m.jsonl", JSONL + '{"type":"relation","from":"A","relationType":"x"}\n', "Line 9"),
        ("m.jsonl", JSONL + '{"type":"entity","name":"A","observations":"x"}\n', "Line 9"),
    ],
)
def test_a_bad_line_is_named_and_all_else_is_read(tmp_path, name, text, said) -> None:
    dump = dumps.read(write(tmp_path, name, text), None)
    assert dump
    assert dump.statements
    assert (dump.skipped.count, said in str(dump.skipped.named[0])) == (1, True)


def test_what_is_too_much_is_refused(tmp_path, monkeypatch) -> None:
    for module in (dumps.mem0, dumps.memory_graph):
        monkeypatch.setattr(module, "MAX_MEMORIES", 2)
    for path in (write(tmp_path, "a.json", MEM0), write(tmp_path, "m.jsonl", JSONL)):
        with pytest.raises(NotReadable, match="more than 2 memories"):
            dumps.read(path, None)
