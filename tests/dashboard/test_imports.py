"""Chat histories at the dashboard: uploaded, looked through, asked, taken in, taken back."""

import os
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import EndUser
from contacts.models import Contact
from imports import uploads
from imports.models import Import
from memories.models import Message
from tests.dashboard.signin import signed_in
from tests.factories import json_value, make_contact
from tests.imports.files import WHATSAPP_IPHONE
from tests.imports.test_dumps import JSONL
from tests.queue import queued

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_home(settings, tmp_path: Path) -> None:
    settings.MIO_HOME = tmp_path


def at(name: str, user: EndUser, *more: object) -> str:
    return reverse(f"dashboard:{name}", args=[user.pk, *more])


def upload(client: Client, user: EndUser, text: str, **fields: str) -> Import:
    file = SimpleUploadedFile("WhatsApp Chat with Anna Berg.txt", text.encode())
    answer = client.post(at("upload-chat", user), {"file": file, **fields})
    assert answer.status_code == 302
    made = Import.objects.latest("created_at")
    assert "imports.uploads.look" in queued()
    uploads.look(str(made.pk))
    made.refresh_from_db()
    return made


def test_a_chat_is_looked_through_asked_about_taken_in_and_taken_back(reviewer, user) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE, zone="Asia/Shanghai")
    shown = reviewer.get(at("import", user, chat.pk)).content.decode()
    assert "Anna Berg" in shown
    assert "maybe" in shown
    assert " checked" not in shown  # a guess is only shown
    assert "2021" in shown
    assert not Message.objects.exists()

    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    uploads.take_in(str(chat.pk))
    chat.refresh_from_db()
    assert (chat.state, chat.accepted, chat.read) == ("done", 3, 3)
    assert [c.name for c in Contact.objects.of(user)] == ["Anna Berg"]
    assert list(Path(uploads.path_of(chat)).parent.iterdir()) == []

    done = reviewer.get(at("imports", user)).content.decode()
    assert at("undo", user, chat.change) in done
    reviewer.post(at("undo", user, chat.change))
    assert not Contact.objects.of(user).exists()
    assert not Message.objects.of(user).not_erased().exists()
    assert "undone" in reviewer.get(at("imports", user)).content.decode()


def test_without_an_answer_nothing_is_imported(reviewer, user) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    for me in ("", "Carla"):
        answer = reviewer.post(at("start-import", user, chat.pk), {"me": me})
        assert answer.status_code == 422
        assert b"Say who the user is." in answer.content
    uploads.take_in(str(chat.pk))
    assert not Message.objects.exists()


def test_an_order_of_dates_that_nothing_tells_is_asked(reviewer, user) -> None:
    text = "1/2/21, 15:34 - Anna: hello\n2/3/21, 15:34 - Ben: hello\n"
    chat = upload(reviewer, user, text)
    assert b"The month comes first" in reviewer.get(at("import", user, chat.pk)).content
    reviewer.post(at("look-again", user, chat.pk), {"order": "month"})
    uploads.look(str(chat.pk))
    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    uploads.take_in(str(chat.pk))
    assert [m.created_at.month for m in Message.objects.of(user)] == [1, 2]


def test_an_order_of_dates_that_a_day_above_12_tells_is_not_asked(reviewer, user) -> None:
    text = "1/2/21, 15:34 - Anna: hello\n13/3/21, 15:34 - Ben: hello\n"
    chat = upload(reviewer, user, text)
    assert b"comes first" not in reviewer.get(at("import", user, chat.pk)).content
    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    uploads.take_in(str(chat.pk))
    assert [m.created_at.month for m in Message.objects.of(user)] == [2, 3]


def test_a_file_that_is_no_chat_says_what_is_known(reviewer, user) -> None:
    chat = upload(reviewer, user, "hello")
    assert chat.state == "failed"
    shown = reviewer.get(at("import", user, chat.pk)).content.decode()
    assert "Known are: ChatGPT" in shown
    shown = reviewer.get(at("import", user, chat.pk), headers={"accept-language": "zh-hans"})
    assert "ChatGPT" in shown.content.decode()


