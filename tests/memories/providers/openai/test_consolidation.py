"""Conflict resolution, consolidation, and the schemas of all answers."""

from uuid import uuid4

import pytest

from memories.profiles import apply
from memories.providers.openai.provider import OpenAIProvider
from memories.providers.openai.schemas import (
    ExtractionOut,
    ProfilesOut,
    ResolutionsOut,
    json_schema_of,
)
from memories.types import (
    AttributeValue,
    ConflictCase,
    MemoryType,
    Profile,
    ProfilePatch,
    ProfileRequest,
    StoredFact,
    StoredMemory,
    TimelineEvent,
    Verdict,
)
from tests.memories.providers.openai.examples import MEI, SAID_AT
from tests.servers import Request
from understanding.types import Person


def patched(person: str, **fields: object) -> dict[str, object]:
    """An answer that says this of a person and nothing else."""
    return {"people": [{"id": person, "attributes": [], "timeline": [], **fields}]}


def consolidated(provider: OpenAIProvider, *requests: ProfileRequest) -> list[ProfilePatch | None]:
    """The patches in the order of the requests."""
    found = provider.consolidate(requests).value
    return [found.get(request.person.id) for request in requests]


class TestResolution:
    def case(self, key: str, *existing: StoredMemory) -> ConflictCase:
        return ConflictCase(
            key,
            StoredMemory(
                uuid4(),
                f"{key}: Ines works at Fado Books",
                MemoryType.PROFESSIONAL,
                SAID_AT,
                facts=(StoredFact("company", "Fado Books", MEI.id),),
            ),
            existing,
        )

    def stored(self, content: str) -> StoredMemory:
        return StoredMemory(uuid4(), content, MemoryType.PROFESSIONAL, SAID_AT)

    def test_verdicts_come_back_by_case_and_only_for_what_was_shown(self, server, provider):
        one, two = self.stored("Ines works at Lumen"), self.stored("Ines likes fado")
        cases = [self.case("a", one), self.case("b", one, two), self.case("c", two), self.case("d")]

        def judge(sent: Request) -> dict[str, object]:
            ids = {item["text"]: item["id"] for item in sent.data["memories"]}
            old, other = ids[one.content], ids[two.content]
            return {
                "resolutions": [
                    {"case": "c3", "verdict": "duplicate", "targets": [old], "reason": "?"},
                    {"case": "c9", "verdict": "duplicate", "targets": [old], "reason": "?"},
                    {
                        "case": "c2",
                        "verdict": "complements",
                        "targets": [other, "m9"],
                        "reason": "",
                    },
                    {"case": "c1", "verdict": "supersedes", "targets": [old], "reason": "New job."},
                ]
            }

        server.answer_with = judge
        found = provider.resolve(cases).value
        assert set(found) == {"a", "b"}
        [over], [more] = found["a"], found["b"]
        assert (over.verdict, over.targets) == (Verdict.SUPERSEDES, (one.id,))
        assert over.reason == "New job."
        assert (more.verdict, more.targets) == (Verdict.COMPLEMENTS, (two.id,))
        assert [case["case"] for case in server.requests[0].data["cases"]] == ["c1", "c2", "c3"]

    @pytest.mark.parametrize(
        ("remains", "verdict", "kept"),
        [
            ("Ines works on ebooks in Porto", Verdict.SUPERSEDES, "Ines works on ebooks in Porto"),
            ("Ines works on ebooks in Braga", Verdict.CONFLICTS, None),
            ("Ines works at Lumen on ebooks in Porto.", Verdict.COMPLEMENTS, None),
        ],
    )
    def test_what_remains_true_is_kept_where_it_was_told(
        self, server, provider, remains, verdict, kept
    ):
        old = self.stored("Ines works at Lumen on ebooks in Porto")
        said = {"case": "c1", "verdict": "supersedes", "targets": ["m1"], "remains": remains}
        server.reply_json({"resolutions": [said]})
        [found] = provider.resolve([self.case("a", old)]).value["a"]
        assert (found.verdict, found.remains.get(old.id)) == (verdict, kept)

    def test_a_new_memory_may_end_one_and_add_to_another(self, server, provider):
        one, two = self.stored("Ines works at Lumen"), self.stored("Ines likes fado")
        server.reply_json(
            {
                "resolutions": [
                    {"case": "c1", "verdict": "supersedes", "targets": ["m1"]},
                    {"case": "c1", "verdict": "complements", "targets": ["m2", "m1"]},
                ]
            }
        )
        found = provider.resolve([self.case("a", one, two)]).value["a"]
        assert [one.verdict for one in found] == [Verdict.SUPERSEDES, Verdict.COMPLEMENTS]
        assert [len(one.targets) for one in found] == [1, 1]

    def test_cases_with_nothing_to_compare_cost_no_call(self, server, provider):
        assert provider.resolve([self.case("a"), self.case("b")]).value == {}
        assert server.requests == []

    def test_many_cases_go_in_several_calls_whose_usage_adds_up(self, server, provider):
        server.reply_json({"resolutions": []}, times=None)
        early = self.stored("Ines sings fado")
        cases = [self.case("0", self.stored("Ines"), early)]
        cases += [self.case(str(number), early, self.stored("Ines")) for number in range(1, 45)]
        usage = provider.resolve(cases).usage
        assert len(server.requests) == 3
        assert usage.tokens_in == 33
        assert {
            memory["id"]
            for sent in server.requests
            for memory in sent.data["memories"]
            if memory["text"] == early.content
        } == {"m2"}
        assert len({sent.json["messages"][0]["content"] for sent in server.requests}) == 1


