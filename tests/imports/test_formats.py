"""What each parser finds in an export, and that no file makes one crash or succeed in silence."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imports import source
from imports.overview import look, turns
from imports.types import DayOrderUnknown, NotReadable, Turn
from tests.imports.files import (
    CASES,
    CHATLOG_TEXT,
    WHATSAPP_ANDROID,
    as_text,
    chatgpt,
    claude,
    pack,
    write,
)


def written(found: list[Turn]) -> list[tuple[str, str]]:
    return [
        ("me" if turn.role == "user" else turn.role or turn.speaker, turn.text) for turn in found
    ]


@pytest.mark.parametrize("case", CASES)
def test_who_wrote_what_is_read(case: str, tmp_path: Path) -> None:
    name, content, form, expected = CASES[case]
    path = write(tmp_path, name, content)
    assert look(path, UTC).format == form
    assert written(list(turns(path, UTC))) == expected


@pytest.mark.parametrize("case", CASES)
def test_the_same_comes_out_of_a_zip_archive(case: str, tmp_path: Path) -> None:
    name, content, form, expected = CASES[case]
    path = pack(tmp_path / "a.zip", **{f"export__{name}": content, "export__photo.jpg": "x"})
    assert look(path, UTC).format == form
    assert written(list(turns(path, UTC))) == expected


def test_an_export_in_parts_is_read_in_their_order(tmp_path: Path) -> None:
    names = {f"conversations-00{number}.json": chatgpt() for number in range(3)}
    path = pack(tmp_path / "a.zip", **names, **{"user.json": {"id": "u"}})
    assert look(path, UTC).messages == 9


def test_times_without_a_zone_are_of_the_one_that_is_given(tmp_path: Path) -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    path = write(tmp_path, "chat.txt", CASES["wechat"][1])
    first = next(turns(path, shanghai))
    assert first.at == datetime(2022, 11, 17, 13, 7, tzinfo=UTC)
    told = next(turns(write(tmp_path, "r.json", CASES["telegram"][1]), shanghai))
    assert told.at == datetime(2022, 11, 17, 13, 7, 3, tzinfo=UTC)


def dated(*days: str) -> str:
    return "".join(f"{day}, 15:34 - Anna: hello\n" for day in days)


@pytest.mark.parametrize(
    ("days", "first"),
    [
        (("1/2/21", "13/2/21"), "2021-02-01"),  # a part above 12 is the day
        (("1/2/21", "2/13/21"), "2021-01-02"),
        (("11/2/21", "3/3/21"), "2021-02-11"),  # months don't fall within a year
        (("2/11/21", "3/3/21"), "2021-02-11"),
        (("1/2/21", "2/2/21", "3/2/21"), "2021-02-01"),  # days change more often
        (("2021.2.1", "2021.2.2"), "2021-02-01"),
        (("2021-02-01", "2021-02-02"), "2021-02-01"),
    ],
)
def test_the_whole_file_says_which_part_of_a_date_is_the_day(days, first, tmp_path) -> None:
    [one, *_] = turns(write(tmp_path, "a.txt", dated(*days)), UTC)
    assert one.at is not None
    assert one.at.date().isoformat() == first


def test_an_order_that_nothing_tells_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", dated("1/2/21", "2/3/21"))
    with pytest.raises(DayOrderUnknown):
        look(path, UTC)
    [one, _] = turns(path, UTC, day_first=False)
    assert one.at == datetime(2021, 1, 2, 15, 34, tzinfo=UTC)


def test_a_year_is_not_made_up(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", CHATLOG_TEXT.replace("2022-", ""))
    with pytest.raises(NotReadable, match="without a year"):
        look(path, UTC)


def test_an_unknown_file_names_the_formats_that_are_known(tmp_path: Path) -> None:
    for content in ("", "hello", "{}", "[]", "a,b\n1,2", '{"messages": []}'):
        with pytest.raises(NotReadable, match="WhatsApp, Telegram"):
            look(write(tmp_path, "a.txt", content), UTC)


def test_an_export_of_nothing_is_no_success(tmp_path: Path) -> None:
    empty = [{**claude()[0], "chat_messages": []}]
    with pytest.raises(NotReadable, match="nothing to import"):
        look(write(tmp_path, "a.json", empty), UTC)


@pytest.mark.parametrize("case", ["telegram", "weflow", "chatlab jsonl"])
def test_of_a_file_that_is_cut_off_what_is_whole_is_read(case: str, tmp_path: Path) -> None:
    name, content, *_ = CASES[case]
    whole = look(write(tmp_path, name, as_text(content)), UTC)
    cut = look(write(tmp_path, name, as_text(content)[:-5]), UTC)
    assert 0 < cut.messages <= whole.messages
    assert (whole.skipped.count, cut.skipped.count) == (0, 1)


def test_a_file_of_which_nothing_is_whole_is_refused(tmp_path: Path) -> None:
    name, content, *_ = CASES["chatgpt"]
    with pytest.raises(NotReadable, match="damaged"):
        look(write(tmp_path, name, as_text(content)[:-5]), UTC)


@pytest.mark.parametrize(
    ("case", "bad", "said"),
    [
        ("sillytavern", "{broken", "is no object of JSON"),
        ("chatlab jsonl", "[1]", "is no object of JSON"),
        ("whatsapp android", "99/99/2024, 20:28 - Anna: hi", "no date that can be"),
        ("memotrace csv", "x" * 200_000, "can't be read"),
        ("line", "21:07\tAnna\t" + "x" * 1_000_001, "longer than any message"),
    ],
)
def test_a_bad_line_is_named_and_all_else_is_read(
    case: str, bad: str, said: str, tmp_path: Path
) -> None:
    name, content, *_ = CASES[case]
    whole = look(write(tmp_path, name, as_text(content)), UTC)
    found = look(write(tmp_path, name, f"{as_text(content).rstrip()}\n{bad}\n"), UTC)
    assert found.messages == whole.messages
    assert (found.skipped.count, said in str(found.skipped.named[0])) == (1, True)


def test_bytes_that_are_no_text_cost_their_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Anna.txt"
    said = "14/10/2021, 15:34 - Anna: 我搬到深圳了\n15/10/2021, 15:35 - Ben: hm\n".encode()
    path.write_bytes(said + b"16/10/2021, 15:35 - Ben: \xff\xfe\n" + said.replace(b"14/", b"17/"))
    found = look(path, UTC)
    assert (found.messages, found.skipped.count) == (5, 1)
    assert "line 3" in str(found.skipped.named[0])


def test_an_archive_that_leads_out_of_it_is_refused(tmp_path: Path) -> None:
    for name in ("../_chat.txt", "/etc/_chat.txt", "a/../../_chat.txt", "C:\\_chat.txt"):
        with pytest.raises(NotReadable, match="leads out"):
            look(pack(tmp_path / "a.zip", **{name: WHATSAPP_ANDROID}), UTC)


def test_an_archive_that_would_fill_a_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match="far more"):
        look(pack(tmp_path / "a.zip", **{"_chat.txt": "a" * 50_000_000}), UTC)


def test_no_more_is_read_than_the_limit_whatever_an_archive_says(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 1000)
    path = pack(tmp_path / "a.zip", **{"_chat.txt": WHATSAPP_ANDROID * 10})
    with pytest.raises(NotReadable, match="GB"):
        look(path, UTC)


def test_an_archive_with_several_kinds_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", **{"a.json": claude(), "_chat.txt": WHATSAPP_ANDROID})
    with pytest.raises(NotReadable, match="several kinds"):
        look(path, UTC)


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", **{"_chat.txt": WHATSAPP_ANDROID})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at = archive.infolist()[0].header_offset + 30 + len("_chat.txt")
    data[at + 5] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(NotReadable):
        look(path, UTC)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_other_encodings_are_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(as_text(CASES["wechat"][1]).encode(encoding))
    assert written(list(turns(path, UTC))) == CASES["wechat"][3]


@pytest.mark.parametrize("case", ["chatgpt", "claude", "telegram", "chatlab jsonl"])
def test_a_byte_order_mark_is_skipped(case: str, tmp_path: Path) -> None:
    name, content, _, expected = CASES[case]
    path = tmp_path / name
    path.write_bytes(as_text(content).encode("utf-8-sig"))
    assert written(list(turns(path, UTC))) == expected


def read_all(content: bytes) -> int:
    """How many messages are found; raises nothing but NotReadable."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_bytes(content)
        try:
            return look(path, UTC).messages
        except NotReadable as error:
            assert str(error)  # noqa: PT017 any of them
            return 0


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(CASES)), st.data())
def test_no_damage_makes_a_parser_crash(case: str, data: st.DataObject) -> None:
    content = as_text(CASES[case][1]).encode()
    at = data.draw(st.integers(0, len(content)))
    drop = data.draw(st.integers(0, 40))
    put = data.draw(st.binary(max_size=12))
    read_all(content[:at] + put + content[at + drop :])


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
JSON_CASES = sorted(case for case, (_, held, *_) in CASES.items() if not isinstance(held, str))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(JSON_CASES), st.randoms(use_true_random=False), JSON_VALUES)
def test_no_value_of_another_type_makes_a_parser_crash(case, random, value) -> None:
    content = json.loads(as_text(CASES[case][1]))
    holder, spots = content, []
    waiting = [content]
    while waiting:
        holder = waiting.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        spots += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    holder, key = random.choice(spots)
    holder[key] = value
    read_all(json.dumps(content).encode())