def test_no_file_and_no_such_zone_are_refused_beside_the_field(reviewer, user) -> None:
    answer = reviewer.post(at("upload-chat", user), {"zone": "Mars"})
    assert answer.status_code == 422
    assert b"Choose a file." in answer.content
    assert b"no time zone of this name" in answer.content


def test_an_upload_is_deleted_by_hand_or_when_it_is_old(reviewer, user) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    reviewer.post(at("drop-import", user, chat.pk))
    assert list(Path(uploads.path_of(chat)).parent.iterdir()) == []
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    Import.objects.update(created_at=chat.created_at - uploads.KEPT)
    uploads.clean()
    assert list(Path(uploads.path_of(chat)).parent.iterdir()) == []
    assert not Import.objects.exists()


def test_an_upload_that_is_answered_late_is_imported_whatever_is_uploaded_meanwhile(
    reviewer, user
) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    Import.objects.update(created_at=chat.created_at - uploads.KEPT)
    upload(reviewer, user, WHATSAPP_IPHONE)
    uploads.take_in(str(chat.pk))
    chat.refresh_from_db()
    assert (chat.state, chat.accepted) == ("done", 3)


def test_only_its_owner_reads_an_upload(reviewer, user) -> None:
    folder = Path(uploads.path_of(upload(reviewer, user, WHATSAPP_IPHONE))).parent
    assert os.stat(folder).st_mode & 0o077 == 0


def test_an_import_that_broke_off_goes_on_where_it_was(reviewer, user, monkeypatch) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    monkeypatch.setattr("imports.intake.CHUNK", 1)
    monkeypatch.setattr(uploads, "TURN", -1.0)
    for _turn in range(4):
        uploads.take_in(str(chat.pk))
    chat.refresh_from_db()
    assert (chat.state, chat.accepted, chat.duplicates) == ("done", 3, 0)
    assert Contact.objects.of(user).count() == 1


def test_a_viewer_sees_no_form_and_may_not_send_one(user) -> None:
    viewer = signed_in("viewer")
    assert b'type="file"' not in viewer.get(at("imports", user)).content
    assert viewer.post(at("upload-chat", user)).status_code == 403


BOOK = "First Name,Last Name,Nickname\nAnn,Lee,\n磊,王,小磊\nBo,Li,\n"


def looked_at(client: Client, user: EndUser, name: str, text: str) -> Import:
    file = SimpleUploadedFile(name, text.encode())
    assert client.post(at("upload-chat", user), {"file": file}).status_code == 302
    made = Import.objects.latest("created_at")
    uploads.look(str(made.pk))
    made.refresh_from_db()
    return made


def test_an_address_book_is_shown_chosen_taken_in_and_taken_back(reviewer, user) -> None:
    make_contact(user, "王磊", attributes={"company": [json_value("甲公司")]})
    other = make_contact(user, "王磊", namesake=1, attributes={"company": [json_value("乙公司")]})
    book = looked_at(reviewer, user, "contacts.csv", BOOK)
    shown = reviewer.get(at("import", user, book.pk)).content.decode()
    assert ">Preview<" in shown
    assert "乙公司" in shown  # which of the two
    assert "contacts.csv" in reviewer.get(at("imports", user)).content.decode()
    assert shown.index("王磊") < shown.index("Ann Lee")  # who is to be chosen comes first
    assert Contact.objects.of(user).count() == 2

    chosen = {"choice-1": "skip", "choice-2": str(other.pk), "choice-3": "x"}
    reviewer.post(at("start-import", user, book.pk), chosen)
    uploads.take_in(str(book.pk))
    book.refresh_from_db()
    assert (book.state, book.counts["new"], book.counts["changed"]) == ("done", 1, 1)
    other.refresh_from_db()
    assert other.aliases == ["小磊"]
    assert not Contact.objects.of(user).filter(name="Ann Lee").exists()
    assert list(Path(uploads.path_of(book)).parent.iterdir()) == []

    done = reviewer.get(at("import", user, book.pk)).content.decode()
    assert "1 new person" in done
    assert at("undo", user, book.change) in done
    reviewer.post(at("undo", user, book.change))
    assert Contact.objects.of(user).count() == 2
    assert "undone" in reviewer.get(at("imports", user)).content.decode()


