"""The person whose pages are looked at."""

import pytest

from accounts.models import EndUser
from contacts.models import Contact
from tests.factories import make_contact


@pytest.fixture
def hong(user: EndUser) -> Contact:
    return make_contact(user, "小红", aliases=["阿红"], relationship="朋友")
