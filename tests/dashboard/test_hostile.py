"""Whatever people, memories and users are called, a page stays the page that we wrote."""

from html.parser import HTMLParser

import pytest
from django.http import HttpResponse
from django.urls import reverse
from django.utils import translation

from accounts.models import EndUser
from contacts.models import Contact, Relation
from dashboard.templatetags import mio
from memories.corrections import edit_memories
from memories.models import Batch, Edge, Erasure, Link, Memory
from tests.dashboard.addresses import ASKING, KINDS, addresses
from tests.dashboard.signin import signed_in
from tests.factories import (
    SOME_DAY,
    make_app,
    make_contact,
    make_end_user,
    make_memory,
    make_message,
    make_suggestion,
)

pytestmark = pytest.mark.django_db

TAG = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
SECTION = "x]]>y --> {{ 7|add:7 }} {% now 'Y' %}"
TURNED = "\u202egpj.exe\u2066 \u200f"  # overrides that are never closed
EMOJI = "Emo" + "👩‍👩‍👧‍👦" * 25 + "😀" * 20
HUGE = "很长的话<b>" * 1250  # 10,000 characters
NAMES = (TAG, IMAGE, SECTION, TURNED, EMOJI)
UNSEEN = "\u3164\u200b\u2800"
AS_TYPED = {"value", "href", "action", "hx-get"}  # attributes that hold somebody's words unchanged
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Reader(HTMLParser):
    """Reads a page as a browser does, and keeps what should not be there."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.get, self.hidden = False, list[str | None]()
        self.wrong: list[str] = []
        self.link: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script" and not given.get("src"):
            self.wrong.append(f"inline script {given}")
        if tag in ("b", "iframe", "object"):
            self.wrong.append(f"<{tag}> of somebody's words")
        self.wrong += [
            f"<{tag} {name}={value!r}>"
            for name, value in attrs
            if name.startswith("on")
            or name == "style"
            or "javascript:" in (value or "")
            or ("\u202e" in (value or "") and name not in AS_TYPED)
        ]
        if tag == "a":
            self.link = given.get("aria-label") or ""
        if tag == "form":
            self.get, self.hidden = given.get("method", "get") == "get", []
        if tag == "input" and self.get and given.get("type") == "hidden":
            self.hidden.append(given["name"])
            if given["name"] == "csrfmiddlewaretoken" or self.hidden.count(given["name"]) > 1:
                self.wrong.append(f"a GET form with {given['name']}")
        if given.get("formmethod") == "get":
            self.wrong.append("a form that a button sends by GET as well")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and not (self.link or "").strip(UNSEEN + " \n"):
            self.wrong.append("a link without words")
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.link is not None:
            self.link += data
        if "\u202e" in data and not {"pre", "textarea"} & set(self.open):
            self.wrong.append(f"turned in {self.open[-3:]}: {data[:60]!r}")
        if "2026" in data and "7 --" in data:
            self.wrong.append("a template in somebody's words was rendered")


def as_a_name(text: str, place: int) -> str:
    return f"N{place} {text}"[:190]


@pytest.fixture
def hostile() -> EndUser:
    """An end user where everything that can be named is named by an enemy."""
    user = make_end_user(external_id=TAG + TURNED, app=make_app(name=IMAGE), names=list(NAMES))
    people: list[Contact] = []
    for place, name in enumerate(NAMES):
        message = make_message(user, f"{name} {HUGE[:500]}", session_id=TAG)
        facts = {key: [{"value": f"{text} {key}", "sources": [], "since": None}
                       for text in NAMES[:2]] for key in ("company", "city", TAG[:50])}  # fmt: skip
        person = make_contact(
            user,
            as_a_name(name, place),
            aliases=[as_a_name(other, 10 + n) for n, other in enumerate(NAMES)],
            relationship=name[:190],
            attributes=facts,
            personality=name,
            timeline=[{"text": name, "at": "2026-03", "sources": []}],
        )
        people.append(person)
        for n, text in enumerate((name, HUGE) if place == 0 else (name, SECTION)):
            fields = {"quote": name, "speaker": name[:90], "source_message_ids": [message.pk]}
            facts_ = [{"key": TAG, "value": IMAGE, "person": str(person.pk)}]
            make_memory(user, f"{place} {n} {text}"[:10_000], person, facts=facts_, **fields)
    people.append(make_contact(user, "Nobody"))
    Contact.objects.filter(pk=people[-1].pk).update(name=UNSEEN)  # as an older version kept it
    make_end_user(external_id=UNSEEN, app=user.app, last_message_at=SOME_DAY)
    Link.objects.update(confidence=0.5)
    memories = list(Memory.objects.of(user))
    edit_memories.edit(
        user, memories[0].pk, {"content": f"new {TURNED}{TAG}"}, actor=TAG, why=IMAGE
    )
    edit_memories.outdate(user, memories[1:2], actor=TURNED)
    for other in memories[2:]:
        Edge.objects.create(
            end_user=user, source=memories[0], target=other, kind=f"shares_entity:{TAG}", reason=TAG
        )
    for other in people[1:]:
        evidence = [{"text": text, "weight": 1.0} for text in NAMES]
        make_suggestion(people[0], other, evidence=evidence)
        Relation.objects.create(end_user=user, subject=people[0], object=other, kind=TAG)
    Batch.objects.create(
        end_user=user, first_seq=1, last_seq=2, state="quarantined", error=TAG + TURNED,
        provider=TAG,
    )  # fmt: skip
    Erasure.objects.create(
        end_user=user, due_at=SOME_DAY, memory_ids=[memories[0].pk], words=[TAG, TURNED]
    )
    return user


def wrong_with(answer: HttpResponse) -> list[str]:
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    return Reader(page).wrong


@pytest.fixture
def pages(hostile: EndUser) -> dict[str, str]:
    return addresses(hostile)


@pytest.mark.parametrize(
    "headers",
    [
        {"accept-language": "en"},
        {"accept-language": "zh-hans", "hx-request": "true", "hx-target": "people"},
    ],
    ids=["page", "fragment"],
)
def test_nothing_runs_or_is_turned_by_what_somebody_is_called(
    pages: dict[str, str], headers: dict[str, str]
) -> None:
    client = signed_in("admin")
    found = {}
    for kind, address in pages.items():
        answer = client.get(address, headers=headers, follow=True)
        if answer["Content-Type"].startswith("text/html"):
            found |= {kind: wrong} if (wrong := wrong_with(answer)) else {}
    assert found == {}


def test_what_is_typed_comes_back_harmless(hostile: EndUser) -> None:
    client = signed_in("admin")
    for name in ("contacts", "memories", "pick"):
        at = reverse(f"dashboard:{name}", args=[hostile.pk])
        for text in (*NAMES, HUGE, "\0", "%", "_", "'", "\\"):
            answer = client.get(at, {"q": text, "after": text, "status": text, "type": text})
            assert wrong_with(answer) == []
    for text in NAMES:
        assert wrong_with(client.get(reverse("dashboard:users"), {"q": text}, follow=True)) == []


def test_a_message_of_what_was_done_shows_a_name_as_a_name(hostile: EndUser) -> None:
    client = signed_in("admin")
    contact = Contact.objects.of(hostile).get(name__startswith="N0")
    at = reverse("dashboard:contact_aliases", args=[hostile.pk, contact.pk])
    answer = client.post(at, {"do": "add", "alias": f"{TAG} again"}, follow=True)
    assert "is an alias now" in answer.content.decode()
    assert wrong_with(answer) == []


@pytest.mark.parametrize(
    ("name", "letter", "seen"),
    [
        ("Greta", "G", "Greta"),
        ("“小红”", "小", "“小红”"),
        ("e\u0301lodie", "e\u0301", "e\u0301lodie"),
        ("👩‍👩‍👧 Kim", "K", "👩‍👩‍👧 Kim"),
        ("👩‍👩‍👧", "👩‍👩‍👧", "👩‍👩‍👧"),
        ("\u202egpj.exe", "g", "gpj.exe"),
        ("دانا\u202e", "د", "\u2068دانا\u2069"),
        (UNSEEN, "?", "(invisible)"),
        ("", "?", ""),
    ],
)
@translation.override("en")
def test_a_name_is_seen_as_what_it_is(name: str, letter: str, seen: str) -> None:
    assert mio.letter(name) == letter
    assert mio.plain_quoted(name) == seen
    assert mio.quoted(name) == f'<bdi class="said">{seen.strip(chr(0x2068) + chr(0x2069))}</bdi>'


def test_the_walk_reaches_every_page(pages: dict[str, str]) -> None:
    assert set(pages) == set(KINDS)
    assert set(ASKING) <= set(pages)
    assert len(pages) > 30
