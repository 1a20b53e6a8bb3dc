"""Review: merge suggestions, doubtful links and conflicts, decided in one step and undone in one."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.changes import snapshot
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import store
from contacts.models import IN_CONFLICT, Contact, Suggestion
from memories.corrections import merge_contacts
from memories.models import Edge, Link, Memory
from tests.dashboard.signin import signed_in
from tests.factories import (
    json_value,
    make_app,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
    make_suggestion,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(external_id="zoe")


def suggest(one: Contact, other: Contact, confidence: float = 0.9) -> Suggestion:
    evidence = [
        {"code": "homophone", "params": {"first": one.name, "second": other.name},
         "text": "?", "weight": 1.5},
        {"code": "gender", "params": {}, "text": "?", "weight": -2.0},
    ]  # fmt: skip
    return make_suggestion(one, other, confidence=confidence, evidence=evidence)


@pytest.fixture
def pair(zoe: EndUser) -> Suggestion:
    greta, gretta = make_contact(zoe, "Greta"), make_contact(zoe, "Gretta")
    make_memory(zoe, "Greta hums.", greta)
    make_memory(zoe, "Greta climbs.", greta)
    make_memory(zoe, "Gretta sings.", gretta)
    return suggest(greta, gretta)


def decide(client: Client, pair: Suggestion, decision: str) -> str:
    stays = Contact.objects.get(name="Greta")
    goes = Contact.objects.get(name="Gretta")
    url = reverse("dashboard:decide", args=[pair.end_user_id, stays.pk, goes.pk])
    return client.post(url, {"decision": decision}, follow=True).content.decode()


def test_a_pair_stands_side_by_side_with_what_speaks_for_and_against(
    reviewer: Client, pair: Suggestion
) -> None:
    page = reviewer.get(reverse("dashboard:review")).content.decode()
    assert "Greta and Gretta only sound alike." in page
    assert "One is female, the other male." in page
    assert page.index("One is female") < page.index("sound alike")  # what counts most first
    assert "Greta hums." in page
    assert "Gretta sings." in page


def test_the_preview_is_the_card_that_a_merge_gives_and_changes_nothing(
    reviewer: Client, pair: Suggestion
) -> None:
    page = reviewer.get(reverse("dashboard:review")).content.decode()
    assert Contact.objects.standing().count() == 2
    assert not Change.objects.exists()
    decide(reviewer, pair, "merge")
    card = Contact.objects.get(name="Greta").card
    assert "Gretta" in card
    for line in card.splitlines():
        assert line in page


@pytest.mark.parametrize(
    ("chosen", "company", "relationship", "aliases"),
    [
        ({}, ["Acme", "Brill"], "aunt", ["Gre", "Gretta", "Tta"]),
        ({"chosen": "1", "alias": ["Gre", "Gretta", "Tta"]}, ["Acme", "Brill"], "aunt",
         ["Gre", "Gretta", "Tta"]),
        ({"chosen": "1", "alias": ["Gretta"], "value:company": "right:Brill", "relationship": "boss"},
         ["Brill"], "boss", ["Gretta"]),
        ({"chosen": "1", "value:company": "right:Acme", "relationship": "queen"}, ["Acme"], "aunt", []),
        ({"chosen": "1", "value:company": "right:Elsewhere", "alias": ["Gre"]}, ["Acme", "Brill"],
         "aunt", ["Gre"]),
    ],
)  # fmt: skip
def test_what_is_chosen_before_a_merge_is_what_stays_and_one_undo_takes_it_back(
    reviewer: Client,
    zoe: EndUser,
    chosen: dict[str, Any],
    company: list[str],
    relationship: str,
    aliases: list[str],
) -> None:
    told = {"company": [json_value("Acme")], "likes": [json_value("tea")]}
    greta = make_contact(zoe, "Greta", relationship="aunt", aliases=["Gre"], attributes=told)
    other = {"company": [json_value("Brill")], "likes": [json_value("jazz")]}
    gretta = make_contact(zoe, "Gretta", relationship="boss", aliases=["Tta"], attributes=other)
    before = snapshot(greta)
    base = f"/u/{zoe.pk}/review/{greta.pk}/{gretta.pk}/"
    page = reviewer.get(base).content.decode()
    assert page.count('name="value:company"') == 4
    assert "value:likes" not in page  # several likes contradict nothing
    preview = reviewer.post(f"{base}preview/", chosen).context["preview"]
    assert Contact.objects.get(pk=greta.pk).attributes == told
    reviewer.post(f"{base}decide/", {**chosen, "decision": "merge"})
    greta.refresh_from_db()
    assert [entry["value"] for entry in greta.attributes["company"]] == company
    assert len(greta.attributes["likes"]) == 2
    assert greta.relationship == relationship
    assert [name for name in greta.aliases if name not in ("boss", "aunt")] == aliases
    assert preview["card"] == greta.card
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, zoe.changes.get().pk]))
    greta.refresh_from_db()
    assert snapshot(greta) == before


def test_merge_and_back_takes_one_step_each(reviewer: Client, pair: Suggestion) -> None:
    page = decide(reviewer, pair, "merge")
    assert Contact.objects.get(name="Gretta").merged_into.name == "Greta"
    undo = reverse("dashboard:undo", args=[pair.end_user_id, Change.objects.get().pk])
    assert undo in page
    reviewer.post(undo)
    assert Contact.objects.get(name="Gretta").merged_into is None
    pair.refresh_from_db()
    assert (pair.state, pair.decided_by) == ("open", "")
    again = reviewer.get(reverse("dashboard:review")).content.decode()
    assert "Are Gre" in again.replace('<bdi class="said">', "")
    assert 'class="problem"' not in again
    assert "different people before" not in again
    decide(reviewer, pair, "merge")
    assert Contact.objects.get(name="Gretta").merged_into.name == "Greta"


def test_not_the_same_is_never_asked_again(reviewer: Client, pair: Suggestion) -> None:
    page = decide(reviewer, pair, "different")
    pair.refresh_from_db()
    assert (pair.state, pair.decided_by) == ("different", "operator:reviewer-0")
    assert "No possible duplicates" in page


def test_later_puts_a_pair_behind_the_others(
    reviewer: Client, zoe: EndUser, pair: Suggestion
) -> None:
    other = suggest(make_contact(zoe, "Oda"), make_contact(zoe, "Odda"), 0.5)
    page = decide(reviewer, pair, "later")
    assert 'Are <bdi class="said">Od' in page
    assert page.rindex(f"at={other.pk}") < page.rindex(f"at={pair.pk}")


def test_the_queue_of_one_end_user_stays_theirs_after_a_decision(
    reviewer: Client, zoe: EndUser, pair: Suggestion
) -> None:
    other = make_end_user(external_id="yan")
    suggest(make_contact(other, "Oda"), make_contact(other, "Odda"), 0.99)
    whole = reviewer.get(reverse("dashboard:review"))
    assert [one.external_id for one in whole.context["waiting"]] == ["yan", "zoe"]
    for queue in ("review", "links", "conflicts"):
        page = reviewer.get(reverse(f"dashboard:{queue}"), {"user": zoe.pk})
        assert page.content.decode().count(f'?user={zoe.pk}"') >= 3  # of the tabs
        assert zoe in page.context["waiting"]
    page = reviewer.get(reverse("dashboard:review"), {"user": zoe.pk, "at": pair.pk})
    assert page.context["next"] == f"/review/?user={zoe.pk}"
    assert f'name="next" value="/review/?user={zoe.pk}"' in page.content.decode()


def test_pairs_chosen_in_the_queue_are_all_two_people_and_back(
    reviewer: Client, zoe: EndUser, pair: Suggestion
) -> None:
    other = suggest(make_contact(zoe, "Oda"), make_contact(zoe, "Odda"), 0.5)
    address = reverse("dashboard:decide-many")
    assert "Choose pairs" in reviewer.post(address, follow=True).content.decode()
    limited = signed_in("reviewer", [make_app(name="elsewhere")])
    limited.post(address, {"pair": [pair.pk, other.pk]})
    assert not zoe.changes.exists()
    reviewer.post(address, {"pair": [pair.pk, other.pk, "x"]})
    assert set(Suggestion.objects.values_list("state", flat=True)) == {"different"}
    changes = [str(change.pk) for change in zoe.changes.all()]
    reviewer.post(reverse("dashboard:undo_all", args=[zoe.pk]), {"change": changes})
    assert set(Suggestion.objects.values_list("state", flat=True)) == {"open"}


def test_the_name_to_keep_can_be_swapped(reviewer: Client, pair: Suggestion) -> None:
    gretta = Contact.objects.get(name="Gretta")
    page = reviewer.get(reverse("dashboard:review"), {"keep": gretta.pk}).content.decode()
    greta = Contact.objects.get(name="Greta")
    assert reverse("dashboard:decide", args=[pair.end_user_id, gretta.pk, greta.pk]) in page


def test_a_decision_about_people_of_another_user_is_not_found(
    reviewer: Client, pair: Suggestion
) -> None:
    stranger = make_end_user(external_id="stranger")
    one, other = Contact.objects.order_by("name")
    url = reverse("dashboard:decide", args=[stranger.pk, one.pk, other.pk])
    assert reviewer.post(url, {"decision": "merge"}).status_code == 404


def test_no_decision_is_a_clear_error(reviewer: Client, pair: Suggestion) -> None:
    assert "Choose merge" in decide(reviewer, pair, "")
    assert Contact.objects.standing().count() == 2


def test_what_a_model_said_of_a_pair_is_shown_with_its_reason(
    reviewer: Client, pair: Suggestion
) -> None:
    pair.judgement, pair.judged_by, pair.judged_at = "same", "qwen3:8b", timezone.now()
    pair.judged_reason = "Both sing in <one> choir."
    pair.save()
    page = reviewer.get(reverse("dashboard:review")).content.decode()
    assert "the model: one person" in page
    assert "Both sing in &lt;one&gt; choir." in page
    assert "qwen3:8b" in page


def test_evidence_of_the_oldest_suggestions_is_shown_as_it_was_written(
    reviewer: Client, pair: Suggestion
) -> None:
    pair.evidence = [
        {"text": "Both like tea.", "weight": 0.5},
        {"code": "attribute_other", "params": {"keys": "company, job_title"}, "weight": 2},
        {"code": "gone_since", "params": {}, "weight": 3},
    ]
    pair.save()
    page = reviewer.get(reverse("dashboard:review")).content.decode()
    assert page.index("Their company, job differ") < page.index("Both like tea.")


def test_a_guess_is_shown_with_the_talk_around_it_and_confirmed_in_one_step(
    reviewer: Client, zoe: EndUser
) -> None:
    greta = make_contact(zoe, "Greta")
    before, said = (
        make_message(zoe, content="So it was late."),
        make_message(zoe, content="I think Greta left."),
    )
    memory = make_memory(zoe, "Greta left.", greta, source_message_ids=[said.pk])
    link = Link.objects.get(memory=memory)
    Link.objects.filter(pk=link.pk).update(confidence=0.5)
    page = reviewer.get(reverse("dashboard:links")).content.decode()
    assert "So it was late." in page
    assert "<mark>Greta</mark> left." in page
    url = reverse("dashboard:decide-link", args=[zoe.pk, link.pk])
    page = reviewer.post(url, {"decision": "right"}, follow=True).content.decode()
    link.refresh_from_db()
    assert (link.made_by, link.confidence) == ("operator", 1.0)
    assert "Nothing is unclear" in page
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, Change.objects.get().pk]))
    link.refresh_from_db()
    assert link.confidence == 0.5
    assert before.pk


def test_people_of_one_name_are_asked_about_and_a_memory_moves_to_the_other(
    reviewer: Client, zoe: EndUser
) -> None:
    one = make_contact(zoe, "Greta", relationship="aunt")
    other = make_contact(zoe, "Gretel", relationship="neighbour")
    Contact.objects.filter(pk=other.pk).update(name="Greta", name_key=one.name_key, namesake=1)
    memory = make_memory(zoe, "Greta has a boat.", one)
    Link.objects.update(made_by="extractor")
    page = reviewer.get(reverse("dashboard:links")).content.decode()
    assert re.search("It is about the other <bdi[^>]*>Greta</bdi> <bdi[^>]*>neighbour", page)
    link = Link.objects.get(memory=memory)
    url = reverse("dashboard:decide-link", args=[zoe.pk, link.pk])
    reviewer.post(url, {"decision": "move", "to": other.pk})
    assert Link.objects.standing().get(memory=memory).contact == other


def test_wrong_takes_the_memory_off_the_person(reviewer: Client, zoe: EndUser) -> None:
    memory = make_memory(zoe, "Greta left.", make_contact(zoe, "Greta"))
    Link.objects.update(confidence=0.4)
    url = reverse("dashboard:decide-link", args=[zoe.pk, Link.objects.get().pk])
    reviewer.post(url, {"decision": "wrong"})
    assert Link.objects.get(memory=memory).rejected


def test_of_two_values_one_is_kept_and_the_other_comes_back_with_undo(
    reviewer: Client, zoe: EndUser
) -> None:
    both = [json_value("Acme"), json_value("Brill")]
    greta = make_contact(zoe, "Greta", attributes={"company": both, "likes": both})
    answer = reviewer.get(reverse("dashboard:conflicts"))
    (found,) = answer.context["queue"]
    assert found.key == "company"  # several likes contradict nothing
    page = answer.content.decode()
    assert "Acme" in page
    url = reverse("dashboard:contact_resolve", args=[zoe.pk, greta.pk])
    queue = reverse("dashboard:conflicts")
    assert f'action="{url}"' in page
    assert f'name="next" value="{queue}"' in page
    back = reviewer.post(url, {"key": "company", "value": "Brill", "next": queue})
    assert back["Location"] == queue
    greta.refresh_from_db()
    assert [value["value"] for value in greta.attributes["company"]] == ["Brill"]
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, Change.objects.get().pk]))
    greta.refresh_from_db()
    assert [value["value"] for value in greta.attributes["company"]] == ["Acme", "Brill"]


def test_of_values_that_are_all_right_nothing_is_asked_any_more_until_an_undo(
    reviewer: Client, zoe: EndUser
) -> None:
    both = [json_value("Acme"), json_value("Brill")]
    greta = make_contact(zoe, "Greta", attributes={"company": both, "birthday": both})
    url = reverse("dashboard:contact_resolve", args=[zoe.pk, greta.pk])
    reviewer.post(url, {"key": "company", "all": "1"})
    greta.refresh_from_db()
    assert greta.attributes["company"] == both
    assert greta.contradictions == ["birthday"]
    assert list(Contact.objects.in_conflict()) == [greta]
    reviewer.post(url, {"key": "birthday", "all": "1"})
    assert not Contact.objects.in_conflict().exists()
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, Change.objects.latest("created_at").pk]))
    assert list(Contact.objects.in_conflict()) == [greta]
    reviewer.post(url, {"key": "likes", "all": "1"})
    assert Change.objects.count() == 2


@pytest.mark.parametrize(("chosen", "asked"), [("", True), ("both", False)])
def test_before_a_merge_both_values_can_be_called_right_or_left_open(
    reviewer: Client, zoe: EndUser, chosen: str, asked: bool
) -> None:
    greta, gretta = (
        make_contact(zoe, name, attributes={"company": [json_value(company)]})
        for name, company in (("Greta", "Acme"), ("Gretta", "Brill"))
    )
    url = f"/u/{zoe.pk}/review/{greta.pk}/{gretta.pk}/decide/"
    reviewer.post(url, {"chosen": "1", "value:company": chosen, "decision": "merge"})
    greta.refresh_from_db()
    assert [entry["value"] for entry in greta.attributes["company"]] == ["Acme", "Brill"]
    assert Contact.objects.in_conflict().exists() == asked


@pytest.fixture
def two_homes(zoe: EndUser) -> Edge:
    greta = make_contact(zoe, "Greta")
    earlier = make_memory(zoe, "Greta lives in Oslo.", greta)
    later = make_memory(
        zoe, "Greta may have gone to Bergen.", greta, said_at=earlier.said_at + timedelta(days=9)
    )
    return Edge.objects.create(end_user=zoe, source=later, target=earlier, kind="conflicts")


def settle(client: Client, edge: Edge, right: object) -> str:
    url = reverse("dashboard:settle", args=[edge.end_user_id, edge.pk])
    return client.post(url, {"right": str(right)}, follow=True).content.decode()


def test_of_two_memories_in_contradiction_the_later_can_end_the_earlier(
    reviewer: Client, zoe: EndUser, two_homes: Edge
) -> None:
    page = reviewer.get(reverse("dashboard:conflicts")).content.decode()
    assert page.index("lives in Oslo") < page.index("gone to Bergen")
    assert "No contradictions" in settle(reviewer, two_homes, two_homes.source_id)
    two_homes.target.refresh_from_db()
    assert two_homes.target.status == "outdated"
    ended = Edge.objects.get(kind="supersedes")
    assert (ended.source_id, ended.target_id) == (two_homes.source_id, two_homes.target_id)
    reviewer.post(reverse("dashboard:undo", args=[zoe.pk, Change.objects.get().pk]))
    assert "gone to Bergen" in reviewer.get(reverse("dashboard:conflicts")).content.decode()


def test_where_the_earlier_memory_is_right_the_later_one_never_took_its_place(
    reviewer: Client, two_homes: Edge
) -> None:
    settle(reviewer, two_homes, two_homes.target_id)
    two_homes.source.refresh_from_db()
    assert two_homes.source.status == "outdated"
    assert not Edge.objects.filter(kind="supersedes").exists()


def test_two_memories_that_are_both_right_contradict_each_other_no_more(
    reviewer: Client, two_homes: Edge
) -> None:
    assert "No contradictions" in settle(reviewer, two_homes, "both")
    assert not Edge.objects.exists()
    assert Memory.objects.filter(status="active").count() == 2


@pytest.mark.parametrize("right", ["", "x", "00000000-0000-0000-0000-000000000000"])
def test_what_is_none_of_the_two_memories_settles_nothing(
    reviewer: Client, two_homes: Edge, right: str
) -> None:
    assert "Choose" in settle(reviewer, two_homes, right)
    assert not Change.objects.exists()


def test_the_queue_of_conflicts_is_one_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'contact_in_conflict'")
        (held,) = cursor.fetchone()
        condition = IN_CONFLICT.sql.replace("contacts_contact.", "")
        cursor.execute(f"CREATE INDEX fresh ON contacts_contact (id) WHERE {condition}")
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'fresh'")
        (fresh,) = cursor.fetchone()
    assert fresh.partition(" WHERE ")[2].strip("()") in held


def test_the_queue_takes_the_same_statements_however_long_it_is(
    reviewer: Client, zoe: EndUser, pair: Suggestion
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert reviewer.get(reverse("dashboard:review")).status_code == 200
        return len(queries)

    reviewer.get(reverse("dashboard:review"))
    few = statements()
    for place in range(10):
        make = [make_contact(zoe, f"Person {place} {n}") for n in (1, 2)]
        suggest(*make, 0.1)
    assert statements() == few


@pytest.mark.parametrize("queue", ["links", "conflicts"])
def test_other_queues_take_the_same_statements_however_long_they_are(
    reviewer: Client, zoe: EndUser, queue: str
) -> None:
    def wait(name: str) -> None:
        both = [json_value("Acme"), json_value("Brill")]
        person = make_contact(zoe, name, attributes={"company": both})
        left, stayed = (make_memory(zoe, f"{name} {did}.", person) for did in ("left", "stayed"))
        Edge.objects.create(end_user=zoe, source=left, target=stayed, kind="conflicts")
        Link.objects.update(confidence=0.5)

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert reviewer.get(reverse(f"dashboard:{queue}")).status_code == 200
        return len(queries)

    wait("Greta")
    statements()
    few = statements()
    for place in range(30):
        wait(f"Person {place}")
    assert statements() <= few


def test_a_comparison_takes_the_same_statements_however_much_is_known(
    reviewer: Client, zoe: EndUser, pair: Suggestion
) -> None:
    url = reverse("dashboard:compare", args=[zoe.pk, pair.first_id, pair.second_id])

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert reviewer.get(url).status_code == 200
        return len(queries)

    statements()
    few = statements()
    for person in Contact.objects.all():
        for place in range(30):
            make_memory(zoe, f"{person.name} likes tea {place}.", person)
    assert statements() == few


def test_the_preview_of_two_who_are_well_known_is_the_card_that_a_merge_gives(zoe: EndUser) -> None:
    greta, gretta = make_contact(zoe, "Greta"), make_contact(zoe, "Gretta")
    for place in range(12):
        make_memory(zoe, f"Greta saw lake {place}.", greta)
        make_memory(
            zoe, f"Gretta saw hill {place}.", gretta, status=["active", "outdated"][place % 2]
        )
    shared = make_memory(zoe, "Both climb.", greta, gretta)
    Link.objects.filter(contact=gretta, memory=shared).update(rejected=True)
    job = make_memory(zoe, "Gretta works at Acme.", gretta)
    gone = make_memory(zoe, "Gretta lives in Rome.", gretta, status="outdated")
    gretta.attributes = {
        "company": [json_value("Acme", [job.pk])],
        "location": [json_value("Rome", [gone.pk])],
    }
    gretta.aliases = ["Grets"]
    store.save(gretta, ["attributes", "aliases"])
    Link.objects.filter(memory=job).update(consolidated_at=timezone.now())
    rehearsed = merge_contacts.rehearsed_card(zoe, gretta.pk, greta.pk, actor="operator:ada")
    merge_contacts.merge(zoe, gretta.pk, greta.pk, actor="operator:li")
    assert rehearsed == Contact.objects.get(pk=greta.pk).card
    assert "Acme" in rehearsed
    assert "Rome" not in rehearsed
    assert "Both climb" not in rehearsed


def test_namesakes_are_told_apart_beside_their_names_on_every_page(
    reviewer: Client, zoe: EndUser
) -> None:
    facts = [{"location": [json_value(city)], "birthday": [json_value(day)]}
             for city, day in (("Oslo", "1990-05-03"), ("Bergen", "1991-05-03"))]  # fmt: skip
    one, other = (
        make_contact(zoe, "李娜", relationship="邻居", attributes=known, namesake=place)
        for place, known in enumerate(facts)
    )
    memory = make_memory(zoe, "李娜 has a boat.", one, other)
    subjects = [str(one.pk), str(other.pk)]
    Change.objects.create(end_user=zoe, verb="not_the_same", actor="app:x", subjects=subjects)
    Link.objects.update(made_by="extractor")
    suggestion = suggest(one, other, 0.6)
    suggestion.evidence = [Reason("words", words=["boat"]).as_json | {"weight": 1.0}]
    suggestion.save()
    pick = reverse("dashboard:pick", args=[zoe.pk])
    for address in (reverse("dashboard:home"), reverse("dashboard:contacts", args=[zoe.pk]), reverse("dashboard:review"),
                    reverse("dashboard:links"), reverse("dashboard:find") + "?q=li", pick,
                    reverse("dashboard:contact", args=[zoe.pk, one.pk]),
                    reverse("dashboard:contacts_map", args=[zoe.pk]), reverse("dashboard:memories", args=[zoe.pk]),
                    reverse("dashboard:memories", args=[zoe.pk]) + "?q=boat", reverse("dashboard:activity"),
                    reverse("dashboard:memory", args=[zoe.pk, memory.pk]), reverse("dashboard:changes", args=[zoe.pk])):  # fmt: skip
        page = reviewer.get(address).content.decode()
        assert "邻居 · Oslo" in page, address
        assert "邻居 · Bergen" in page, address
    page = reviewer.get(reverse("dashboard:review")).content.decode()
    days = [("1990-05-03", "1991-05-03"), ("1991-05-03", "1990-05-03")]
    assert any(f"Birthday: {left} ≠ {right}" in page for left, right in days)
    assert "Both talk about boat." in page


def test_the_menu_counts_what_waits_for_this_operator(reviewer: Client, pair: Suggestion) -> None:
    assert reviewer.get("/users/").context["to_review"] == "1"
    decide(reviewer, pair, "different")
    assert reviewer.get("/users/").context["to_review"] == ""
    make_suggestion(make_contact(pair.end_user, "Ann"), make_contact(pair.end_user, "Anne"))
    stranger = signed_in("reviewer", name="eve", apps=[make_app(name="other")])
    assert stranger.get("/users/").context["to_review"] == ""
