"""Two people of one name become two contacts, each with what was said of them."""

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_contact, make_end_user
from tests.memories.pipeline.test_sync_contacts import say
from tests.memories.snapshots import assert_sound


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user()


def said_of(end_user: EndUser) -> dict[str, str]:
    """What is remembered of each contact, by what they are to the user."""
    return {
        contact.relationship: "\n".join(
            Memory.objects.filter(links__contact=contact).values_list("content", flat=True)
        )
        for contact in Contact.objects.of(end_user).standing()
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lines", "kin", "other", "kept", "new"),
    [
        (
            (
                "My uncle Boris's birthday is on 3 May.",
                "My coworker Boris's birthday is on 9 June.",
                "My coworker Boris moved to Turin.",
                "My uncle Boris moved to Ghent.",
            ),
            "uncle",
            "coworker",
            ("3", "Ghent"),
            ("9", "Turin"),
        ),
        (
            (
                "我表姐何婷的生日是5月3号。",
                "我公司也有个何婷，是会计。",
                "我同事何婷搬到了泉州。",
                "我表姐何婷搬到了南宁。",
            ),
            "表姐",
            "同事",
            ("5月3", "南宁"),
            ("会计", "泉州"),
        ),
    ],
)
def test_a_namesake_gets_a_contact_of_their_own(lines, kin, other, kept, new):
    end_user = say("u", *lines)
    known = said_of(end_user)
    assert set(known) == {kin, other}
    for words in kept:
        assert words in known[kin]
        assert words not in known[other]
    for words in new:
        assert words in known[other]
        assert words not in known[kin]
    places = Contact.objects.of(end_user).standing().order_by("namesake")
    assert [(c.namesake, c.relationship) for c in places] == [(0, kin), (1, other)]
    assert_sound(end_user)


@pytest.mark.django_db
def test_telling_of_the_namesake_again_makes_no_third():
    end_user = say(
        "u", "My brother Boris lives in Ghent.", "There's another Boris at my gym. He is a baker.",
        "My brother Boris called.", "That other day another Boris from my gym sold me bread.",
    )  # fmt: skip
    assert Contact.objects.of(end_user).standing().count() == 2
    assert_sound(end_user)


def extracted(
    end_user: EndUser, server, said: str, people: list, about: list[str]
) -> list[Contact]:
    receive(end_user.app, end_user.external_id, [Incoming("user", said)])
    memories = [
        {"content": f"About {ref}", "people": [ref], "turns": [1], "quote": ""} for ref in about
    ]
    server.reply_json({"people": people, "memories": memories})
    run.extract_next(end_user.pk, everything=True)
    return list(Contact.objects.of(end_user).standing().order_by("name"))


@pytest.mark.django_db
@pytest.mark.parametrize("known", [False, True])
def test_whom_a_model_keeps_apart_stay_apart_where_one_is_called_like_the_other(
    server, end_user, known
):
    plumber = {
        "id": "n1",
        "name": "Joost Rademaker",
        "aliases": ["Joost"],
        "relationship": "plumber",
    }
    if known:
        make_contact(end_user, "Joost Rademaker", aliases=["Joost"], relationship="plumber")
        plumber = {"id": "p1", "name": "Joost Rademaker"}
    other = {"id": "n2", "name": "Joost", "relationship": "classmate"}
    said = "Joost Rademaker, we call him Joost, mended the sink. Joost from class came too."
    found = extracted(end_user, server, said, [other, plumber], ["n2", plumber["id"]])
    assert [(one.name, one.relationship) for one in found] == [
        ("Joost", "classmate"), ("Joost Rademaker", "plumber"),
    ]  # fmt: skip
    told = said_of(end_user)
    assert told == {"classmate": "About n2", "plumber": f"About {plumber['id']}"}


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "count"), [("秦岚", 2), ("秦兰", 1), ("兰兰", 1)])
def test_a_model_makes_nobody_one_with_whom_their_name_only_sounds_like(
    server, end_user, name, count
):
    make_contact(end_user, "秦兰", aliases=["兰兰"], relationship="同事")
    person = {"id": "p1", "name": name}
    found = extracted(end_user, server, f"{name}今天请假了", [person], ["p1"])
    assert len(found) == count
    assert name in {text for one in found for text in (one.name, *one.aliases)}
    assert "秦岚" not in {alias for one in found for alias in one.aliases}
