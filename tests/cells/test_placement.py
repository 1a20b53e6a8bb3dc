"""Who is where: new end users are spread, every interface finds them, tasks and jobs follow."""

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import override_settings
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from accounts import cells, fair_queue, placement, scope
from accounts.encryption import decrypt, encrypt
from accounts.fair_queue import FairQueue
from accounts.models import Cell, EndUser, Placement
from contacts.models import Contact
from memories import demo, tasks
from memories.models import JobRun, Memory, Message
from mio_site import cell_schema
from mio_site.cell_settings import read_cells
from tests.api import ApiClient, user_address
from tests.commands import run_json
from tests.factories import make_app
from webhooks.models import Endpoint

HELLO = {"messages": [{"role": "user", "content": "我同事小红在腾讯工作", "id": "m1"}]}


@pytest.fixture(autouse=True)
def _an_empty_queue() -> None:
    OrmQ.objects.all().delete()


def cells_of(app: object) -> dict[str, str]:
    return dict(Placement.objects.filter(app=app).values_list("external_id", "cell"))


def work() -> None:
    """Runs what is queued as a worker does, until nothing is due."""
    while taken := FairQueue()._take():
        for pk, payload in taken:
            task = SignedPackage.loads(payload)
            assert task["func"] == "accounts.fair_queue.run_in_cell"
            with scope.undeclared():
                fair_queue.run_in_cell(*task["args"])
            OrmQ.objects.filter(pk=pk).delete()


def test_new_users_go_where_there_are_fewest() -> None:
    client = ApiClient()
    before = dict(Cell.objects.values_list("name", "users"))
    for number in range(6):
        status, _ = client.post(user_address(f"user {number}", "messages/"), HELLO)
        assert status == 202
    after = dict(Cell.objects.values_list("name", "users"))
    assert sum(after.values()) == sum(before.values()) + 6
    assert abs(after["c1"] - after["c2"]) <= 1
    for external_id, cell in cells_of(client.app).items():
        for each in cells.names():
            with cells.entered(each):
                held = EndUser.objects.filter(app=client.app, external_id=external_id)
                assert held.count() == (each == cell)
                assert Message.objects.filter(end_user__in=held).count() == (each == cell)


def test_every_endpoint_finds_the_user_and_no_other() -> None:
    client = ApiClient()
    for user in ("ann", "ben"):
        client.post(user_address(user, "contacts/"), {"name": "小红", "aliases": [user]})
    assert sorted(cells_of(client.app).values()) == ["c1", "c2"]
    for user in ("ann", "ben"):
        _, found = client.get(user_address(user, "contacts/"))
        assert [one["aliases"] for one in found["results"]] == [[user]]
        status, context = client.post(user_address(user, "context/"), {"message": "小红 怎么样"})
        assert status == 200
        assert [one["id"] for one in context["contacts"]] == [found["results"][0]["id"]]
        _, calendar = client.post(user_address(user, "calendar/"))
        assert client.call("GET", calendar["url"].partition("testserver")[2])[0] == 200
    assert client.get(user_address("nobody", "contacts/"))[0] == 404
    assert "nobody" not in cells_of(client.app)


def test_the_list_of_users_is_merged_in_order_and_in_pages() -> None:
    client = ApiClient()
    for number in range(5):
        client.post(user_address(f"user {number}", "messages/"), HELLO)
    _, first = client.get("users/?limit=3")
    assert first["count"] == 5
    _, second = client.get(first["next"].partition("testserver")[2])
    listed = [one["id"] for one in first["results"] + second["results"]]
    assert listed == [f"user {number}" for number in reversed(range(5))]


def test_an_erased_user_leaves_no_placement_and_may_come_again() -> None:
    client = ApiClient()
    client.post(user_address("ann", "messages/"), HELLO)
    before = dict(Cell.objects.values_list("name", "users"))
    assert client.post(user_address("ann", "forget/"), {"everything": True})[0] == 200
    assert cells_of(client.app) == {}
    assert sum(dict(Cell.objects.values_list("name", "users")).values()) == sum(before.values()) - 1
    assert client.post(user_address("ann", "messages/"), HELLO)[0] == 202
    assert len(cells_of(client.app)) == 1


def test_tasks_run_in_the_cell_of_their_user() -> None:
    client = ApiClient()
    for user in ("ann", "ben"):
        client.post(user_address(user, "messages/"), HELLO)
        client.post(user_address(user, "process/"))
    assert OrmQ.objects.count() >= 2
    work()
    for user, cell in cells_of(client.app).items():
        with cells.entered(cell):
            people = Contact.objects.filter(end_user__app=client.app)
            assert [one.name for one in people] == ["小红"]
            assert people[0].end_user.external_id == user
            assert Memory.objects.filter(end_user__app=client.app).exists()


