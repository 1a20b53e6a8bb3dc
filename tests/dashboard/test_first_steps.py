"""First steps: an empty installation says what it lacks, ticks what is done, and then no more."""

from typing import Any

import pytest

from accounts.models import ApiKey
from contacts import edit
from gateway.models import Upstream
from memories import demo
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_message

pytestmark = pytest.mark.django_db


def test_each_step_is_ticked_when_it_is_done_and_all_are_gone_at_last(settings: Any) -> None:
    admin = signed_in("admin")

    def open_steps() -> list[str]:
        return [name for name, done in admin.get("/").context["first_steps"] if not done]

    make_contact(make_end_user(app=make_app(name=demo.APP)), "Kim")  # the demo's is no step
    assert open_steps() == ["key", "messages", "model", "person", "correction"]
    assert "bin/mio create_app my-chat" in admin.get("/").content.decode()
    ApiKey.issue(app := make_app(name="chat"))
    assert open_steps() == ["messages", "model", "person", "correction"]
    upstream = Upstream.objects.create(app=app, url="http://127.0.0.1/v1")
    settings.MIO_LLM = "openai"
    assert open_steps() == ["person", "correction"]
    upstream.delete()
    settings.MIO_LLM = "offline"
    make_message(ann := make_end_user(app=app))
    assert open_steps() == ["model", "person", "correction"]
    kim = make_contact(ann, "Kim")
    assert open_steps() == ["correction"]
    edit.edit_contact(ann, kim.pk, {"relationship": "friend"}, actor="operator:ada")
    page = admin.get("/")
    assert page.context["first_steps"] == []
    assert "First steps" not in page.content.decode()


def test_they_are_of_the_apps_that_one_may_see_and_of_admins_alone() -> None:
    ApiKey.issue(app := make_app())
    edit.edit_contact(
        ann := make_end_user(app=app),
        make_contact(ann, "Kim").pk,
        {"relationship": "friend"},
        actor="operator:ada",
    )
    limited = signed_in("admin", [make_app()])
    assert not [name for name, done in limited.get("/").context["first_steps"] if done]
    assert signed_in("reviewer").get("/").context["first_steps"] == []
