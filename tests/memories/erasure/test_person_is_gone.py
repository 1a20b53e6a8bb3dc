"""After a person is forgotten no table holds a byte of their names, and what may mean them is
listed for somebody to decide."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Change, EndUser
from contacts.models import Contact
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Erasure, Memory, Message
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.api import ApiClient
from tests.factories import make_contact, make_end_user, make_memory, make_message
from tests.memories.erasure.stored import everything_stored, places_of
from tests.memories.snapshots import assert_sound
from tests.servers import FakeOpenAI
from understanding.text import HAN

pytestmark = pytest.mark.django_db

TALKS = {
    "en": (
        "My friend Brenda lives in Berlin.",
        "She is moving to a bigger flat next month.",
        "Anna is Brenda's sister.",
        "Anna works as a nurse.",
        "Bren is afraid of dogs.",
        "I like green tea.",
    ),
    "zh": (
        "我朋友小红住在柏林。",
        "她下个月搬去更大的房子。",
        "小明是小红的哥哥。",
        "小明是护士。",
        "红红怕狗。",
        "我喜欢喝绿茶。",
    ),
}
CALLED = {"en": ("Brenda", "Bren"), "zh": ("小红", "红红")}
OTHER = {"en": ("Anna", "sister of [forgotten]"), "zh": ("小明", "[已忘记]的哥哥")}
# What keeps "nothing of her": words that only she was told with.
TOLD = {"en": ("Berlin", "bigger flat", "dogs"), "zh": ("柏林", "更大", "怕狗")}
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def talk(client: ApiClient, language: str) -> None:
    """Has all been told, the second name by an app."""
    name, nickname = CALLED[language]
    tell(client, *TALKS[language][:4])
    address = f"users/zoe/contacts/{person(name).pk}/"
    assert client.patch(address, {"aliases": [nickname]})[0] == 200
    tell(client, *TALKS[language][4:])


def tell(client: ApiClient, *lines: str, **fields: object) -> None:
    sent = [{"role": "user", "content": line, **fields} for line in lines]
    assert client.post("users/zoe/messages/", {"messages": sent})[0] == 202
    assert client.post("users/zoe/process/", {"wait": True})[0] == 200


@pytest.fixture
def client() -> ApiClient:
    return ApiClient()


def person(name: str) -> Contact:
    return Contact.objects.standing().get(name=name)


@LANGUAGES
def test_no_byte_of_a_forgotten_persons_names_is_left(client: ApiClient, language: str) -> None:
    talk(client, language)
    name, _ = CALLED[language]
    other, relationship = OTHER[language]
    stated = {"hobby": f"dances with {name}"} | ({"seat_brenda": "3"} if name.isascii() else {})
    body = {"attributes": stated, "aliases": [f"{name}: {other}", "Annie"]}
    assert client.patch(f"users/zoe/contacts/{person(other).pk}/", body)[0] == 200
    assert name in person(other).card
    status, gone = client.post("users/zoe/forget/", {"contact": str(person(name).pk)})
    assert status == 200
    assert places_of(*CALLED[language], *TOLD[language]) == []
    left = person(other)
    assert left.relationship == relationship
    assert left.aliases == ["Annie"]
    stored = everything_stored()
    assert all(word in stored for word in (TALKS[language][3], TALKS[language][5]))
    report = Erasure.objects.get(pk=gone["report"])
    assert report.name_hashes
    assert_sound(EndUser.objects.get())


@LANGUAGES
def test_what_a_chat_asked_to_forget_is_gone_from_others_at_once_and_back_by_an_undo(
    client: ApiClient, language: str
) -> None:
    talk(client, language)
    name, _ = CALLED[language]
    other, _ = OTHER[language]
    before = person(other).card
    tell(
        client,
        {"en": f"Pretend I never mentioned {name}", "zh": f"我不想让你记住{name}了"}[language],
    )
    assert name in before
    assert name not in person(other).card
    undo_change(Change.objects.get(verb="hide"), actor="app:x")
    assert person(other).card == before
    tell(client, {"en": f"Please forget {name}", "zh": f"请忘掉{name}"}[language])
    erase.carry_out(Erasure.objects.get(state="pending").pk)
    assert places_of(*CALLED[language], *TOLD[language]) == []


def test_a_message_from_before_makes_nobody_anew_and_a_new_one_does(client: ApiClient) -> None:
    language, name = "zh", "小红"
    tell(client, *TALKS[language][:1])
    client.post("users/zoe/forget/", {"contact": str(person(name).pk)})
    tell(client, TALKS[language][0], created_at="2026-01-05T10:00:00Z")
    assert places_of(name) == []
    tell(client, TALKS[language][0])
    assert person(name)


def test_a_model_that_answers_after_the_erasure_brings_nobody_back(
    client: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "Brenda"
    tell(client, *TALKS["en"][:1])
    receive(client.app, "zoe", [Incoming("user", "She is afraid of Brenda's boss.")])
    ask = run.model_calls.ask

    def erased_meanwhile(*args: object, **options: object) -> object:
        answer = ask(*args, **options)
        if Contact.objects.standing().filter(name=name).exists():
            client.post("users/zoe/forget/", {"contact": str(person(name).pk)})
        return answer

    monkeypatch.setattr(run.model_calls, "ask", erased_meanwhile)
    run.extract_next(EndUser.objects.get().pk, everything=True)
    assert places_of(name) == []


def test_a_message_sent_once_more_after_it_was_emptied_is_a_duplicate(client: ApiClient) -> None:
    sent = {"messages": [{"id": "brenda-1", "role": "user", "content": TALKS["en"][0]}]}
    client.post("users/zoe/messages/", sent)
    client.post("users/zoe/process/", {"wait": True})
    client.post("users/zoe/forget/", {"contact": str(person("Brenda").pk)})
    assert places_of("brenda") == []
    assert client.post("users/zoe/messages/", sent)[1] == {
        "accepted": 0,
        "duplicates": 1,
        "conflicts": [],
    }


def test_what_may_mean_somebody_else_is_listed_and_decided(client: ApiClient) -> None:
    zoe = make_end_user(app=client.app, external_id="zoe")
    brenda = make_contact(zoe, "Brenda", gender="female", relationship="friend")
    make_contact(zoe, "Carla", gender="female", relationship="friend")
    smith = make_contact(zoe, "Brenda Smith")
    make_memory(zoe, "Brenda sings", brenda)
    named, both, they, stays = (
        make_message(zoe, text)
        for text in (
            "Brenda sings.",
            "Brenda and Carla had lunch.",
            "They are both nice.",
            "The weather is fine.",
        )
    )
    spoiled = make_memory(zoe, "They are nice", source_message_ids=[they.pk])
    gone = client.post("users/zoe/forget/", {"contact": str(brenda.pk)})[1]
    report = f"users/zoe/forgetting/{gone['report']}/"
    status, found = client.get(report)
    assert status == 200
    assert [one["id"] for one in found["undecided_messages"]] == [they.pk]
    assert [one["id"] for one in found["undecided_contacts"]] == [str(smith.pk)]
    assert gone["unsure"] == found["undecided"] == 2
    assert client.post(f"{report}decide/", {"redact": [stays.pk]})[0] == 404
    body = {"redact": [they.pk], "keep_people": [str(smith.pk)]}
    assert client.post(f"{report}decide/", body)[1]["undecided"] == 0
    said = dict(Message.objects.values_list("pk", "content"))
    assert said == {named.pk: "", both.pk: "", they.pk: "", stays.pk: stays.content}
    assert not Memory.objects.filter(pk=spoiled.pk).exists()


def test_a_name_that_two_people_bear_is_nobodys_for_sure(client: ApiClient) -> None:
    zoe = make_end_user(app=client.app, external_id="zoe")
    one = make_contact(zoe, "小红", aliases=["阿红"])
    make_contact(zoe, "红姐", aliases=["阿红"])
    make_contact(zoe, "王小红")
    full, shared = make_message(zoe, "王小红来了"), make_message(zoe, "阿红来了")
    gone = client.post("users/zoe/forget/", {"contact": str(one.pk)})[1]
    report = Erasure.objects.get(pk=gone["report"])
    assert report.unsure_message_ids == [shared.pk]
    assert Contact.objects.get(name="王小红").pk in report.unsure_contact_ids
    full.refresh_from_db()
    assert full.content == "王小红来了"


NOTHING_OF_IT = {"en": "nothing of it was forgotten", "zh": "没有删除任何相关内容"}
DONE = {"en": "It has been done", "zh": "已经照办"}


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("Please forget Zelda", "Zelda"),
        ("Don't remember anything about Zelda", "Zelda"),
        ("You can forget about Zelda now", "Zelda"),
        ("忘掉关于老高的一切。", "老高"),
        ("把高文忘了吧", "高文"),
        ("不要再记住高文的任何事", "高文"),
    ],
)
def test_a_request_that_matched_nothing_says_so(
    client: ApiClient, line: str, missing: str, admin_client: Client
) -> None:
    language = "zh" if HAN.search(line) else "en"
    tell(client, TALKS[language][0])
    before = Contact.objects.standing().count()
    tell(client, line)
    told = client.post("users/zoe/context/", {"message": "ok?"})[1]
    prompt = told["system_prompt"]
    assert f"“{missing}”" in prompt
    assert NOTHING_OF_IT[language] in prompt
    assert DONE[language] not in prompt
    report = [(one["state"], one["missing"]) for one in told["forgetting"]]
    assert report == [("not_found", [missing])]
    page = admin_client.get(reverse("dashboard:user", args=[EndUser.objects.get().pk]))
    assert f'<q><bdi class="said">{missing}</bdi></q>' in page.content.decode()
    assert Contact.objects.standing().count() == before
    assert Memory.objects.active().count() > 0
    Erasure.objects.update(requested_at=timezone.now() - timedelta(days=2))
    erase.erase_due()
    assert Erasure.objects.get().missing == []


@pytest.mark.parametrize(
    ("line", "missing"), [("Please forget Brenda and Zelda", "Zelda"), ("请忘掉小红和高文", "高文")]
)
def test_of_two_people_the_one_who_was_not_found_is_told_apart(
    client: ApiClient, line: str, missing: str
) -> None:
    language = "zh" if HAN.search(line) else "en"
    tell(client, TALKS[language][0])
    tell(client, line)
    told = client.post("users/zoe/context/", {"message": "ok?"})[1]
    assert DONE[language] in told["system_prompt"]
    assert f"“{missing}”" in told["system_prompt"]
    assert [(one["state"], one["missing"]) for one in told["forgetting"]] == [("hidden", [missing])]


@pytest.mark.parametrize(
    ("line", "missing"),
    [("Please forget Zelda", "Zelda"), ("把小红忘了吧", "小红"), ("I forgot my keys", None)],
)
def test_a_request_that_a_model_leaves_unanswered_was_not_carried_out(
    server: FakeOpenAI, client: ApiClient, line: str, missing: str | None
) -> None:
    zoe = make_end_user(app=client.app, external_id="zoe")
    make_contact(zoe, "小红")
    server.reply_json({"people": [], "memories": []})
    tell(client, line)
    told = client.post("users/zoe/context/", {"message": "ok?"})[1]
    assert [one["missing"] for one in told["forgetting"]] == ([[missing]] if missing else [])
    assert ("“" in told["system_prompt"]) == bool(missing)
    assert person("小红")


WORDINGS = (
    "Forget Brenda, please",
    "Delete everything you know about Brenda",
    "I don't want you to remember Brenda",
    "忘了小红吧",
    "把小红的事都删掉",
    "我不想让你记住小红了",
    "别再记小红了",
)


@pytest.mark.parametrize(
    ("line", "model"),
    # A model is the one that reads: one wording of each language.
    [*((line, False) for line in WORDINGS), (WORDINGS[0], True), (WORDINGS[3], True)],
)
def test_a_person_is_hidden_in_either_language_by_either_provider(
    request: pytest.FixtureRequest, client: ApiClient, line: str, model: bool
) -> None:
    language = "zh" if HAN.search(line) else "en"
    name = CALLED[language][0]
    zoe = make_end_user(app=client.app, external_id="zoe", language=language)
    make_memory(zoe, TALKS[language][0], make_contact(zoe, name))
    if model:
        whole = {"asked_in": 1, "quote": line, "person": "p1", "everything": True}
        request.getfixturevalue("server").reply_json(
            {"people": [{"id": "p1"}], "memories": [], "forget": [whole]}
        )
    tell(client, line)
    _, listed = client.get("users/zoe/contacts/")
    assert listed["results"] == []
    told = client.post("users/zoe/context/", {"message": f"{name}?"})[1]
    assert DONE[language] in told["system_prompt"]
    assert (told["contacts"], told["memories"]) == ([], [])