NAMES = st.sampled_from(["Anna", "小红", "Zoë Ó Briain", "王 小明", "Jean-Luc"])
WORDS = st.text(
    st.characters(categories=("L", "N"), include_characters=" !?,"), min_size=1, max_size=40
).map(str.strip).filter(bool).filter(
    lambda words: words.casefold() != "null"  # WhatsApp's own word for a photo seen once
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(NAMES, WORDS), min_size=2, max_size=6), st.booleans())
def test_what_is_written_in_a_form_is_read_again(said: list[tuple[str, str]], iphone: bool) -> None:
    form = "[14/10/2021, 15:{:02}:00] {}: {}\n" if iphone else "14/10/2021, 15:{:02} - {}: {}\n"
    text = "".join(form.format(at, name, words) for at, (name, words) in enumerate(said))
    with TemporaryDirectory() as folder:
        path = write(Path(folder), "_chat.txt", text)
        assert written(list(turns(path, UTC))) == said


def _parsed(
    tmp_path: Path, content: object, name: str = "conversations.json"
) -> list[tuple[str, str]]:
    path = write(tmp_path, name, content)
    return [(turn.speaker, turn.text) for turn in turns(path, UTC)]


def _node(parent: str | None, role: str, *parts: object) -> dict[str, object]:
    content = {"content_type": "multimodal_text", "parts": list(parts)}
    message = {"author": {"role": role}, "create_time": 1.7e9, "content": content}
    return {"parent": parent, "message": message, "children": []}