class TestConsolidation:
    def stored(self, content: str, **fields: object) -> StoredMemory:
        return StoredMemory(uuid4(), content, MemoryType.PERSONAL, SAID_AT, **fields)

    def test_a_patch_names_the_memories_each_value_rests_on(self, server, provider):
        old = uuid4()
        job, trip = self.stored("阿梅在茶馆做店长"), self.stored("阿梅去了敦煌")
        profile = Profile(
            attributes={"company": (AttributeValue("旧书店", (old,)),)},
            personality="安静。",
            personality_sources=(old,),
            timeline=(TimelineEvent("搬到苏州", "2024-05", (old,)),),
        )
        server.reply_json(
            patched(
                "p1",
                attributes=[
                    {
                        "key": "company",
                        "values": [
                            {"value": "茶馆", "sources": ["m1"], "since": "2025-01"},
                            {"value": "银行", "sources": ["m9"], "since": None},
                        ],
                    },
                    {
                        "key": "location",
                        "values": [{"value": "火星", "sources": ["x"], "since": None}],
                    },
                ],
                timeline=[
                    {"text": "去敦煌旅行", "at": "2025-02", "sources": ["m2"]},
                    {"text": "学会了骑马", "at": "", "sources": ["m2"]},
                    {"text": "没有来源", "at": "2025", "sources": []},
                    {"text": "不是日期", "at": "last spring", "sources": ["m2"]},
                    {"text": "没有这一天", "at": "2025-02-30", "sources": ["m2"]},
                ],
                personality="安静，爱旅行。",
                personality_sources=["m2"],
            )
        )
        [patch] = consolidated(provider, ProfileRequest(MEI, profile, (job, trip), "zh"))
        assert [(item.value, item.sources) for item in patch.attributes["company"]] == [
            ("茶馆", (job.id,))
        ]
        assert patch.ended == {("company", "旧书店")}
        assert [(item.value, item.sources) for item in patch.attributes["former_company"]] == [
            ("旧书店", (old,))
        ]
        assert "location" not in patch.attributes
        assert [(event.text, event.at, event.sources) for event in patch.timeline] == [
            ("去敦煌旅行", "2025-02", (trip.id,)),
            ("学会了骑马", "", (trip.id,)),
        ]
        assert patch.personality == "安静，爱旅行。"
        assert patch.personality_sources == (old, trip.id)

    def test_a_value_is_ended_by_its_id_and_what_a_person_stated_stays(self, server, provider):
        old = uuid4()
        profile = Profile(
            attributes={
                "interests": (
                    AttributeValue("chess", (old,)),
                    AttributeValue("fado", (old,)),
                    AttributeValue("go", ()),
                )
            }
        )
        server.reply_json(patched("p1", ended=["v1", "v3", "v7"]))
        new = self.stored("Mei gave up chess and go")
        [patch] = consolidated(provider, ProfileRequest(MEI, profile, (new,), "en"))
        left = apply(profile, patch).attributes["interests"]
        assert [value.value for value in left] == ["fado", "go"]

    def test_only_the_profile_and_the_new_memories_are_sent(self, server, provider):
        server.reply_json(patched("p1", personality=None))
        known = tuple(uuid4() for _ in range(1800))
        profile = Profile(attributes={"likes": (AttributeValue("tea", known),)})
        new = self.stored("Mei bakes", facts=(StoredFact("interests", "baking", MEI.id),))
        [patch] = consolidated(provider, ProfileRequest(MEI, profile, (new,), "en"))
        assert patch.personality is None
        [sent] = server.requests[0].data["people"]
        assert sent["profile"]["attributes"] == {"likes": [{"id": "v1", "value": "tea"}]}
        assert sent["new_memories"][0]["facts"] == [{"key": "interests", "value": "baking"}]
        assert len(server.requests[0].json["messages"][1]["content"]) < 600

    def test_nothing_new_costs_no_call(self, server, provider):
        assert consolidated(provider, ProfileRequest(MEI, Profile(), ())) == [None]
        assert server.requests == []

    def several(self, *counts: int) -> list[ProfileRequest]:
        """A request for each of so many people, with so many new memories each."""
        people = [Person(uuid4(), f"Ines {number}") for number in range(len(counts))]
        return [
            ProfileRequest(
                one, Profile(), tuple(self.stored(f"{one.name} sings {n}") for n in range(count))
            )
            for one, count in zip(people, counts, strict=True)
        ]

    def test_several_people_are_one_call_and_a_value_rests_on_memories_of_its_own_person(
        self, server, provider
    ):
        shared = self.stored("Ines and Mei sing fado")
        requests = [
            ProfileRequest(one, Profile(), (shared, self.stored(f"{one.name} moved to Porto")))
            for one in (MEI, Person(uuid4(), "Ines"))
        ]

        def answer(sent: Request) -> dict[str, object]:
            ids = [[new["id"] for new in one["new_memories"]] for one in sent.data["people"]]
            assert ids == [["m1", "m2"], ["m1", "m3"]]
            moved = {"key": "location", "values": [{"value": "Porto", "sources": ["m3"]}]}
            both = [
                patched(one["id"], attributes=[moved])["people"][0] for one in sent.data["people"]
            ]
            return {"people": [*both, patched("p9")["people"][0]]}

        server.answer_with = answer
        mei, ines = consolidated(provider, *requests)
        assert not mei.attributes
        assert ines.attributes["location"][0].sources == (requests[1].memories[1].id,)
        assert len(server.requests) == 1

    def test_a_call_holds_as_many_people_as_have_few_new_memories(self, server, provider):
        server.answer_with = lambda sent: {
            "people": [patched(one["id"])["people"][0] for one in sent.data["people"]]
        }
        consolidated(provider, *self.several(30, 10, 1, 60, 1))
        assert [len(sent.data["people"]) for sent in server.requests] == [2, 1, 1, 1]


class TestSchemas:
    @pytest.mark.parametrize("model", [ExtractionOut, ResolutionsOut, ProfilesOut])
    def test_schemas_hold_to_the_subset_of_strict_structured_output(self, model):
        def check(node: object) -> None:
            if isinstance(node, list):
                for item in node:
                    check(item)
            elif isinstance(node, dict):
                if node.get("type") == "object":
                    assert node["additionalProperties"] is False
                    assert node["required"] == list(node["properties"])
                assert "default" not in node
                for part in node.values():
                    check(part)

        check(json_schema_of(model))
