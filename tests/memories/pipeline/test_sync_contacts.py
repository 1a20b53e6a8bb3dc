"""What extraction writes about people leaves a healthy database, whatever was said of whom."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from accounts.models import EndUser
from contacts.models import Contact, Relation
from memories.context.build import build
from memories.context.request import ContextRequest
from memories.corrections import merge_contacts, review_links
from memories.corrections.undo import undo_change
from memories.models import Link, Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app
from tests.memories.snapshots import assert_sound

# Who is whose what between people who are not the user, told in one go or bit by bit.
CHINESE = (
    "我爸的老同学陈伯伯在邮局上班。",
    "小雯的妈妈是钢琴老师。",
    "小雯的男朋友叫何磊，在广州开店。",
    "何磊的姐姐何静刚生了孩子。",
    "我同事阿凯的老婆怀孕了。",
    "我表姐和她老公上周搬去了苏州。",
    "我奶奶的邻居孙阿姨摔了一跤。",
    "我老板的女儿叫朵朵。",
    "我外婆的朋友郑阿姨住院了。",
    "何静是何磊的亲姐姐，在银行工作。",
    "孙阿姨退休了。",
    "朵朵不是我老板的女儿，是他侄女。",
    "不对，何磊在深圳开店，不是广州。",
)
ENGLISH = (
    "My dad's friend Walter works at the harbour.",
    "Greta's husband Marcus is a pilot.",
    "Marcus's sister Helen just moved to Leeds.",
    "My coworker Theo has a daughter called Mia.",
    "Mia is Theo's daughter and she plays the cello.",
    "My landlord's daughter Ines studies law.",
    "Helen's boyfriend is a chef.",
    "My sister and her husband bought a house in Bath.",
    "My neighbour's son Rory broke his arm.",
    "Walter's wife Irene is a nurse.",
    "Actually, Marcus is not a pilot, he is a flight attendant.",
    "Helen is Marcus's sister and she hates spinach.",
    "My boss's brother Graham lives in Cork.",
    "Rory is ten now.",
)


def say(user: str, *texts: str) -> EndUser:
    """The user says these one after another, and the pipeline reads each to the end."""
    app = make_app()
    for text in texts:
        end_user = receive(app, user, [Incoming("user", text)]).end_user
        run.process(end_user.pk)
    return end_user


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "subject", "other"),
    [
        ("我奶奶的邻居孙阿姨摔了一跤。", "孙阿姨", "奶奶"),
        ("My neighbour's son Rory broke his arm.", "Rory", "neighbour"),
    ],
)
def test_both_people_of_a_relation_have_it_on_their_cards(text, subject, other):
    end_user = say("ann", text)
    relation = Relation.objects.of(end_user).get()
    assert subject in relation.subject.name
    assert other in relation.object.name.lower()
    assert relation.object.name in Contact.objects.get(pk=relation.subject_id).card
    assert relation.subject.name in Contact.objects.get(pk=relation.object_id).card


@pytest.mark.django_db
def test_a_person_is_asked_about_whom_a_pronoun_means_and_not_about_hearsay():
    said = [
        "My friend Nadia and my cousin Lena came by.",
        "She said she wants to move to Bergen with my boss Tom.",
        "Tom is getting divorced, or so people say.",
    ]
    user = receive(make_app(), "ann", [Incoming("user", text) for text in said]).end_user
    run.process(user.pk)
    doubts = review_links.doubtful().values_list("memory__content", flat=True)
    assert list(doubts) == [said[1]]
    links = Link.objects.of(user).filter(memory__content=said[1])
    assert {link.contact.name: link.is_likely for link in links} == {
        "Nadia": False,
        "Lena": False,
        "Tom": True,
    }


def cards(user: EndUser) -> dict[str, str]:
    return dict(Contact.objects.of(user).values_list("name", "card"))


@pytest.mark.django_db
@pytest.mark.parametrize("verb", ["confirm", "state"])
def test_what_is_said_of_one_of_two_is_on_no_card_until_somebody_says_of_whom(verb):
    user = say("ann", "My friend Nadia and my cousin Lena came by. She is learning to weld.")
    welding = Memory.objects.of(user).get(content__contains="weld")
    assert set(welding.links.values_list("contact__name", flat=True)) == {"Nadia", "Lena"}
    before = cards(user)
    assert "weld" not in "".join(before.values())
    assert "weld" in build(user, ContextRequest("Who is learning to weld?")).system_prompt
    run.consolidate_user(user.pk)
    assert cards(user) == before
    lena = welding.links.get(contact__name="Lena")
    if verb == "state":
        change = review_links.state(user, welding.pk, lena.contact_id, actor="operator:ann")
    else:
        change = review_links.confirm(user, lena.pk, actor="operator:ann")
    assert "weld" in cards(user)["Lena"]
    assert "weld" not in cards(user)["Nadia"]
    undo_change(change, actor="operator:ann")
    assert cards(user) == before
    assert_sound(user)


@pytest.mark.django_db
def test_what_may_be_of_either_of_two_who_are_one_is_on_the_card_of_that_one():
    user = say("ann", "My friend Nadia and my cousin Lena came by. She is learning to weld.")
    ids = dict(Contact.objects.of(user).values_list("name", "pk"))
    welding = Memory.objects.of(user).get(content__contains="weld")
    as_shown = merge_contacts.rehearsed_card(user, ids["Lena"], ids["Nadia"], actor="operator:ann")
    change = merge_contacts.merge(user, ids["Lena"], ids["Nadia"], actor="operator:ann")
    assert "weld" in cards(user)["Nadia"] == as_shown
    assert welding.links.get().confidence > 0.5
    undo_change(change, actor="operator:ann")
    assert "weld" not in "".join(cards(user).values())


class AfterAnyTalk(TestCase):
    @settings(max_examples=3, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(
        st.sampled_from([CHINESE, ENGLISH, CHINESE + ENGLISH]), st.randoms(use_true_random=False)
    )
    def test_the_doctor_is_silent_after_any_talk_about_third_parties(self, told, random):
        texts = random.sample(told, 5)
        assert_sound(say("ann", *texts))