def _heard(text: str) -> dict[str, str]:
    return {"content_type": "audio_transcription", "text": text, "direction": "in"}


def test_what_was_spoken_is_what_was_said(tmp_path: Path) -> None:
    sound = {"content_type": "real_time_user_audio_video_asset_pointer", "frames": []}
    nodes = {
        "a": _node(None, "user", _heard("My sister Eva is a nurse"), sound),
        "b": _node("a", "assistant", _heard("Nice"), {"content_type": "audio_asset_pointer"}),
        "c": _node(
            "b",
            "user",
            "She lives in Rome",
            _heard("and sings"),
            {"content_type": "text", "text": "!"},
        ),
    }
    alone = {"title": "t", "create_time": 1.7e9, "mapping": nodes, "current_node": "c"}
    told = [
        ("user", "My sister Eva is a nurse"),
        ("assistant", "Nice"),
        ("user", "She lives in Rome\nand sings\n!"),
    ]
    assert _parsed(tmp_path, [alone]) == told
    assert _parsed(tmp_path, alone) == told
    assert _parsed(tmp_path, {"version": 2, "conversations": [alone]}) == told


def test_of_a_chat_with_claude_the_branch_that_was_seen_last_is_read(tmp_path: Path) -> None:
    def message(name: str, parent: str, sender: str, *content: dict[str, str]) -> dict[str, object]:
        return {"uuid": name, "parent_message_uuid": parent, "sender": sender, "text": "",
                "content": list(content), "created_at": "2025-01-02T03:04:05Z"}  # fmt: skip

    chat = {"uuid": "1", "current_leaf_message_uuid": "c", "chat_messages": [
        message("a", "", "human", {"type": "voice_note", "text": "I sing"}),
        message("b", "a", "assistant", {"type": "text", "text": "Old"}),
        message("c", "a", "assistant", {"type": "thinking", "text": "hm"}, {"type": "text", "text": "New"}),
    ]}  # fmt: skip
    assert _parsed(tmp_path, chat) == [("user", "I sing"), ("assistant", "New")]
    assert _parsed(tmp_path, {"conversations": [chat]})[0] == ("user", "I sing")


def test_calls_are_no_words_and_replies_are(tmp_path: Path) -> None:
    line = "[LINE] chat\n\n2022/11/17（四）\n21:07\t小紅\thi\n21:08\t小紅\t☎ 通話時間 0:32\n"
    assert _parsed(tmp_path, line, "line.txt") == [("小紅", "hi")]
    reply = {"seq": 1, "time": "2022-11-17T21:07:03+08:00", "talker": "a", "talkerName": "小红",
             "isChatRoom": False, "sender": "a", "senderName": "小红", "isSelf": False, "type": 49,
             "subType": 57, "content": "好的"}  # fmt: skip
    assert _parsed(
        tmp_path, [reply, reply | {"type": 50, "content": "通话时长 01:23"}], "b.json"
    ) == [("小红", "好的")]
