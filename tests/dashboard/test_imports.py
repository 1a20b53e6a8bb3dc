"""Chat histories at the dashboard: uploaded, looked through, asked, taken in, taken back."""

import os
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import EndUser
from contacts.models import Contact
from imports import background, uploads
from imports.models import Import
from memories.models import Message
from tests.dashboard.signin import signed_in
from tests.imports.files import WHATSAPP_IPHONE
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
    assert "imports.background.look" in queued()
    background.look(str(made.pk))
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
    background.take_in(str(chat.pk))
    chat.refresh_from_db()
    assert (chat.state, chat.accepted, chat.read) == ("done", 3, 3)
    assert [c.name for c in Contact.objects.of(user)] == ["Anna Berg"]
    assert list(Path(uploads.path_of(chat)).parent.iterdir()) == []

    done = reviewer.get(at("imports", user)).content.decode()
    assert at("undo", user, chat.change) in done
    reviewer.post(at("undo", user, chat.change))
    assert not Contact.objects.of(user).exists()
    assert not Message.objects.of(user).kept().exists()
    assert "undone" in reviewer.get(at("imports", user)).content.decode()


def test_without_an_answer_nothing_is_imported(reviewer, user) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    for me in ("", "Carla"):
        answer = reviewer.post(at("start-import", user, chat.pk), {"me": me})
        assert answer.status_code == 422
        assert b"Say who the user is." in answer.content
    background.take_in(str(chat.pk))
    assert not Message.objects.exists()


def test_an_order_of_dates_that_nothing_tells_is_asked(reviewer, user) -> None:
    text = "1/2/21, 15:34 - Anna: hello\n2/3/21, 15:34 - Ben: hello\n"
    chat = upload(reviewer, user, text)
    assert b"The month comes first" in reviewer.get(at("import", user, chat.pk)).content
    reviewer.post(at("look-again", user, chat.pk), {"order": "month"})
    background.look(str(chat.pk))
    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    background.take_in(str(chat.pk))
    assert [m.created_at.month for m in Message.objects.of(user)] == [1, 2]


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


def test_only_its_owner_reads_an_upload(reviewer, user) -> None:
    folder = Path(uploads.path_of(upload(reviewer, user, WHATSAPP_IPHONE))).parent
    assert os.stat(folder).st_mode & 0o077 == 0


def test_an_import_that_broke_off_goes_on_where_it_was(reviewer, user, monkeypatch) -> None:
    chat = upload(reviewer, user, WHATSAPP_IPHONE)
    reviewer.post(at("start-import", user, chat.pk), {"me": "Ben"})
    monkeypatch.setattr("imports.intake.CHUNK", 1)
    monkeypatch.setattr(background, "TURN", -1.0)
    for _turn in range(4):
        background.take_in(str(chat.pk))
    chat.refresh_from_db()
    assert (chat.state, chat.accepted, chat.duplicates) == ("done", 3, 0)
    assert Contact.objects.of(user).count() == 1


def test_a_viewer_sees_no_form_and_may_not_send_one(user) -> None:
    viewer = signed_in("viewer")
    assert b'type="file"' not in viewer.get(at("imports", user)).content
    assert viewer.post(at("upload-chat", user)).status_code == 403