def test_whose_memories_they_are_is_asked_before_anything_is_shown(reviewer, user) -> None:
    dump = looked_at(reviewer, user, "memory.jsonl", JSONL)
    shown = reviewer.get(at("import", user, dump.pk)).content.decode()
    assert "default_user" in shown
    assert "None of them" in shown
    assert ">Preview<" not in shown
    answer = reviewer.post(at("say-who", user, dump.pk), {"me": "dora"})
    assert answer.status_code == 422
    assert b"Say who the user is." in answer.content
    reviewer.post(at("start-import", user, dump.pk))
    assert Import.objects.get().state == "ready"
    reviewer.post(at("say-who", user, dump.pk), {"me": "default_user"})
    uploads.look(str(dump.pk))
    shown = reviewer.get(at("import", user, dump.pk)).content.decode()
    assert "Anna Berg" in shown
    assert "default_user" not in shown
    reviewer.post(at("start-import", user, dump.pk))
    uploads.take_in(str(dump.pk))
    dump.refresh_from_db()
    assert (dump.counts["new"], dump.counts["relations"]) == (2, 2)


def test_a_choice_whose_person_is_gone_leaves_the_entry_out(reviewer, user) -> None:
    make_contact(user, "王磊", attributes={"company": [json_value("甲")]})
    other = make_contact(user, "王磊", namesake=1, attributes={"company": [json_value("乙")]})
    third = make_contact(user, "王磊", namesake=2, attributes={"company": [json_value("丙")]})
    book = looked_at(reviewer, user, "contacts.csv", BOOK)
    reviewer.post(at("start-import", user, book.pk), {"choice-2": str(other.pk)})
    other.merged_into = third
    other.save(update_fields=["merged_into"])
    uploads.take_in(str(book.pk))
    book.refresh_from_db()
    assert (book.state, book.counts["new"], book.counts["undecided"]) == ("done", 2, 1)


def test_what_an_entry_adds_to_a_known_person_is_shown_before_it_is_taken_in(
    reviewer, user
) -> None:
    make_contact(user, "Bo Li", relationship="friend")
    book = looked_at(reviewer, user, "contacts.vcf",
                     "BEGIN:VCARD\nFN:Bo Li\nNICKNAME:Bobo\nBDAY:1990-05-03\nEND:VCARD\n")  # fmt: skip
    shown = " ".join(
        re.sub("<[^>]*>", " ", reviewer.get(at("import", user, book.pk)).content.decode()).split()
    )
    assert "known, adds details Bo Li" in shown
    assert "Also called Bobo" in shown
    assert "Birthday 1990-05-03" in shown


def test_a_damaged_book_says_where_and_what_is_whole_can_be_imported(reviewer, user) -> None:
    book = looked_at(
        reviewer, user, "contacts.vcf", "BEGIN:VCARD\nFN:A\nEND:VCARD\nBEGIN:VCARD\nx\n"
    )
    assert book.state == "ready"
    page = reviewer.get(at("import", user, book.pk)).content.decode()
    assert "Entry 2, line 5" in page
    assert "2 lines can't be read" in page.replace("&#x27;", "'")


def test_an_admin_takes_the_people_along_as_a_file(user) -> None:
    make_contact(user, "沈知夏")
    admin = signed_in("admin")
    assert "沈知夏" in admin.get(at("address-book", user) + "?format=vcard").content.decode()
    assert "知夏" in admin.get(at("address-book", user) + "?format=google-csv").content.decode()
    assert at("address-book", user) in admin.get(at("contacts", user)).content.decode()
    assert signed_in("reviewer").get(at("address-book", user)).status_code == 403
