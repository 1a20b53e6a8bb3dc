"""Splitting, trimming, joining and the second look, as a model does them and Mio checks them."""

from uuid import uuid4

import pytest

from memories.providers.openai.rewriting import NOT_REVIEWED
from memories.types import MemoryType, Overlap, Refinement, Review, StoredMemory
from tests.memories.providers.openai.examples import SAID_AT


def stored(content: str) -> StoredMemory:
    return StoredMemory(uuid4(), content, MemoryType.PERSONAL, SAID_AT)


LONG = stored(
    "Ines moved to Porto in 2023 for her doctorate, and, as the user also told at length, she "
    "has 2 cats that she found in the street."
)
SPLIT = ["Ines moved to Porto in 2023 for her doctorate.", "Ines has 2 cats from the street."]


class TestRefine:
    def refined(self, server, provider, **fields):
        server.reply_json({"refinements": [{"id": "m1", **fields}]})
        return provider.refine([LONG], "en").value

    def test_a_memory_of_two_matters_is_split(self, server, provider):
        found = self.refined(server, provider, pieces=SPLIT, reason="Two matters.")
        assert found == {LONG.id: Refinement(pieces=tuple(SPLIT), reason="Two matters.")}

    def test_a_wordy_memory_is_trimmed(self, server, provider):
        trimmed = "Ines moved to Porto in 2023 for her doctorate and has 2 street cats."
        found = self.refined(server, provider, trimmed=trimmed)
        assert found[LONG.id].trimmed == trimmed

    @pytest.mark.parametrize(
        "fields",
        [
            {"pieces": SPLIT[:1]},
            {"pieces": [SPLIT[0], SPLIT[0]]},
            {"pieces": [SPLIT[0], LONG.content]},
            {"trimmed": LONG.content + " She is happy."},
            {"trimmed": ""},
            {"id": "m2", "pieces": SPLIT},
        ],
    )
    def test_what_is_no_shorter_is_left_as_it_is(self, server, provider, fields):
        assert self.refined(server, provider, **fields) == {}

    def test_many_are_asked_in_several_calls_and_nothing_without_any(self, server, provider):
        server.answer_with = lambda _request: {"refinements": []}
        assert provider.refine([], "en").value == {}
        provider.refine([stored(f"memory {n}") for n in range(12)], "zh")
        assert [len(sent.data["memories"]) for sent in server.requests] == [10, 2]
        assert server.requests[0].data["language"] == "zh"


class TestPropose:
    CLUSTER = (
        stored("Ines lives in Porto"),
        stored("Ines moved to Porto in 2023"),
        stored("Ines likes tea"),
    )

    def proposed(self, server, provider, *overlaps):
        server.reply_json({"overlaps": list(overlaps)})
        return provider.propose(self.CLUSTER, "en").value

    def test_a_group_comes_back_by_id_with_what_all_of_it_says(self, server, provider):
        text = "Ines lives in Porto, where she moved in 2023"
        found = self.proposed(
            server, provider, {"members": ["m2", "m1", "m1"], "content": text, "reason": "Same."}
        )
        ids = (self.CLUSTER[1].id, self.CLUSTER[0].id)
        assert found == [Overlap(ids, text, "Same.")]

    @pytest.mark.parametrize(
        "overlap",
        [
            {"members": ["m1"], "content": "Ines lives in Porto"},
            {"members": ["m1", "m9"], "content": "Ines lives in Porto"},
            {"members": ["m1", "m2"], "content": ""},
            {"members": ["m1", "m2"], "content": "In 2023 " + "so " * 1200},
        ],
    )
    def test_a_group_of_one_or_without_words_is_left_out(self, server, provider, overlap):
        assert self.proposed(server, provider, overlap) == []

    def test_a_memory_is_in_one_group_only(self, server, provider):
        one = {"members": ["m1", "m3"], "content": "Ines lives in Porto and likes tea"}
        two = {"members": ["m1", "m2"], "content": "Ines moved to Porto in 2023"}
        assert len(self.proposed(server, provider, one, two)) == 1

    def test_fewer_than_two_are_not_asked_about(self, server, provider):
        assert provider.propose(self.CLUSTER[:1], "en").value == []
        assert server.requests == []


class TestReview:
    def proposals(self, count=3):
        pair = (stored("Ines lives in Porto"), stored("Ines's home is Porto"))
        overlap = Overlap(tuple(memory.id for memory in pair), "Ines lives in Porto")
        return [(overlap, pair)] * count

    def test_reviews_come_back_in_the_order_of_the_proposals(self, server, provider):
        server.reply_json(
            {
                "reviews": [
                    {"proposal": "r3", "accepted": True, "reason": "Same."},
                    {"proposal": "r1", "accepted": False, "reason": "Loses a date."},
                    {"proposal": "r8", "accepted": True},
                ]
            }
        )
        assert provider.review(self.proposals(), "en").value == [
            Review(False, "Loses a date."),
            NOT_REVIEWED,
            Review(True, "Same."),
        ]

    def test_of_two_reviews_the_refusal_counts(self, server, provider):
        both = [{"proposal": "r1", "accepted": yes} for yes in (True, False)]
        server.reply_json({"reviews": both})
        assert provider.review(self.proposals(1), "en").value == [Review(False)]

    def test_a_review_for_each_of_many_proposals(self, server, provider):
        server.answer_with = lambda sent: {
            "reviews": [
                {"proposal": item["proposal"], "accepted": True} for item in sent.data["proposals"]
            ]
        }
        reviews = provider.review(self.proposals(23), "en").value
        assert reviews == [Review(True)] * 23
        assert len(server.requests) == 3
