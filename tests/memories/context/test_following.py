"""A quote is shown with what was said right after it, if that may go on about the same person."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts.models import EndUser
from memories.context import build
from memories.context.request import ContextRequest
from memories.models import Link, Memory
from memories.pipeline import buffer, run
from memories.pipeline.buffer import Incoming
from tests.factories import SOME_DAY, make_app, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


def told(texts: Sequence[str], apart: timedelta) -> EndUser:
    """An end user who said this, so long apart, as a worker reads it."""
    turns = [
        Incoming("user", text, created_at=SOME_DAY + place * apart)
        for place, text in enumerate(texts)
    ]
    end_user = buffer.receive(make_app(), "ann", turns).end_user
    run.process(end_user.pk)
    end_user.refresh_from_db()
    return end_user


def prompt(end_user: EndUser, message: str, **asked: Any) -> str:
    return build.build(end_user, ContextRequest(message, **asked)).system_prompt


SAID = (
    "My neighbour Petra moved in next door last spring.",
    "Plays the cello in a string quartet, mostly Schubert.",
)


def test_what_a_chat_goes_on_with_follows_the_quote_in_its_line() -> None:
    end_user = told(SAID, timedelta(seconds=40))
    cello = Memory.objects.get(content__startswith="Plays the cello")
    assert not cello.links.exists()
    assert f"… {SAID[1]}”" in prompt(end_user, "How is Petra?", limit=1)


def test_what_was_said_later_does_not() -> None:
    end_user = told(SAID, timedelta(minutes=5, seconds=1))
    assert "cello" not in prompt(end_user, "How is Petra?", limit=1)


class TestWhatFollows:
    """Of quotes made by hand, one a minute."""

    @pytest.fixture
    def end_user(self) -> EndUser:
        return make_end_user()

    @pytest.fixture
    def petra(self, end_user: EndUser) -> Any:
        petra = make_contact(end_user, "Petra")
        self.quote(end_user, "Petra moved in", 0, petra)
        return petra

    def quote(
        self, end_user: EndUser, text: str, minute: int, *about: Any, **fields: Any
    ) -> Memory:
        at: datetime = SOME_DAY + timedelta(minutes=minute)
        values = {"said_at": at, "quote": text, "brackets": []} | fields
        return make_memory(end_user, text, *about, **values)

    def following(self, end_user: EndUser) -> tuple[str, ...]:
        built = build.build(end_user, ContextRequest("How is Petra?", include=("linked",)))
        return next(one.following for one in built.memories if one.content == "Petra moved in")

    @pytest.mark.usefixtures("petra")
    def test_nothing_from_what_is_about_somebody_else_on(self, end_user: EndUser) -> None:
        self.quote(end_user, "has a dog", 1)
        self.quote(end_user, "Nils is a vet", 2, make_contact(end_user, "Nils"))
        self.quote(end_user, "works at night", 3)
        assert self.following(end_user) == ("has a dog",)

    def test_not_what_somebody_said_is_not_about_the_person(
        self, end_user: EndUser, petra: Any
    ) -> None:
        self.quote(end_user, "has a dog", 1)
        self.quote(end_user, "has a cat", 2, petra)
        Link.objects.filter(memory__content="has a cat").update(rejected=True)
        assert self.following(end_user) == ("has a dog",)

    def test_not_twice_what_has_a_line(self, end_user: EndUser, petra: Any) -> None:
        self.quote(end_user, "Petra has a dog", 1, petra)
        assert self.following(end_user) == ()

    @pytest.mark.usefixtures("petra")
    @pytest.mark.parametrize(
        "fields",
        [
            {"status": Memory.Status.ARCHIVED},
            {"status": Memory.Status.OUTDATED},
            {"speaker": "Nils"},
            {"brackets": None},
            {"facts": [{"key": "pet", "value": "dog", "outdated_at": SOME_DAY.isoformat()}]},
        ],
        ids=["hidden", "outdated", "of another speaker", "no quote", "partly outdated"],
    )
    def test_not_what_may_not_be_quoted(self, end_user: EndUser, fields: dict[str, Any]) -> None:
        self.quote(end_user, "has a dog", 1, **fields)
        assert self.following(end_user) == ()

    @pytest.mark.usefixtures("petra")
    def test_in_the_order_in_which_it_was_said_and_at_most_three(self, end_user: EndUser) -> None:
        for minute, text in enumerate(("one", "two", "three", "four"), start=1):
            self.quote(end_user, text, minute)
        assert self.following(end_user) == ("one", "two", "three")
