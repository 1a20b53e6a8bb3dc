"""People and memories of a file: planned, taken in as one change, twice, and taken back."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import Change, EndUser
from contacts.models import Contact, Relation
from imports.dumps import read_book
from imports.entry_matching import UnknownChoice
from imports.models import Import
from imports.people_intake import plan, take_in
from memories import tasks
from memories.corrections.undo import undo_change
from memories.models import Link, Memory
from tests.factories import json_value, make_app, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db

HEADER = "First Name,Last Name,Nickname,Birthday,Notes,Phone 1 - Label,Phone 1 - Value,Relation 1 - Label,Relation 1 - Value\n"
BOOK = HEADER + (
    "知夏,沈,夏夏,--08-03,沈知夏不吃香菜,Mobile,+86 139 0000 2222,Spouse,Tom Becker\n"
    "Tom,Becker,Tommy,1990-04-17,Met at the harbour,,,,\n"
    ",,,,,Home,12345,,\n"
)
ACTOR = "operator:test"


@pytest.fixture
def zoe() -> EndUser:
    return make_end_user(app=make_app(name="default"), external_id="zoe")


def book(text: str):
    return read_book(text.encode())


def row(first: str, last: str = "", **cells: str) -> str:
    names = HEADER.strip().split(",")
    held = {"First Name": first, "Last Name": last, **cells}
    return HEADER + ",".join(held.get(name, "") for name in names) + "\n"


def outcomes(user: EndUser, text: str, choices=None):
    return [
        (one.outcome, one.why and one.why.code) for one in plan(user, book(text), choices).matched
    ]


def test_a_book_is_one_change_that_undo_takes_back_with_all_of_it(zoe) -> None:
    old = make_memory(zoe, "Tom Becker plays chess")
    done, change = take_in(zoe, book(BOOK), actor=ACTOR)
    assert Change.objects.of(zoe).count() == 1
    counts = {key: count for key, count in done.counts.items() if count}
    assert counts == {"entries": 3, "new": 2, "skipped": 1, "relations": 1, "memories": 2}
    tom = Contact.objects.of(zoe).get(name="Tom Becker")
    assert Relation.objects.of(zoe).get().subject == tom
    assert "Met at the harbour" in tom.card
    tasks.contacts_created(str(change.pk))
    assert Link.objects.filter(memory=old, contact=tom).exists()  # a worker found it
    undo_change(Change.objects.get(pk=change.pk), actor=ACTOR)
    assert not Contact.objects.of(zoe).exists()
    assert not Relation.objects.of(zoe).exists()
    assert not Link.objects.of(zoe).exists()
    assert [one.pk for one in Memory.objects.of(zoe)] == [old.pk]
    assert take_in(zoe, book(BOOK), actor=ACTOR)[0].counts["new"] == 2


def test_a_book_again_changes_nothing_and_makes_no_change(zoe) -> None:
    take_in(zoe, book(BOOK), actor=ACTOR)
    again, change = take_in(zoe, book(BOOK), actor=ACTOR)
    assert change is None
    assert again.counts["same"] == 2
    assert Change.objects.of(zoe).count() == 1


def test_of_whom_more_was_learnt_since_stays_when_an_import_is_undone(zoe) -> None:
    _, change = take_in(zoe, book(BOOK), actor=ACTOR)
    xia = Contact.objects.of(zoe).get(name="沈知夏")
    Link.objects.create(
        end_user=zoe, contact=xia, memory=make_memory(zoe, "沈知夏搬家了"), made_by="extractor"
    )
    undo_change(Change.objects.get(pk=change.pk), actor=ACTOR)
    assert list(Contact.objects.of(zoe)) == [xia]
    assert not Relation.objects.of(zoe).exists()


def test_what_is_added_to_a_known_person_goes_again(zoe) -> None:
    tom = make_contact(zoe, "Tom Becker", attributes={"company": [json_value("Acme")]})
    _, change = take_in(zoe, book(BOOK), actor=ACTOR)
    tom.refresh_from_db()
    assert (tom.aliases, tom.attributes["birthday"][0]["value"]) == (["Tommy"], "1990-04-17")
    undo_change(Change.objects.get(pk=change.pk), actor=ACTOR)
    tom.refresh_from_db()
    assert (tom.aliases, [*tom.attributes]) == ([], ["company"])


def test_why_an_entry_means_somebody_is_said(zoe) -> None:
    make_contact(zoe, "Ann Lee", attributes={"phone": [json_value("+86 139 0000 1111")]})
    make_contact(zoe, "小红", attributes={"birthday": [json_value("1992-08-03")]})
    make_contact(zoe, "Bo", aliases=["Robert"])
    assert outcomes(zoe, row("Ann", "Lee")) == [("same", "entry_same_name")]
    phone = {"Phone 1 - Value": "13900001111"}
    assert outcomes(zoe, row("Ann", "Lee", **phone)) == [("same", "entry_same_value")]
    assert outcomes(zoe, row("Ann", "", **phone)) == [("changed", "entry_like_name")]
    assert outcomes(zoe, row("Robert")) == [("same", "entry_same_alias")]
    assert outcomes(zoe, row("小红", "王", Birthday="1992-08-03")) == [
        ("changed", "entry_like_name")
    ]
    assert outcomes(zoe, row("小红", "王", Birthday="1991-08-03")) == [("new", None)]
    assert outcomes(zoe, row("小红", "", Birthday="1991-08-03")) == [
        ("new", "entry_other_birthday")
    ]
    assert outcomes(zoe, row("!!!")) == [("skipped", "entry_without_name")]


def test_who_may_be_several_is_left_out_until_somebody_chooses(zoe) -> None:
    one = make_contact(zoe, "王磊", attributes={"company": [json_value("甲")]})
    other = make_contact(zoe, "王磊", namesake=1, attributes={"company": [json_value("乙")]})
    text = row("磊", "王", Nickname="小磊")
    assert outcomes(zoe, text) == [("undecided", "entry_several")]
    assert [k.key for k in plan(zoe, book(text)).matched[0].candidates] == [
        str(one.pk),
        str(other.pk),
    ]
    assert take_in(zoe, book(text), actor=ACTOR)[1] is None
    assert outcomes(zoe, text, {1: "skip"}) == [("skipped", "entry_left_out")]
    take_in(zoe, book(text), {1: str(other.pk)}, actor=ACTOR)
    other.refresh_from_db()
    assert other.aliases == ["小磊"]
    assert outcomes(zoe, text) == [("same", "entry_same_name")]  # of whom it says nothing new
    take_in(zoe, book(text), {1: "new"}, actor=ACTOR)
    assert sorted(Contact.objects.of(zoe).values_list("namesake", flat=True)) == [0, 1, 2]


@pytest.mark.parametrize(("choices", "number"), [({1: "nobody"}, 1), ({7: "new"}, 7)])
def test_a_choice_that_cannot_be_names_its_entry(zoe, choices, number) -> None:
    with pytest.raises(UnknownChoice) as refused:
        plan(zoe, book(BOOK), choices)
    assert refused.value.number == number


def test_a_person_of_another_user_is_no_choice(zoe) -> None:
    stranger = make_contact(make_end_user(), "Tom Becker")
    with pytest.raises(UnknownChoice):
        plan(zoe, book(BOOK), {1: str(stranger.pk)})


def test_two_entries_of_one_name_become_one_person(zoe) -> None:
    text = row("Ann", "Lee", **{"Phone 1 - Value": "111111"}) + ",".join(
        ["Ann", "Lee", "", "", "", "", "222222", "", ""]) + "\n"  # fmt: skip
    done, _ = take_in(zoe, book(text), actor=ACTOR)
    assert [one.outcome for one in done.matched] == ["new", "same"]
    assert Contact.objects.of(zoe).get().attributes["phone"][0]["value"] == "111111"


def test_two_numbers_of_one_entry_are_no_contradiction(zoe) -> None:
    take_in(zoe, book(row("Ann", **{"Phone 1 - Value": "111111 ::: 222222"})), actor=ACTOR)
    assert len(Contact.objects.of(zoe).get().attributes["phone"]) == 2
    assert not Contact.objects.of(zoe).in_conflict().exists()


def test_a_photo_is_not_kept_and_a_bad_entry_keeps_its_line() -> None:
    photo = "PHOTO;ENCODING=b;TYPE=JPEG:" + "\r\n ".join(["A" * 70] * 20_000) + "\r\n"
    card = f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann\r\n{photo}END:VCARD\r\n"
    (entry,) = book(card).entries
    assert entry.name == "Ann"
    dump = book(card + "BEGIN:VCARD\r\nVERSION:3.0\r\nnonsense\r\nEND:VCARD\r\n")
    assert "Entry 2, line 20007" in str(dump.skipped.named[0])


def test_the_command_takes_either_format_and_notes_the_import(zoe, tmp_path: Path) -> None:
    path = tmp_path / "contacts.csv"
    path.write_text(BOOK, encoding="utf-16")
    out = StringIO()
    call_command("import_chat", str(path), user="zoe", json=True, dry_run=True, stdout=out)
    assert not Contact.objects.exists()
    call_command("import_chat", str(path), user="zoe", json=True, stdout=out)
    dry, told = map(json.loads, out.getvalue().splitlines())
    assert (dry["new"], told["new"], told["format"]) == (2, 2, "google-csv")
    noted = Import.objects.of(zoe).get()
    assert (str(noted.change), noted.counts["new"], noted.state) == (told["change"], 2, "done")
    call_command(
        "export_vcard", str(tmp_path / "out.csv"), user="zoe", form="google-csv", stdout=out
    )
    exported = (tmp_path / "out.csv").read_bytes()
    assert take_in(zoe, read_book(exported), actor=ACTOR)[1] is None
    path.write_text("First Name,Last Name\nAnn,Lee,x\nEva,Berg\n")
    err = StringIO()
    call_command("import_chat", str(path), user="zoe", stdout=out, stderr=err)
    assert "Left out: Row 1 has more cells" in err.getvalue()
