"""Requests to forget and the user's own names, as a model reports them and Mio takes them."""

import pytest

from memories.types import ForgetRequest
from tests.memories.providers.openai.examples import MEI, answer, memory, request, turn


def asked(**fields: object) -> dict[str, object]:
    return {
        "asked_in": 2,
        "quote": "忘掉我说的",
        "person": "user",
        "everything": False,
        "words": [],
        "keys": [],
        "turns": [],
        **fields,
    }


TOLD = turn(1, "阿梅在吃抗抑郁药，她下个月去苏州。")
ASKS = turn(2, "忘掉我说的阿梅吃药的事吧。")


@pytest.fixture
def forgotten(server, provider):
    def ask(item: dict[str, object], *turns: object, **fields: object) -> tuple[ForgetRequest, ...]:
        server.reply_json(answer(forget=[item], **fields))
        return provider.extract(request(*(turns or (TOLD, ASKS)))).value.forget

    return ask


class TestWhatIsAskedToBeForgotten:
    def test_a_matter_of_a_known_person_comes_back_by_contact_words_and_keys(self, forgotten):
        item = asked(person="p1", words=["抗抑郁药"], keys=["Medication"], turns=[1])
        (found,) = forgotten(item)
        assert found == ForgetRequest(MEI.id, ("抗抑郁药",), ("medication",), (TOLD.id,))
        assert found.asked_in == ASKS.id

    def test_everything_about_a_person_has_no_words(self, forgotten):
        (found,) = forgotten(asked(person="p1", everything=True, words=["苏州"], keys=["company"]))
        assert found == ForgetRequest(MEI.id)

    def test_a_matter_that_can_not_be_read_never_grows_to_everything(self, forgotten):
        assert forgotten(asked(person="p1")) == ()
        assert forgotten(asked(person="p1", words=["never said"])) == ()
        (only_turns,) = forgotten(asked(person="p1", turns=[1]))
        assert only_turns == ForgetRequest(turn_ids=(TOLD.id,))

    def test_somebody_who_was_never_shown_is_not_taken_for_the_user(self, forgotten):
        assert forgotten(asked(person="p7", keys=["medication"])) == ()

    def test_someone_met_in_the_same_batch_is_found_by_name(self, forgotten):
        people = [{"id": "n1", "name": "老徐", "aliases": []}]
        turns = (turn(1, "老徐欠我钱"), turn(2, "忘掉我说的老徐的事"))
        (found,) = forgotten(
            asked(person="n1", everything=True, keys=["debt"]), *turns, people=people
        )
        assert found == ForgetRequest(None, ("老徐",))

    def test_words_must_stand_in_the_chat_and_say_which_memory_is_meant(self, forgotten):
        (found,) = forgotten(asked(words=["苏州", "了", "a", "Suzhou", "苏州"]))
        assert found.words == ("苏州",)

    @pytest.mark.parametrize(
        ("text", "quote"),
        [
            ("我妈说“忘掉我说的话”，气死我了", "忘掉我说的话"),
            ("> 忘掉我说的话\n这句诗是谁写的？", "忘掉我说的话"),
            ("<mio-memory>忘掉我说的话</mio-memory>今天很好", "忘掉我说的话"),
            ("Translate: ```forget what I said```", "forget what I said"),
            ("今天天气很好", "今天天气很好"),
            ("今天天气很好", "忘掉我说的话"),
            ("请忘掉我说的话", ""),
        ],
    )
    def test_a_request_rests_on_the_users_own_words(self, forgotten, text, quote):
        item = asked(asked_in=1, quote=quote, person="p1", everything=True)
        assert forgotten(item, turn(1, text), turn(2, "嗯")) == ()

    def test_a_name_in_quotation_marks_does_not_make_a_request_a_quotation(self, forgotten):
        text = "请忘掉我说的“阿梅”的所有事"
        item = asked(asked_in=1, quote=text, person="p1", everything=True)
        assert forgotten(item, turn(1, text)) == (ForgetRequest(MEI.id),)

    def test_neither_the_assistant_nor_an_earlier_turn_asks(self, server, provider):
        item = asked(asked_in=1, quote="forget what you said", person="p1", everything=True)
        says = "Shall I forget what you said? Then: forget what you said."
        server.reply_json(answer(forget=[item]), times=2)
        by_assistant = request(turn(1, says, role="assistant"), turn(2, "No, thanks."))
        assert provider.extract(by_assistant).value.forget == ()
        earlier = request(turn(2, "Hello"), context=(turn(1, says),))
        assert provider.extract(earlier).value.forget == ()

    def test_nothing_of_the_same_answer_keeps_what_is_to_be_forgotten(self, server, provider):
        server.reply_json(
            answer(
                memory("阿梅在吃抗抑郁药", turns=[1]),
                memory("阿梅下个月去苏州", turns=[1, 2]),
                memory("阿梅回来了", turns=[3]),
                forget=[asked(person="p1", words=["抗抑郁药"], turns=[1])],
            )
        )
        found = provider.extract(request(TOLD, ASKS, turn(3, "对了，阿梅回来了"))).value
        assert [m.content for m in found.memories] == ["阿梅下个月去苏州", "阿梅回来了"]

    def test_of_a_person_to_be_forgotten_only_what_is_told_later_is_kept(self, server, provider):
        server.reply_json(
            answer(
                memory("阿梅在吃抗抑郁药", turns=[1]),
                memory("阿梅回来了", turns=[3]),
                people=[{"id": "p1"}],
                relations=[{"subject": "p1", "kind": "friend", "object": "n1"}],
                forget=[asked(person="p1", everything=True)],
            )
        )
        found = provider.extract(request(TOLD, ASKS, turn(3, "对了，阿梅回来了"))).value
        assert [m.content for m in found.memories] == ["阿梅回来了"]
        assert found.forget == (ForgetRequest(MEI.id),)

    def test_an_answer_of_the_older_form_asks_nothing(self, server, provider):
        server.reply_json({"people": [], "memories": [], "forget": None, "user_names": None})
        found = provider.extract(request()).value
        assert (found.forget, found.user_names) == ((), ())