def test_what_is_queued_in_a_transaction_of_a_cell_follows_its_commit() -> None:
    app = make_app()
    with cells.entered("c1"):
        end_user = placement.first_seen(app, "ann")
        with pytest.raises(ZeroDivisionError), cells.atomic():
            fair_queue.put("memories.tasks.extract", end_user.pk, end_user_id=end_user.pk)
            raise ZeroDivisionError
        assert not OrmQ.objects.exists()
        with cells.atomic():
            fair_queue.put("memories.tasks.extract", end_user.pk, end_user_id=end_user.pk)
            assert not OrmQ.objects.exists()
    [task] = OrmQ.objects.all()
    assert task.name() == f"extract {end_user.pk}"


def test_a_sweep_of_each_cell_finds_what_lost_its_task() -> None:
    client = ApiClient()
    for user in ("ann", "ben"):
        client.post(user_address(user, "messages/"), HELLO)
        client.post(user_address(user, "process/"))
    OrmQ.objects.all().delete()
    for cell in cells_of(client.app).values():
        with cells.entered(cell):
            EndUser.objects.filter(app=client.app).update(due_seq=1)
    with scope.undeclared():
        tasks.run_job("sweep")
    work()
    for cell in cells_of(client.app).values():
        with cells.entered(cell):
            assert Contact.objects.filter(end_user__app=client.app).count() == 1
    for cell in cells.names():
        with cells.entered(cell):
            assert JobRun.objects.filter(job="sweep").exists()


def test_a_command_visits_every_cell_or_that_of_its_user() -> None:
    client = ApiClient()
    for user in ("ann", "ben"):
        client.post(user_address(user, "messages/"), HELLO)
    app = client.app.name
    extracted = run_json("extract", "--app", app)
    assert extracted["users"] == 2
    for user in ("ann", "ben"):
        assert run_json("consolidate", "--app", app, "--user", user)
    assert run_json("doctor")["ok"] is True
    assert run_json("maintain", "rescore")["state"] == "done"


def test_a_user_who_was_there_before_there_were_cells_is_found_where_they_are() -> None:
    client = ApiClient()
    with cells.entered(cells.SHARED):
        held = EndUser.objects.create(app=client.app, external_id="old")
    status, _ = client.post(user_address("old", "messages/"), HELLO)
    assert status == 202
    assert cells_of(client.app) == {"old": "default"}
    with cells.entered(cells.SHARED):
        assert Message.objects.filter(end_user=held).count() == 1


def test_the_demo_is_loaded_once_into_one_cell() -> None:
    for _ in range(2):
        call_command("load_demo")
    assert Placement.objects.filter(app__name=demo.APP).count() <= 1


def test_one_cell_away_leaves_the_others_at_work(stopped_second: None) -> None:
    client = ApiClient()
    for number in range(4):
        assert client.post(user_address(f"user {number}", "messages/"), HELLO)[0] == 202
    assert set(cells_of(client.app).values()) == {"c1"}
    with cells.entered("c1"):
        pk = Cell.objects.get(name="c2").number << cells.COUNTED_BITS
    Placement.objects.create(app=client.app, external_id="away", cell="c2", user_pk=pk + 999_999)
    status, told = client.post(user_address("away", "messages/"), HELLO)
    assert (status, told["error"]["code"]) == (503, "no_database")
    assert client.get("users/")[1]["count"] == 4
    with scope.undeclared():
        tasks.run_job("sweep")
    work()
    fair_queue.put("memories.tasks.extract", pk + 999_999, end_user_id=pk + 999_999)
    work()
    assert OrmQ.objects.filter(key__endswith=f":{pk + 999_999}").count() == 1
    Placement.objects.filter(external_id="away").delete()


def test_a_secret_that_is_encrypted_anew_is_so_in_every_cell(settings) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "old", []
    hook = Endpoint.objects.create(app=make_app(), url="https://e.org", secret=encrypt("whsec_1"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", ["old"]
    assert run_json("reencrypt")["reencrypted"] == 1
    settings.SECRET_KEY_FALLBACKS = []
    for cell in cells.names():
        kept = Endpoint._base_manager.using(cell).get(pk=hook.pk).secret
        assert decrypt(kept) == "whsec_1", cell


def test_a_schema_beside_another_cell_of_the_same_database_can_be_made() -> None:
    options = read_cells("c9=postgres:///x?schema=cell_09")["c9"]["OPTIONS"]
    connections.settings["c9"] = {**connections["c1"].settings_dict, "OPTIONS": options}
    try:
        with override_settings(MIO_CELLS=["c1", "c2", "c9"]):
            run_json("cells", "add", "c1")  # before the schema is there it is not c1's
            cell_schema.make_ready("c9")
            assert cell_schema.duplicates(["c1", "c9"]) == []
            with scope.undeclared(), connections["c9"].cursor() as cursor:
                cursor.execute("SELECT to_regclass('cell_09.django_migrations')")
                assert cursor.fetchone()[0]
    finally:
        connections["c9"].close()
        del connections["c9"], connections.settings["c9"]
        with scope.undeclared(), connections["c1"].cursor() as cursor:
            cursor.execute("DROP SCHEMA cell_09 CASCADE")
