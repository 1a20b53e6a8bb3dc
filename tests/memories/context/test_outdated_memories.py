"""What used to be goes into the prompt when the message asks for it, marked as such."""

from datetime import UTC, datetime

import pytest

from accounts.models import EndUser
from memories.context import build
from memories.context.request import ContextRequest
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db

SINCE = datetime(2026, 3, 9, tzinfo=UTC)


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user()


def test_history_is_injected_for_a_message_about_the_past(end_user: EndUser) -> None:
    nina = make_contact(end_user, "Nina")
    make_memory(end_user, "Nina drinks tea", nina)
    make_memory(end_user, "Nina drinks cocoa", nina, status="outdated", valid_to=SINCE)
    asked = build.build(
        end_user, ContextRequest("What did Nina use to drink? She used to love something.")
    )
    assert "Nina drinks cocoa (no longer true since 2026-03)" in asked.system_prompt
    assert "Nina drinks tea\n" in asked.system_prompt
    marked = {memory.content: memory.outdated_on for memory in asked.memories}
    assert marked == {"Nina drinks tea": None, "Nina drinks cocoa": "2026-03-09"}


def test_it_is_marked_in_the_users_language(end_user: EndUser) -> None:
    end_user.language = "zh"
    end_user.save()
    hong = make_contact(end_user, "小红")
    make_memory(end_user, "小红在银行上班", hong, status="outdated", valid_to=SINCE)
    prompt = build.build(end_user, ContextRequest("小红以前在哪儿上班？")).system_prompt
    assert "小红在银行上班（自2026-03起不再如此）" in prompt


def test_any_other_message_is_given_only_what_holds(end_user: EndUser) -> None:
    nina = make_contact(end_user, "Nina")
    make_memory(end_user, "Nina drinks cocoa", nina, status="outdated", valid_to=SINCE)
    assert (
        "cocoa" not in build.build(end_user, ContextRequest("What does Nina drink?")).system_prompt
    )
