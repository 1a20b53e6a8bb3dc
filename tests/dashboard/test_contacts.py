import pytest
from django.test import Client

from accounts.models import EndUser
from contacts import book, identity
from contacts.models import Contact, Suggestion
from dashboard.queries import contacts as queries
from memories import corrections, portability
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db

HOSTILE = ["<script>alert(1)</script>", "]]>x", "\u202egnp.exe", "👩‍👩‍👧‍👦" * 200]


@pytest.fixture
def user() -> EndUser:
    return make_end_user(language="zh")


@pytest.fixture
def client() -> Client:
    return signed_in("reviewer")


def listed(client: Client, user: EndUser, **query: str) -> list[str]:
    response = client.get(f"/u/{user.pk}/people/", query)
    assert response.status_code == 200
    return [row.contact.name for row in response.context["rows"]]


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
    client: Client, user: EndUser, typed: str
) -> None:
    make_contact(user, "小红", aliases=["Honghong", "阿红"])
    make_contact(user, "张伟")
    make_contact(make_end_user(), "小红")
    assert listed(client, user, q=typed) == ["小红"]


@pytest.mark.parametrize("typed", ["Doyle", "margaret d", "margaretdoyle", "MD", "Mar"])
def test_a_western_name_is_found_by_any_of_its_words(
    client: Client, user: EndUser, typed: str
) -> None:
    make_contact(user, "Margaret Doyle")
    make_contact(user, "Anna Moss")
    assert listed(client, user, q=typed) == ["Margaret Doyle"]


@pytest.mark.parametrize("typed", ["腾讯", "腾"])
def test_a_person_is_found_by_company(client: Client, user: EndUser, typed: str) -> None:
    contact = make_contact(user, "小红")
    book.edit_contact(user, contact.pk, {"attributes": {"company": ["腾讯"]}}, actor="app:x")
    make_contact(user, "张伟")
    assert listed(client, user, q=typed) == ["小红"]


@pytest.mark.parametrize("typed", ["%", "_", "---", "\0", "kin:", "find:", "x" * 500])
def test_what_nobody_is_called_finds_nobody(client: Client, user: EndUser, typed: str) -> None:
    make_contact(user, "小红", relationship="妈妈")
    names = listed(client, user, q=typed)
    assert names in ([], ["小红"])
    assert names == [] or not typed.strip("\0")


def test_a_renamed_person_is_found_by_the_new_name(client: Client, user: EndUser) -> None:
    contact = make_contact(user, "小红")
    book.edit_contact(user, contact.pk, {"name": "王秀英", "aliases": []}, actor="app:x")
    assert listed(client, user, q="wxy") == ["王秀英"]
    assert listed(client, user, q="xh") == []


def test_people_are_filtered_by_relationship(client: Client, user: EndUser) -> None:
    make_contact(user, "刘桂芳", relationship="妈妈")
    make_contact(user, "Anna", relationship="colleague")
    make_contact(user, "Lukas")
    assert listed(client, user, group="family") == ["刘桂芳"]
    assert listed(client, user, group="colleague") == ["Anna"]
    assert listed(client, user, group="none") == ["Lukas"]
    assert len(listed(client, user, group="nonsense")) == 3


def test_only_those_with_an_open_suggestion(client: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "红红")
    make_contact(user, "张伟")
    first, second = sorted((one.pk, other.pk))
    Suggestion.objects.create(
        end_user=user, first_id=first, second_id=second, verdict="likely", confidence=0.8
    )
    assert set(listed(client, user, only="suggested")) == {"小红", "红红"}


def test_only_those_with_contradicting_values(client: Client, user: EndUser) -> None:
    values = {"小红": {"company": ["腾讯", "字节"]}, "张伟": {"interests": ["徒步", "摄影"]}}
    for name, attributes in values.items():
        contact = make_contact(user, name)
        book.edit_contact(user, contact.pk, {"attributes": attributes}, actor="app:x")
    assert listed(client, user, only="conflict") == ["小红"]


def test_only_those_whom_no_operator_has_looked_after(client: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "张伟")
    book.edit_contact(user, one.pk, {"gender": "female"}, actor="operator:li")
    book.edit_contact(user, other.pk, {"gender": "male"}, actor="app:x")
    assert listed(client, user, only="unconfirmed") == ["张伟"]


def test_people_are_sorted_and_paged_without_gaps(client: Client, user: EndUser) -> None:
    for number in range(60):
        make_contact(user, f"Person {number:02}", mention_count=number % 7)
    for sort in queries.SORTS:
        first = client.get(f"/u/{user.pk}/people/", {"sort": sort})
        page = first.context["page"]
        second = client.get(f"/u/{user.pk}/people/", {"sort": sort, "after": page.next})
        rows = [*first.context["rows"], *second.context["rows"]]
        assert len({row.contact.pk for row in rows}) == 60
        assert not second.context["page"].next
        counts = [row.contact.mention_count for row in rows]
        assert sort != "most" or counts == sorted(counts, reverse=True)


def test_names_are_sorted_as_they_are_read(client: Client, user: EndUser) -> None:
    people = [make_contact(user, name) for name in ("张伟", "Zoe", "曾敏", "Bob", "小红", "阿明")]
    assert listed(client, user, sort="name") == ["阿明", "Bob", "小红", "曾敏", "张伟", "Zoe"]
    _, change = book.edit_contact(user, people[0].pk, {"name": "白伟"}, actor="operator:li")
    assert listed(client, user, sort="name")[:2] == ["阿明", "白伟"]
    corrections.undo(change, actor="operator:li")
    assert listed(client, user, sort="name")[-2:] == ["张伟", "Zoe"]
    copy = portability.import_user(user.app, portability.export_user(user), external_id="copy")
    assert listed(client, copy, sort="name") == listed(client, user, sort="name")


