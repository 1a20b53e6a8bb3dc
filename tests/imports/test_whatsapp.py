"""WhatsApp's exports in many languages: digits, parts of the day, calendars, and what nobody said."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from imports.formats import whatsapp
from imports.overview import look
from imports.source import parts
from tests.imports.files import write

NBSP, LRM, RLM, NARROW = "\u00a0", "\u200e", "\u200f", "\u202f"


def said(tmp_path: Path, *lines: str, name: str = "_chat.txt") -> list[tuple[str, str, datetime]]:
    [source] = parts(write(tmp_path, name, "\n".join(lines) + "\n"))
    return [(turn.speaker, turn.text, turn.at) for turn in whatsapp.parse(source)]


@pytest.mark.parametrize(
    ("line", "at"),
    [
        (f"١٣{RLM}/٢{RLM}/٢٠٢٤، ٨:٢٨ م - نور: مرحبا", datetime(2024, 2, 13, 20, 28)),
        (f"[١٣{RLM}/٢{RLM}/٢٠٢٤, ٨:٢٨:٠٥ ص] نور: مرحبا", datetime(2024, 2, 13, 8, 28, 5)),
        ("۱۴۰۲/۱۱/۲۴, ۲۰:۲۸ - نور: سلام", datetime(2024, 2, 13, 20, 28)),
        ("13/02/2567 20:28 - น้ำ: สวัสดี", datetime(2024, 2, 13, 20, 28)),
        ("23/08/1445, 20:28 - نور: مرحبا", datetime(2024, 3, 4, 20, 28)),
        ("१३/०२/२०२४, ८:२८ pm - मीरा: नमस्ते", datetime(2024, 2, 13, 20, 28)),
        ("১৩/২/২০২৪, ৮:২৮ PM - মীরা: হাই", datetime(2024, 2, 13, 20, 28)),
        ("13.02.24, 20:28 - Jana: hallo", datetime(2024, 2, 13, 20, 28)),
        ("13/02/2024 à 20:28 - Léa: salut", datetime(2024, 2, 13, 20, 28)),
        ("13/2/24, 8:28 p.\u00a0m. - Ana: hola", datetime(2024, 2, 13, 20, 28)),
        ("2024. 2. 13. 오후 8:28, 민지: 안녕".replace(", 민지", " - 민지"), datetime(2024, 2, 13, 20, 28)),
        ("2024/2/13 晚上8:28 - 小红: 你好", datetime(2024, 2, 13, 20, 28)),
        ("2024/02/13, 凌晨12:28 - 小红: 你好", datetime(2024, 2, 13, 0, 28)),
        ("[2024/2/13 下午8:28:01] 小红: 你好", datetime(2024, 2, 13, 20, 28, 1)),
        ("13.2.2024 klo 20.28 - Aino: moi", datetime(2024, 2, 13, 20, 28)),
        ("2024-02-13 kl. 20:28 - Åsa: hej", datetime(2024, 2, 13, 20, 28)),
        ("13/02/24, 8:28 CH - Linh: chào", datetime(2024, 2, 13, 20, 28)),
        (f"2/13/24, 8:28{NARROW}PM - Ann: hi", datetime(2024, 2, 13, 20, 28)),
        ("13.02.2024, 20:28 - Оля: привет", datetime(2024, 2, 13, 20, 28)),
        ("13/2/2024, 8:28 μ.μ. - Νίκη: γεια", datetime(2024, 2, 13, 20, 28)),
        ("20:28, 13/02/2024 - Linh: chào", datetime(2024, 2, 13, 20, 28)),
        ("13.02.24 г., 20:28 ч. - Ана: здравей", datetime(2024, 2, 13, 20, 28)),
        ("2024-02-13 20 h 28 - Léa: salut", datetime(2024, 2, 13, 20, 28)),
        ("2024-02-13, ප.ව. 8:28 - මීරා: හායි", datetime(2024, 2, 13, 20, 28)),
        ("13/2/67 20:28 - น้ำ: สวัสดี", datetime(2024, 2, 13, 20, 28)),
        ("13/02/2024, 20:28: Ann: hi", datetime(2024, 2, 13, 20, 28)),
    ],
)  # fmt: skip
def test_digits_parts_of_the_day_and_calendars_of_any_language_are_read(
    tmp_path: Path, line: str, at: datetime
) -> None:
    [(speaker, text, when)] = said(tmp_path, line)
    assert (when, bool(speaker and text)) == (at, True)


@pytest.mark.parametrize(
    "line",
    [
        "13.02.24, 20:28 - Du hast die Gruppe „Kegeln: Freitag“ erstellt",
        "13.02.24, 20:28 - Jana hat den Betreff zu «Kegeln: Freitag» geändert",
        "13/02/24, 20:28 - Ana cambió el asunto a “Bolos: viernes”",
        "13/02/24, 20:28 - Léa a créé le groupe « Boules : vendredi »",
        "2024/2/13, 20:28 - 你创建了群组“周五: 保龄球”",
        "13.02.2024, 20:28 - Вы создали группу «Кегли: пятница»",
        "13/02/24, 20:28 - Messages and calls are end-to-end encrypted. Only people here: read more.",
        "13.02.24, 20:28 - Wiadomości i połączenia są szyfrowane: dowiedz się więcej.",
        "13.02.24, 20:28 - メッセージと通話は暗号化されています。詳細: タップ",
        "13.02.24, 20:28 - ข้อความและการโทรเข้ารหัสจากต้นทางถึงปลายทาง: ดูเพิ่มเติม",
        f"[13.02.24, 20:28:01] Kegeln: Freitag: {LRM}Du hast diese Gruppe erstellt",
    ],
)
def test_what_the_program_says_is_nobodys_and_a_chat_of_two_stays_one(
    tmp_path: Path, line: str
) -> None:
    talk = [f"13.02.24, 20:2{n} - {who}: hallo {n}" for n, who in enumerate(["Jana", "Ben"] * 2)]
    if line.startswith("["):
        talk = [f"[13.02.24, 20:28:0{n}] {who}: hallo" for n, who in enumerate(["Jana", "Ben"])]
    if line.startswith("2024"):
        talk = [one.replace("13.02.24", "2024/2/13") for one in talk]
    found = look(write(tmp_path, "_chat.txt", "\n".join([line, *talk]) + "\n"), UTC)
    assert set(found.speakers) == {"Jana", "Ben"}
    assert [person.name for person in found.people("Ben")] == ["Jana"]


@pytest.mark.parametrize(
    "text",
    [
        "Diese Nachricht wurde gelöscht.", "Du hast diese Nachricht gelöscht.", "Se eliminó este mensaje.",
        "Mensagem apagada", "Ce message a été supprimé", "Это сообщение удалено", "تم حذف هذه الرسالة",
        "このメッセージは削除されました", "삭제된 메시지입니다", "Bu mesaj silindi", "Dit bericht is verwijderd",
        "Pesan ini telah dihapus", "Tin nhắn này đã bị xóa", "Ta wiadomość została usunięta", "این پیام حذف شد",
        "<Medien ausgeschlossen>", "<Multimedia omitido>", "IMG-20240213-WA0001.jpg (Datei angehängt)",
        "VID-1.mp4 (archivo adjunto)", "صورة.jpg (الملف مرفق)", "Standort: https://maps.google.com/?q=1,2",
        "UMFRAGE:\nWann?\nOPTION: Heute (1 Stimme)", "ENCUESTA:\n¿Cuándo?\nOPCIÓN: Hoy (1 voto)",
        "ОПРОС:\nКогда?\nВАРИАНТ: Сегодня", "투표:\n언제?\n옵션: 오늘", "null", "Llamada de voz perdida",
        "Appel vocal manqué", "Videoanruf, 5 Min.", "未接語音來電", "מענה לא נענה", "Пропущенный аудиозвонок",
        "이 메시지는 삭제되었습니다.", "ההודעה נמחקה", "Viesti poistettiin", "Αυτό το μήνυμα διαγράφηκε",
    ],
)  # fmt: skip
def test_marks_of_what_is_deleted_or_attached_and_polls_are_no_words(
    tmp_path: Path, text: str
) -> None:
    line = f"13.02.24, 20:28 - Jana: {text}"
    assert said(tmp_path, line, "13.02.24, 20:29 - Ben: hm") == [
        ("Ben", "hm", datetime(2024, 2, 13, 20, 29))
    ]


@pytest.mark.parametrize(
    "mark",
    ["<Diese Nachricht wurde bearbeitet>", "<Se editó este mensaje.>", "<This message was edited>",
     "<Сообщение изменено>", "<تم تعديل هذه الرسالة>", "<此訊息已編輯>", "<이 메시지는 수정되었습니다>",
     "<Message modifié>", f"{LRM}<anything that an iPhone says>"],
)  # fmt: skip
def test_the_mark_of_an_edited_message_is_none_of_its_words(tmp_path: Path, mark: str) -> None:
    [(_, text, _)] = said(tmp_path, f"13.02.24, 20:28 - Jana: ich ziehe um {mark}")
    assert text == "ich ziehe um"


@pytest.mark.parametrize(
    "text",
    ["I deleted this message, sorry", "<3 you", "poll: who comes?", "x (yes)", "Videoanruf, ja?"],
)
def test_what_people_type_of_such_things_is_theirs(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, f"13.02.24, 20:28 - Jana: {text}")[0][1] == text


def test_a_line_that_only_begins_like_a_date_goes_on_with_the_message(tmp_path: Path) -> None:
    lines = ["13.02.24, 20:28 - Jana: dates", "12/3/2024 I went there at 10:30 - nice: yes"]
    assert [text for _, text, _ in said(tmp_path, *lines)] == ["\n".join(["dates", lines[1]])]


def test_who_is_left_out_of_a_group_is_counted(tmp_path: Path) -> None:
    talk = [
        f"13.02.24, 20:{n:02} - {who}: hallo"
        for n, who in enumerate(["Ann", "Ben"] * 6 + ["Eva"] * 2)
    ]
    found = look(write(tmp_path, "_chat.txt", "\n".join(talk) + "\n"), UTC)
    assert [one.name for one in found.people("Ben")] == ["Ann"]
    assert found.figures("Ben")["left_out"] == 2
