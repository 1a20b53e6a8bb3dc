"""The end user's own page: by an address alone, of one end user alone."""

import json
import logging
import re
import uuid
from datetime import timedelta
from itertools import starmap

import pytest
from django.test import Client
from django.utils import timezone

from accounts import scope
from accounts.models import App, Change, EndUser
from contacts.edit import edit_contact
from contacts.models import Contact, Relation
from dashboard.me.verbs import VERBS
from memories import own_card, portability
from memories.api import own_page
from memories.corrections.edit_own_card import edit_own_card
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Erasure, Link, Memory, Receipt
from memories.pipeline import buffer, run
from memories.pipeline.buffer import Incoming
from memories.pipeline.forget_requests import forget_chosen
from tests.api import ApiClient, assert_error
from tests.dashboard.signin import signed_in
from tests.factories import (
    json_value,
    make_app,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
    make_suggestion,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def api():
    return ApiClient()


@pytest.fixture
def zoe(api):
    return make_end_user(app=api.app, external_id="zoe")


def address_of(api, user="zoe", **asked):
    status, made = api.post(f"users/{user}/page/", asked)
    assert status == 201, made
    return made["url"].removeprefix("http://testserver")


@pytest.fixture
def page(api, zoe):
    return address_of(api)


def see(address, **headers):
    return Client().get(address, headers=headers)


def do(page, verb, **sent):
    return Client(enforce_csrf_checks=True).post(f"{page}do/{verb}/", sent)


def life(end_user):
    """A person of the end user with a fact and a memory in their words, and somebody alike."""
    said = make_message(end_user, "Nora is a dentist, says my diary.")
    nora = make_contact(end_user, "Nora", relationship="friend")
    memory = make_memory(end_user, "Nora is a dentist.", nora, source_message_ids=[said.pk])
    nora.attributes = {"job_title": [json_value("dentist", [str(memory.pk)])]}
    nora.save()
    other = make_contact(end_user, "Nori")
    make_suggestion(nora, other)
    return nora, memory, other


def test_a_question_of_the_assistants_is_not_in_the_users_quotation_marks(zoe, page):
    answered = [("assistant", "Where do you live?"), ("user", "Near Malmö.")]
    buffer.receive(
        zoe.app, "zoe", [Incoming("user", "My friend Nora is back."), *starmap(Incoming, answered)]
    )
    run.process(zoe.pk)
    shown = see(page).content.decode()
    assert "Where do you live? — “Near Malmö.”" in shown


def test_an_address_opens_the_page_until_it_expires_or_is_revoked(api, zoe, page):
    assert see(page).status_code == 200
    assert see(page.replace("/me/", "/me/x")).status_code == 404
    later = address_of(api, minutes=1)
    soon = timezone.now() + timedelta(minutes=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.utils.timezone.now", lambda: soon)
        assert [see(one).status_code for one in (page, later)] == [200, 404]
    App.objects.filter(pk=api.app.pk).update(archived_at=timezone.now())
    assert see(page).status_code == 404
    App.objects.filter(pk=api.app.pk).update(archived_at=None)
    assert api.delete("users/zoe/page/") == (200, {"active": False})
    assert [see(one).status_code for one in (page, later)] == [404, 404]
    assert see(fresh := address_of(api)).status_code == 200
    erase.forget_everything(zoe)
    assert "no longer works" in (gone := see(fresh)).content.decode()
    assert gone.status_code == 404


@pytest.mark.parametrize(
    "asked",
    [
        {"minutes": 0},
        {"minutes": 1441},
        {"language": "fr"},
        {"color": "red; } body {"},
        {"origin": "https://chat.example.com; script-src *"},
        {"origin": "http://chat.example.com"},
        {"speaker": "Kim"},
    ],
)
def test_an_address_is_refused_what_it_can_not_be(api, zoe, asked):
    assert_error(api.post("users/zoe/page/", asked), 400, "invalid")


def test_there_is_no_page_of_somebody_unknown(api):
    assert_error(api.post("users/nobody/page/", {}), 404, "unknown_user")


def test_nobody_keeps_indexes_embeds_or_learns_the_address_of_a_page(api, zoe, caplog):
    plain, embedded = address_of(api), address_of(api, origin="https://chat.example.com:8443")
    with caplog.at_level(logging.DEBUG):
        replies = [see(plain), do(plain, "own", key="pet", new="a cat"), see(plain + "people/x/")]
    for reply in replies[:2]:
        assert not reply.cookies
        assert "Cookie" not in reply.get("Vary", "")
        assert reply["Referrer-Policy"] == "no-referrer"
        assert "noindex" in reply["X-Robots-Tag"]
        assert "no-store" in reply["Cache-Control"]
        assert reply["X-Frame-Options"] == "DENY"
        policy = reply["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy
        assert "script-src 'none'" in policy
    assert not [record for record in caplog.records if plain[4:40] in record.getMessage()]
    reply = see(embedded)
    assert "X-Frame-Options" not in reply
    assert (
        "frame-ancestors https://chat.example.com:8443;" in reply["Content-Security-Policy"] + ";"
    )


def test_the_page_is_named_coloured_and_in_the_language_as_asked(api, zoe):
    text = see(address_of(api, name="Chatty", color="#1f6b5a", language="zh")).content.decode()
    assert "Chatty" in text
    assert '<html lang="zh-hans">' in text
    nonce = re.search(r'<style nonce="([^"]+)">\.me { border-top-color: #1f6b5a; }', text)
    reply = see(address_of(api), **{"Accept-Language": "zh-CN"})
    assert nonce
    assert '<html lang="zh-hans">' in reply.content.decode()
    assert api.app.name in reply.content.decode()


def test_what_is_known_stands_there_with_the_words_of_the_user_alone(zoe, page):
    nora, _, nori = life(zoe)
    Relation.objects.create(end_user=zoe, subject=nori, object=nora, kind="boss")
    theirs = make_message(zoe, "I moved to Rome!", speaker="Nora")
    make_memory(zoe, "Nora moved to Rome.", nora, source_message_ids=[theirs.pk], speaker="Nora")
    make_memory(zoe, "Nora paints.", nora, source_message_ids=[theirs.pk])
    edit_own_card(zoe, {"pet": ["a parrot"]}, actor="operator:wilhelmina")
    home = see(page).content.decode()
    assert "Nora" in home
    assert "a parrot" in home
    assert "wilhelmina" not in home
    person = see(f"{page}people/{nora.pk}/").content.decode()
    assert "dentist, says my diary" in person
    assert "Nora paints" in person
    assert "Rome" not in person
    assert "boss" in person
    assert f"{page.removeprefix('http://testserver')}people/{nori.pk}/" in person
    assert see(f"{page}?q=nor").content.decode().count("/people/") == 2
    assert "No match" in see(f"{page}?q=zzz").content.decode()


# Of each verb what it needs besides ids, and the ids.
FORMS = {
    "name": {"name": "Norah", "relationship": "sister"},
    "fact": {"key": "job_title", "old": "dentist", "new": "doctor"},
    "personality": {"new": "kind"},
    "own": {"key": "pet", "new": "a cat"},
    "right": {"key": "job_title", "value": "dentist"},
    "same": {},
    "different": {},
    "not_about": {},
    "move": {},
    "about": {},
    "unrelate": {},
    "over": {},
    "forget": {},
    "forget_person": {},
    "mine": {},
    "not_a_person": {},
    "unwant": {"kind": "health"},
}
IDS = {
    "name": ["person"], "fact": ["person"], "personality": ["person"], "right": ["person"],
    "same": ["person", "other"], "different": ["person", "other"],
    "not_about": ["person", "memory"], "unrelate": ["person", "relation"], "move": ["person", "memory", "other"], "about": ["memory", "other"], "over": ["memory"], "forget": ["memory"],
    "forget_person": ["person"], "mine": ["person", "memory"], "not_a_person": ["person"], "erase": ["erasure"], "undo": ["change"],
}  # fmt: skip


def rows_of(end_user):
    """Rows of the end user by the names of forms."""
    nora, memory, other = life(end_user)
    relation = Relation.objects.create(end_user=end_user, subject=other, object=nora, kind="boss")
    doomed = make_memory(end_user, "A secret of mine.")
    change = forget_chosen(end_user, actor="user", memory_id=doomed.pk)
    erasure = Erasure.objects.of(end_user).get()
    return {
        "person": nora, "memory": memory, "other": other, "relation": relation, "change": change,
        "erasure": erasure,
    }  # fmt: skip


def state_of(end_user):
    columns = [EndUser.objects.filter(pk=end_user.pk).values()]
    rows = [
        model.objects.of(end_user).values() for model in (Contact, Memory, Link, Erasure, Change)
    ]
    return [list(one.order_by("pk")) for one in (*columns, *rows)]


@pytest.mark.parametrize("elsewhere", ["user", "app"])
def test_a_verb_refuses_ids_of_others(api, zoe, page, elsewhere, subtests):
    app = api.app if elsewhere == "user" else None
    victim = make_end_user(app=app, external_id="victim")
    own, theirs = rows_of(zoe), rows_of(victim)
    before = state_of(zoe), state_of(victim)
    for verb in IDS:
        with subtests.test(verb):
            for foreign in IDS[verb]:
                ids = {name: (theirs if name == foreign else own)[name].pk for name in IDS[verb]}
                reply = do(page, verb, **FORMS.get(verb, {}), **ids)
                assert (reply.status_code, foreign) == (404, foreign)
            for wrong in ("", "x", str(uuid.uuid4())):
                sent = dict.fromkeys(IDS[verb], wrong)
                assert do(page, verb, **FORMS.get(verb, {}), **sent).status_code == 404
            assert (state_of(zoe), state_of(victim)) == before
    assert see(f"{page}people/{theirs['person'].pk}/").status_code == 404


def test_what_an_address_opens_sees_rows_of_its_end_user_alone(api, zoe, page):
    life(zoe)
    life(make_end_user(app=api.app))
    with scope.undeclared(), own_page.opened(page.split("/")[2], writes=False):
        assert Contact.objects.count() == 2
        assert list(EndUser.objects.all()) == [zoe]


def test_every_verb_is_in_the_tables_of_these_tests():
    assert VERBS.keys() | {"erase"} == FORMS.keys() | IDS.keys() | {"want", "may_be_a_person"}


@pytest.mark.parametrize("verb", FORMS)
def test_what_a_verb_does_is_the_users_change_and_undone_by_them(zoe, page, verb):
    own = rows_of(zoe)
    ids = {name: own[name].pk for name in IDS.get(verb, ())}
    reply = do(page, verb, **FORMS[verb], **ids)
    assert reply.status_code == 302
    change = Change.objects.of(zoe).exclude(pk=own["change"].pk).get()
    assert change.actor == "user"
    assert f"done={change.pk}" in reply["Location"]
    after = see(reply["Location"]).content.decode()
    assert f'name="change" value="{change.pk}"' in after
    assert do(page, "undo", change=change.pk).status_code == 302
    change.refresh_from_db()
    assert change.undone_by == "user"


def test_the_user_takes_back_nothing_that_others_did(zoe, page):
    edit_own_card(zoe, {"pet": ["a parrot"]}, actor="operator:ada")
    change = Change.objects.of(zoe).get()
    assert do(page, "undo", change=change.pk).status_code == 404
    zoe.refresh_from_db()
    assert own_card.current_attributes(zoe)["pet"]


def test_what_the_user_wrote_here_is_told_from_what_others_entered(zoe, page):
    nora, _, _ = life(zoe)
    edit_own_card(zoe, {"pet": ["a parrot"]}, actor="operator:ada")
    assert "You wrote this." not in see(page).content.decode()
    do(page, "own", key="pet", new="a cat")
    do(page, "fact", person=nora.pk, key="birthday", new="June 14")
    assert "You wrote this." in see(page).content.decode()
    person = see(f"{page}people/{nora.pk}/").content.decode()
    assert "You wrote this." in person
    assert "since" not in person


def test_changes_say_of_whom_and_what_and_are_undone_together(zoe, page):
    nora, _, _ = life(zoe)
    for old, new in (("dentist", "doctor"), ("doctor", "vet")):
        do(page, "fact", person=nora.pk, key="job_title", old=old, new=new)
    last, first = Change.objects.of(zoe)
    shown = see(f"{page}changes/").content.decode()
    assert re.search(
        "(?s)>Nora<.{,200}<del>[^/]*doctor</bdi></del>.{,80}<ins>[^/]*vet</bdi></ins>", shown
    )
    refused = do(page, "undo", change=first.pk)
    assert refused.status_code == 409
    assert "Undo these 2" in (html := refused.content.decode())
    assert html.index("with_later") < html.index(str(first.pk))
    assert do(page, "undo", change=first.pk, with_later="1").status_code == 302
    nora.refresh_from_db()
    assert nora.attributes["job_title"][0]["value"] == "dentist"
    last.refresh_from_db()
    assert last.undone_by == "user"


def test_what_others_changed_later_is_not_undone_with_it(zoe, page):
    nora, _, _ = life(zoe)
    do(page, "fact", person=nora.pk, key="job_title", old="dentist", new="doctor")
    mine = Change.objects.of(zoe).get()
    edit_contact(
        zoe, nora.pk, {"attributes": {"job_title": ["veterinarian"]}}, actor="operator:ada"
    )
    for asked in ({}, {"with_later": "1"}):
        refused = do(page, "undo", change=mine.pk, **asked)
        assert refused.status_code == 409
        assert "somebody else" in (html := refused.content.decode())
        assert "with_later" not in html
        assert "veterinarian" not in html
    nora.refresh_from_db()
    assert nora.attributes["job_title"][0]["value"] == "veterinarian"


def test_a_forgotten_person_is_gone_at_once_comes_back_by_undo_and_leaves_a_receipt(zoe, page):
    nora, _, _ = life(zoe)
    nora.attributes["pet"] = [json_value("a dog")]  # stated by an app
    nora.save()
    do(page, "forget_person", person=nora.pk)
    assert "Nora" not in see(page).content.decode()
    waiting = see(f"{page}changes/").content.decode()
    assert "Nora" in waiting
    assert "with 1 memory" in waiting
    erasure = Erasure.objects.of(zoe).get()
    assert waiting.count(str(erasure.change_id)) == 1
    back = do(page, "undo", change=erasure.change_id)
    assert "Brought back." in (told := see(back["Location"]).content.decode())
    assert "Nora" in told
    assert "Nora" in see(page).content.decode()
    do(page, "forget_person", person=nora.pk)
    last = Erasure.objects.of(zoe).get(state="pending")
    gone = do(page, "erase", erasure=last.pk).content.decode()
    assert re.search(r"Nora</bdi> is erased for good", gone)
    assert "Nora" not in do(page, "erase", erasure=last.pk).content.decode()
    receipt = Receipt.objects.of(zoe).get()
    assert (receipt.asked_by, receipt.done_by, receipt.what) == ("user", "user", "request")
    assert "Nora" not in json.dumps(see(f"{page}export/").json())


def test_what_is_unwanted_is_not_remembered_until_it_is_wanted_again(api, zoe, page):
    told = make_memory(zoe, "Nora is diabetic.", type="health", facts=[])
    assert 'value="health"' in see(page).content.decode()
    do(page, "unwant", kind="health")
    assert "Health" in see(f"{page}changes/").content.decode()
    assert do(page, "unwant", kind="everything").status_code == 404
    said = "My friend Kim lives in Oslo.", "I am allergic to peanuts.", "I have diabetes."
    for text in said:
        kept_of(api, text)
    contents = " ".join(Memory.objects.of(zoe).values_list("content", flat=True))
    assert "Oslo" in contents
    assert "I have diabetes" not in contents
    assert Memory.objects.of(zoe).filter(pk=told.pk).exists()
    do(page, "want", kind="health")
    kept_of(api, "I have asthma.")
    assert Memory.objects.of(zoe).filter(content__contains="asthma").exists()
    zoe.refresh_from_db()
    assert zoe.unwanted == []


def test_what_is_unwanted_goes_along_to_another_installation_and_is_undone_there(zoe, page):
    do(page, "unwant", kind="health")
    document = json.loads(json.dumps(portability.export_user(EndUser.objects.get(pk=zoe.pk))))
    copy = portability.import_user(make_app(), document)
    assert copy.unwanted == ["health"]
    undo_change(Change.objects.of(copy).get(), actor="user")
    zoe.refresh_from_db()
    copy.refresh_from_db()
    assert (copy.unwanted, zoe.unwanted) == ([], ["health"])


def kept_of(api, text):
    api.post("users/zoe/messages/", {"messages": [{"role": "user", "content": text}]})
    assert api.post("users/zoe/process/", {"wait": True})[0] == 200


def test_a_fact_that_was_changed_meanwhile_stays(zoe, page):
    nora, _, _ = life(zoe)
    do(page, "fact", person=nora.pk, key="job_title", old="dentist", new="doctor")
    do(page, "fact", person=nora.pk, key="language", old="gone", remove="1")
    nora.refresh_from_db()
    assert [one["value"] for one in nora.attributes["job_title"]] == ["doctor"]
    assert "language" not in nora.attributes


def test_a_refusal_says_why_on_the_page_that_it_came_from(zoe, page):
    nora, _, other = life(zoe)
    for taken in ("Nori", ""):
        reply = do(page, "name", person=nora.pk, name=taken, relationship="r" * 999)
        assert reply.status_code == 409
        assert "Nothing was changed" in reply.content.decode()
    nora.refresh_from_db()
    assert (nora.name, other.name) == ("Nora", "Nori")


def test_the_export_is_the_users_and_no_words_of_others(zoe, page):
    nora, _, _ = life(zoe)
    Contact.objects.filter(pk=nora.pk).update(note="ask her brother")
    make_message(zoe, "I moved to Rome!", speaker="Nora")
    reply = see(f"{page}export/")
    document = reply.json()
    assert document["user"]["external_id"] == "zoe"
    assert "says my diary" in reply.content.decode()
    assert "Rome" not in reply.content.decode()
    assert "brother" not in reply.content.decode()


def test_the_text_to_read_has_all_that_is_the_users_and_no_words_of_others(zoe, page):
    nora, _, other = life(zoe)
    Relation.objects.create(end_user=zoe, subject=other, object=nora, kind="boss")
    Contact.objects.filter(pk=nora.pk).update(note="ask her aunt")
    make_message(zoe, "I moved to Rome!", speaker="Nora")
    make_memory(zoe, "I like figs.")
    edit_own_card(zoe, {"pet": ["a parrot"]}, actor="operator:ada")
    reply = see(f"{page}export/text/")
    assert reply["Content-Type"] == "text/plain; charset=utf-8"
    text = reply.content.decode()
    you, people, rest, messages = re.split(
        r"\nPeople in your life\n=+|\nWhat else you said\n=+|\nYour messages\n=+", text
    )
    assert "a parrot" in you
    assert "Job: dentist" in people
    assert "Nori · Nora's boss" in people
    assert "I like figs." in rest
    assert "says my diary" in messages
    assert "Rome" not in text
    assert "aunt" not in text


def test_operators_see_under_activity_what_the_user_did(api, zoe, page):
    nora, _, _ = life(zoe)
    do(page, "name", person=nora.pk, name="Norah", relationship="")
    listed = signed_in().get("/activity/?by=users").content.decode()
    assert "Norah" in listed
    assert "End user" in listed


def test_a_page_needs_as_many_statements_for_many_as_for_few(
    zoe, page, django_assert_max_num_queries
):
    nora, _, _ = life(zoe)
    for number in range(12):
        said = make_message(zoe, f"Thing {number} about Nora.")
        make_memory(zoe, f"Thing {number}.", nora, source_message_ids=[said.pk])
    with django_assert_max_num_queries(20):
        assert see(f"{page}people/{nora.pk}/").content.decode().count("Thing 11") >= 2
