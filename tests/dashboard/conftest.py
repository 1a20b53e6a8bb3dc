"""An end user who writes Chinese, and a client of somebody who may correct what is known."""

import pytest
from django.test import Client

from accounts.models import EndUser
from tests.dashboard.signin import signed_in
from tests.factories import make_end_user


@pytest.fixture
def user(db: None) -> EndUser:
    return make_end_user(language="zh")


@pytest.fixture
def reviewer(db: None) -> Client:
    return signed_in("reviewer")
