"""Pages of end users of other sizes: the same statements. Times: ``python -m tools bench_dashboard``."""

import pytest

from tests.factories import make_app
from tools import large_end_user
from tools.bench_dashboard import statements

pytestmark = pytest.mark.django_db
SLACK = 2  # the merge that is rehearsed for the comparison takes what the two people have
MOST = 65


def test_no_page_asks_the_database_more_of_a_larger_end_user() -> None:
    app = make_app()
    small = large_end_user.crowd(app, "small", 60, 120, progress=False)
    large = large_end_user.crowd(app, "large", 120, 360, progress=False)
    asked = {user.external_id: statements(user) for user in (small, large)}
    more = {what: (asked["small"][what], sql) for what, sql in asked["large"].items()
            if sql > SLACK + asked["small"][what]}  # fmt: skip
    assert more == {}
    assert max(asked["large"].values()) <= MOST
