"""A receiver on loopback, and an app whose webhooks may go there."""

from collections.abc import Iterator

import pytest

from accounts.models import EndUser
from tests.factories import make_end_user
from tests.webhooks.receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as started:
        yield started


@pytest.fixture
def loopback(settings: object) -> None:
    settings.MIO_WEBHOOKS_TO_LOOPBACK = True  # type: ignore[attr-defined]


@pytest.fixture
def zoe(db: None) -> EndUser:
    return make_end_user(external_id="zoe")
