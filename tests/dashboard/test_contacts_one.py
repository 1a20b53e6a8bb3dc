import uuid

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts import book, relations
from contacts.models import Contact, Relation, json_value
from dashboard.queries.relations import graph_of, related
from memories import corrections, merging
from memories.models import Edge, Link, Memory
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> EndUser:
    return make_end_user(language="zh")


@pytest.fixture
def client() -> Client:
    return signed_in("reviewer")


@pytest.fixture
def hong(user: EndUser) -> Contact:
    return make_contact(user, "小红", aliases=["阿红"], relationship="朋友")


def at(contact: Contact, path: str = "") -> str:
    return f"/u/{contact.end_user_id}/people/{contact.pk}/{path}"


def page(client: Client, contact: Contact, path: str = "") -> str:
    response = client.get(at(contact, path))
    assert response.status_code == 200, response
    return response.content.decode()


def undo_latest(client: Client, user: EndUser) -> None:
    change = user.changes.order_by("-created_at").first()
    client.post(f"/u/{user.pk}/changes/{change.pk}/undo/")


def fresh(contact: Contact) -> Contact:
    return Contact.objects.get(pk=contact.pk)


TABS = ["", "?tab=memories", "?tab=timeline", "?tab=relations", "?tab=changes", "?tab=nonsense"]


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_person_who_is_hardly_known_can_be_read(
    client: Client, hong: Contact, tab: str
) -> None:
    assert "小红" in page(client, hong, tab)


@pytest.mark.parametrize("tab", TABS[:5])
def test_a_tab_takes_the_same_statements_however_much_is_known(
    client: Client, user: EndUser, hong: Contact, tab: str, django_assert_max_num_queries
) -> None:
    page(client, hong, tab)
    for number in range(60):
        make_memory(user, f"小红 memory {number}", hong)
        other = make_contact(user, f"Person {number}")
        relations.relate(user, other, "colleague", hong)
        book.edit_contact(user, hong.pk, {"gender": ["female", "male"][number % 2]}, actor="app:x")
    with django_assert_max_num_queries(16):
        page(client, hong, tab)


def test_the_card_is_shown_as_injected_and_in_the_other_language(
    client: Client, user: EndUser, hong: Contact
) -> None:
    book.edit_contact(user, hong.pk, {"attributes": {"company": ["腾讯"]}}, actor="app:x")
    response = client.get(at(hong))
    assert response.context["card"].text == fresh(hong).card
    assert "公司：腾讯" in response.content.decode()
    assert "Company: 腾讯" in page(client, hong, "?card=en")


def test_the_address_of_a_merged_person_leads_to_the_survivor(
    client: Client, user: EndUser, hong: Contact
) -> None:
    other = make_contact(user, "红红")
    merging.merge(user, other.pk, hong.pk, actor="operator:li")
    response = client.get(at(other), follow=True)
    assert response.redirect_chain[-1][0].startswith(at(hong))
    assert "红红" in response.content.decode()
    assert "one with this person" in response.content.decode()


def test_an_unknown_person_and_one_of_another_user_are_not_found(
    client: Client, user: EndUser, hong: Contact
) -> None:
    other = make_end_user(app=user.app)
    assert client.get(f"/u/{user.pk}/people/{uuid.uuid4()}/").status_code == 404
    for path in ("", "edit/", "sources/"):
        assert client.get(f"/u/{other.pk}/people/{hong.pk}/{path}").status_code == 404
    limited = signed_in("admin", apps=[make_app()], name="limited")
    assert limited.get(at(hong)).status_code == 404
    assert limited.post(at(hong, "aliases/"), {"do": "add", "alias": "x"}).status_code == 404


def test_a_namesake_is_pointed_out(client: Client, user: EndUser, hong: Contact) -> None:
    other, _change = book.create_contact(user, "小红", actor="app:x", namesake=True)
    assert str(other.pk) in page(client, hong)


# Names


