"""A key of one end user opens that user's memory and nothing else."""

import pytest

from accounts.models import ApiKey, App
from memories.erasure.erase import forget_everything
from tests.api import ApiClient
from tests.factories import make_end_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def bound() -> ApiClient:
    client = ApiClient()
    _, client.secret = ApiKey.issue(client.app, external_id="zoe")
    return client


def test_a_bound_key_is_that_users_alone(bound):
    turns = {"messages": [{"role": "user", "content": "Kim sings"}]}
    assert bound.post("users/zoe/messages/", turns)[0] == 202
    assert bound.get("users/zoe/contacts/")[0] == 200
    for address in ("users/kai/contacts/", "users/zo/contacts/", "users/"):
        status, answer = bound.get(address)
        assert (status, answer["error"]["code"]) == (403, "key_of_one_user")


def test_it_goes_with_its_user_and_others_stay():
    app = App.objects.create(name="a")
    user = make_end_user(app=app, external_id="zoe")
    ApiKey.issue(app, external_id="zoe")
    ApiKey.issue(app, external_id="kai")
    ApiKey.issue(app)
    forget_everything(user)
    assert sorted(app.keys.values_list("external_id", flat=True)) == ["", "kai"]
