"""Two tabs: what one saved is not overwritten by a form that the other showed before."""

from fnmatch import fnmatch
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from accounts.models import ApiKey, App, EndUser
from contacts.edit import edit_contact
from contacts.models import Contact, Relation, Suggestion
from dashboard.state_tokens import SAW, SAW_CHOICE
from gateway import upstreams
from gateway.models import Upstream
from memories.models import Edge, Erasure, Link, Memory, Message
from tests.dashboard.signin import signed_in
from tests.factories import (
    SOME_DAY,
    json_value,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
    make_suggestion,
)
from webhooks import endpoints
from webhooks.models import Endpoint

pytestmark = pytest.mark.django_db

Sent = dict[str, Any]


class _Forms(HTMLParser):
    """The forms of a page: action, and the fields that a browser sends without a choice."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Sent]] = []
        self.area = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        if tag == "form":
            self.found.append((given.get("action") or "", {}))
        name = given.get("name")
        if not self.found or not name:
            return
        sent = self.found[-1][1]
        if tag == "textarea":
            self.area = name
            sent[name] = [""]
        elif tag == "input" and given.get("type") not in ("checkbox", "radio"):
            sent.setdefault(name, []).append(given.get("value") or "")

    def handle_data(self, data: str) -> None:
        if self.area:
            self.found[-1][1][self.area] = [data.lstrip("\n")]
            self.area = ""


def form(client: Client, page: str, action: str) -> tuple[str, Sent]:
    """Where the form with this action is sent to, and what it sends."""
    answer = client.get(page, follow=True)
    assert answer.status_code == 200
    forms = _Forms(answer.content.decode()).found
    shown = answer.request["PATH_INFO"]
    found = [(at or shown, sent) for at, sent in forms
             if fnmatch(at or shown, f"*{action}") and {SAW, SAW_CHOICE} & sent.keys()]  # fmt: skip
    assert found, (page, action)
    return found[0]


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(external_id="zoe", language="en")


@pytest.fixture
def ada() -> Client:
    return signed_in("admin")


@pytest.fixture
def greta(zoe: EndUser) -> Contact:
    told = {
        "company": [json_value("Acme"), json_value("Brill")],
        "birthday": [json_value("May 2, 1991")],
    }
    return make_contact(zoe, "Greta", relationship="aunt", aliases=["Gre"], attributes=told)


@pytest.fixture
def gretta(zoe: EndUser, greta: Contact) -> Contact:
    other = make_contact(zoe, "Gretta", relationship="boss")
    make_suggestion(greta, other)
    return other


@pytest.fixture
def memory(zoe: EndUser, greta: Contact) -> Memory:
    return make_memory(zoe, "Greta sings.", greta)


@pytest.fixture
def edge(zoe: EndUser, memory: Memory) -> Edge:
    other = make_memory(zoe, "Greta never sings.")
    return Edge.objects.create(end_user=zoe, source=memory, target=other, kind="conflicts")


# The page, the end of the address that the form goes to, what A sends, what B sends.
CASES: dict[str, tuple[str, str, Sent, Sent]] = {
    "edit a person": ("people/{greta}/edit/", "/edit/", {"relationship": "cousin"}, {"personality": "kind"}),
    "edit the same field": ("people/{greta}/edit/", "/edit/", {"relationship": "cousin"}, {"relationship": "queen"}),
    "merge two who are told apart": (
        "review/{greta}/{gretta}/", "/decide/", {"decision": "different"}, {"decision": "merge"},
    ),
    "tell apart two who are merged": (
        "review/{greta}/{gretta}/", "/decide/", {"decision": "merge"}, {"decision": "different"},
    ),
    "put off two who are told apart": (
        "review/{greta}/{gretta}/", "/decide/", {"decision": "different"}, {"decision": "later"},
    ),
    "archive": ("people/{greta}/", "/archive/", {"archived": "1"}, {"archived": "1"}),
    "aliases": ("people/{greta}/", "/aliases/", {"do": "remove", "alias": "Gre"}, {"do": "primary", "alias": "Gre"}),
    "a value": ("people/{greta}/", "/attributes/", {"new": "Corp"}, {"new": "Dorn"}),
    "which value is right": ("people/{greta}/", "/resolve/", {"value": "Acme"}, {"value": "Brill"}),
    "reword": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}, {"content": "Greta yells."}),
    "not about them": ("memories/{memory}/", "/decide/", {"decision": "wrong"}, {"decision": "right"}),
    "outdate": ("memories/{memory}/", "/outdate/", {}, {}),
    "unlink a chosen one": (
        "people/{greta}/?tab=memories", "/outdate/", {"memory": "{memory}"}, {"memory": "{memory}"},
    ),
    "move": ("people/{greta}/memories/move/?memory={memory}", "/move/", {"person": "{gretta}"}, {"person": "{gretta}"}),
    "forget a memory": ("memories/forget/?memory={memory}", "/memories/forget/", {}, {}),
    "a time zone": ("", "/time-zone/", {"time_zone": "Asia/Tokyo"}, {"time_zone": "Asia/Seoul"}),
    "unlink": ("people/{greta}/?tab=memories", "/outdate/", {}, {"memory": "{memory}"}),
    "forget a person": ("people/{greta}/forget/", "/forget/", {}, {}),
    "forget the user": ("forget/", "/forget/now/", {"confirm": "zoe"}, {"confirm": "zoe"}),
    "may be about who was forgotten": (
        "undecided/", "/undecided/*/", {"redact": "{message}"}, {"keep": "{message}"},
    ),
    "relate": (
        "people/{greta}/?tab=relations", "/relations/",
        {"person": "{gretta}", "kind": "sister"}, {"person": "{gretta}", "kind": "mother"},
    ),
    "a relation": ("people/{greta}/?tab=relations", "/remove/", {}, {}),
    "not connected": ("memories/{memory}/", "/disconnect/", {}, {}),
    "which memory is true": ("/review/conflicts/?at={edge}", "/settle/", {"right": "{memory}"}, {"right": "both"}),
    "which of two values": ("/review/conflicts/", "/resolve/", {"value": "Acme"}, {"all": "1"}),
    "several pairs": ("/review/", "/apart/", {}, {"pair": "{pair}"}),
    "several people": ("people/", "/people/merge/", {}, {"contact": ["{greta}", "{gretta}"]}),
    "a date": (
        "dates/", "/dates/", {"contact": "{greta}", "kind": "Birthday", "value": "May 3, 1990"},
        {"contact": "{greta}", "kind": "Birthday", "value": "June 4"},
    ),
    "a date of the user": (
        "dates/", "/dates/", {"contact": "", "kind": "Birthday", "value": "May 3, 1990"},
        {"contact": "", "kind": "Birthday", "value": "June 4"},
    ),
    "no date": ("people/{greta}/", "/remove/", {}, {}),
    "undo with what came later": ("changes/later/?change={change}", "/undo/", {}, {}),
    "the name of an app": ("/apps/", "/rename/", {"name": "one"}, {"name": "two"}),
    "an app in the archive": ("/apps/", "/archive/", {"archived": "1"}, {"archived": "1"}),
    "the label of a key": ("/apps/", "/edit/", {"label": "one"}, {"label": "two"}),
    "the limit of a key": ("/apps/", "/edit/", {"limit": "5"}, {"limit": "7"}),
    "revoke a key": ("/apps/", "/revoke/", {}, {}),
    "believe a key": ("/apps/{app}/gateway/", "/trust/", {"trusted": "1"}, {"trusted": "1"}),
    "where chats go": (
        "/apps/{app}/gateway/", "/gateway/", {"url": "http://127.0.0.1:8/v1", "placement": "tail"},
        {"url": "http://127.0.0.1:7/v1", "placement": "tail"},
    ),
    "close the gateway": ("/apps/{app}/gateway/", "/close/", {}, {}),
    "stop a webhook": ("/webhooks/", "/switch/", {"enabled": ""}, {"enabled": ""}),
    "the secret of a webhook": ("/webhooks/", "/rotate/", {}, {}),
}  # fmt: skip
# Whose button sends the form to another address.
SENT_TO = {"unlink": "people/{greta}/memories/unlink/", "several people": "people/apart/"}
APART = ("review/{greta}/{gretta}/", "/decide/", {"decision": "different"})
# Of which no Change says who did it.
UNRECORDED = {"a time zone", "may be about who was forgotten"}
EDITED = ("people/{greta}/edit/", "/edit/", {"relationship": "cousin"})
# Where A's decision is not by the same form.
FIRST = {
    "forget a memory": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "unlink a chosen one": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "move": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "outdate": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "unlink": ("people/{greta}/memories/move/?memory={memory}", "/move/", {"person": "{gretta}"}),
    "forget a person": EDITED,
    "forget the user": EDITED,
    "undo with what came later": EDITED,
    "several pairs": APART,
    "several people": EDITED,
    "no date": ("people/{greta}/", "/attributes/", {"key": "birthday", "old": "May 2, 1991", "new": "May 3, 1991"}),
    "close the gateway": ("/apps/{app}/gateway/", "/gateway/", {"url": "http://127.0.0.1:8/v1", "placement": "tail"}),
}  # fmt: skip


ROWS = (
    ApiKey, App, Contact, Edge, EndUser, Endpoint, Link, Memory, Message, Relation, Suggestion, Upstream,
)  # fmt: skip


def state() -> dict[str, Any]:
    """All that a decision changes, as it is stored."""
    return {f"{one.__name__} {row['id']}": row for one in ROWS for row in one.objects.values()}


@pytest.fixture
def ids(
    zoe: EndUser, greta: Contact, gretta: Contact, memory: Memory, edge: Edge
) -> dict[str, Any]:
    """One row of all that is decided on."""
    grit = make_contact(zoe, "Grit")
    message = make_message(zoe, "She sings.")
    Relation.objects.create(end_user=zoe, subject=greta, object=grit, kind="boss")
    Erasure.objects.create(
        end_user=zoe, state="erased", due_at=SOME_DAY, unsure_message_ids=[message.pk]
    )
    make_suggestion(greta, grit)
    _, change = edit_contact(zoe, grit.pk, {"personality": "kind"}, actor="operator:ada")
    ApiKey.issue(zoe.app)
    upstreams.configure(zoe.app, "http://127.0.0.1:9/v1")
    endpoints.create(zoe.app, "https://93.184.215.14/hook", ["memory.created"])
    pair = Suggestion.objects.get(first__in=[greta, gretta], second__in=[greta, gretta])
    return {
        "greta": greta.pk, "gretta": gretta.pk, "memory": memory.pk, "message": message.pk,
        "pair": pair.pk, "app": zoe.app_id, "change": change.pk if change else "",
        "edge": Edge.objects.get(kind="conflicts").pk,
    }  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_what_the_other_tab_saved_is_said_and_not_overwritten(
    what: str, ada: Client, zoe: EndUser, greta: Contact, ids: dict[str, Any]
) -> None:
    page, action, first, second = CASES[what]

    def at(page: str) -> str:
        return page.format(**ids) if page.startswith("/") else f"/u/{zoe.pk}/{page.format(**ids)}"

    def filled(sent: Sent) -> Sent:
        return {
            name: [one.format(**ids) for one in value] if isinstance(value, list) else value.format(**ids)
            for name, value in sent.items()
        }  # fmt: skip

    shown, b = form(ada, at(page), action)
    to = at(SENT_TO[what]) if what in SENT_TO else shown
    first_to, a = shown, b
    if what in FIRST:
        other_page, other_action, first = FIRST[what]
        first_to, a = form(ada, at(other_page), other_action)
    assert ada.post(first_to, {**a, **filled(first)}).status_code in (200, 302)
    before = state()
    refused = ada.post(to, {**b, **filled(second)})
    assert refused.status_code == 409
    assert state() == before
    told = refused.content.decode()
    assert "changed meanwhile" in told
    if (page[:1] != "/" and what not in UNRECORDED) or "/review/" in page:
        assert "admin" in told  # who
    typed = filled(second)
    for name in typed.keys() & {"content", "new", "personality", "relationship", "time_zone"}:
        assert typed[name] in told
    again = next(sent for _, sent in _Forms(told).found if SAW in sent)
    assert ada.post(to, again).status_code != 409
    if what == "edit a person":
        greta.refresh_from_db()
        assert (greta.relationship, greta.personality) == ("cousin", "kind")


def test_a_secret_that_was_typed_is_asked_for_again_and_not_repeated(
    ada: Client, zoe: EndUser
) -> None:
    upstreams.configure(zoe.app, "http://127.0.0.1:9/v1")
    to, sent = form(ada, f"/apps/{zoe.app_id}/gateway/", "/gateway/")
    upstreams.configure(zoe.app, "http://127.0.0.1:8/v1")
    answer = ada.post(to, {**sent, "placement": "tail", "key": "sk-typed"})
    assert answer.status_code == 409
    assert "sk-typed" not in answer.content.decode()
    [again] = [fields for _, fields in _Forms(answer.content.decode()).found if SAW in fields]
    assert again["key"] == [""]
    ada.post(to, {**again, "key": "sk-typed"})
    assert Upstream.objects.get().key not in ("", "sk-typed")
