"""What a browser gets where there is nothing, or nothing that it may see."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path

from mio_site.urls import handler400, handler404, handler500  # noqa: F401 as the site has them

pytestmark = pytest.mark.django_db
FAILURES = {400: SuspiciousOperation, 403: PermissionDenied, 404: Http404, 500: ZeroDivisionError}


def fail(_request: object, code: int) -> HttpResponse:
    raise FAILURES[code]("private words")


urlpatterns = [path("fail/<int:code>/", fail), path("", include("mio_site.urls"))]


@pytest.mark.parametrize(
    ("code", "english", "chinese"),
    [(400, "Bad request", "请求有误"), (403, "Not allowed", "没有权限"),
     (404, "Not found", "未找到"), (500, "Something went wrong", "出错了")],
)  # fmt: skip
@override_settings(ROOT_URLCONF="tests.mio_site.test_error_pages")
def test_a_failure_has_a_page_of_ours_in_both_languages(code: int, english: str, chinese: str):
    client = Client(raise_request_exception=False)
    for language, words in (("en", english), ("zh-CN", chinese)):
        page = client.get(f"/fail/{code}/", HTTP_ACCEPT_LANGUAGE=language)
        text = page.content.decode()
        assert (page.status_code, f"<h1>{words}</h1>" in text) == (code, True), text
        assert "private words" not in text


def test_another_host_is_refused_with_that_page(client: Client, capfd: Any) -> None:
    page = client.get("/", HTTP_HOST="elsewhere.example")
    assert capfd.readouterr().err == ""
    assert (page.status_code, "Bad request" in page.content.decode()) == (400, True)


@pytest.mark.parametrize("debug", [False, True])
def test_files_are_served_from_where_they_lie_and_nothing_beside_them(debug: bool) -> None:
    with override_settings(DEBUG=debug):
        client = Client(raise_request_exception=False)
        for there in (
            "dashboard/app.css",
            "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css",
        ):
            assert client.get(f"/static/{there}").status_code == 200
        for none in (
            "../x",
            "x",
            "",
            "dashboard",
            "../../etc/passwd",
            "a%00b",
            "//etc/passwd",
            "..%2fx",
        ):
            assert client.get(f"/static/{none}").status_code in (400, 404), none
