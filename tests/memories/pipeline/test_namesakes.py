"""Two people of one name become two contacts, each with what was said of them."""

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Memory
from tests.memories.pipeline.test_sync_contacts import say
from tests.memories.snapshots import assert_sound


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
