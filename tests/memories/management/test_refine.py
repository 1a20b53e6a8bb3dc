"""manage.py refine"""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import App
from memories.models import Memory
from memories.pipeline import embed
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


def test_it_merges_and_says_how_much(end_user, server):
    nora = make_contact(end_user, "Nora")
    read_often(end_user, LONG, nora)
    make_memory(end_user, "Nora likes chess.", nora)
    make_memory(end_user, "Nora likes chess with Ivan.", nora)
    embed.embed_missing(end_user, embedder())
    content = "Nora likes chess with Ivan."
    server.reply_json({"refinements": []})
    server.reply_json({"overlaps": [{"members": ["m1", "m2"], "content": content}]})
    server.reply_json({"reviews": [{"proposal": "r1", "accepted": True}]})
    done = refine("--user", "u")
    assert (done["split"], done["trimmed"], done["merged"], done["into"]) == (0, 0, 2, 1)
    assert done["calls"] == 3


def test_a_model_that_fails_ends_it_with_words_and_the_next_run_goes_on(end_user, server):
    memory = read_often(end_user, LONG)
    server.fail(401)
    with pytest.raises(CommandError, match="run it again"):
        refine()
    assert Memory.objects.get(pk=memory.pk).refined_at is None
    server.reply_json({"refinements": []})
    refine()
    assert Memory.objects.get(pk=memory.pk).refined_at is not None


def test_an_unknown_user_is_said_so(end_user):
    with pytest.raises(CommandError, match="no end user"):
        refine("--user", "nobody")
