"""People of one name are told apart by what the message says besides."""

import pytest

from accounts.models import EndUser
from contacts.lookup import look_up
from tests.factories import make_contact, make_end_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    end_user = make_end_user()
    for relationship, key, value in [
        ("colleague", "job_title", "beekeeper"),
        ("neighbour", "location", "Utrecht"),
    ]:
        make_contact(
            end_user, "Bram Visser", relationship=relationship, namesake=1,
            attributes={key: [{"value": value}]},
        )  # fmt: skip
    for relationship, value in [("同事", "消防员"), ("表哥", "调酒师")]:
        make_contact(
            end_user, "郑岩", relationship=relationship, namesake=1,
            attributes={"job_title": [{"value": value}]},
        )  # fmt: skip
    return end_user


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Bram Visser brought honey from his bees, what a beekeeper", ["colleague"]),
        ("Is Bram Visser still in Utrecht?", ["neighbour"]),
        ("Bram Visser called", ["colleague", "neighbour"]),
        ("Did Bram Visser, the beekeeper, move to Utrecht?", ["colleague", "neighbour"]),
        ("郑岩说消防员考试推迟了", ["同事"]),
        ("郑岩又在练调酒师的手艺", ["表哥"]),
        ("郑岩来电话了", ["同事", "表哥"]),
    ],
)
def test_a_clue_that_one_card_alone_has_says_who_is_meant(
    end_user: EndUser, message: str, expected: list[str]
) -> None:
    found = look_up(end_user, message, lambda: ([], [])).mentions
    assert sorted(m.person.relationship for m in found) == sorted(expected)
    if len(expected) == 1:
        assert found[0].confidence > 0.65
