from uuid import uuid4

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts import edit, store
from contacts.models import Contact, Suggestion
from dashboard.queries import contacts as queries
from memories import portability
from memories.corrections.undo import undo_change
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory, make_suggestion

pytestmark = pytest.mark.django_db

HOSTILE = ["<script>alert(1)</script>", "]]>x", "\u202egnp.exe", "👩‍👩‍👧‍👦" * 200]


def listed(client: Client, user: EndUser, **query: str) -> list[str]:
    response = client.get(f"/u/{user.pk}/people/", query)
    assert response.status_code == 200
    return [person.name for person in response.context["page"].rows]


@pytest.mark.parametrize(
    "typed",
    [
        "小红",
        "红",
        "xiaohong",
        "xiaoh",
        "xiao hong",
        "XIAO",
        "hong",
        "xh",
        "honghong",
        "阿红",
        "小紅",
    ],
)
def test_a_person_is_found_by_name_pinyin_initials_and_alias(
    reviewer: Client, user: EndUser, typed: str
) -> None:
    make_contact(user, "小红", aliases=["Honghong", "阿红"])
    make_contact(user, "张伟")
    make_contact(make_end_user(), "小红")
    assert listed(reviewer, user, q=typed) == ["小红"]


@pytest.mark.parametrize("typed", ["Doyle", "margaret d", "margaretdoyle", "MD", "Mar"])
def test_a_western_name_is_found_by_any_of_its_words(
    reviewer: Client, user: EndUser, typed: str
) -> None:
    make_contact(user, "Margaret Doyle")
    make_contact(user, "Anna Moss")
    assert listed(reviewer, user, q=typed) == ["Margaret Doyle"]


@pytest.mark.parametrize("typed", ["腾讯", "腾"])
def test_a_person_is_found_by_company(reviewer: Client, user: EndUser, typed: str) -> None:
    contact = make_contact(user, "小红")
    edit.edit_contact(user, contact.pk, {"attributes": {"company": ["腾讯"]}}, actor="app:x")
    make_contact(user, "张伟")
    assert listed(reviewer, user, q=typed) == ["小红"]


@pytest.mark.parametrize("typed", ["%", "_", "---", "\0", "kin:", "find:", "x" * 500])
def test_what_nobody_is_called_finds_nobody(reviewer: Client, user: EndUser, typed: str) -> None:
    make_contact(user, "小红", relationship="妈妈")
    names = listed(reviewer, user, q=typed)
    assert names in ([], ["小红"])
    assert names == [] or not typed.strip("\0")


def test_a_renamed_person_is_found_by_the_new_name(reviewer: Client, user: EndUser) -> None:
    contact = make_contact(user, "小红")
    edit.edit_contact(user, contact.pk, {"name": "王秀英", "aliases": []}, actor="app:x")
    assert listed(reviewer, user, q="wxy") == ["王秀英"]
    assert listed(reviewer, user, q="xh") == []


def test_people_are_filtered_by_relationship(reviewer: Client, user: EndUser) -> None:
    make_contact(user, "刘桂芳", relationship="妈妈")
    make_contact(user, "Anna", relationship="colleague")
    make_contact(user, "Lukas")
    assert listed(reviewer, user, group="family") == ["刘桂芳"]
    assert listed(reviewer, user, group="colleague") == ["Anna"]
    assert listed(reviewer, user, group="none") == ["Lukas"]
    assert len(listed(reviewer, user, group="nonsense")) == 3


def test_only_those_with_an_open_suggestion(reviewer: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "红红")
    make_contact(user, "张伟")
    make_suggestion(one, other)
    assert set(listed(reviewer, user, only="suggested")) == {"小红", "红红"}


def test_only_those_with_contradicting_values(reviewer: Client, user: EndUser) -> None:
    values = {"小红": {"company": ["腾讯", "字节"]}, "张伟": {"interests": ["徒步", "摄影"]}}
    for name, attributes in values.items():
        contact = make_contact(user, name)
        edit.edit_contact(user, contact.pk, {"attributes": attributes}, actor="app:x")
    assert listed(reviewer, user, only="conflict") == ["小红"]


def test_people_are_sorted_and_paged_without_gaps(reviewer: Client, user: EndUser) -> None:
    for number in range(60):
        make_contact(user, f"Person {number:02}", mention_count=number % 7)
    for sort in queries.SORTS:
        first = reviewer.get(f"/u/{user.pk}/people/", {"sort": sort})
        page = first.context["page"]
        second = reviewer.get(f"/u/{user.pk}/people/", {"sort": sort, "after": page.next})
        rows = [*first.context["page"].rows, *second.context["page"].rows]
        assert len({row.pk for row in rows}) == 60
        assert not second.context["page"].next
        counts = [row.mention_count for row in rows]
        assert sort != "most" or counts == sorted(counts, reverse=True)