def test_an_alias_is_added_removed_and_taken_back(
    client: Client, user: EndUser, hong: Contact
) -> None:
    client.post(at(hong, "aliases/"), {"do": "add", "alias": " Hong  Hong "})
    assert fresh(hong).aliases == ["阿红", "Hong Hong"]
    client.post(at(hong, "aliases/"), {"do": "remove", "alias": "阿红"})
    assert fresh(hong).aliases == ["Hong Hong"]
    undo_latest(client, user)
    assert fresh(hong).aliases == ["阿红", "Hong Hong"]


def test_an_alias_made_the_name_keeps_the_old_name_as_alias(
    client: Client, user: EndUser, hong: Contact
) -> None:
    client.post(at(hong, "aliases/"), {"do": "primary", "alias": "阿红"})
    assert (fresh(hong).name, fresh(hong).aliases) == ("阿红", ["小红"])
    undo_latest(client, user)
    assert (fresh(hong).name, fresh(hong).aliases) == ("小红", ["阿红"])


def test_an_alias_that_is_anothers_name_can_not_be_made_the_name(
    client: Client, user: EndUser, hong: Contact
) -> None:
    make_contact(user, "阿红")
    data = {"do": "primary", "alias": "阿红"}
    html = client.post(at(hong, "aliases/"), data, follow=True).content.decode()
    assert "known already" in html
    assert fresh(hong).name == "小红"


@pytest.mark.parametrize("alias", ["", " · ", "\0"])
def test_an_alias_of_nothing_is_refused(client: Client, hong: Contact, alias: str) -> None:
    client.post(at(hong, "aliases/"), {"do": "add", "alias": alias})
    assert fresh(hong).aliases == ["阿红"]


def test_a_person_is_edited_and_the_old_name_stays(
    client: Client, user: EndUser, hong: Contact
) -> None:
    data = {"name": "王红", "relationship": "同事", "gender": "female", "why": "said so"}
    client.post(at(hong, "edit/"), data)
    now = fresh(hong)
    assert (now.name, now.aliases, now.relationship) == ("王红", ["阿红", "小红"], "同事")
    assert user.changes.get().why == "said so"
    html = client.post(at(hong, "edit/"), {**data, "name": ""}).content.decode()
    assert 'role="alert"' in html
    undo_latest(client, user)
    assert fresh(hong).name == "小红"


# Values


