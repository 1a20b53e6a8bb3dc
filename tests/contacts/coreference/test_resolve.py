"""Whom pronouns, dropped subjects and role words mean. All people here are invented."""

import pytest

from contacts.coreference.discourse import Relation, stated_relations
from contacts.coreference.resolve import refers_back, resolve
from contacts.types import Mention, Utterance
from tests.contacts.coreference.conversations import (
    ALL,
    KEYS,
    OTTO,
    RITA,
    YUN,
    meant,
    person,
    say,
    talk,
)


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

    def test_the_later_of_two_wins(self) -> None:
        assert meant("他说可以。", "邓总出差了。", "> 好的。", "大海想借车。") == {"hai"}

    def test_the_subject_is_preferred_to_the_object(self) -> None:
        assert meant("He was early.", "Otto waited for Finn at the station.") == {"otto"}

    def test_the_receiver_of_a_thing_is_preferred_to_the_giver(self) -> None:
        assert meant("She broke it.", "Rita lent Lena a camera.") == {"lena"}

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

    def test_what_was_said_of_each_tells_two_apart(self) -> None:
        history = ("阿云在画展做志愿者，秦岚在准备马拉松。",)
        assert meant("她的马拉松是几号？", *history) == {"qin"}

    def test_two_pronouns_of_one_verb_mean_two_people(self) -> None:
        assert meant("She thanked her twice.", "Lena drove Rita home.") == {"lena", "rita"}

    def test_one_denied_is_not_meant_afterwards(self) -> None:
        history = ("她又迟到了。", "> 你说的是阿云吗？")
        assert meant("不是，是新来的实习生，她姓毛。", *history) == set()
        assert meant("不是。她刚来一周。", *history) == set()

    def test_who_does_not_is_not_meant_after_a_correction(self) -> None:
        history = ("阿云要去北京。", "> 她一个人吗？", "说错了，是秦岚去，阿云不去。")
        assert meant("她买好票了。", *history) == {"qin"}

    def test_whom_a_correction_names_is_meant(self) -> None:
        history = ("阿云下周结婚。", "> 恭喜她！", "打错了，是秦岚结婚。")
        assert meant("她让我当伴娘。", *history) == {"qin"}

    def test_a_demonstrative_is_found_by_what_it_says(self) -> None:
        history = (
            "Otto wants to open a bakery.",
            "> Nice.",
            "Finn fixed the heating.",
            "> Finally.",
        )
        assert meant("That bakery guy needs a loan.", *history) == {"otto"}

    def test_asking_for_a_name_means_nobody_known(self) -> None:
        assert meant("那个人叫什么来着？", "大海带了个朋友。") == set()

    def test_the_former_and_the_latter(self) -> None:
        assert meant("前者更靠谱。", "阿云和秦岚都想报名。") == {"yun"}
        assert meant("后者更靠谱。", "阿云和秦岚都想报名。") == {"qin"}

    def test_renjia_is_somebody_else_unless_it_is_the_speaker(self) -> None:
        assert meant("人家早就还钱了。", "我错怪大海了。") == {"hai"}
        assert meant("人家想你嘛。", "大海来过。") == set()


class TestSeveral:
    def test_a_plural_means_those_named_together(self) -> None:
        assert meant("他们几点到？", "阿云和大海来吃饭。") == {"yun", "hai"}
        assert meant("They can't agree on anything.", "Lena and Otto are renovating.") == {
            "lena",
            "otto",
        }

    def test_a_pair_is_remembered_over_other_matters(self) -> None:
        history = ("大海和邓总合租。", "> 租金多少？", "三千。押金呢？", "> 一般押一付三。")
        assert meant("我转告他们俩。", *history) == {"hai", "deng"}

    def test_people_at_large_and_companies_are_nobody(self) -> None:
        assert meant("他们总说年轻人不行。", "最近网上又在吵。") == set()
        assert meant("They lost my bag.", "Lena flew with a new airline.") == set()
        assert meant("他们从来不开门。", "大海来过。", "阿云说隔壁公司搬走了。") == set()

    def test_a_household_named_after_one_means_that_one(self) -> None:
        assert meant("他们把钥匙给我了。", "大海他们一家搬走了。") == {"hai"}

    def test_those_just_named_in_the_same_sentence_are_meant(self) -> None:
        message = "想请阿云和秦岚吃饭谢谢她们照顾。"
        assert meant(message, "大海来过。") == {"yun", "qin"}

    def test_they_may_mean_one(self) -> None:
        assert meant("They love it.", "Sky started pottery.") == {"sky"}
        assert meant("They left it open.", "Someone forgot the gate.") == set()

    def test_they_is_not_one_whose_gender_is_known(self) -> None:
        assert meant("They told us to wait.", "Otto went to the ticket desk.") == set()


