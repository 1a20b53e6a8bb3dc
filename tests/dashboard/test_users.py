"""End users and apps: found, looked at, exported, forgotten; keys made and revoked."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import ApiKey, App, EndUser
from memories import own_card
from memories.models import Erasure, Memory, Message
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe() -> EndUser:
    end_user = make_end_user(external_id="zoe", app=make_app(name="chatter"))
    make_memory(end_user, "Greta hums.", make_contact(end_user, "Greta"))
    make_message(end_user, "Greta hums.")
    return end_user


@pytest.fixture
def admin() -> Client:
    return signed_in("admin")


def test_a_user_is_found_by_a_part_of_the_id_and_a_single_hit_opens(
    admin: Client, zoe: EndUser
) -> None:
    make_end_user(external_id="zoltan")
    both = admin.get(reverse("dashboard:users"), {"q": "zo"}).content.decode()
    assert "zoe" in both
    assert "zoltan" in both
    assert admin.get(reverse("dashboard:users"), {"q": "zoe"})["Location"] == reverse(
        "dashboard:contacts", args=[zoe.pk]
    )


def test_pages_of_users_follow_each_other_without_a_gap_or_a_repeat(admin: Client) -> None:
    app = make_app()
    names = [f"user {place:03}" for place in range(120)]
    EndUser.objects.bulk_create([EndUser(app=app, external_id=name) for name in names])
    seen: list[str] = []
    address = reverse("dashboard:users")
    while address:
        page = admin.get(address).context["page"]
        seen += [user.external_id for user in page.rows]
        address = reverse("dashboard:users") + f"?after={page.next}" if page.next else ""
    assert seen == names


def test_a_cursor_that_makes_no_sense_is_the_first_page(admin: Client, zoe: EndUser) -> None:
    for cursor in ("x", "W10", "WyJhIiwgImIiLCAiYyJd", "é"):
        assert b"zoe" in admin.get(reverse("dashboard:users"), {"after": cursor}).content


def test_the_list_takes_the_same_statements_whatever_its_length(admin: Client) -> None:
    app = make_app()

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert admin.get(reverse("dashboard:users")).status_code == 200
        return len(queries)

    EndUser.objects.create(app=app, external_id="first")
    few = statements()
    EndUser.objects.bulk_create([EndUser(app=app, external_id=str(n)) for n in range(40)])
    assert statements() == few


def test_the_page_of_a_user_says_what_is_kept(admin: Client, zoe: EndUser) -> None:
    page = admin.get(reverse("dashboard:user", args=[zoe.pk]))
    kept = dict(page.context["kept"])
    assert kept == {
        "contacts": 1, "memories": 1, "messages": 1, "links": 1, "edges": 0, "changes": 0
    }  # fmt: skip


def test_an_export_is_what_import_user_reads(admin: Client, zoe: EndUser) -> None:
    answer = admin.get(reverse("dashboard:export", args=[zoe.pk]))
    assert answer["Content-Disposition"] == 'attachment; filename="zoe.json"'
    assert [row["content"] for row in json.loads(answer.content)["memories"]] == ["Greta hums."]


def test_forgetting_first_lists_what_goes_and_then_leaves_nothing(
    admin: Client, zoe: EndUser
) -> None:
    asked = admin.get(reverse("dashboard:before-forgetting", args=[zoe.pk]))
    assert EndUser.objects.filter(pk=zoe.pk).exists()
    assert dict(asked.context["kept"])["memories"] == 1
    at = reverse("dashboard:forget-user", args=[zoe.pk])
    for typed in ("", "Zo"):
        refused = admin.post(at, {"confirm": typed})
        assert refused.status_code == 422
        assert "This is not the ID. Nothing was erased." in refused.content.decode()
        assert EndUser.objects.filter(pk=zoe.pk).exists()
    answer = admin.post(at, {"confirm": " zoe "}, follow=True)
    assert (
        "Erased \u2068zoe\u2069 for good: 1 person, 1 memory, 1 message." in answer.content.decode()
    )
    assert not EndUser.objects.filter(pk=zoe.pk).exists()
    assert not Memory.objects.exists()


def test_a_reviewer_can_neither_export_nor_forget(zoe: EndUser) -> None:
    reviewer = signed_in("reviewer")
    assert reviewer.get(reverse("dashboard:export", args=[zoe.pk])).status_code == 403
    assert reviewer.post(reverse("dashboard:forget-user", args=[zoe.pk])).status_code == 403
    assert EndUser.objects.filter(pk=zoe.pk).exists()


def test_a_new_app_gets_a_key_that_works_and_is_shown_once(admin: Client) -> None:
    page = admin.post(reverse("dashboard:new-app"), {"name": "chatter"})
    secret = page.context["secret"]
    assert secret in page.content.decode()
    assert ApiKey.objects.valid(secret).get().app.name == "chatter"
    assert secret not in admin.get(reverse("dashboard:apps")).content.decode()
    assert "no-store" in page["Cache-Control"]


@pytest.mark.parametrize("name", ["", "x" * 101, "a\u202eb", "chatter"])
def test_a_bad_name_is_refused_beside_its_field_and_kept(admin: Client, name: str) -> None:
    make_app(name="chatter")
    page = admin.post(reverse("dashboard:new-app"), {"name": name})
    assert page.status_code == 422
    assert 'aria-invalid="true"' in page.content.decode()
    assert App.objects.count() == 1


def test_a_revoked_key_is_refused(admin: Client) -> None:
    key, secret = ApiKey.issue(make_app())
    admin.post(reverse("dashboard:revoke-key", args=[key.pk]))
    assert not ApiKey.objects.valid(secret).exists()


def test_the_requests_a_minute_of_a_key_are_limited_and_freed(admin: Client, settings: Any) -> None:
    settings.MIO_RATE_LIMIT = 60
    key, _secret = ApiKey.issue(make_app())
    address = reverse("dashboard:edit-key", args=[key.pk])
    for given, held in (("30", 30), ("x", 30), ("9" * 30, 30), ("0", 0), ("", None)):
        page = admin.post(address, {"limit": given}, follow=True).content.decode()
        assert ApiKey.objects.get().rate_limit == held, given
    assert 'placeholder="60"' in page


def test_an_app_is_renamed_archived_and_back_and_its_keys_are_labelled(
    admin: Client, zoe: EndUser
) -> None:
    key, secret = ApiKey.issue(zoe.app)
    app = f"/apps/{zoe.app_id}"
    taken = make_app(name="taken").name
    for name, kept in (("chat", "chat"), (taken, "chat"), ("", "chat"), ("chat", "chat")):
        admin.post(f"{app}/rename/", {"name": name})
        assert App.objects.get(pk=zoe.app_id).name == kept
    admin.post(f"/keys/{key.pk}/edit/", {"label": " phone\napp\u202e "})
    made = admin.post(f"{app}/keys/new/", {"label": "staging"})
    assert "phone app" in made.content.decode()
    assert ApiKey.objects.valid(made.context["secret"]).get().label == "staging"
    admin.post(f"{app}/archive/", {"archived": "1"})
    assert not ApiKey.objects.valid(secret).exists()
    assert admin.get(reverse("dashboard:users")).context["page"].rows == []
    page = admin.get(reverse("dashboard:apps"))
    assert [one.pk for one in page.context["apps"] if one.archived_at] == [zoe.app_id]
    limited = signed_in("admin", [make_app(name="mine")])
    for path in (f"{app}/rename/", f"{app}/archive/", f"/keys/{key.pk}/edit/"):
        assert limited.post(path, {"name": "x"}).status_code == 404
    admin.post(f"{app}/archive/", {"archived": ""})
    assert ApiKey.objects.valid(secret).exists()


def test_apps_are_a_table_and_the_keys_are_those_of_the_chosen_one(
    admin: Client, zoe: EndUser
) -> None:
    quiet = make_app(name="quiet")
    key, _secret = ApiKey.issue(zoe.app)
    page = admin.get(reverse("dashboard:apps"))
    assert {one.name: (one.users, one.in_use) for one in page.context["apps"]} == {
        zoe.app.name: (1, 1), "quiet": (0, 0)
    }  # fmt: skip
    assert key.prefix not in page.content.decode()
    chosen = admin.get(reverse("dashboard:apps") + f"?app={zoe.app_id}").content.decode()
    assert key.prefix in chosen
    assert key.prefix not in admin.get(reverse("dashboard:apps") + f"?app={quiet.pk}").content.decode()  # fmt: skip


def test_who_works_for_one_app_sees_and_touches_no_other(zoe: EndUser) -> None:
    mine = make_app(name="mine")
    limited = signed_in("admin", [mine])
    key, secret = ApiKey.issue(zoe.app)
    page = limited.get(reverse("dashboard:apps")).content.decode()
    assert "mine" in page
    assert "chatter" not in page
    assert limited.post(reverse("dashboard:revoke-key", args=[key.pk])).status_code == 404
    assert limited.post(reverse("dashboard:edit-key", args=[key.pk])).status_code == 404
    assert limited.post(reverse("dashboard:new-key", args=[zoe.app.pk])).status_code == 404
    assert limited.post(reverse("dashboard:new-app"), {"name": "third"}).status_code == 422
    assert ApiKey.objects.valid(secret).exists()
    assert limited.get(reverse("dashboard:users")).context["page"].rows == []


def test_the_days_of_a_users_pages_are_theirs_and_the_page_says_whose(zoe: EndUser) -> None:
    reviewer, address = signed_in("reviewer"), reverse("dashboard:user", args=[zoe.pk])
    Message.objects.update(created_at=datetime(2026, 3, 2, 20, tzinfo=UTC))
    memory = Memory.objects.get()
    memory.source_message_ids = [Message.objects.get().pk]
    memory.save()
    pages = []
    for found in ({}, {"learnt_offset": 480}, {"learnt_offset": -300}):
        EndUser.objects.filter(pk=zoe.pk).update(**found)
        known = reviewer.get(address).content.decode()
        talk = reviewer.get(reverse("dashboard:memory", args=[zoe.pk, memory.pk])).content.decode()
        pages.append((" ".join(known.split()), talk))
    assert 'UTC <span class="dim">of the server' in pages[0][0]
    assert 'UTC+08:00 <span class="dim">learnt from messages' in pages[1][0]
    assert [f'datetime="2026-03-{day}' in talk for (_, talk), day in
            zip(pages, ("02T20:00", "03T04:00", "02T15:00"), strict=True)] == [True] * 3  # fmt: skip


def test_a_time_zone_is_set_for_a_user_and_for_an_app(admin: Client, zoe: EndUser) -> None:
    for name, row in (("user", zoe), ("app", zoe.app)):
        address = reverse(f"dashboard:{name}-time-zone", args=[row.pk])
        wrong = admin.post(address, {"time_zone": "Mars/Olympus"})
        assert wrong.status_code == 422
        assert 'value="Mars/Olympus"' in wrong.content.decode()
        assert wrong.content.decode().count('aria-invalid="true"') == 1
        row.refresh_from_db()
        assert row.time_zone == ""
        done = admin.post(address, {"time_zone": " Asia/Shanghai "}, follow=True)
        assert "Days now follow the time zone Asia/Shanghai." in done.content.decode()
        row.refresh_from_db()
        assert row.time_zone == "Asia/Shanghai"


def test_what_an_erasure_left_undecided_is_listed_and_decided_by_admins(
    admin: Client, zoe: EndUser
) -> None:
    other = make_contact(zoe, "Greta Moss")
    erased, kept = make_message(zoe, "They hummed."), make_message(zoe, "They sang.")
    wish = Erasure.objects.create(
        end_user=zoe,
        state="erased",
        due_at=zoe.created_at,
        unsure_message_ids=[erased.pk, kept.pk],
        unsure_contact_ids=[other.pk],
    )
    page = reverse("dashboard:undecided", args=[zoe.pk])
    assert page in admin.get(reverse("dashboard:user", args=[zoe.pk])).content.decode()
    shown = admin.get(page).content.decode()
    assert all(text in shown for text in ("They hummed.", "They sang.", "Greta Moss"))
    assert 'name="redact"' not in signed_in("viewer").get(page).content.decode()
    decide = reverse("dashboard:decide-undecided", args=[zoe.pk, wish.pk])
    assert signed_in("reviewer").post(decide, {"redact": erased.pk}).status_code == 403
    for sent in ({"redact": erased.pk}, {"keep": kept.pk}, {"keep_people": other.pk}):
        assert admin.post(decide, sent)["Location"] == page
    assert dict(Message.objects.values_list("pk", "content"))[erased.pk] == ""
    assert dict(Message.objects.values_list("pk", "content"))[kept.pk] == "They sang."
    left = admin.get(page).content.decode()
    assert not any(text in left for text in ("They hummed.", "They sang.", "Greta Moss"))
    again = admin.post(decide, {"redact": kept.pk}, follow=True).content.decode()
    assert "not waiting for a decision" in again


def test_a_value_of_the_users_card_is_added_replaced_and_removed_with_its_source(
    user: EndUser, reviewer: Client
) -> None:
    page, save = (reverse(f"dashboard:{name}", args=[user.pk]) for name in ("user", "own-card"))
    told = make_memory(user, "figs", facts=[{"key": "allergy", "value": "figs", "person": None}])
    assert (
        reverse("dashboard:memory", args=[user.pk, told.pk]) in reviewer.get(page).content.decode()
    )
    for sent, left in (
        ({"key": "allergy", "new": "bees"}, {"allergy": ["bees", "figs"]}),
        ({"key": "allergy", "old": "figs", "new": "soy"}, {"allergy": ["soy", "bees"]}),
        ({"key": "allergy", "old": "bees", "new": "bees", "remove": "1"}, {"allergy": ["soy"]}),
        ({"key": "pet", "new": " "}, {"allergy": ["soy"]}),
        ({"key": "shoes", "new": "40"}, {"allergy": ["soy"]}),
        ({"key": "location", "new": "York"}, {"allergy": ["soy"], "location": ["York"]}),
        ({"key": "location", "new": "Hull"}, {"allergy": ["soy"], "location": ["Hull"]}),
    ):
        assert reviewer.post(save, sent).status_code == 302
        user.refresh_from_db()
        known = own_card.current_attributes(user).items()
        assert {key: [one["value"] for one in values] for key, values in known} == left
    assert "Hull" in reviewer.get(page).content.decode()


def test_users_are_listed_with_what_is_known_and_sorted_by_what_waits(admin: Client) -> None:
    app = make_app()
    idle, busy = (make_end_user(app=app, external_id=name) for name in ("ann", "zoe"))
    greta = make_contact(idle, "Greta")
    make_memory(idle, "Greta sings.", greta)
    profile = {"kind": "profile", "content_hash": f"profile:{greta.pk}"}
    make_memory(idle, "Greta: sings", greta, **profile)
    make_message(busy)
    page = admin.get(reverse("dashboard:users"), {"sort": "waiting"}).context["page"]
    told = [(one.external_id, one.people, one.memory_count, one.waiting) for one in page.rows]
    assert told == [("zoe", None, None, 1), ("ann", 1, 1, 0)]
    assert ("memories", 1) in admin.get(reverse("dashboard:user", args=[idle.pk])).context["kept"]
