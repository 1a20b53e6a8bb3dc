"""manage.py refine"""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import App
from memories.models import Memory
from memories.pipeline import store_memories
from memories.providers.factory import embedder
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.read_often import LONG, read_often

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user():
    app = App.objects.create(name="default")
    return make_end_user(app=app, external_id="u", language="en")


def refine(*args):
    out = StringIO()
    call_command("refine", "--json", *args, stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


@pytest.fixture
def model(server):
    """A model that splits nothing and joins whatever it is shown of several."""
    server.answer_with = lambda sent: {
        "rewrites": [
            {"ids": [one["id"] for one in group], "texts": ["Nora likes chess with Ivan."]}
            for group in sent.data.get("groups", ())
            if len(group) > 1
        ],
        "reviews": [{"proposal": "r1", "accepted": True}],
    }
    return server


def test_it_merges_and_says_how_much(end_user, model):
    nora = make_contact(end_user, "Nora")
    read_often(end_user, LONG, nora)
    make_memory(end_user, "Nora likes chess.", nora)
    make_memory(end_user, "Nora likes chess with Ivan.", nora)
    store_memories.embed_missing(end_user, embedder())
    done = refine("--user", "u")
    assert (done["split"], done["trimmed"], done["merged"], done["into"]) == (0, 0, 2, 1)
    assert done["calls"] == 2
    store_memories.embed_missing(end_user, embedder())
    refine()
    assert refine() == dict.fromkeys(done, 0)


def test_a_model_that_fails_ends_it_with_words_and_the_next_run_goes_on(end_user, model):
    memory = read_often(end_user, LONG)
    model.fail(401)
    with pytest.raises(CommandError, match="run it again"):
        refine()
    assert Memory.objects.get(pk=memory.pk).refined_at is None
    refine()
    assert Memory.objects.get(pk=memory.pk).refined_at is not None


def test_an_unknown_user_is_said_so(end_user):
    with pytest.raises(CommandError, match="no end user"):
        refine("--user", "nobody")
