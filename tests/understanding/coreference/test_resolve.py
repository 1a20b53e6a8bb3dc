"""Whom pronouns, dropped subjects and role words mean. All people here are invented."""

import pytest

from tests.understanding.coreference.conversations import (
    ALL,
    KEYS,
    OTTO,
    RITA,
    YUN,
    meant,
    person,
    resolve,
    say,
    talk,
)
from understanding.coreference.discourse import Relation, stated_relations
from understanding.coreference.resolve import REACH_TURNS, refers_back
from understanding.types import Mention, Utterance


class TestOnePerson:
    def test_a_pronoun_means_the_one_just_spoken_of(self) -> None:
        assert meant("她搬到几楼了？", "阿云今天搬家。") == {"yun"}
        assert meant("Did she like it?", "I took Lena to the opera.") == {"lena"}

    def test_gender_picks_between_two(self) -> None:
        history = "阿云和大海来帮忙了。"
        assert meant("他扛了两箱书。", history) == {"hai"}
        assert meant("她擦了窗户。", history) == {"yun"}

    def test_a_person_of_the_other_gender_is_never_meant(self) -> None:
        assert meant("她今天没来。", "大海昨天喝多了。") == set()

    def test_gender_is_learnt_from_an_earlier_pronoun(self) -> None:
        history = ("奚然刚搬来。", "> 她人怎么样？")
        assert meant("她挺安静的。", *history) == {"xi"}
        assert meant("他挺安静的。", *history) == set()

    def test_gender_is_learnt_from_the_relationship(self) -> None:
        aunt = person("aunt", "佩佩", relationship="姨妈")
        named = Utterance("user", "佩佩来了。", (Mention(aunt, 0, 2, "佩佩", "name", 1.0),))
        assert [m.person for m in resolve(say("她带了什么？"), [named])] == [aunt]
        assert resolve(say("他带了什么？"), [named]) == []

    def test_an_object_is_not_the_subject_of_its_clause(self) -> None:
        assert meant("Finn drove him home.", "Otto called.") == {"otto"}
        assert meant("Our landlord Finn drove him home.", "Otto called.") == {"otto"}
        assert meant("大海一直很照顾他。", "邓总出差了。") == {"deng"}
        assert meant("大海跟他借车。", "邓总出差了。") == {"deng"}

    def test_nobody_is_their_own_relation(self) -> None:
        assert meant("Finn is a cousin of his.", "Otto called.") == {"otto"}
        assert meant("Finn is selling a boat of his.", "Otto called.") == {"finn"}

    def test_an_object_may_be_whose_relative_is_the_subject(self) -> None:
        assert meant("Otto's boss gave him a raise.", "Finn called.") == {"otto"}

    def test_an_object_may_be_who_asks_the_user_something(self) -> None:
        assert meant("Otto asked me to drive him home.", "Finn called.") == {"otto"}

    def test_two_pronouns_of_a_turn_may_mean_one_person(self) -> None:
        history = "Finn called.", "Finn is a cook."
        assert meant("Otto broke his wrist, so his boss drove him home.", *history) == {"otto"}
        assert meant("大海升职了，他老板很喜欢他。", "邓总出差了。", "邓总请大家吃饭。") == {"hai"}

    def test_the_later_of_two_wins(self) -> None:
        assert meant("他说可以。", "邓总出差了。", "> 好的。", "大海想借车。") == {"hai"}

    def test_the_last_message_outweighs_who_was_spoken_of_more_before(self) -> None:
        qin = ("秦岚换了发型。", "秦岚说下个月去大理。", "秦岚最近睡得不好。", "今天雨真大。")
        assert meant("她想学吉他。", *qin, "阿云下周过生日。") == {"yun"}
        finn = ("Finn had the roof done.", "Finn hates cats.", "Finn was on TV.", "It rained.")
        assert meant("He plays the cello.", *finn, "Otto turns forty soon.") == {"otto"}

    def test_nobody_is_meant_who_was_spoken_of_too_many_turns_before(self) -> None:
        talk_of_things = ("The bus was full.", "I burnt the rice.") * (REACH_TURNS // 2)
        assert meant("He is a cook.", "Otto called.", *talk_of_things[1:]) <= {"otto"}
        assert meant("He is a cook.", "Otto called.", *talk_of_things) == set()

    def test_whom_the_assistant_brought_up_can_be_meant(self) -> None:
        assert meant("好，我问问他。", "谁会修自行车？", "> 大海以前修过。") == {"hai"}

    def test_traditional_characters_are_read(self) -> None:
        assert meant("那傢伙又遲到了。", "大海約我吃飯。") == {"hai"}
        assert refers_back("那傢伙呢")

    def test_a_topic_outlasts_other_matters(self) -> None:
        history = ("大海要来住几天。", "> 好呀。", "折叠床买多宽的？", "> 九十厘米。", "哪里便宜？")
        assert meant("那就在他来之前买好。", *history) == {"hai"}

    def test_two_who_cannot_be_told_apart_are_both_offered_with_less_confidence(self) -> None:
        found = resolve(say("她感冒好了吗？"), talk("阿云和秦岚都感冒了。"))
        assert {KEYS[m.person.id] for m in found} == {"yun", "qin"}
        assert all(m.confidence < 0.6 for m in found)

    def test_the_former_and_the_latter(self) -> None:
        assert meant("前者更靠谱。", "阿云和秦岚都想报名。") == {"yun"}
        assert meant("后者更靠谱。", "阿云和秦岚都想报名。") == {"qin"}


class TestSeveral:
    def test_a_plural_means_those_named_together(self) -> None:
        assert meant("他们几点到？", "阿云和大海来吃饭。") == {"yun", "hai"}
        assert meant("They can't agree on anything.", "Lena and Otto are renovating.") == {
            "lena",
            "otto",
        }

    def test_those_just_named_in_the_same_sentence_are_meant(self) -> None:
        message = "想送阿云和秦岚两张戏票，她们帮了大忙。"
        assert meant(message, "大海来过。") == {"yun", "qin"}


class TestNobody:
    @pytest.mark.parametrize(
        ("history", "message"),
        [
            ("快递员把箱子摔了。", "他还不道歉。"),
            ("The plumber came late.", "He left a mess."),
            ("昨晚看了刘德华的演唱会。", "他体力真好。"),
            ("大海跟他老婆一块儿到的。", "她厨艺不错。"),
            ("我家橘猫今天洗澡。", "她气坏了。"),
            ("阿云的狗生病了。", "它一直睡。"),
            ("这本小说的女主角太惨了。", "她什么都没了。"),
        ],
    )
    def test_strangers_stars_pets_and_fiction_are_nobody(self, history: str, message: str) -> None:
        assert meant(message, history) == set()

    def test_you_is_not_a_contact(self) -> None:
        assert meant("你写得真好。", "阿云想要一首诗。") == set()
        assert meant("You never know.", "Lena quit her job.") == set()

    def test_nobody_is_meant_without_a_conversation(self) -> None:
        assert meant("她最近怎么样了？") == set()


class TestRolesAndRelatives:
    def test_a_role_word_means_the_contact_just_spoken_of(self) -> None:
        assert meant("老板什么也没说。", "邓总看了我的方案。", "邓总让我改两处。") == {"deng"}
        assert meant("The landlord was nice about it.", "Finn came by.") == {"finn"}

    def test_a_role_word_without_its_contact_in_focus_is_nobody(self) -> None:
        assert meant("医生让我多喝水。", "邓总放我半天假。") == set()

    def test_her_mother_is_her_mother_when_she_is_known(self) -> None:
        history = talk("阿云住院了。")
        mother = person("mother", "罗玉", relationship="朋友的妈妈", gender="female")
        relations = [Relation(mother, "mother", YUN)]
        found = resolve(say("她妈妈在陪床。"), history, relations=relations)
        assert {(m.text, KEYS[m.person.id]) for m in found} == {("她", "yun"), ("妈妈", "mother")}
        assert {KEYS[m.person.id] for m in resolve(say("她妈妈在陪床。"), history)} == {"yun"}

    def test_a_named_owner_leads_to_the_relative(self) -> None:
        relations = [Relation(RITA, "sister", OTTO)]
        found = resolve(say("Otto's sister called."), [], relations=relations)
        assert [(m.text, KEYS[m.person.id]) for m in found] == [("sister", "rita")]

    def test_a_relative_of_the_other_gender_is_not_taken(self) -> None:
        relations = [Relation(RITA, "sister", OTTO)]
        assert resolve(say("Otto's brother called."), [], relations=relations) == []

    def test_relations_are_read_off_names(self) -> None:
        mother = person("m", "Greta", aliases=("Otto's mother",))
        brother = person("b", "小川", aliases=("阿云的弟弟",))
        found = {
            (KEYS[r.subject.id], r.kind, KEYS[r.object.id])
            for r in stated_relations([*ALL, mother, brother])
        }
        assert found == {("m", "mother", "otto"), ("b", "弟弟", "yun")}


class TestLastSession:
    def test_it_is_asked_when_this_one_has_nobody(self) -> None:
        before = ("阿云下周比赛。", "> 祝她好运！")
        assert meant("她拿奖了！", before=before) == {"yun"}
        assert meant("她拿奖了！", "今天几号？", "> 十二号。", before=before) == {"yun"}

    def test_this_session_is_not_passed_over_for_the_last(self) -> None:
        assert "qin" in meant("她怎么说？", "秦岚刚打来电话。", before=("阿云下周比赛。",))

    def test_nobody_when_it_was_about_a_stranger(self) -> None:
        assert meant("He came back.", before=("The mailman lost our parcel.",)) == set()

    @pytest.mark.parametrize("message", ["the sales report", "地铁几点收班", "Rome in June?"])
    def test_nobody_by_what_is_no_word_for_anybody_of_it(self, message: str) -> None:
        assert meant(message, before=("Rita won a prize. She got a bike.",)) == set()

    def test_whoever_has_the_role_that_is_named(self) -> None:
        before = ("Finn raised the rent.", "> Again?")
        assert meant("The landlord wants a deposit now.", before=before) == {"finn"}
        assert meant("The dentist wants a deposit now.", before=before) == set()
