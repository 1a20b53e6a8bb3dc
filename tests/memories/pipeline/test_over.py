"""What is over is not on a card, also of somebody who is met in the same batch."""

import pytest

from contacts.models import Contact
from memories.models import Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("batches", [1, 2])
@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("Tess works at Initech.", "Tess quit Initech in March.", "Initech"),
        ("小韩在腾讯上班。", "小韩从腾讯离职了。", "腾讯"),
        ("Tess lives in Bristol.", "Tess moved to Cardiff last year.", "Bristol"),
    ],
)
def test_a_place_that_somebody_has_left_is_on_no_card(batches, before, after, gone):
    app = make_app()
    for texts in [[before, after]] if batches == 1 else [[before], [after]]:
        end_user = receive(app, "ann", [Incoming("user", text) for text in texts]).end_user
        run.process(end_user.pk)

    contact = Contact.objects.of(end_user).get()
    assert Memory.objects.of(end_user).get(quote=before).status == Memory.Status.OUTDATED
    assert gone not in {value["value"] for value in contact.attributes.get("company", [])}
    assert gone not in {value["value"] for value in contact.attributes.get("location", [])[:1]}


def test_what_is_left_of_a_quote_is_said_once_on_the_card():
    end_user = receive(
        make_app(),
        "ann",
        [Incoming("user", "小韩在腾讯当会计，住在深圳。"), Incoming("user", "小韩从腾讯离职了。")],
    ).end_user
    run.process(end_user.pk)
    card = Contact.objects.of(end_user).get().card_today
    assert "腾讯" not in card.replace("小韩从腾讯离职了", "")
    assert card.count("会计") == 1
