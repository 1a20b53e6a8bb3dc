"""The dashboard speaks the reader's language, on every page and to the last word."""

import re
from datetime import timedelta
from html.parser import HTMLParser
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from accounts.models import ApiKey, Change, EndUser
from accounts.reasons import HOLES, Reason
from contacts import edit
from contacts.models import Contact, Relation
from dashboard import words
from dashboard.templatetags import mio
from dashboard.views.chat_gateway import CLIENTS
from imports.formats import TITLES
from imports.models import Import
from memories.corrections import edit_memories
from memories.jobs import schedules
from memories.models import Batch, Consolidation, Edge, Erasure, Link, Memory, ModelCall, Work
from memories.models.memory import readable_date
from memories.models.records import JobRun
from memories.types import MemoryType
from tests.dashboard.addresses import addresses
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
from understanding.same_person.pair_scoring import codes
from webhooks import endpoints
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db

CHINESE = {"accept-language": "zh-CN,zh;q=0.9,en;q=0.5"}
# Names, units, and what is written so in Chinese as well; programs, models and jobs.
WORD = re.compile(r"[A-Za-z][A-Za-z_']*")
ALLOWED = {
    "Mio", "English", "API", "ID", "MCP", "SQL", "token", "POST", "KB", "Liz", "Elizabeth", "ms",
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "MIO_LLM_MODEL", "offline", "rules", "local",
    "multilingual", "e", "small", "mio", "UTC", "Asia", "Webhook", "zip", "CSV", *schedules.JOBS,
    "OpenAI", "SECRET_KEY", "FORWARD_USER_INFO_HEADER_JWT_SECRET", "Authorization",
    *(word for name in TITLES.values() for word in WORD.findall(name)),
    *(word for client in CLIENTS for word in WORD.findall(client["name"])),
}  # fmt: skip
# What somebody wrote or a program is called stands in these as it is.
QUOTED = {"code", "kbd", "pre", "script", "style", "textarea"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr", "use",
        "rect", "line", "circle"}  # fmt: skip
READ = ("aria-label", "title", "placeholder", "alt", "data-copied", "data-cut", "data-refused")
ADDRESS = re.compile(r"/[\w/.]+/?|https?://\S+|X-[A-Za-z-]+|user\.processed")  # header, event


