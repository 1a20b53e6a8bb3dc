"""Splitting, trimming, joining and the second look, as a model does them and Mio reads them."""

from uuid import uuid4

import pytest

from memories.types import MemoryType, Rewrite, StoredMemory
from tests.memories.providers.openai.examples import SAID_AT


def stored(content: str) -> StoredMemory:
    return StoredMemory(uuid4(), content, MemoryType.PERSONAL, SAID_AT)


LONG = stored(
    "Ines moved to Porto in 2023 for her doctorate, and, as the user also told at length, she "
    "has 2 cats that she found in the street."
)
SPLIT = ["Ines moved to Porto in 2023 for her doctorate.", "Ines has 2 cats from the street."]
SHORTER = "Ines moved to Porto in 2023 for her doctorate and has 2 street cats."
NEAR = (
    stored("Ines lives in Porto"),
    stored("Ines moved to Porto in 2023"),
    stored("Ines likes tea"),
)
BOTH = "Ines lives in Porto, where she moved in 2023"


class TestRefine:
    def refined(self, server, provider, *rewrites):
        server.reply_json({"rewrites": list(rewrites)})
        return provider.refine([[LONG], NEAR], "en").value

    @pytest.mark.parametrize("texts", [SPLIT, [SHORTER]])
    def test_a_long_memory_is_split_or_trimmed(self, server, provider, texts):
        found = self.refined(server, provider, {"ids": ["m1"], "texts": texts, "reason": "Long."})
        assert found == [Rewrite((LONG.id,), tuple(texts), "Long.")]

    def test_memories_of_a_group_are_joined(self, server, provider):
        found = self.refined(server, provider, {"ids": ["m3", "m2", "m2", "m9"], "texts": [BOTH]})
        assert found == [Rewrite((NEAR[1].id, NEAR[0].id), (BOTH,))]

    @pytest.mark.parametrize(
        ("ids", "texts"),
        [
            (["m1"], [SPLIT[0], LONG.content]),
            (["m1"], [LONG.content + " She is happy."]),
            (["m1"], []),
            (["m9"], SPLIT),
            ([], SPLIT),
            (["m2"], ["Ines: Porto"]),
            (["m2", "m3"], [BOTH, "Ines"]),
            (["m2", "m3"], ["In 2023 " + "so " * 1200]),
        ],
    )
    def test_what_is_no_shorter_or_joins_nothing_is_left_out(self, server, provider, ids, texts):
        assert self.refined(server, provider, {"ids": ids, "texts": texts}) == []

    def test_a_memory_is_rewritten_once(self, server, provider):
        one = {"ids": ["m2", "m4"], "texts": ["Ines lives in Porto and likes tea"]}
        two = {"ids": ["m2", "m3"], "texts": [BOTH]}
        assert len(self.refined(server, provider, one, two)) == 1

    def test_nothing_is_asked_about_no_groups(self, server, provider):
        assert provider.refine([], "en").value == []
        assert server.requests == []


class TestReview:
    def reviewed(self, server, provider, *reviews):
        server.reply_json({"reviews": list(reviews)})
        rewrite = Rewrite(tuple(memory.id for memory in NEAR[:2]), (BOTH,))
        return provider.review([(rewrite, NEAR[:2])] * 3, "en").value

    def test_reviews_come_back_in_the_order_of_the_proposals(self, server, provider):
        r1, r3 = {"proposal": "r1", "accepted": False}, {"proposal": "r3", "accepted": True}
        other = {"proposal": "r8", "accepted": True}
        assert self.reviewed(server, provider, r3, r1, other) == [False, False, True]

    def test_of_two_reviews_the_refusal_counts(self, server, provider):
        both = [{"proposal": "r1", "accepted": yes} for yes in (True, False)]
        assert self.reviewed(server, provider, *both)[0] is False
