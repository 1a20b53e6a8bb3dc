"""Facts end, not the memories that tell others beside them: through the API, in both languages."""

from datetime import timedelta

import pytest

from accounts.models import Change, EndUser
from memories import tasks
from memories.corrections.undo import undo_change
from memories.doctor.invariants import CHECKS
from memories.models import Memory
from tests.api import ApiClient
from tests.factories import SOME_DAY, make_contact, make_end_user

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def tell(client: ApiClient, *texts: str, language: str = "en", day: int = 0) -> EndUser:
    """Says texts a day apart, beginning on a ``day``, each processed before the next."""
    EndUser.objects.get_or_create(
        app=client.app, external_id="kai", defaults={"language": language}
    )
    for number, text in enumerate(texts, start=day):
        said = (SOME_DAY + number * DAY).isoformat()
        turns = [{"role": "user", "content": text, "created_at": said}]
        assert client.post("users/kai/messages/", {"messages": turns})[0] == 202
        assert client.post("users/kai/process/", {"wait": True})[0] == 200
    return EndUser.objects.get(external_id="kai")


def person(client: ApiClient, name: str) -> dict:
    rows = client.get("users/kai/contacts/")[1]["results"]
    return next(row for row in rows if row["name"] == name)


def healthy() -> bool:
    checks = [check for check in CHECKS if check.__name__ != "schedules_are_installed"]
    return [found for check in checks for found in check()] == []


# What was told first, what later, what stays on the card, and what leaves it.
CHANGED = [
    ("en", "Kim", "My friend Kim lives in Oslo and works at Equinor.", "Kim moved to Bergen.",
     ["Equinor", "Bergen"], ["Oslo"]),
    ("en", "Ana", "My cousin Ana lives in Porto and loves pizza.", "Ana hates pizza.",
     ["Porto", "Dislikes: pizza"], ["Likes"]),
    ("zh", "小叶", "我朋友小叶住在成都", "小叶搬到昆明了", ["所在地：昆明"], ["成都"]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "name", "first", "then", "stays", "leaves"), CHANGED)
def test_only_what_was_contradicted_leaves_the_card(
    client, language, name, first, then, stays, leaves
):
    user = tell(client, first, then, language=language)
    contact = person(client, name)
    card = contact["card"]
    assert all(text in card for text in stays), card
    assert not any(text in card for text in leaves), card
    assert healthy()
    for change in Change.objects.of(user).filter(verb="outdate"):
        undo_change(change, actor="operator:li")
    assert not any("outdated_at" in fact for m in Memory.objects.of(user) for fact in m.facts)
    assert healthy()


def test_a_memory_outdated_in_part_is_found_marked_and_was_whole_before(client):
    tell(client, CHANGED[0][2], CHANGED[0][3])
    found = client.post("users/kai/search/", {"query": "Where does Kim work?"})[1]["results"]
    (old,) = [r for r in found if "Equinor" in r["content"] and r["kind"] == "fact"]
    facts = {fact["key"]: fact for fact in old["facts"]}
    assert (old["status"], facts["company"]["valid_to"]) == ("active", None)
    assert facts["location"]["valid_to"] == "2026-03-03T12:00:00+00:00"
    assert facts["location"]["valid_from"] == "2026-03-02T12:00:00+00:00"
    assert facts["location"]["superseded_by"] in {row["id"] for row in found}
    prompt = client.post("users/kai/context/", {"message": "Where does Kim live?"})[1]
    assert "(no longer: Location Oslo, until 2026-03)" in prompt["system_prompt"]


# Who once worked where, by how it was told.
FORMER = {
    "zh": [
        ("小王", "华为", "我朋友小王2019年到2021年在华为工作过"),
        ("小李", "百度", "我朋友小李从2017年到2020年在百度上班"),
        ("小钱", "三星", "我同学小钱于2015年至2018年在三星上班"),
    ],
    "en": [
        ("Tom", "Nokia", "My friend Tom worked at Nokia from 2015 to 2018."),
        ("Mia", "Airbus", "My sister Mia worked at Airbus between 2019 and 2021."),
        ("Ida", "Ericsson", "My friend Ida worked at Ericsson from 2012 to 2016."),
    ],
}


@pytest.mark.parametrize("language", FORMER)
def test_a_job_that_was_over_when_it_was_told_is_quoted_and_no_fact(client, language):
    make_end_user(app=client.app, external_id="kai", language=language)
    turns = [
        {"role": "user", "content": text, "created_at": (SOME_DAY + n * DAY).isoformat()}
        for n, (_, _, text) in enumerate(FORMER[language])
    ]
    assert client.post("users/kai/messages/", {"messages": turns})[0] == 202
    assert client.post("users/kai/process/", {"wait": True})[0] == 200
    people = {row["name"]: row for row in client.get("users/kai/contacts/")[1]["results"]}
    for name, employer, text in FORMER[language]:
        assert employer not in str(people[name]["attributes"])
        assert text.rstrip(".") in people[name]["card"]
    assert healthy()


# Who, what an app posts of them, what it corrects that to, and the card's lines after each.
POSTED = [
    ("en", "Nia", "Nia lives in Lima and works at Acme.", "Nia lives in Quito and works at Acme.",
     ["Location: Lima", "Company: Acme"], ["Location: Quito", "Company: Acme"]),
    ("en", "Nia", "Nia is a nurse.", "Nia worked at Philips from 2011 to 2015.",
     ["Job: nurse"], []),
    ("zh", "小宁", "小宁住在上海还讨厌香菜", "小宁住在北京", ["所在地：上海"], ["所在地：北京"]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "name", "posted", "corrected", "before", "after"), POSTED)