def test_names_are_sorted_as_they_are_read(reviewer: Client, user: EndUser) -> None:
    people = [make_contact(user, name) for name in ("张伟", "Zoe", "曾敏", "Bob", "小红", "阿明")]
    assert listed(reviewer, user, sort="name") == ["阿明", "Bob", "小红", "曾敏", "张伟", "Zoe"]
    _, change = edit.edit_contact(user, people[0].pk, {"name": "白伟"}, actor="operator:li")
    assert listed(reviewer, user, sort="name")[:2] == ["阿明", "白伟"]
    undo_change(change, actor="operator:li")
    assert listed(reviewer, user, sort="name")[-2:] == ["张伟", "Zoe"]
    copy = portability.import_user(user.app, portability.export_user(user), external_id="copy")
    assert listed(reviewer, copy, sort="name") == listed(reviewer, user, sort="name")


@pytest.mark.parametrize("cursor", ["x", "WyJ4IiwgInkiXQ", "W10", "WyJcdTAwMDAiLCAieSJd"])
def test_a_cursor_that_makes_no_sense_is_the_first_page(
    reviewer: Client, user: EndUser, cursor: str
) -> None:
    make_contact(user, "小红")
    assert listed(reviewer, user, after=cursor) == ["小红"]


def test_the_list_takes_the_same_statements_whatever_its_length(
    reviewer: Client, user: EndUser, django_assert_max_num_queries
) -> None:
    contact = make_contact(user, "小红")
    listed(reviewer, user)
    with django_assert_max_num_queries(13):
        listed(reviewer, user)
    for number in range(60):
        make_memory(user, f"memory {number}", make_contact(user, f"小红{number}"), contact)
    with django_assert_max_num_queries(14):
        listed(reviewer, user, q="小红")


def test_merged_people_are_not_listed(reviewer: Client, user: EndUser) -> None:
    survivor = make_contact(user, "小红")
    make_contact(user, "红红", merged_into=survivor)
    assert listed(reviewer, user) == ["小红"]


def test_hostile_names_render_as_text(reviewer: Client, user: EndUser) -> None:
    for name in HOSTILE:
        make_contact(user, name, aliases=["<b>alias</b>"], relationship="<i>x</i>")
    html = reviewer.get(f"/u/{user.pk}/people/").content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<b>alias" not in html


def test_htmx_gets_the_list_alone(reviewer: Client, user: EndUser) -> None:
    make_contact(user, "小红")
    headers = {"HX-Request": "true", "HX-Target": "people"}
    html = reviewer.get(f"/u/{user.pk}/people/", headers=headers).content.decode()
    assert "小红" in html
    assert "<html" not in html


def test_two_chosen_people_are_compared(reviewer: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "红红")
    response = reviewer.post(f"/u/{user.pk}/people/merge/", {"contact": [one.pk, other.pk]})
    assert response["Location"] == f"/u/{user.pk}/review/{one.pk}/{other.pk}/"
    response = reviewer.post(f"/u/{user.pk}/people/merge/", {"contact": [one.pk]}, follow=True)
    assert "exactly two" in response.content.decode()


def test_who_may_be_the_same_is_offered_by_likelihood(reviewer: Client, user: EndUser) -> None:
    liz = make_contact(user, "Liz")
    for name in ("Zora", "Elizabeth", "Oda"):
        make_contact(user, name)
    asked = make_contact(user, "Bess")
    make_suggestion(liz, asked, confidence=0.93)
    make_suggestion(liz, make_contact(user, "Lizzy"), confidence=0.97, state="different")
    address = f"/u/{user.pk}/people/{liz.pk}/merge/"
    offered = [one.name for one in reviewer.get(address).context["picked"]]
    assert offered[0] == "Bess"
    assert "93%" in reviewer.get(address).content.decode()
    assert set(offered) == {"Bess", "Zora", "Elizabeth", "Oda", "Lizzy"}
    pick = f"/u/{user.pk}/people/pick/"
    typed = reviewer.get(pick, {"same": liz.pk, "q": "b"}, headers={"HX-Request": "true"})
    assert [one.name for one in typed.context["picked"]] == ["Bess"]


