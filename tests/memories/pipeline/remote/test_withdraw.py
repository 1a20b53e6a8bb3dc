"""What is forgotten while a model server has it comes back to nobody."""

import pytest

from memories.erasure import erase
from memories.models import Batch, Memory, Message
from memories.pipeline.remote import submit
from tests.factories import make_contact
from tests.memories.pipeline.remote.answers import extracted, state_of, the_batch, told

pytestmark = pytest.mark.django_db


class TestForgetting:
    def test_a_forgotten_users_answer_is_dropped_and_the_file_with_it(self, server, app):
        ann, ben = told(app, "ann"), told(app, "ben")
        submit.submit_due()
        erase.forget_everything(ann)
        assert state_of(ben) == "pending"
        assert Batch.objects.of(ben).get().attempts == 0
        submit.poll()
        assert server.remote.batches[the_batch(server)]["status"] == "cancelling"
        server.remote.end(the_batch(server), extracted, "cancelled")
        submit.poll()
        assert server.remote.files == {}
        assert not Memory.objects.exists()
        assert submit.submit_due() == {"requests": 1}

    def test_a_message_erased_since_calls_off_what_was_sent(self, server, app):
        ann = told(app, "ann", "My colleague Oliver lives in Madrid.")
        oliver = make_contact(ann, "Oliver")
        submit.submit_due()
        erase.forget_contact(ann, oliver.id)
        assert state_of(ann) == "pending"
        submit.poll()
        server.remote.end(the_batch(server), extracted, "cancelled")
        submit.poll()
        assert server.remote.files == {}
        assert not Memory.objects.filter(kind="fact").exists()

    def test_an_erasure_that_touches_nothing_that_was_sent_calls_nothing_off(self, server, app):
        ann = told(app, "ann")
        other = make_contact(ann, "Zoltan")
        submit.submit_due()
        Batch.objects.update(result=Batch.objects.get().result | {"shown": []})
        erase.forget_contact(ann, other.id)
        assert state_of(ann) == "submitted"

    def test_an_answer_about_words_that_changed_is_asked_for_again(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        Message.objects.update(content="Nothing.")
        server.remote.end(the_batch(server), extracted)
        assert submit.poll()["returned"] == 1
        assert state_of(ann) == "pending"
        assert not Memory.objects.exists()