def test_what_an_app_writes_or_corrects_reaches_the_card(
    client, language, name, posted, corrected, before, after
):
    user = make_end_user(app=client.app, external_id="kai", language=language)
    person_id = client.post("users/kai/contacts/", {"name": name})[1]["id"]
    about = {"content": posted, "contacts": [person_id]}
    _, memory = client.post("users/kai/memories/", about)
    tasks.reread(user.pk)
    assert set(before) <= set(person(client, name)["card"].splitlines())
    _, edited = client.patch(f"users/kai/memories/{memory['id']}/", {"content": corrected})
    tasks.reread(user.pk)
    card = person(client, name)["card"].splitlines()
    assert set(after) <= set(card)
    assert not (set(before) - set(after)) & set(card)
    assert healthy()
    client.post(f"users/kai/changes/{edited['change_id']}/undo/")
    tasks.reread(user.pk)
    assert set(before) <= set(person(client, name)["card"].splitlines())
    assert healthy()


@pytest.mark.parametrize("way", ["move", "split", "patch"])
def test_what_a_memory_displaced_stands_again_when_it_is_about_another(client, way):
    user = make_end_user(app=client.app, external_id="kai", language="en")
    kim, tom = (client.post("users/kai/contacts/", {"name": n})[1]["id"] for n in ("Kim", "Tom"))
    made = {}
    for text in ("Kim lives in Oslo and works at Equinor.", "Kim moved to Bergen."):
        _, made[text] = client.post("users/kai/memories/", {"content": text, "contacts": [kim]})
        tasks.reread(user.pk)
    address = f"users/kai/memories/{made['Kim moved to Bergen.']['id']}/"
    assert "Location: Bergen" in person(client, "Kim")["card"]
    if way == "move":
        status, answer = client.post(f"{address}move/", {"from": kim, "to": tom})
    elif way == "split":
        asked = {"memories": [made["Kim moved to Bergen."]["id"]], "name": "Ula"}
        status, answer = client.post(f"users/kai/contacts/{kim}/split/", asked)
    else:
        status, answer = client.patch(address, {"content": "Kim sings."})
    assert status < 300, answer
    tasks.reread(user.pk)
    cards = {row["name"]: row["card"] for row in client.get("users/kai/contacts/")[1]["results"]}
    assert "Location: Oslo" in cards["Kim"]
    assert "Company: Equinor" in cards["Kim"]
    assert "Bergen" not in cards["Kim"]
    assert way == "patch" or "Location: Bergen" in cards["Tom" if way == "move" else "Ula"]
    assert healthy()
    client.post(f"users/kai/changes/{answer['change_id']}/undo/", {"with_later": True})
    tasks.reread(user.pk)
    card = person(client, "Kim")["card"]
    assert "Location: Bergen" in card
    assert "Oslo" not in card
    assert healthy()


LIVES = [
    ("en", "Kim", "location", ["My friend Kim lives in Oslo.", "Kim moved to Bergen.", "Kim moved back to Oslo."],
     "Where does Kim live now?", ["Oslo", "Bergen", "Oslo"]),
    ("zh", "小林", "location", ["我朋友小林住在上海", "小林搬到深圳了", "小林搬到杭州了"],
     "小林现在住在哪里？", ["上海", "深圳", "杭州"]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "name", "key", "told", "asked", "values"), LIVES)
def test_what_held_is_read_by_when_it_held_and_told_beside_what_holds(
    client, language, name, key, told, asked, values
):
    tell(client, *told, language=language)
    pk = person(client, name)["id"]
    [life] = [
        one
        for one in client.get(f"users/kai/changed-facts/?contact={pk}")[1]["results"]
        if one["steps"][0]["key"] == key
    ]
    assert [step["value"] for step in life["steps"]] == values
    assert [step["until"] is None for step in life["steps"]] == [False, False, True]
    for day, value in zip((0.5, 1.5, 2.5), values, strict=True):
        moment = (SOME_DAY + day * DAY).isoformat().replace("+", "%2B")
        rows = client.get(f"users/kai/memories/?valid_at={moment}")[1]["results"]
        found = client.post(
            "users/kai/search/", {"query": name, "valid_at": moment.replace("%2B", "+")}
        )[1]["results"]
        for listed in (rows, [row for row in found if row["kind"] == "fact"]):
            assert [fact["value"] for row in listed for fact in row["facts"]] == [value]
    prompt = client.post("users/kai/context/", {"message": asked})[1]["system_prompt"]
    assert prompt.count("不再如此" if language == "zh" else "no longer true since") >= 1
    unasked = "我们给{}买什么生日蛋糕好" if language == "zh" else "What grows in {}'s garden?"
    prompt = client.post("users/kai/context/", {"message": unasked.format(name)})[1]
    assert "不再如此" not in prompt["system_prompt"]
    assert "no longer true since" not in prompt["system_prompt"]
    assert healthy()


def test_lists_of_dates_and_of_changes_are_as_long_as_is_asked_for() -> None:
    client = ApiClient()
    user = make_end_user(app=client.app, external_id="kai")
    for number in range(3):
        make_contact(
            user, f"Kim {number}", attributes={"birthday": [{"value": f"1990-0{number + 1}-02"}]}
        )
    for number, address in ((2, "dates/?limit=2"), (3, "dates/")):
        assert len(client.get(f"users/kai/{address}")[1]["results"]) == number
    for address in ("dates/", "changed-facts/"):
        assert client.get(f"users/kai/{address}?limit=0")[0] == 400
        assert client.get(f"users/kai/{address}?limit=1")[0] == 200
