"""The pictures of the documentation are of the pages as they are."""

from tools.screenshots import newer_than_pictures


def test_no_template_is_newer_than_the_pictures() -> None:
    newer = newer_than_pictures()
    assert newer == [], "make the pictures anew: python -m tools screenshots"
