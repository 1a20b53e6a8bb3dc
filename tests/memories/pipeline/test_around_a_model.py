"""What a model's answer becomes: nothing of it is lost or mixed up on the way into the store."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import EndUser
from contacts import own_references
from contacts.models import Contact
from memories.erasure import erase
from memories.models import CONSOLIDATED_IMPORTANCE, Consolidation, Erasure, Link, Memory, Message
from memories.pipeline import candidates, run, store_memories
from memories.providers.factory import embedder
from memories.providers.openai.provider import instructions
from tests.api import ApiClient
from tests.factories import SOME_DAY
from tests.servers import Request, Step

pytestmark = pytest.mark.django_db


def say(client: ApiClient, zoe: EndUser, *texts: str, day: int = 0) -> None:
    said = SOME_DAY.replace(day=SOME_DAY.day + day).isoformat()
    turns = [{"role": "user", "content": text, "created_at": said} for text in texts]
    assert client.post("users/zoe/messages/", {"messages": turns})[0] == 202
    while run.extract_next(zoe.pk, everything=True):
        pass


def told(content: str, *people: str, turns: tuple[int, ...] = (1,), **fields: object) -> dict:
    return {"content": content, "people": list(people), "turns": list(turns), **fields}


def answer(*memories: dict, people: tuple[dict, ...] = (), **fields: object) -> dict:
    return {"people": list(people), "memories": list(memories), **fields}


def known(sent: Request, name: str) -> str:
    """The id by which a request shows somebody."""
    return next(person["id"] for person in sent.data["people"] if person["name"] == name)


def shown(sent: Request, text: str) -> str:
    """The id by which a request shows a memory."""
    return next(memory["id"] for memory in sent.data["memories"] if memory["text"] == text)


def learn(client: ApiClient, zoe: EndUser, name: str, *contents: str) -> Contact:
    """Somebody of whom memories are posted."""
    made = client.post("users/zoe/contacts/", {"name": name})[1]["id"]
    for content in contents:
        about = {"content": content, "contacts": [made]}
        assert client.post("users/zoe/memories/", about)[0] == 201
    return Contact.objects.get(pk=made)


def test_two_people_of_one_name_in_one_answer_are_two(client, zoe, server):
    server.reply_json(
        answer(
            told("张伟 found the user a flat", "n1"),
            told("张伟 brought cake to the office", "n2"),
            people=(
                {"id": "n1", "name": "张伟", "relationship": "agent"},
                {"id": "n2", "name": "张伟", "relationship": "colleague"},
            ),
        )
    )
    say(client, zoe, "the agent 张伟 found me a flat, and my colleague 张伟 brought cake")
    of = {
        contact.relationship: [
            memory.content for memory in Memory.objects.of(zoe).about(contact.pk)
        ]
        for contact in Contact.objects.of(zoe).standing()
    }
    assert of == {
        "agent": ["张伟 found the user a flat"],
        "colleague": ["张伟 brought cake to the office"],
    }


def test_a_plan_of_a_month_lies_ahead_until_the_month_is_over(client, zoe, server):
    server.reply_json(
        answer(
            told("Kim visits in August", "n1", type="plan", happens_at="2199-08"),
            people=({"id": "n1", "name": "Kim"},),
        )
    )
    say(client, zoe, "Kim visits in August")
    [memory] = Memory.objects.of(zoe)
    assert memory.happens_until == datetime(2199, 8, 31, tzinfo=UTC)
    assert list(Memory.objects.of(zoe).ahead(datetime(2199, 8, 30, tzinfo=UTC))) == [memory]
    assert not Memory.objects.of(zoe).ahead(datetime(2199, 9, 1, tzinfo=UTC)).exists()
    row = client.get(f"users/zoe/memories/{memory.pk}/")[1]
    assert row["happens_until"].startswith("2199-08-31")
    card = Contact.objects.get(name="Kim").card_today
    assert "2199-08: Kim visits in August" in card


def told_of_kim(company: str, place: str = "", turn: int = 1) -> dict:
    content = f"Kim works at {company}{place}"
    facts = [{"key": "company", "value": company, "person": "p1"}]
    return told(content, "p1", turns=(turn,), type="professional", facts=facts)


def test_what_stays_true_of_an_outdated_memory_is_kept(client, zoe, server):
    kim = client.post("users/zoe/contacts/", {"name": "Kim"})[1]["id"]
    first = told_of_kim("Acme", " in Oslo on engines")
    first["facts"].append({"key": "job", "value": "engine designer", "person": "p1"})
    server.reply_json(answer(first))
    say(client, zoe, "Kim works at Acme in Oslo on engines")
    server.reply_json(answer(told_of_kim("Bolt", turn=2)))
    left = "Kim works in Oslo on engines"
    over = {"case": "c1", "verdict": "supersedes", "targets": ["m1"], "remains": left}
    server.reply_json({"resolutions": [over]})
    say(client, zoe, "Kim works at Bolt now", day=9)
    rows = {memory.content: memory for memory in Memory.objects.of(zoe).about(kim)}
    assert {content: memory.status for content, memory in rows.items()} == {
        "Kim works at Acme in Oslo on engines": "outdated",
        "Kim works at Bolt": "active",
        left: "active",
    }
    assert [fact["value"] for fact in rows[left].facts] == ["engine designer"]
    assert rows[left].source_message_ids == rows[min(rows)].source_message_ids
    sent = server.requests[-1].data
    assert sent["cases"][0]["new"]["about"] == sent["memories"][0]["about"] == ["p1"]


def test_two_new_memories_may_each_end_a_part_of_an_old_one(client, zoe, server):
    client.post("users/zoe/contacts/", {"name": "Kim"})
    first = told_of_kim("Acme", " in Oslo")
    first["facts"].append({"key": "location", "value": "Oslo", "person": "p1"})
    server.reply_json(answer(first))
    say(client, zoe, "Kim works at Acme in Oslo")
    moved = told("Kim lives in Bergen", "p1", turns=(2,))
    moved["facts"] = [{"key": "location", "value": "Bergen", "person": "p1"}]
    server.reply_json(answer(told_of_kim("Bolt", turn=2), moved))
    ends = (("c1", "company", "Acme", "Kim works in Oslo"), ("c2", "location", "Oslo", ""))
    server.reply_json(
        {
            "resolutions": [
                {
                    "case": case,
                    "verdict": "supersedes",
                    "targets": ["m1"],
                    "ended": [{"id": "m1", "key": key, "value": value}],
                    "remains": left,
                }
                for case, key, value, left in ends
            ]
        }
    )
    say(client, zoe, "Kim works at Bolt now, and lives in Bergen", day=9)
    active = Memory.objects.of(zoe).active().facts()
    held = {f["value"] for m in active for f in m.facts if not f.get("outdated")}
    assert held == {"Bolt", "Bergen"}


def test_one_answer_that_says_a_thing_twice_is_stored_once(client, zoe, server):
    server.reply_json(
        answer(
            told("Kim plays the cello in an orchestra", "n1"),
            told("Kim is a cellist in an orchestra", "n1", turns=(2,)),
            people=({"id": "n1", "name": "Kim"},),
        )
    )
    same = {"case": "c1", "verdict": "duplicate", "targets": ["m1"]}
    server.reply_json({"resolutions": [same]})
    say(client, zoe, "Kim plays the cello in an orchestra", "she is a cellist there, you know")
    [memory] = Memory.objects.of(zoe)
    assert memory.content == "Kim plays the cello in an orchestra"
    assert len(memory.source_message_ids) == 2


def test_only_what_is_about_one_of_its_people_is_compared_with_a_new_memory(client, zoe, server):
    people = tuple({"id": f"n{n}", "name": name} for n, name in enumerate(("Kim", "Lee", "Ann")))
    server.reply_json(
        answer(
            *(told(f"{one['name']} took up pottery", one["id"]) for one in people), people=people
        )
    )
    say(client, zoe, "Kim, Lee and Ann took up pottery")
    server.answer_with = lambda sent: (
        {"resolutions": []}
        if "cases" in sent.data
        else answer(told("Lee gave up pottery", known(sent, "Lee"), turns=(2,)))
    )
    say(client, zoe, "Lee gave up pottery", day=9)
    [memory] = server.requests[-1].data["memories"]
    assert memory["text"] == "Lee took up pottery"


def test_a_model_sees_what_is_known_and_may_take_it_back(client, zoe, server):
    learn(client, zoe, "Kim", "Kim is allergic to nuts", "Kim plays the cello")
    learn(client, zoe, "Lee", "Lee is allergic to eggs")
    server.answer_with = lambda sent: answer(
        retracted_memories=[shown(sent, "Kim is allergic to nuts"), "m00000000"]
    )
    say(client, zoe, "I was wrong about Kim's allergy, there is none")
    asked = server.requests[0]
    assert asked.data["memories"][0]["about"]
    statuses = dict(Memory.objects.of(zoe).facts().values_list("content", "status"))
    assert statuses == {
        "Kim is allergic to nuts": "outdated",
        "Kim plays the cello": "active",
        "Lee is allergic to eggs": "active",
    }


@pytest.mark.parametrize("by_id", [True, False])
def test_what_is_asked_to_be_forgotten_is_what_the_model_names_not_all_that_has_a_word(
    client, zoe, server, by_id
):
    learn(client, zoe, "Kim", "Kim had a fight with a neighbour")
    learn(client, zoe, "Lee", "Lee saw a fight at a match")
    said = "please forget the fight"

    def asked(sent: Request) -> dict:
        one = shown(sent, "Kim had a fight with a neighbour")
        meant = {"memories": [one]} if by_id else {"words": ["fight"]}
        turn = sent.data["turns"][0]["n"]
        return answer(forget=[{"asked_in": turn, "quote": said, "person": "user", **meant}])

    server.answer_with = asked
    say(client, zoe, said)
    gone = Memory.objects.of(zoe).facts().exclude(status="active")
    expected = ["Kim had a fight with a neighbour"] if by_id else []
    assert list(gone.values_list("content", flat=True)) == expected


def test_a_better_name_takes_the_place_of_a_makeshift_and_a_wrong_one_goes(client, zoe, server):
    kim = learn(client, zoe, "the neighbour")
    client.patch(f"users/zoe/contacts/{kim.pk}/", {"aliases": ["Kimmy", "her daughter"]})

    def named(sent: Request) -> dict:
        person = {
            "id": known(sent, "the neighbour"),
            "better_name": "Summer",
            "wrong_aliases": ["her daughter"],
        }
        return answer(people=(person,))

    server.answer_with = named
    say(client, zoe, "the neighbour is called Summer, and that was never her daughter")
    kim.refresh_from_db()
    assert (kim.name, sorted(kim.aliases)) == ("Summer", ["Kimmy", "the neighbour"])
    change = client.get("users/zoe/changes/")[1]["results"][0]
    assert change["actor"] == "extractor"
    assert client.post(f"users/zoe/changes/{change['id']}/undo/")[0] == 200
    kim.refresh_from_db()
    assert (kim.name, sorted(kim.aliases)) == ("the neighbour", ["Kimmy", "her daughter"])


@pytest.mark.parametrize(
    ("quote", "merged"), [("Kimmy is Summer", True), ("her laugh", False), ("", False)]
)
def test_two_who_are_one_are_merged_where_the_user_says_it_of_both_names(
    client, zoe, server, quote, merged
):
    for name in ("Kimmy", "Summer"):
        learn(client, zoe, name, f"{name} sings in a choir")
    server.answer_with = lambda sent: answer(
        same_people=[{"people": [known(sent, "Kimmy"), known(sent, "Summer")], "quote": quote}]
    )
    say(client, zoe, "I know her laugh: Kimmy is Summer!")
    assert Contact.objects.of(zoe).standing().count() == (1 if merged else 2)
    suggestions = client.get("users/zoe/suggestions/?state=open")[1]["results"]
    assert [one["evidence"][0]["code"] for one in suggestions] == (
        [] if merged else ["said_to_be_one"]
    )


def consolidated(*people: dict) -> dict:
    return {"people": [{"attributes": [], "timeline": [], **one} for one in people]}


def moved(client: ApiClient, zoe: EndUser, name: str) -> Contact:
    """Somebody of whom their profile has something to read."""
    contact = learn(client, zoe, name, f"{name} moved to Oslo")
    Memory.objects.of(zoe).update(unread=False)
    return contact


def lives_in(place: str, sent: Request, name: str) -> dict:
    """An entry about somebody who moved, on the first of their new memories."""
    one = next(one for one in sent.data["people"] if one["name"] == name)
    told = {"value": place, "sources": [one["new_memories"][0]["id"]]}
    return {"id": one["id"], "attributes": [{"key": "location", "values": [told]}]}


def test_profiles_are_asked_for_together_and_whoever_has_no_answer_alone(client, zoe, server):
    for name in ("Kim", "Lee", "Ann"):
        moved(client, zoe, name)
    calls: list[list[str]] = []

    def answer_about(sent: Request) -> object:
        calls.append(sorted(one["name"] for one in sent.data["people"]))
        if calls[-1] == ["Lee"]:
            return Step(refusal="I can't help with that.", finish_reason="content_filter")
        named = [name for name in calls[-1] if name != "Lee"]
        return consolidated(*(lives_in("Oslo", sent, name) for name in named))

    server.answer_with = answer_about
    run.consolidate_user(zoe.pk)
    assert calls == [["Ann", "Kim", "Lee"], ["Lee"]]
    of = {contact.name: contact for contact in Contact.objects.of(zoe)}
    assert {name for name, contact in of.items() if "location" in contact.attributes} == {
        "Kim",
        "Ann",
    }
    works = {name: contact.consolidations.get().state for name, contact in of.items()}
    assert works == {"Ann": "done", "Kim": "done", "Lee": "quarantined"}


def test_who_is_refused_or_failed_is_no_reason_to_lose_the_profiles_of_others(client, zoe, server):
    for name in ("Kim", "Lee"):
        moved(client, zoe, name)
    server.reply_text("", refusal="I can't help with that.", finish_reason="content_filter")
    server.fail(503, retry_after=3600)
    server.reply_json({"people": []})
    run.consolidate_user(zoe.pk)
    states = Consolidation.objects.values_list("state", flat=True)
    assert sorted(states) == ["done", "failed"]
    Consolidation.objects.filter(state="failed").update(retry_at=SOME_DAY)
    moved(client, zoe, "Ann")
    server.answer_with = lambda sent: consolidated(
        *({"id": one["id"]} for one in sent.data["people"])
    )
    run.consolidate_user(zoe.pk)
    assert [len(sent.data["people"]) for sent in server.requests[-2:]] == [1, 1]
    assert {*Consolidation.objects.values_list("state", flat=True)} == {"done"}


def test_what_told_a_role_is_compared_when_the_role_changes(client, zoe, server):
    kim = learn(client, zoe, "Kim", *(f"Kim baked bread number {n} for the fair" for n in range(9)))
    client.patch(f"users/zoe/contacts/{kim.pk}/", {"relationship": "boss"})
    posted = {"content": "Kim is the user's manager", "contacts": [str(kim.pk)]}
    assert client.post("users/zoe/memories/", posted)[0] == 201
    store_memories.embed_missing(zoe, embedder())

    def read(sent: Request) -> dict:
        if "cases" in sent.data:
            return {"resolutions": [{"case": "c1", "verdict": "supersedes",
                                     "targets": [shown(sent, "Kim is the user's manager")]}]}  # fmt: skip
        person = {"id": known(sent, "Kim"), "relationship": "former boss"}
        said = told("Kim baked the last bread for the fair and left the club", person["id"])
        return answer(said, people=(person,))

    server.answer_with = read
    say(client, zoe, "Kim baked the last bread for the fair and left the club")
    assert Memory.objects.get(content="Kim is the user's manager").status == "outdated"
    [case] = server.requests[-1].data["cases"]
    assert len(case["existing"]) == 5


def test_an_old_memory_is_compared_with_the_new_ones_nearest_to_it(client, zoe, server):
    learn(client, zoe, "Kim", "Kim keeps bees")
    store_memories.embed_missing(zoe, embedder())
    contents = [f"Kim keeps bees in garden {n}" for n in range(6)]

    def read(sent: Request) -> dict:
        if "cases" in sent.data:
            return {"resolutions": []}
        return answer(*(told(one, known(sent, "Kim")) for one in contents))

    server.answer_with = read
    say(client, zoe, "Kim keeps bees in six gardens")
    sent = server.requests[-1].data
    old = next(memory["id"] for memory in sent["memories"] if memory["text"] == "Kim keeps bees")
    assert sum(old in case["existing"] for case in sent["cases"]) == candidates.PAIRS


def test_a_diagnosis_that_stays_true_has_not_the_date_of_the_operation(client, zoe, server):
    server.reply_json(
        answer(
            told("Kim tore a ligament and has surgery on 4 August 2199", "n1",
                 type="health", happens_at="2199-08-04"),
            people=({"id": "n1", "name": "Kim"},),
        )
    )  # fmt: skip
    say(client, zoe, "Kim tore a ligament and has surgery on 4 August 2199")
    server.reply_json(answer(told("Kim's surgery is called off", "p1", turns=(2,))))
    left = "Kim tore a ligament"
    over = {"case": "c1", "verdict": "supersedes", "targets": ["m1"], "remains": left}
    server.reply_json({"resolutions": [over]})
    say(client, zoe, "Kim's surgery is called off", day=9)
    assert Memory.objects.get(content=left).happens_at is None


def test_a_state_that_is_told_with_a_date_ahead_is_in_the_profile_now_and_the_event_after_it(
    client, zoe, server
):
    engaged = {"key": "relationship_status", "value": "engaged", "person": "n1"}
    job = {"key": "company", "value": "Bolt", "person": "n1", "valid_from": "2199-09-01"}
    server.reply_json(
        answer(
            told("Kim is engaged, marries on 4 August 2199 and joins Bolt in September", "n1",
                 happens_at="2199-08-04", facts=[engaged, job]),
            people=({"id": "n1", "name": "Kim"},),
        )
    )  # fmt: skip
    say(client, zoe, "Kim is engaged, the wedding is on 4 August 2199, then she joins Bolt")

    def read(sent: Request) -> dict:
        [person] = sent.data["people"]
        [new] = person["new_memories"]
        assert [fact["key"] for fact in new["facts"]] == ["relationship_status"]
        status = {"value": "engaged", "sources": [new["id"]]}
        return consolidated(
            {"id": "p1", "attributes": [{"key": "relationship_status", "values": [status]}]}
        )

    server.answer_with = read
    assert (run.consolidate_user(zoe.pk), run.consolidate_user(zoe.pk)) == (1, 0)
    kim = Contact.objects.get(name="Kim")
    assert kim.attributes["relationship_status"][0]["value"] == "engaged"
    assert "August 4, 2199: Kim" in kim.card_today
    memory = Memory.objects.of(zoe).facts().get()
    assert memory.importance > CONSOLIDATED_IMPORTANCE, "its profile does not tell the wedding"

    yesterday = zoe.today_began - timedelta(days=1)
    Memory.objects.filter(pk=memory.pk).update(happens_at=yesterday)
    Link.objects.update(consolidated_at=yesterday - timedelta(days=1))
    assert (run.consolidate_user(zoe.pk), run.consolidate_user(zoe.pk)) == (1, 0)
    memory.refresh_from_db()
    assert memory.importance == CONSOLIDATED_IMPORTANCE


def test_a_plan_that_moves_ends_its_old_date_whomever_of_its_people_it_was_told_of(
    client, zoe, server
):
    plan = {"type": "plan", "happens_at": "2199-05-03"}
    other = {"type": "plan", "happens_at": "2199-05-04"}
    server.reply_json(
        answer(
            told("Kim and Lee get married on 3 May 2199", "n1", **plan),
            told("Kim goes to see her new flat on 4 May 2199", "n1", **other),
            people=({"id": "n1", "name": "Kim"}, {"id": "n2", "name": "Lee"}),
        )
    )
    server.reply_json({"resolutions": []})
    say(client, zoe, "Kim and Lee get married on 3 May 2199, and she sees her flat the day after")
    moved = "Lee's wedding with Kim has moved to 7 June 2199"

    def read(sent: Request) -> dict:
        if "cases" in sent.data:
            [old] = sent.data["memories"]
            over = {"case": "c1", "verdict": "supersedes", "targets": [old["id"]]}
            return {"resolutions": [over]}
        return answer(
            told(moved, known(sent, "Lee"), turns=(2,), type="plan", happens_at="2199-06-07")
        )

    server.answer_with = read
    say(client, zoe, "Lee's wedding with Kim has moved to 7 June 2199", day=9)
    current = Memory.objects.of(zoe).active().facts().values_list("content", flat=True)
    assert sorted(current) == ["Kim goes to see her new flat on 4 May 2199", moved]


def test_a_corrected_name_is_no_alias(client, zoe, server):
    learn(client, zoe, "Inez", "Inez sings fado")

    def read(sent: Request) -> dict:
        person = {
            "id": known(sent, "Inez"),
            "better_name": "Ines",
            "aliases": ["Inez", "Nessa"],
            "wrong_aliases": ["Inez"],
        }
        new = {"id": "n1", "name": "Tomas", "aliases": ["Thomas"], "wrong_aliases": ["Thomas"]}
        return answer(people=(person, new))

    server.answer_with = read
    say(client, zoe, "It's Ines, not Inez; Nessa for short. And Thomas, sorry, Tomas sings too.")
    assert {one.name: one.aliases for one in Contact.objects.of(zoe)} == {
        "Ines": ["Nessa"],
        "Tomas": [],
    }


def test_a_new_memory_is_compared_with_when_it_takes_place(client, zoe, server):
    learn(client, zoe, "Kim", "Kim visits on a Sunday")
    store_memories.embed_missing(zoe, embedder())

    def read(sent: Request) -> dict:
        if "cases" in sent.data:
            return {"resolutions": []}
        visit = {"type": "plan", "happens_at": "2199-08-04"}
        return answer(told("Kim visits on 4 August", known(sent, "Kim"), **visit))

    server.answer_with = read
    say(client, zoe, "Kim visits on 4 August")
    assert server.requests[-1].data["cases"][0]["new"]["happens"] == "2199-08-04"


def test_key_events_stand_in_their_order_and_personality_on_the_card(client, zoe, server):
    kim = moved(client, zoe, "Kim")
    events = [("", "met the user at a pottery class"), ("2019", "moved to Oslo"),
              ("", "learnt to sail"), ("2021", "opened a studio")]  # fmt: skip
    server.answer_with = lambda _sent: consolidated(
        {
            "id": "p1",
            "timeline": [{"at": at, "text": text, "sources": ["m1"]} for at, text in events],
            "personality": "Patient and blunt.",
            "personality_sources": ["m1"],
        }
    )
    run.consolidate_user(zoe.pk)
    found = client.get(f"users/zoe/contacts/{kim.pk}/")[1]
    assert [(event["at"], event["text"]) for event in found["timeline"]] == events
    lines = found["card"].splitlines()
    assert "Personality: Patient and blunt." in lines
    told = [f"- {at} {text}" if at else f"- {text}" for at, text in events]
    assert lines[lines.index("Timeline:") + 1 :][:4] == told


def test_a_secret_is_forgotten_though_nobody_repeats_it(client, zoe, server):
    server.answer_with = lambda _sent: answer()
    say(
        client,
        zoe,
        "my bank PIN is 4711",
        "I bought a pin for my hat",
        "shopping list: the wifi password is oak47gate",
    )
    asked = "please forget my PIN"

    def read(sent: Request) -> dict:
        turn = sent.data["turns"][0]["n"]
        request = {"asked_in": turn, "quote": asked, "person": "user", "keys": ["pin"]}
        return answer(forget=[request])

    server.answer_with = read
    say(client, zoe, asked, day=9)
    erase.carry_out(Erasure.objects.get().pk)
    left = list(Message.objects.of(zoe).values_list("content", flat=True))
    assert left == [
        "",
        "I bought a pin for my hat",
        "shopping list: the wifi password is oak47gate",
        "",
    ]


def test_the_prompt_for_references_gives_examples_that_are_kept_and_such_that_are_not():
    [line] = [
        line for line in instructions("consolidate").splitlines() if line.startswith("- references")
    ]
    examples, refused = line.split("Left out of what is kept")
    kept = examples.split("type them: ")[1].rstrip(". ").split(", ")
    assert len(kept) > 1
    assert [text for text in kept if not own_references.is_telling(text)] == []
    for text in re.findall(r"my \w+|[a-z]+(?=\))|[\u4e00-\u9fff]+", refused):
        assert not own_references.is_telling(text), text