class TestTheUsersOwnNames:
    def names(self, server, provider, text, names, **fields):
        server.reply_json(answer(user_names=names))
        return provider.extract(request(turn(1, text), **fields)).value.user_names

    def test_a_name_that_the_user_gives_is_learnt(self, server, provider):
        assert self.names(server, provider, "大家好，我叫周舟。", ["周舟"]) == ("周舟",)

    def test_a_name_that_nobody_said_or_a_contact_bears_is_not(self, server, provider):
        text = "我叫周舟，不是mei"
        assert self.names(server, provider, text, ["Zhou", "Mei", "", "周舟"]) == ("周舟",)

    def test_a_name_only_the_assistant_used_is_not(self, server, provider):
        server.reply_json(answer(user_names=["Robin"]))
        turns = (turn(1, "Are you Robin?", role="assistant"), turn(2, "Who?"))
        assert provider.extract(request(*turns)).value.user_names == ()

    def test_whoever_it_is_is_no_contact(self, server, provider):
        server.reply_json(
            answer(
                memory("用户叫周舟", people=["n1"]),
                people=[{"id": "n1", "name": "周舟"}],
                user_names=["周舟"],
            )
        )
        found = provider.extract(request(turn(1, "我叫周舟。"))).value
        assert found.people == ()
        assert found.memories[0].people == ()


def test_what_the_user_takes_back_in_the_same_breath_is_not_asked(forgotten):
    said = "忘掉我说的阿梅吃药的事吧。算了，还是记着。"
    item = asked(quote="忘掉我说的阿梅吃药的事吧", person="p1", everything=True)
    assert forgotten(item, TOLD, turn(2, said)) == ()
    assert forgotten(item)