class TestNobody:
    @pytest.mark.parametrize(
        ("history", "message"),
        [
            ("快递员把箱子摔了。", "他还不道歉。"),
            ("The plumber came late.", "He left a mess."),
            ("昨晚看了刘德华的演唱会。", "他体力真好。"),
            ("大海带着他女朋友来了。", "她很会聊天。"),
            ("我家橘猫今天洗澡。", "她气坏了。"),
            ("阿云的狗生病了。", "它一直睡。"),
            ("这本小说的女主角太惨了。", "她什么都没了。"),
        ],
    )
    def test_strangers_stars_pets_and_fiction_are_nobody(self, history: str, message: str) -> None:
        assert meant(message, history) == set()

    @pytest.mark.parametrize(
        "message",
        [
            "吉他和贝斯哪个好学？",
            "还有其他颜色吗？",
            "标题叫「她经济」行不行？",
            "尊重他人，很重要。",
        ],
    )
    def test_characters_inside_words_and_titles_are_no_pronouns(self, message: str) -> None:
        assert meant(message, "大海和阿云来了。") == set()

    def test_you_is_not_a_contact(self) -> None:
        assert meant("你写得真好。", "阿云想要一首诗。") == set()
        assert meant("You never know.", "Lena quit her job.") == set()

    def test_nobody_is_meant_without_a_conversation(self) -> None:
        assert meant("她最近怎么样了？") == set()

    def test_a_star_whom_a_contact_admires_is_nobody(self) -> None:
        assert meant("他又拿奖了。", "阿云最近在补王家卫的电影。") == set()

    def test_the_source_of_news_is_not_its_topic(self) -> None:
        assert meant("医生说明天拆线。她松了口气。", "阿云做完手术了。") == {"yun"}

    def test_a_contact_fades_behind_a_stranger(self) -> None:
        assert meant("He was rude.", "Otto is fine.", "> Good.", "A salesman rang.") == set()


class TestDroppedSubject:
    @pytest.mark.parametrize(
        "message", ["最近怎么样了？", "生日是哪天来着？", "说是下周才回来。", "血压有点高。"]
    )
    def test_a_sentence_about_the_topic(self, message: str) -> None:
        assert meant(message, "大海去体检了。") == {"hai"}

    def test_an_answer_about_them(self) -> None:
        history = ("阿云怀孕了。", "> 几个月了？")
        assert meant("五个月了。", *history) == {"yun"}

    @pytest.mark.parametrize(
        "message",
        [
            "我也想去。",
            "帮我查下明天的天气。",
            "下雨了，没带伞。",
            "谢谢，知道了。",
            "为什么电脑这么慢？",
            "上海 体检 多少钱",
            "今晚得通宵。",
        ],
    )
    def test_a_sentence_about_something_else(self, message: str) -> None:
        assert meant(message, "大海去体检了。") == set()

    def test_an_answer_about_the_user(self) -> None:
        history = ("大海约我爬山。", "> 你有空吗？")
        assert meant("没有，下周要考试。", *history) == set()

    def test_an_english_fragment_is_about_the_user(self) -> None:
        assert meant("Slept badly again.", "Otto moved the meeting.") == set()

    def test_an_english_fragment_that_answers_about_them(self) -> None:
        history = ("Otto had surgery.", "> How is he doing?")
        assert meant("Still sore, but home.", *history) == {"otto"}

    def test_the_you_of_a_draft_is_its_addressee(self) -> None:
        assert meant("就写“祝你一路平安”。", "帮我给阿云写条短信。") == {"yun"}


class TestRolesAndRelatives:
    def test_a_role_word_means_the_contact_just_spoken_of(self) -> None:
        assert meant("老板什么也没说。", "邓总看了我的方案。") == {"deng"}
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

    def test_this_session_comes_first(self) -> None:
        assert meant("她拿奖了！", "秦岚刚打来电话。", before=("阿云下周比赛。",)) == {"qin"}

    def test_nobody_when_it_was_about_a_stranger_or_two(self) -> None:
        assert meant("He came back.", before=("The mailman lost our parcel.",)) == set()
        assert meant("她来了。", before=("阿云和秦岚吵架了。",)) == set()