class Said(HTMLParser):
    """The words of a page that its readers see or hear, and attributes that hold markup."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.broken: list[str] = []
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.texts += [str(given[name]) for name in READ if given.get(name)]
        self.broken += [
            f"<{tag} {name}={value!r}>" for name, value in attrs if "<" in (value or "")
        ]
        if tag not in VOID:
            quoted = tag in QUOTED or "said" in (given.get("class") or "").split()
            self.open.append((tag, quoted))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(quoted for _tag, quoted in self.open):
            self.texts.append(data)


def english(page: str) -> list[str]:
    """The texts of a page that hold words of English, and its broken attributes."""
    said = Said(page)
    return said.broken + [
        " ".join(text.split())
        for text in said.texts
        if set(WORD.findall(ADDRESS.sub("", text))) - ALLOWED
    ]


@pytest.fixture
def full() -> EndUser:
    """An end user of whom every kind of thing is stored, all named in Chinese."""
    user = make_end_user(external_id="用户一", app=make_app(name="应用甲"), language="zh",
                         last_message_at=SOME_DAY)  # fmt: skip
    message = make_message(user, "小红在腾讯工作", session_id="会话一")
    values = [{"value": "腾讯", "sources": [], "since": "2026-03-02T00:00:00Z"},
              {"value": "字节", "sources": [], "since": None}]  # fmt: skip
    people = [
        make_contact(user, name, aliases=[f"{name}儿"], relationship="朋友",
                     attributes={"company": values, "hometown": values[:1]}, personality="开朗",
                     timeline=[{"text": "升职", "at": "2026-03", "sources": []}])
        for name in ("小红", "红红", "陈浩")
    ]  # fmt: skip
    kept = [
        make_memory(user, f"小红的事之{place}", people[0], type=kind, quote="小红",
                    source_message_ids=[message.pk])
        for place, kind in enumerate(MemoryType)
    ]  # fmt: skip
    for place, edge in enumerate([*Edge.Kind, "shares_entity:腾讯"]):
        other = make_memory(user, f"另一件事{place}", people[1], speaker="assistant")
        reason = Reason("shared_entity", name="腾讯") if place % 2 else Reason("reply_used")
        Edge.objects.create(
            end_user=user,
            source=kept[0],
            target=other,
            kind=edge,
            reason=reason.stored,
            confidence=0.8,
        )
    Link.objects.update(confidence=0.5)
    edit_memories.outdate(
        user, [kept[1]], actor="extractor", why=Reason("left_place", company="腾讯").stored
    )
    edit_memories.edit(
        user, kept[0].pk, {"content": "小红换了说法"}, actor="operator:管理员", why="核实"
    )
    edit.edit_contact(user, people[0].pk, {"attributes": {"hometown": ["成都"]}},
                      actor="operator:管理员", why="更正")  # fmt: skip
    for verb in words.VERBS:
        for actor in ("app:应用甲", *words.ACTORS):
            Change.objects.create(end_user=user, verb=verb, actor=actor, rows=[],
                                  subjects=[str(people[0].pk)])  # fmt: skip
    evidence = [
        Reason(code, **dict.fromkeys(HOLES[code] - {"keys"}, "小红"), keys=["company", "hometown"])
        .as_json | {"weight": 1.0}
        for code in sorted(codes())
    ]  # fmt: skip
    make_suggestion(*people[:2], evidence=evidence)
    Relation.objects.create(end_user=user, subject=people[0], object=people[2], kind="女朋友")
    _worked(user, people[0])
    for state in Erasure.State:
        Erasure.objects.create(end_user=user, due_at=timezone.now() + timedelta(days=3),
                               memory_ids=[kept[2].pk], words=[], state=state)  # fmt: skip
    _connected(user)
    return user


def _connected(user: EndUser) -> None:
    """What other programs were given and told: keys, webhooks and their deliveries, files."""
    for used, revoked in ((SOME_DAY, None), (None, SOME_DAY)):
        key, _secret = ApiKey.issue(user.app)
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=used, revoked_at=revoked, prefix="12")
    make_app(name="应用丙", archived_at=SOME_DAY)
    endpoint, _secret = endpoints.create(user.app, "https://a.example/")
    for state in Delivery.State:
        for error in ("", "timeout"):
            Delivery.objects.create(endpoint=endpoint, subject=uuid4(), data={}, state=state,
                                    error=error, type="user.processed", attempts=1)  # fmt: skip
    for state in Import.State:
        Import.objects.create(end_user=user, state=state, format="vcard", change=uuid4(),
                              counts={"entries": 3, "new": 1, "changed": 1})  # fmt: skip


def _worked(user: EndUser, person: Contact) -> None:
    """What a pipeline leaves behind, in all its states."""
    started = {"started_at": SOME_DAY, "finished_at": SOME_DAY + timedelta(seconds=3)}
    over = [state for state in Work.State if state != "running"]
    for place, state in enumerate(over):
        fields = {"state": state, "error": Reason("server_status", status=503).stored, "provider": "offline",
                  "result": dict.fromkeys(words.COUNTS, 1234), **started}  # fmt: skip
        Batch.objects.create(end_user=user, first_seq=place * 10 + 1, last_seq=place * 10 + 10,
                             retry_at=timezone.now(), **fields)  # fmt: skip
        if state != Work.State.PENDING:
            Consolidation.objects.create(end_user=user, contact=person, **fields)
    for purpose in words.PURPOSES:
        for outcome in ModelCall.Outcome:
            ModelCall.objects.create(end_user=user, provider="offline", model="rules",
                                     purpose=purpose, outcome=outcome, tokens_in=12345)  # fmt: skip
    for name in schedules.JOBS:
        JobRun.objects.create(job=name, state=JobRun.State.FAILED, finished_at=SOME_DAY,
                              effect=dict.fromkeys(words.COUNTS, 1),
                              error=Reason("process_gone").stored)  # fmt: skip


def test_no_page_holds_english_for_a_chinese_reader_or_markup_in_an_attribute(
    full: EndUser,
) -> None:
    client = signed_in("admin", name="管理员")
    found: dict[str, list[str]] = {}
    read = []
    for kind, address in addresses(full).items():
        answer = client.get(address, headers=CHINESE, follow=True)
        assert answer.status_code == 200, kind
        if answer["Content-Type"].startswith("text/html"):
            read.append(kind)
            if left := english(answer.content.decode()):
                found[kind] = left
    assert found == {}
    assert len(read) > 30


def test_no_page_of_an_empty_installation_holds_english(full: EndUser) -> None:
    other = make_end_user(external_id="用户二", app=make_app(name="应用乙"))
    client = signed_in("admin", apps=[other.app], name="管理员")
    for name in ("home", "review", "links", "conflicts", "pipeline", "consolidations", "calls",
                 "users", "apps"):  # fmt: skip
        page = client.get(reverse(f"dashboard:{name}"), headers=CHINESE).content.decode()
        assert english(page) == [], name
    for name in ("contacts", "memories", "playground", "changes", "user"):
        at = reverse(f"dashboard:{name}", args=[other.pk])
        assert english(client.get(at, headers=CHINESE).content.decode()) == [], name


def test_the_playground_answers_in_chinese(full: EndUser) -> None:
    client = signed_in("admin", name="管理员")
    at = reverse("dashboard:playground", args=[full.pk])
    asked = {"message": "小红最近怎么样了", "before": "hand", "history": "用户：红红来了",
             "limit": 10, "token_budget": 1500, "include": ["cards", "linked", "search"]}  # fmt: skip
    page = client.post(at, asked, headers=CHINESE).content.decode()
    assert "人物的名字" in page
    assert english(page) == []
    wrong = client.post(
        at, {**asked, "message": "", "history": "无", "limit": "x"}, headers=CHINESE
    )
    assert wrong.status_code == 422
    assert english(wrong.content.decode()) == []


def test_what_is_refused_is_refused_in_chinese(full: EndUser) -> None:
    client = signed_in("admin", name="管理员")
    person, other = Contact.objects.of(full).order_by("created_at")[:2]
    for name, sent, told in (
        ("contact_relate", {"kind": "", "person": other.pk}, "请填写两人之间的关系。"),
        ("contact_relate", {"kind": "朋友", "person": person.pk}, "人物不能与自己建立关系。"),
        ("contact_resolve", {"key": "company", "value": "无"}, "的公司没有这个值。"),
        ("contact_aliases", {"do": "add", "alias": "!"}, "名字至少要有一个文字或数字。"),
    ):
        at = reverse(f"dashboard:{name}", args=[full.pk, person.pk])
        page = client.post(at, sent, headers=CHINESE, follow=True).content.decode()
        assert told in page
        assert english(page) == []


def test_an_undo_that_comes_too_late_is_refused_in_chinese(full: EndUser) -> None:
    client = signed_in("admin", name="管理员")
    change = Change.objects.of(full).filter(verb="edit").order_by("created_at")[0]
    at = reverse("dashboard:undo", args=[full.pk, change.pk])
    client.post(at, headers=CHINESE)
    page = client.post(at, headers=CHINESE, follow=True).content.decode()
    assert "此变更已被撤销。" in page


def test_a_person_s_own_words_are_left_alone(full: EndUser) -> None:
    memory = Memory.objects.of(full).filter(status="active").order_by("pk")[0]
    why = "The user took this back."
    edit_memories.edit(full, memory.pk, {"content": "换个说法"}, actor="operator:管理员", why=why)
    at = reverse("dashboard:changes", args=[full.pk])
    page = signed_in("admin").get(at, headers=CHINESE).content.decode()
    assert why in page


def test_the_first_visit_follows_the_browser(client: Client) -> None:
    at = reverse("dashboard:login")
    assert '<html lang="zh-hans"' in client.get(at, headers=CHINESE).content.decode()
    page = client.get(at, headers={"accept-language": "fr"}).content.decode()
    assert '<html lang="en"' in page
    assert "Sign in" in page


def test_a_wrong_password_is_told_in_chinese(client: Client) -> None:
    answer = client.post(reverse("dashboard:login"), {"username": "a", "password": "b"},
                         headers=CHINESE)  # fmt: skip
    assert english(answer.content.decode()) == []
    assert "密码" in answer.content.decode()


def test_the_switch_of_the_header_stays_whatever_the_browser_wants() -> None:
    client = signed_in("viewer")
    home = reverse("dashboard:home")
    page = client.get(home, headers={"accept-language": "en"}).content.decode()
    assert 'value="zh-hans" lang="zh-hans"' in page
    sent = {"language": "zh-hans", "next": home}
    client.post(reverse("set_language"), sent)
    page = client.get(home, headers={"accept-language": "en"}).content.decode()
    assert '<html lang="zh-hans"' in page
    assert 'value="en" lang="en"' in page


@pytest.mark.parametrize("status", [403, 404])
def test_pages_of_what_went_wrong_are_translated(status: int) -> None:
    at = {403: reverse("dashboard:apps"), 404: reverse("dashboard:user", args=[0])}[status]
    answer = signed_in("viewer", name="访客").get(at, headers=CHINESE)
    assert answer.status_code == status
    assert english(answer.content.decode()) == []
    assert '<nav class="nav"' in answer.content.decode()


def test_an_address_of_nothing_keeps_the_navigation_of_who_is_signed_in(client: Client) -> None:
    assert b'<nav class="nav"' in signed_in("viewer").get("/nothing/").content
    assert b'<nav class="nav"' not in client.get("/nothing/").content


def test_days_and_numbers_are_written_as_the_reader_does() -> None:
    with translation.override("zh-hans"):
        assert ">2026年3月2日<" in mio.day(SOME_DAY)
        assert ">2026年3月2日<" in mio.day("2026-03-02T12:00:00Z")
        assert readable_date("2026-03-02") == "2026年3月2日"
        assert readable_date("2026-03") == "2026年3月"
        assert readable_date("2026") == "2026"
        assert "3\xa0天前" in mio.ago(timezone.now() - timedelta(days=3, hours=1)).replace(
            " ", "\xa0"
        )
        assert "2\xa0个月后" in mio.ago(timezone.now() + timedelta(days=70)).replace(" ", "\xa0")
        assert mio.number(1234567) == "1,234,567"
        assert mio.percent(0.876) == "88%"
    with translation.override("en"):
        assert ">March 2, 2026<" in mio.day(SOME_DAY)
        assert readable_date("2026-03") == "March 2026"


def test_words_of_the_dashboard_stand_before_those_of_the_admin() -> None:
    with translation.override("zh-hans"):
        assert translation.gettext("Add") == "添加"