def test_a_value_is_added_changed_and_removed(client: Client, user: EndUser, hong: Contact) -> None:
    address = at(hong, "attributes/")
    client.post(address, {"key": "Company", "new": "腾讯"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["腾讯"]
    client.post(address, {"key": "company", "old": "腾讯", "new": "字节"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节"]
    client.post(address, {"key": "company", "old": "字节"})
    assert "company" not in fresh(hong).attributes
    undo_latest(client, user)
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节"]
    client.post(address, {"key": "血型", "new": "A"})
    assert set(fresh(hong).attributes) == {"company"}
    client.post(address, {"key": "公司", "new": "华为"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节", "华为"]


def test_a_value_without_a_key_is_told_beside_the_field_and_kept(
    client: Client, hong: Contact
) -> None:
    html = client.post(
        at(hong, "attributes/"), {"key": "!!", "new": "kept text"}, follow=True
    ).content.decode()
    assert 'role="alert"' in html
    assert "kept text" in html


def test_one_of_contradicting_values_is_chosen(
    client: Client, user: EndUser, hong: Contact
) -> None:
    book.edit_contact(user, hong.pk, {"attributes": {"company": ["腾讯", "字节"]}}, actor="app:x")
    assert "Only one can be right" in page(client, hong)
    client.post(at(hong, "resolve/"), {"key": "company", "value": "字节"})
    assert [v["value"] for v in fresh(hong).attributes["company"]] == ["字节"]
    undo_latest(client, user)
    assert len(fresh(hong).attributes["company"]) == 2
    html = client.post(
        at(hong, "resolve/"), {"key": "company", "value": "x"}, follow=True
    ).content.decode()
    assert "no company of this value" in html


def test_an_earlier_value_is_shown_with_who_changed_it_and_why(
    client: Client, user: EndUser, hong: Contact
) -> None:
    book.edit_contact(user, hong.pk, {"attributes": {"location": ["深圳"]}}, actor="app:x")
    book.edit_contact(
        user, hong.pk, {"attributes": {"location": ["广州"]}}, actor="operator:li", why="moved"
    )
    attribute = next(a for a in client.get(at(hong)).context["attributes"] if a.key == "location")
    assert [v.value for v in attribute.values] == ["广州"]
    assert [(f.value, f.actor, f.why) for f in attribute.former] == [
        ("深圳", "operator:li", "moved")
    ]


def test_an_earlier_value_is_known_from_the_memory_that_told_it(
    client: Client, user: EndUser, hong: Contact
) -> None:
    facts = [{"key": "company", "value": "华为", "person": str(hong.pk)}]
    old = make_memory(user, "小红在华为工作", hong, facts=facts)
    corrections.outdate(user, [old], actor="extractor")
    attribute = next(a for a in client.get(at(hong)).context["attributes"] if a.key == "company")
    assert attribute.values == ()
    assert [(f.value, f.memory) for f in attribute.former] == [("华为", old.pk)]


def test_sources_show_the_memory_and_the_message_with_the_name_marked(
    client: Client, user: EndUser, hong: Contact
) -> None:
    message = make_message(user, "今天阿红<b>换了工作</b>")
    memory = make_memory(user, "小红换了工作", hong, source_message_ids=[message.pk])
    hong.attributes = {"job_title": [json_value("工程师", [memory.pk])]}
    hong.save(update_fields=["attributes"])
    assert f"sources/?m={memory.pk}" in page(client, hong)
    address = at(hong, f"sources/?m={memory.pk}&m=nonsense")
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "今天<mark>阿红</mark>&lt;b&gt;" in fragment
    assert "<mark>小红</mark>换了工作" in fragment
    assert "<html" not in fragment
    assert "<html" in client.get(address).content.decode()


def test_the_timeline_opens_its_sources(client: Client, user: EndUser, hong: Contact) -> None:
    memory = make_memory(user, "小红升职了", hong)
    event = {"at": "2026-03", "text": "升职", "sources": [str(memory.pk)]}
    hong.timeline = [event]
    hong.save(update_fields=["timeline"])
    html = page(client, hong, "?tab=timeline")
    assert "March 2026" in html
    assert f"sources/?m={memory.pk}" in html


# Relations


def test_a_relation_is_stated_shown_and_removed(
    client: Client, user: EndUser, hong: Contact
) -> None:
    hao = make_contact(user, "陈浩")
    data = {"person": str(hao.pk), "kind": "男朋友", "way": "of"}
    client.post(at(hong, "relations/"), data)
    row = Relation.objects.of(user).get()
    assert (row.subject_id, row.kind, row.object_id) == (hao.pk, "男朋友", hong.pk)
    assert "男朋友：陈浩" in fresh(hong).card
    html = page(client, hong, "?tab=relations")
    assert "<svg" in html
    assert "陈浩" in html
    client.post(at(hong, f"relations/{row.pk}/remove/"))
    assert not Relation.objects.of(user).exists()
    assert "陈浩" not in fresh(hong).card
    undo_latest(client, user)
    assert Relation.objects.of(user).exists()
    assert "男朋友：陈浩" in fresh(hong).card


def test_stating_a_relation_can_be_undone_and_goes_both_ways(
    client: Client, user: EndUser, hong: Contact
) -> None:
    hao = make_contact(user, "陈浩")
    client.post(at(hong, "relations/"), {"person": str(hao.pk), "kind": "boss", "way": "to"})
    assert Relation.objects.of(user).get().subject_id == hong.pk
    undo_latest(client, user)
    assert not Relation.objects.of(user).exists()
    assert "陈浩" not in fresh(hong).card


def test_a_relation_that_a_memory_stated_survives_it_once_a_person_states_it(
    client: Client, user: EndUser, hong: Contact
) -> None:
    hao = make_contact(user, "陈浩")
    memory = make_memory(user, "陈浩是小红的男朋友", hong)
    relations.relate(user, hao, "男朋友", hong, [memory.pk])
    data = {"person": str(hao.pk), "kind": "男朋友", "way": "of"}
    client.post(at(hong, "relations/"), data)
    assert Relation.objects.of(user).get().sources == []
    changes = user.changes.count()
    client.post(at(hong, "relations/"), data)
    assert user.changes.count() == changes


@pytest.mark.parametrize("kind", ["", "  "])
def test_a_relation_of_no_kind_or_to_oneself_is_refused(
    client: Client, user: EndUser, hong: Contact, kind: str
) -> None:
    hao = make_contact(user, "陈浩")
    for data in (
        {"person": str(hao.pk), "kind": kind},
        {"person": str(hong.pk), "kind": "boss"},
        {"person": "nobody", "kind": "boss"},
    ):
        client.post(at(hong, "relations/"), data)
    assert not Relation.objects.of(user).exists()


def test_the_drawing_keeps_everyone_inside_and_says_who_found_no_room(user: EndUser) -> None:
    centre = make_contact(user, "小红")
    for number in range(20):
        relations.relate(user, make_contact(user, f"P{number}"), "colleague", centre)
    graph = graph_of(centre, related(centre))
    assert graph.hidden == 4
    assert len(graph.nodes) == 17
    assert len(graph.lines) == 16
    assert all(0 < n.x < graph.width and 0 < n.y < graph.height for n in graph.nodes)


# Memories


def test_outdated_memories_come_last_with_what_replaced_them(
    client: Client, user: EndUser, hong: Contact
) -> None:
    new = make_memory(user, "小红在字节工作", hong)
    old = make_memory(user, "小红在华为工作", hong)
    make_memory(user, "hidden thing", hong, status="archived")
    corrections.outdate(user, [old], actor="extractor", by=new.pk)
    response = client.get(at(hong, "?tab=memories"))
    assert [m.pk for m in response.context["page"].rows] == [new.pk, old.pk]
    assert response.context["replacements"][old.pk] == new
    html = response.content.decode()
    assert "outdated" in html
    assert "hidden thing" not in html
    assert Edge.objects.of(user).exists()


def three(user: EndUser, contact: Contact) -> list[Memory]:
    return [make_memory(user, f"小红 {number}", contact) for number in range(3)]


def ids(memories: list[Memory]) -> dict[str, list[str]]:
    return {"memory": [str(memory.pk) for memory in memories]}


def links(contact: Contact) -> int:
    return Link.objects.standing().filter(contact=contact, memory__kind="fact").count()


def undo_from_toast(client: Client, response) -> None:
    [form] = [message.extra_tags.split() for message in response.context["messages"]]
    client.post(f"/u/{form[1]}/changes/undo/", {"change": form[2:]})


def test_chosen_memories_are_unlinked_with_one_undo_for_all(
    client: Client, user: EndUser, hong: Contact
) -> None:
    memories = three(user, hong)
    response = client.post(at(hong, "memories/unlink/"), ids(memories[:2]), follow=True)
    assert links(hong) == 1
    assert f"/u/{user.pk}/changes/undo/" in response.content.decode()
    undo_from_toast(client, response)
    assert links(hong) == 3
    assert all(change.undone_at for change in user.changes.all())


def test_chosen_memories_are_outdated_and_back(
    client: Client, user: EndUser, hong: Contact
) -> None:
    memories = three(user, hong)
    client.post(at(hong, "memories/outdate/"), ids(memories[:2]))
    assert Memory.objects.of(user).filter(status="outdated").count() == 2
    undo_latest(client, user)
    assert not Memory.objects.of(user).filter(status="outdated").exists()


def test_chosen_memories_are_moved_to_whom_they_are_about(
    client: Client, user: EndUser, hong: Contact
) -> None:
    memories, other = three(user, hong), make_contact(user, "红红")
    html = page(client, hong, f"memories/move/?memory={memories[0].pk}&q=红红")
    assert str(other.pk) in html
    data = {**ids(memories[:2]), "person": str(other.pk)}
    response = client.post(at(hong, "memories/move/"), data, follow=True)
    assert (links(hong), links(other)) == (1, 2)
    undo_from_toast(client, response)
    assert (links(hong), links(other)) == (3, 0)


def test_moving_to_nobody_keeps_the_choice(client: Client, user: EndUser, hong: Contact) -> None:
    memories = three(user, hong)
    response = client.post(at(hong, "memories/move/"), ids(memories[:2]))
    assert all(str(memory.pk) in response["Location"] for memory in memories[:2])
    assert links(hong) == 3


def test_moving_to_the_same_person_moves_nothing(
    client: Client, user: EndUser, hong: Contact
) -> None:
    data = {**ids(three(user, hong)), "person": str(hong.pk)}
    client.post(at(hong, "memories/move/"), data)
    assert links(hong) == 3
    assert not user.changes.exists()


def test_memories_of_someone_else_are_split_off(
    client: Client, user: EndUser, hong: Contact
) -> None:
    memories = three(user, hong)
    assert "小红 0" in "".join(page(client, hong, f"memories/split/?memory={memories[0].pk}").replace("<mark>", "").replace("</mark>", ""))  # fmt: skip
    data = {**ids(memories[:2]), "name": "小红", "relationship": "同学"}
    client.post(at(hong, "memories/split/"), data)
    new = Contact.objects.of(user).exclude(pk=hong.pk).get()
    assert (new.name, new.namesake, new.relationship) == ("小红", 1, "同学")
    assert (links(hong), links(new)) == (1, 2)
    undo_latest(client, user)
    assert links(hong) == 3


def test_a_split_without_a_name_keeps_what_was_typed(
    client: Client, user: EndUser, hong: Contact
) -> None:
    data = {**ids(three(user, hong)), "name": "··", "relationship": "同学"}
    response = client.post(at(hong, "memories/split/"), data)
    assert response.status_code == 422
    assert "同学" in response.content.decode()
    assert Contact.objects.of(user).count() == 1


@pytest.mark.parametrize("path", ["unlink", "outdate", "move", "split"])
def test_nothing_chosen_does_nothing(
    client: Client, user: EndUser, hong: Contact, path: str
) -> None:
    three(user, hong)
    elsewhere = make_memory(user, "about nobody")
    for chosen in ([], ["nonsense"], [str(elsewhere.pk)]):
        response = client.post(at(hong, f"memories/{path}/"), {"memory": chosen}, follow=True)
        assert "Choose memories first" in response.content.decode()
    assert not user.changes.exists()


def test_a_memory_is_edited(client: Client, user: EndUser, hong: Contact) -> None:
    memory, taken, _ = three(user, hong)
    address = at(hong, f"memories/{memory.pk}/edit/")
    assert "小红 0" in client.get(address).content.decode()
    client.post(address, {"content": "小红搬家了", "why": ""})
    assert Memory.objects.get(pk=memory.pk).content == "小红搬家了"
    undo_latest(client, user)
    assert Memory.objects.get(pk=memory.pk).content == "小红 0"
    for wrong in ("", taken.content, "x" * 10_001):
        response = client.post(address, {"content": wrong})
        assert response.status_code == 422
        assert 'role="alert"' in response.content.decode()


# Changes and roles


def test_the_changes_tab_shows_those_of_the_person_and_of_their_memories(
    client: Client, user: EndUser, hong: Contact
) -> None:
    memory = make_memory(user, "小红 a", hong)
    other = make_contact(user, "张伟")
    corrections.outdate(user, [memory], actor="operator:li", why="no longer")
    book.edit_contact(user, hong.pk, {"gender": "female"}, actor="app:x")
    book.edit_contact(user, other.pk, {"gender": "male"}, actor="app:x")
    response = client.get(at(hong, "?tab=changes"))
    assert [c.verb for c in response.context["page"].rows] == ["edit_contact", "outdate"]
    assert "no longer" in response.content.decode()


def test_a_viewer_looks_and_changes_nothing(user: EndUser, hong: Contact) -> None:
    viewer = signed_in("viewer", name="looker")
    memory = make_memory(user, "小红 a", hong)
    for tab in TABS:
        assert '<form method="post" action="/u/' not in page(viewer, hong, tab)
    for path in ("edit/", "aliases/", "attributes/", "resolve/", "relations/",
                 "relations/1/remove/", "memories/unlink/", "memories/outdate/", "memories/move/",
                 "memories/split/", f"memories/{memory.pk}/edit/", "memories/forget/", "forget/"):  # fmt: skip
        assert viewer.post(at(hong, path)).status_code == 403, path


def test_only_admins_forget(client: Client, hong: Contact) -> None:
    assert client.get(at(hong, "forget/")).status_code == 403
    assert client.post(at(hong, "forget/")).status_code == 403
    assert client.post(at(hong, "memories/forget/")).status_code == 403
    assert "forget/" not in page(client, hong)


def test_what_forgetting_a_person_takes_is_shown_exactly_and_then_gone(
    user: EndUser, hong: Contact
) -> None:
    admin = signed_in("admin")
    message = make_message(user, "阿红来了")
    about = make_memory(user, "小红来了", hong, source_message_ids=[message.pk], quote="阿红来了")
    naming = make_memory(user, "张伟认识小红", make_contact(user, "张伟"))
    stays = make_memory(user, "今天下雨")
    response = admin.get(at(hong, "forget/"))
    plan = response.context["plan"]
    assert {memory.pk for memory in plan.memories} == {about.pk, naming.pk}
    assert (plan.gone.memories, plan.gone.messages, plan.gone.contacts) == (2, 1, 1)
    assert Memory.objects.of(user).filter(kind="fact").count() == 3
    assert Contact.objects.of(user).filter(pk=hong.pk).exists()
    admin.post(at(hong, "forget/"))
    assert set(Memory.objects.of(user).filter(kind="fact")) == {stays}
    assert not Contact.objects.of(user).filter(pk=hong.pk).exists()


def test_chosen_memories_are_forgotten_after_they_were_listed(user: EndUser, hong: Contact) -> None:
    admin = signed_in("admin")
    memories = three(user, hong)
    response = admin.get(at(hong, "memories/forget/"), ids(memories[:2]))
    assert {m.pk for m in response.context["plan"].memories} == {m.pk for m in memories[:2]}
    assert links(hong) == 3
    admin.post(at(hong, "memories/forget/"), ids(memories[:2]))
    assert set(Memory.objects.of(user).filter(kind="fact")) == {memories[2]}


def test_hostile_words_render_as_text_on_every_tab(client: Client, user: EndUser) -> None:
    script = "<script>alert(1)</script>"
    contact = make_contact(user, script, aliases=["]]>\u202e", "😀" * 90], relationship=script)
    other = make_contact(user, f"{script} 2")
    memory = make_memory(user, script + "长" * 10_000, contact)
    relations.relate(user, other, script, contact)
    event = {"at": script, "text": script, "sources": [str(memory.pk)]}
    contact.timeline, contact.personality = [event], script
    contact.attributes = {"company": [json_value(script, [memory.pk])]}
    contact.save()
    for tab in [*TABS, f"sources/?m={memory.pk}", "edit/", f"memories/{memory.pk}/edit/"]:
        assert "<script>alert" not in page(client, contact, tab), tab


@pytest.mark.parametrize("tab", ["memories", "changes"])
def test_what_is_too_much_to_sort_is_paged_without_gaps(
    client: Client, user: EndUser, hong: Contact, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        make_memory(user, f"小红 memory {number}", hong)
        book.edit_contact(user, hong.pk, {"gender": ["female", "male"][number % 2]}, actor="app:x")
    make_memory(user, "小红 left", hong, status="outdated")
    few = paged(client, hong, tab)
    monkeypatch.setattr("dashboard.queries.contact.MOST_SORTED", 20)
    many = paged(client, hong, tab)
    assert len(few) == len(set(few)) == len(many)
    assert set(few) == set(many)
    assert few[-1] == many[0] if tab == "memories" else few == many


def paged(client: Client, contact: Contact, tab: str) -> list[uuid.UUID]:
    found, after = [], ""
    while True:
        shown = client.get(at(contact), {"tab": tab, "after": after}).context["page"]
        found += [row.pk for row in shown.rows]
        if not shown.next:
            return found
        after = shown.next
