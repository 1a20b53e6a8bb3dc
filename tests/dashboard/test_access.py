"""Who may do what: one walk over every address of the dashboard."""

import uuid
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from dashboard import urls
from dashboard.roles import ADMINISTER, CORRECT, LOOK
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_end_user

pytestmark = pytest.mark.django_db

# Addresses that need no role: signing in and out, and how the page looks.
OPEN = {"login", "logout", "theme"}
# A POST that only asks, in words that no address should hold.
QUESTIONS = {"playground"}
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


def ids(pattern: URLPattern) -> str:
    return str(pattern.name)


def methods() -> Iterator[tuple[URLPattern, str]]:
    for pattern in VIEWS:
        yield pattern, "GET"
        yield pattern, "POST"


@pytest.mark.parametrize("pattern", VIEWS, ids=ids)
def test_every_view_says_which_right_it_needs(pattern: URLPattern) -> None:
    assert pattern.callback.permission in (LOOK, CORRECT, ADMINISTER)


@pytest.mark.parametrize("pattern", VIEWS, ids=ids)
def test_a_stranger_is_asked_to_sign_in(pattern: URLPattern, client: Client) -> None:
    for response in (client.get(address(pattern)), client.post(address(pattern))):
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("dashboard:login"))


@pytest.mark.parametrize("pattern", VIEWS, ids=ids)
def test_no_view_takes_a_post_from_a_viewer_or_without_a_token(pattern: URLPattern) -> None:
    viewer = signed_in("viewer")
    answer = viewer.post(address(pattern))
    assert answer.status_code in (403, 405) or pattern.name in QUESTIONS
    admin = signed_in("admin")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = admin.cookies
    assert strict.post(address(pattern)).status_code in (403, 405)


@pytest.mark.parametrize("pattern", VIEWS, ids=ids)
def test_what_only_admins_may_do_reviewers_may_not(pattern: URLPattern) -> None:
    reviewer = signed_in("reviewer")
    if pattern.callback.permission == ADMINISTER:
        assert reviewer.get(address(pattern)).status_code in (403, 405)
        assert reviewer.post(address(pattern)).status_code in (403, 405)


@pytest.mark.parametrize("pattern", [p for p in VIEWS if "user" in p.pattern.converters], ids=ids)
def test_another_apps_data_does_not_exist_for_those_limited_to_one(pattern: URLPattern) -> None:
    mine, other = make_app(name="mine"), make_app(name="other")
    stranger = make_end_user(app=other, external_id="stranger")
    limited = signed_in("admin", [mine])
    url = address(pattern, stranger.pk)
    method = limited.get if pattern.callback.permission == LOOK else limited.post
    answers = {limited.get(url).status_code, method(url).status_code}
    assert answers <= {404, 405}
    assert 404 in answers