@pytest.mark.parametrize("cursor", ["x", "WyJ4IiwgInkiXQ", "W10", "WyJcdTAwMDAiLCAieSJd"])
def test_a_cursor_that_makes_no_sense_is_the_first_page(
    client: Client, user: EndUser, cursor: str
) -> None:
    make_contact(user, "小红")
    assert listed(client, user, after=cursor) == ["小红"]


def test_the_list_takes_the_same_statements_whatever_its_length(
    client: Client, user: EndUser, django_assert_max_num_queries
) -> None:
    contact = make_contact(user, "小红")
    listed(client, user)
    with django_assert_max_num_queries(11):
        listed(client, user)
    for number in range(60):
        make_memory(user, f"memory {number}", make_contact(user, f"小红{number}"), contact)
    with django_assert_max_num_queries(12):
        listed(client, user, q="小红")


def test_merged_people_are_not_listed(client: Client, user: EndUser) -> None:
    survivor = make_contact(user, "小红")
    make_contact(user, "红红", merged_into=survivor)
    assert listed(client, user) == ["小红"]


def test_hostile_names_render_as_text(client: Client, user: EndUser) -> None:
    for name in HOSTILE:
        make_contact(user, name, aliases=["<b>alias</b>"], relationship="<i>x</i>")
    html = client.get(f"/u/{user.pk}/people/").content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<b>alias" not in html


def test_htmx_gets_the_list_alone(client: Client, user: EndUser) -> None:
    make_contact(user, "小红")
    headers = {"HX-Request": "true", "HX-Target": "people"}
    html = client.get(f"/u/{user.pk}/people/", headers=headers).content.decode()
    assert "小红" in html
    assert "<html" not in html


def test_two_chosen_people_are_compared(client: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "红红")
    response = client.get(f"/u/{user.pk}/people/merge/", {"contact": [one.pk, other.pk]})
    assert response["Location"] == f"/u/{user.pk}/review/{one.pk}/{other.pk}/"
    response = client.get(f"/u/{user.pk}/people/merge/", {"contact": [one.pk]}, follow=True)
    assert "exactly two" in response.content.decode()


def test_the_picker_offers_people_but_those_left_out(client: Client, user: EndUser) -> None:
    one, other = make_contact(user, "小红"), make_contact(user, "小明")
    address = f"/u/{user.pk}/people/pick/"
    query = {"q": "xiao", "without": str(one.pk)}
    fragment = client.get(address, query, headers={"HX-Request": "true"}).content.decode()
    assert str(other.pk) in fragment
    assert str(one.pk) not in fragment
    assert 'type="radio"' in fragment
    page = client.get(address, query).content.decode()
    assert "<form" in page
    assert str(other.pk) in page


def test_a_new_person_is_added_and_taken_back(client: Client, user: EndUser) -> None:
    response = client.post(
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
    client.post(f"/u/{user.pk}/changes/{change.pk}/undo/")
    assert not Contact.objects.of(user).exists()


def test_a_name_that_is_taken_is_told_beside_the_field_with_all_that_was_typed(
    client: Client, user: EndUser
) -> None:
    held = make_contact(user, "小红")
    data = {"name": "小红", "relationship": "同学", "personality": "很安静"}
    response = client.post(f"/u/{user.pk}/people/new/", data)
    html = response.content.decode()
    assert response.status_code == 422
    assert str(held.pk) in html
    assert "很安静" in html
    assert 'role="alert"' in html
    client.post(f"/u/{user.pk}/people/new/", {**data, "namesake": "on"})
    assert Contact.objects.of(user).filter(name="小红").count() == 2


@pytest.mark.parametrize("name", ["", "···", "x" * 300, "a\0b"])
def test_a_name_that_is_none_is_refused(client: Client, user: EndUser, name: str) -> None:
    response = client.post(f"/u/{user.pk}/people/new/", {"name": name})
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
    for path in ("", "new/", "pick/", "merge/"):
        assert other.get(f"/u/{user.pk}/people/{path}").status_code == 404


def test_who_is_not_signed_in_is_sent_to_the_door(user: EndUser) -> None:
    response = Client().get(f"/u/{user.pk}/people/new/")
    assert response["Location"].startswith("/login/")


def test_the_api_finds_people_in_the_same_way(user: EndUser) -> None:
    contact = make_contact(user, "小红")
    assert list(Contact.objects.all().found_by(user, "xh")) == [contact]
    identity.save(contact, [])


@pytest.mark.parametrize("name", ["👩‍👩‍👧‍👦" * 18, "﷽" * 30, "e\u0301\u0301\u0301" * 50])
def test_a_name_of_long_characters_is_kept_or_refused(
    client: Client, user: EndUser, name: str
) -> None:
    response = client.post(f"/u/{user.pk}/people/new/", {"name": name})
    assert response.status_code in (302, 422)
    contact = make_contact(user, "小红")
    address = f"/u/{user.pk}/people/{contact.pk}/aliases/"
    assert client.post(address, {"do": "add", "alias": name * 9}).status_code == 302
