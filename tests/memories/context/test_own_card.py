"""What is always to be known of the user is in the prompt, whatever the message is about."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import EndUser
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import edit_memories
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


def states(end_user, key, value, person=None, **fields):
    row = {"key": key, "value": value, "person": person}
    return make_memory(end_user, f"{key} {value} {person}", facts=[row], **fields)


def card(end_user, message="make me a list for the move", **options):
    end_user.refresh_from_db()
    found = build.trace(
        end_user, ContextRequest(message, **{"include": ("user",), **options})
    ).injection
    assert found.user_card in found.system_prompt
    return found.user_card


@pytest.mark.parametrize(
    ("language", "heading", "told"),
    [
        ("en", "## The user (answer as they wish)", "Wishes for answers: short bullet points"),
        ("zh", "## 用户本人（请按其要求作答）", "对回答的要求：short bullet points"),
    ],
)
def test_a_wish_and_an_allergy_are_told_though_nothing_in_the_message_is_like_them(
    language, heading, told
):
    user = make_end_user(language=language)
    states(user, "answer_wish", "short bullet points")
    states(user, "allergy", "figs")
    states(user, "likes", "jazz")
    states(user, "allergy", "bees", str(make_contact(user, "Kim").pk))
    user.refresh_from_db()
    asked = build.trace(user, ContextRequest("Thanks, see you!")).injection.system_prompt
    assert f"{heading}\n{told}\n" in asked
    assert "figs" in asked
    assert card(user).count("\n") == 1
    assert card(user, include=("cards", "linked", "dates")) == ""


def test_the_card_costs_one_statement():
    states(made := make_end_user(language="en"), "allergy", "figs")
    user = EndUser.objects.select_related("app").get(pk=made.pk)
    counts = []
    for include in (("cards",), ("user", "cards")):
        with CaptureQueriesContext(connection) as asked:
            found = build.trace(user, ContextRequest("snack ideas", include=include))
        counts.append(len(asked))
    assert "figs" in found.injection.system_prompt
    assert counts[1] == counts[0] + 1


def test_the_family_among_the_contacts_is_on_the_card_and_nobody_else():
    user = make_end_user(language="en")
    states(user, "family", "two daughters")
    for name, role, many in (("Bo", "brother", 1), ("Lena", "wife", 5), ("Al", "boss", 9)):
        make_contact(user, name, relationship=role, mention_count=many)
    make_contact(user, "Uma", relationship="aunt", archived_at=timezone.now())
    make_contact(make_end_user(), "Max", relationship="son")
    assert card(user) == "Family: two daughters, Lena (wife), Bo (brother)"


def test_what_no_longer_holds_leaves_the_card_and_an_undo_brings_it_back():
    user = make_end_user(language="en")
    old = states(user, "location", "Leeds", said_at=timezone.now() - timedelta(days=9))
    new = states(user, "location", "York", said_at=timezone.now())
    assert card(user) == "Location: York"
    change = edit_memories.outdate(user, [new], actor="operator:x")
    assert card(user) == "Location: Leeds"
    undo_change(change, actor="operator:x")
    Memory.objects.filter(pk=new.pk).update(valid_to=timezone.now())
    assert card(user) == "Location: Leeds"
    erase.forget_memory(user, old.pk)
    assert card(user) == ""


def test_what_the_user_tells_is_on_the_card_once_it_is_read():
    told = "I'm allergic to figs. Please always reply in short paragraphs."
    said = [Incoming("user", told, session_id="s1")]
    user = receive(make_end_user(language="en").app, "zoe", said).end_user
    run.process(user.pk)
    wish = "Wishes for answers: Please always reply in short paragraphs"
    assert card(user) == f"{wish}\nAllergies: figs"


def test_what_is_told_of_somebody_who_is_no_contact_any_more_is_not_the_users():
    user = make_end_user(language="en")
    states(user, "allergy", "bees", str(uuid4()))
    assert card(user) == ""