def test_people_chosen_in_the_list_are_told_apart_with_one_undo(
    reviewer: Client, user: EndUser
) -> None:
    people = [make_contact(user, name).pk for name in ("小红", "红红", "阿红")]
    address = f"/u/{user.pk}/people/apart/"
    for chosen in (people[:1], [*people, uuid4()]):  # too few, and a stranger among them
        reviewer.post(address, {"contact": chosen})
        assert not Suggestion.objects.exists()
    reviewer.post(address, {"contact": people})
    assert list(Suggestion.objects.values_list("state", flat=True)) == ["different"] * 3
    reviewer.post(f"/u/{user.pk}/changes/{user.changes.get().pk}/undo/")
    assert not Suggestion.objects.exists()


def test_the_picker_offers_people_but_those_left_out(reviewer: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "小明")
    address = f"/u/{user.pk}/people/pick/"
    query = {"q": "xiao", "without": str(one.pk)}
    fragment = reviewer.get(address, query, headers={"HX-Request": "true"}).content.decode()
    assert str(other.pk) in fragment
    assert str(one.pk) not in fragment
    assert 'type="radio"' in fragment
    page = reviewer.get(address, query).content.decode()
    assert "<form" in page
    assert str(other.pk) in page


def test_a_new_person_is_added_and_taken_back(reviewer: Client, user: EndUser) -> None:
    response = reviewer.post(
        f"/u/{user.pk}/people/new/",
        {
            "name": "王秀英",
            "relationship": "邻居",
            "gender": "female",
            "personality": "",
            "why": "",
        },
        follow=True,
    )
    contact = Contact.objects.of(user).get()
    assert (contact.name, contact.relationship, contact.gender) == ("王秀英", "邻居", "female")
    assert response.redirect_chain[-1][0] == f"/u/{user.pk}/people/{contact.pk}/"
    change = user.changes.get()
    assert change.actor == "operator:reviewer-0"
    assert f"/u/{user.pk}/changes/{change.pk}/undo/" in response.content.decode()
    reviewer.post(f"/u/{user.pk}/changes/{change.pk}/undo/")
    assert not Contact.objects.of(user).exists()


def test_a_name_that_is_taken_is_told_beside_the_field_with_all_that_was_typed(
    reviewer: Client, user: EndUser
) -> None:
    held = make_contact(user, "小红")
    data = {"name": "小红", "relationship": "同学", "personality": "很安静"}
    response = reviewer.post(f"/u/{user.pk}/people/new/", data)
    html = response.content.decode()
    assert response.status_code == 422
    assert str(held.pk) in html
    assert "很安静" in html
    assert 'role="alert"' in html
    reviewer.post(f"/u/{user.pk}/people/new/", {**data, "namesake": "on"})
    assert Contact.objects.of(user).filter(name="小红").count() == 2


@pytest.mark.parametrize("name", ["", "···", "x" * 300, "a\0b"])
def test_a_name_that_is_none_is_refused(reviewer: Client, user: EndUser, name: str) -> None:
    response = reviewer.post(f"/u/{user.pk}/people/new/", {"name": name})
    assert response.status_code == 422
    assert not Contact.objects.of(user).exists()


def test_a_viewer_may_look_but_not_add(user: EndUser) -> None:
    viewer = signed_in("viewer")
    make_contact(user, "小红")
    assert listed(viewer, user) == ["小红"]
    assert viewer.post(f"/u/{user.pk}/people/new/", {"name": "x"}).status_code == 403
    html = viewer.get(f"/u/{user.pk}/people/").content.decode()
    assert "New person" not in html


def test_an_operator_of_another_app_sees_none_of_them(user: EndUser) -> None:
    other = signed_in("admin", apps=[make_app()])
    for path in ("", "new/", "pick/"):
        assert other.get(f"/u/{user.pk}/people/{path}").status_code == 404


def test_who_is_not_signed_in_is_sent_to_the_door(user: EndUser) -> None:
    response = Client().get(f"/u/{user.pk}/people/new/")
    assert response["Location"].startswith("/login/")


def test_the_api_finds_people_in_the_same_way(user: EndUser) -> None:
    contact = make_contact(user, "小红")
    assert list(Contact.objects.all().found_by(user, "xh")) == [contact]
    store.save(contact, [])


@pytest.mark.parametrize("name", ["👩‍👩‍👧‍👦" * 18, "﷽" * 30, "e\u0301\u0301\u0301" * 50])
def test_a_name_of_long_characters_is_kept_or_refused(
    reviewer: Client, user: EndUser, name: str
) -> None:
    response = reviewer.post(f"/u/{user.pk}/people/new/", {"name": name})
    assert response.status_code in (302, 422)
    contact = make_contact(user, "小红")
    address = f"/u/{user.pk}/people/{contact.pk}/aliases/"
    assert reviewer.post(address, {"do": "add", "alias": name * 9}).status_code == 302
