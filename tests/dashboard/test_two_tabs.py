"""Two tabs: what one saved is not overwritten by a form that the other showed before."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.changes import snapshot
from accounts.models import EndUser
from contacts.models import Contact, Suggestion, json_value
from dashboard.state_tokens import SAW, SAW_CHOICE
from memories.models import Edge, Link, Memory
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_end_user, make_memory, make_suggestion

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


def form(client: Client, page: str, action: str) -> Sent:
    """What the form with this action sends."""
    answer = client.get(page, follow=True)
    assert answer.status_code == 200
    forms = _Forms(answer.content.decode()).found
    found = [
        sent for at, sent in forms if action in (at or page) and {SAW, SAW_CHOICE} & sent.keys()
    ]
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
    told = {"company": [json_value("Acme"), json_value("Brill")]}
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
    "reword at the person": (
        "people/{greta}/memories/{memory}/edit/", "/edit/", {"content": "Greta hums."}, {"content": "She yells."},
    ),
    "not about them": ("memories/{memory}/", "/decide/", {"decision": "wrong"}, {"decision": "right"}),
    "outdate": ("memories/{memory}/", "/outdate/", {}, {}),
    "unlink a chosen one": (
        "people/{greta}/?tab=memories", "/outdate/", {"memory": "{memory}"}, {"memory": "{memory}"},
    ),
    "move": ("people/{greta}/memories/move/?memory={memory}", "/move/", {"person": "{gretta}"}, {"person": "{gretta}"}),
    "forget a memory": ("memories/{memory}/forget/", "/now/", {}, {}),
    "a time zone": ("", "/time-zone/", {"time_zone": "Asia/Tokyo"}, {"time_zone": "Asia/Seoul"}),
}  # fmt: skip
# Where A's decision is not by the same form.
FIRST = {
    "forget a memory": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "unlink a chosen one": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "move": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
    "outdate": ("memories/{memory}/", "/edit/", {"content": "Greta hums."}),
}


def state(zoe: EndUser) -> dict[str, Any]:
    """All that a decision changes, as it is stored."""
    rows: list[Any] = [*Contact.objects.of(zoe), *Memory.objects.of(zoe), *Link.objects.of(zoe)]
    rows += [*Suggestion.objects.of(zoe)]
    return {f"{type(row).__name__} {row.pk}": snapshot(row) for row in rows} | {
        "zone": EndUser.objects.get(pk=zoe.pk).time_zone
    }


@pytest.mark.parametrize("what", CASES)
def test_what_the_other_tab_saved_is_said_and_not_overwritten(
    what: str, ada: Client, zoe: EndUser, greta: Contact, gretta: Contact, memory: Memory
) -> None:
    ids = {"greta": greta.pk, "gretta": gretta.pk, "memory": memory.pk}
    page, action, first, second = CASES[what]

    def filled(sent: Sent) -> Sent:
        return {name: value.format(**ids) for name, value in sent.items()}

    def post(page: str, action: str, sent: Sent, seen: Sent) -> HttpResponse:
        address = page.format(**ids)
        html = ada.get(f"/u/{zoe.pk}/{address}").content.decode()
        whole = re.search(rf'action="([^"]*{re.escape(action)})"', html)
        at = whole[1] if whole else f"/u/{zoe.pk}/{address}".partition("?")[0]
        return ada.post(at, {**seen, **filled(sent)})

    b = form(ada, f"/u/{zoe.pk}/{page.format(**ids)}", action)
    at = _address(ada, f"/u/{zoe.pk}/{page.format(**ids)}", action)
    other = FIRST.get(what, (page, action, first))
    a = form(ada, f"/u/{zoe.pk}/{other[0].format(**ids)}", other[1])
    answer = post(*other, a)
    assert answer.status_code == 302
    before = state(zoe)
    refused = ada.post(at, {**b, **filled(second)})
    assert refused.status_code == 409
    assert state(zoe) == before
    told = refused.content.decode()
    assert "changed meanwhile" in told
    if what != "a time zone":
        assert "admin" in told  # who
    typed = filled(second)
    for name in typed.keys() & {"content", "new", "personality", "relationship", "time_zone"}:
        assert typed[name] in told
    again = next(sent for at_, sent in _Forms(told).found if SAW in sent)
    saved = ada.post(at, again)
    assert saved.status_code != 409
    if what == "edit a person":
        greta.refresh_from_db()
        assert (greta.relationship, greta.personality) == ("cousin", "kind")


def _address(client: Client, page: str, action: str) -> str:
    found = [
        at for at, _ in _Forms(client.get(page).content.decode()).found if action in (at or page)
    ]
    return found[0] or page.partition("?")[0]
