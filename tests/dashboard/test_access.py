"""Who may do what: one walk over every address of the dashboard."""

import uuid
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from dashboard import urls
from dashboard.models import ADMINISTER, CORRECT, LOOK
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_end_user

pytestmark = pytest.mark.django_db

# Addresses that need no role: signing in and out, and how the page looks.
OPEN = {"login", "logout", "theme"}
# A POST that only asks, in words that no address should hold.
QUESTIONS = {"cell", "playground"}
VIEWS = [pattern for pattern in urls.urlpatterns if pattern.name not in OPEN]


def arguments(pattern: URLPattern, user: int = 0) -> dict[str, object]:
    """Arguments of the right form that belong to nothing, but for the end user."""
    given: dict[str, object] = {}
    for name, converter in pattern.pattern.converters.items():
        kind = type(converter).__name__
        if name == "user":
            given[name] = user
        elif kind == "UUIDConverter":
            given[name] = uuid.uuid4()
        elif kind == "IntConverter":
            given[name] = 0
        else:
            given[name] = "x"
    return given


def address(pattern: URLPattern, user: int = 0) -> str:
    return reverse(f"dashboard:{pattern.name}", kwargs=arguments(pattern, user))


# Each rule is one test for all addresses, which are too many to sign in for each; a failure
# lists those that break it.


def test_every_view_says_which_right_it_needs() -> None:
    rights = (LOOK, CORRECT, ADMINISTER)
    assert [p.name for p in VIEWS if p.callback.permission not in rights] == []


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    for pattern in VIEWS:
        for response in (client.get(address(pattern)), client.post(address(pattern))):
            assert response.status_code == 302, pattern.name
            assert response["Location"].startswith(reverse("dashboard:login")), pattern.name


def test_who_was_signed_out_meanwhile_comes_back_to_the_page_and_is_told(client: Client) -> None:
    action = reverse("dashboard:retry", args=["batch", 1])
    for sent, headers, page in (
        ({"next": "/pipeline/?state=failed"}, {}, "/pipeline/?state=failed"),
        ({}, {"HX-Current-URL": "http://testserver/pipeline/"}, "http://testserver/pipeline/"),
        ({}, {"Referer": "http://testserver/review/"}, "http://testserver/review/"),
        ({"next": "https://evil.example/"}, {"Referer": "https://evil.example/"}, "/"),
    ):
        door = client.post(action, sent, headers=headers)
        assert parse_qs(urlsplit(door["Location"]).query)["next"] == [page]
    assert b"signed out before" in client.get(door["Location"]).content
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = signed_in("admin").cookies
    old = strict.post(action, {"next": "/pipeline/?state=failed"})
    assert old.status_code == 403
    assert b'href="/pipeline/?state=failed"' in old.content


def test_no_view_takes_a_post_from_a_viewer_or_without_a_token() -> None:
    viewer, admin = signed_in("viewer"), signed_in("admin")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = admin.cookies
    asked = {p.name for p in VIEWS if viewer.post(address(p)).status_code not in (403, 405)}
    assert asked == QUESTIONS
    taken = [p.name for p in VIEWS if strict.post(address(p)).status_code not in (403, 405)]
    assert taken == []


def test_what_only_admins_may_do_reviewers_may_not() -> None:
    reviewer = signed_in("reviewer")
    theirs = [p for p in VIEWS if p.callback.permission == ADMINISTER]
    for pattern in theirs:
        answers = (reviewer.get(address(pattern)), reviewer.post(address(pattern)))
        assert {answer.status_code for answer in answers} <= {403, 405}, pattern.name
    assert theirs


def test_another_apps_data_does_not_exist_for_those_limited_to_one() -> None:
    mine, other = make_app(name="mine"), make_app(name="other")
    stranger = make_end_user(app=other, external_id="stranger")
    limited = signed_in("admin", [mine])
    for pattern in (p for p in VIEWS if "user" in p.pattern.converters):
        url = address(pattern, stranger.pk)
        method = limited.get if pattern.callback.permission == LOOK else limited.post
        answers = {limited.get(url).status_code, method(url).status_code}
        assert answers <= {404, 405}, pattern.name
        assert 404 in answers, pattern.name
