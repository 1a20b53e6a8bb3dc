"""Every action of the pages that decides carries what its form showed; without that it is refused."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, resolve, reverse

from accounts.models import ApiKey, Change, EndUser
from contacts.edit import edit_contact
from contacts.models import Contact, Relation
from dashboard import urls
from dashboard.state_tokens import SAW, SAW_CHOICE
from gateway import upstreams
from imports import uploads
from imports.models import Import
from memories.models import Edge, Erasure, Link, Memory
from tests.dashboard.addresses import addresses
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
from tests.imports.files import WHATSAPP_IPHONE
from tests.imports.test_dumps import JSONL
from webhooks import endpoints

pytestmark = pytest.mark.django_db

# Actions that need not say what was shown, by reason.
FREE = {
    "adds, and refuses what is there": [
        "contact_new", "new-app", "new-key", "gateway-key", "new-webhook", "upload-chat",
        "claim",
    ],
    "only asks, shows or leads elsewhere": [
        "cell", "contacts_merge", "gateway-test", "playground",
        "playground_reply", "preview", "theme",
    ],
    "sends or starts again": ["read-now", "resend", "run-job", "test-webhook"],
    "compares with the rows itself": ["cancel", "retry", "undo", "undo_all"],
}  # fmt: skip
NAMES_FREE = {name for names in FREE.values() for name in names}
UNCLEAR_DAYS = "1/2/21, 15:34 - Anna: hello\n2/3/21, 15:34 - Ben: hello\n"
ANY: dict[str, Any] = {"IntConverter": 1, "UUIDConverter": UUID(int=1), "StringConverter": "batch"}


def filled(pattern: URLPattern, **known: Any) -> str:
    given = {
        name: known.get(name, ANY[type(converter).__name__])
        for name, converter in pattern.pattern.converters.items()
    }
    return reverse(f"dashboard:{pattern.name}", kwargs=given)


class Forms(HTMLParser):
    """The addresses that the forms of a page post to, and the tokens that they carry."""

    def __init__(self, page: str, at: str) -> None:
        super().__init__()
        self.at, self.found = at, list[tuple[set[str], list[str]]]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        if tag == "form":
            posts = given.get("method") == "post"
            self.found.append(({given.get("action") or self.at} if posts else set(), []))
        elif self.found and given.get("formaction"):
            self.found[-1][0].add(given["formaction"])
        elif self.found and given.get("name") in (SAW, SAW_CHOICE):
            self.found[-1][1].append(given["value"])


@pytest.fixture
def zoe() -> EndUser:
    """An end user of whom each action has a row to act on."""
    user = make_end_user(external_id="zoe", language="en")
    known = {"company": [json_value("Acme"), json_value("Brill")],
             "birthday": [json_value("May 3, 1990")]}  # fmt: skip
    phrases = [{"text": "my aunt", "sources": []}]
    greta = make_contact(user, "Greta", aliases=["Gre"], attributes=known, references=phrases)
    other = make_contact(user, "Gretta")
    make_suggestion(greta, other)
    make_suggestion(greta, make_contact(user, "Grit"))
    Relation.objects.create(end_user=user, subject=greta, object=other, kind="sister")
    one = make_memory(user, "Greta sings.", greta)
    make_memory(user, "Greta swims.", greta)
    Link.objects.update(confidence=0.4)
    mine = [{"key": "birthday", "value": "June 4, 1985", "person": None}]
    two = make_memory(user, "The user's birthday is June 4.", facts=mine)
    Edge.objects.create(end_user=user, source=one, target=two, kind="conflicts")
    unsure = [make_message(user, "She sings.").pk]
    Erasure.objects.create(
        end_user=user, due_at=SOME_DAY, unsure_message_ids=unsure, unsure_contact_ids=[other.pk]
    )
    ApiKey.issue(user.app)
    upstreams.configure(user.app, "http://127.0.0.1:9/v1")
    endpoints.create(user.app, "https://93.184.215.14/hook", ["memory.created"])
    edit_contact(user, other.pk, {"personality": "kind"}, actor="operator:ada")
    return user


def looked_at(user: EndUser, text: str, me: str | None = None) -> Import:
    """An upload that waits for an answer."""
    import_ = uploads.keep(user, SimpleUploadedFile("a.txt", text.encode()), "")
    uploads.look(str(import_.pk))
    if me is not None:
        assert uploads.answer(import_, Import.State.UPLOADED, me=me, answered=True)
        uploads.look(str(import_.pk))
    return Import.objects.get(pk=import_.pk)


def answers_without_tokens(client: Client, user: EndUser) -> dict[str, set[int]]:
    """What each action answers to a form that does not say what it showed, or not in our words."""
    contact, memory = Contact.objects.of(user)[0].pk, Memory.objects.of(user)[0].pk
    known = {"user": user.pk, "contact": contact, "memory": memory, "app": user.app_id}
    found = {}
    for pattern in (one for one in urls.urlpatterns if one.name not in ("login", "logout")):
        at, forged = filled(pattern, **known), {SAW: "no token of ours"}
        if (code := Client.post(client, at, {}).status_code) != 405:
            codes = {code, Client.post(client, at, forged).status_code}
            found[str(pattern.name)] = codes
    return found


def test_an_action_that_decides_is_refused_without_what_was_shown_and_every_form_carries_it(
    zoe: EndUser, settings: Any, tmp_path: Path
) -> None:
    settings.MIO_HOME = tmp_path
    client = signed_in("admin")
    pages = {*addresses(zoe).values(), reverse("dashboard:contacts", args=[zoe.pk])}
    chats = [looked_at(zoe, text, me) for text, me in
             ((UNCLEAR_DAYS, None), (WHATSAPP_IPHONE, None), (JSONL, None), (JSONL, "default_user"))]  # fmt: skip
    pages |= {reverse("dashboard:import", args=[zoe.pk, one.pk]) for one in chats}
    edge = Edge.objects.of(zoe).get()
    pages |= {reverse("dashboard:memory", args=[zoe.pk, edge.source_id])}
    change = Change.objects.of(zoe)[0]
    pages |= {f"{reverse('dashboard:later', args=[zoe.pk])}?change={change.pk}"}
    answers = [client.get(page, follow=True) for page in pages]
    memory = {"memory": str(edge.source_id), "ask": "1"}
    forget = "dashboard:forget-memories"
    answers += [
        client.post(reverse(forget, args=[zoe.pk]), memory),
        client.post(reverse("dashboard:playground", args=[zoe.pk]), {
            "message": "How is Gre?", "before": "session:", "limit": 5, "token_budget": 500,
        }),
    ]  # fmt: skip
    met, without = set(), []
    for answer in answers:
        at = answer.request["PATH_INFO"]
        assert answer.status_code == 200, at
        if not answer["Content-Type"].startswith("text/html"):
            continue
        for actions, tokens in Forms(answer.content.decode(), at).found:
            for action in actions:
                name = resolve(urlsplit(action).path).url_name
                met.add(name)
                if name not in {*NAMES_FREE, "set_language", "logout"} and not any(tokens):
                    without.append((at, name))
    assert without == []
    answered = answers_without_tokens(client, zoe)
    assert {name for name, codes in answered.items() if codes != {409}} == NAMES_FREE
    assert answered.keys() - met - NAMES_FREE == set()
