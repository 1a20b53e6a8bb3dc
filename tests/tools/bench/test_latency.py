"""What the latency bench counts and asks."""

from itertools import islice

import pytest

from accounts.models import EndUser
from tests.factories import make_end_user
from tools.bench import latency


@pytest.mark.django_db
def test_the_statements_of_a_call_are_counted() -> None:
    make_end_user()
    assert latency._sql(lambda: list(EndUser.objects.all()) + list(EndUser.objects.all())) == 2
    assert latency._sql(lambda: None) == 0


def test_no_message_is_asked_twice() -> None:
    asked = list(islice(latency._messages(), 5000))
    assert len(set(asked)) == 5000
    assert all("小红" in message for message in asked)
