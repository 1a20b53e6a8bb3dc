"""Random and damaged files through every importer: what crashes, and what reads nothing without
saying so."""

import json
import random
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from imports import dumps, overview
from imports.types import NotReadable

ZONE = ZoneInfo("Europe/Berlin")
_GRAPH = [
    {
        "type": "entity",
        "name": "Anna",
        "entityType": "person",
        "observations": ["Likes tea", "住在深圳"],
    },
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "Anna", "to": "Acme", "relationType": "works_at"},
]
_CLAUDE = [{"uuid": "c", "chat_messages": [
    {"sender": "human", "text": "hi", "created_at": "2025-01-02T03:04:05Z"},
    {"sender": "assistant", "text": "hello", "created_at": "2025-01-02T03:04:06Z"}]}]  # fmt: skip
_CHATGPT = [{"title": "t", "create_time": 1.7e9, "current_node": "b", "mapping": {
    "a": {"id": "a", "parent": None, "message": {"author": {"role": "user"}, "create_time": 1.7e9,
          "content": {"content_type": "text", "parts": ["hi"]}, "recipient": "all"}},
    "b": {"id": "b", "parent": "a", "message": {"author": {"role": "assistant"}, "create_time": 1.7e9,
          "content": {"content_type": "text", "parts": ["hello"]}, "recipient": "all"}}}}]  # fmt: skip
_TELEGRAM = {"name": "Anna", "type": "personal_chat", "id": 1, "messages": [
    {"id": 1, "type": "message", "date": "2025-01-02T03:04:05", "date_unixtime": "1735787045",
     "from": "Anna", "from_id": "user1", "text": "hi", "text_entities": []}]}  # fmt: skip
_WEFLOW = {"weflow": {"version": "1"}, "session": {"nickname": "小红", "type": "私聊"}, "messages": [
    {"createTime": 1668690423, "type": "文本消息", "content": "hi", "isSend": 0,
     "senderUsername": "wxid_a", "senderDisplayName": "小红"}]}  # fmt: skip
_CHATLOG = [{"seq": 1, "time": "2022-11-17T21:07:03+08:00", "talker": "wxid_a", "talkerName": "小红",
             "isChatRoom": False, "sender": "wxid_a", "senderName": "小红", "isSelf": False, "type": 1,
             "content": "hi"}]  # fmt: skip
_CHATLAB = {"chatlab": {"version": "0.0.2"}, "meta": {"name": "g", "platform": "qq", "type": "group"},
            "messages": [{"sender": "1", "accountName": "Anna", "timestamp": 1735787045, "type": 0,
                          "content": "hi"}]}  # fmt: skip
_MEM0 = {"results": [{"id": "a", "memory": "Friend Maria likes tea", "user_id": "ben",
                      "created_at": "2025-03-02T09:30:00-08:00", "metadata": {"a": [1]}}]}  # fmt: skip


def _lines(*rows: object) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# A whole file of each format, which is damaged then.
SEEDS = {
    "chatgpt": _json(_CHATGPT),
    "claude": _json(_CLAUDE),
    "whatsapp": "14/10/2021, 15:34 - Anna: hi\nand more\n15/10/2021, 15:35 - Ben: hello\n",
    "whatsapp iphone": "[14/10/2021, 3:34:09 PM] Anna: hi\n[14/10/2021, 3:35:09 PM] Ben: hello\n",
    "telegram": _json(_TELEGRAM),
    "wechat": "小红 2022/11/17 21:07\n我搬到深圳了\n\n老周 2022/11/17 21:08\n恭喜\n",
    "weflow": _json(_WEFLOW),
    "memotrace": "localId,TalkerId,Type,SubType,IsSender,CreateTime,Status,StrContent,StrTime,Remark,NickName,Sender\n"
    "1,wxid_a,1,0,0,1668690423,,hi,2022-11-17 21:07:03,小红,Honghong,wxid_a\n",
    "chatlog": _json(_CHATLOG),
    "chatlog csv": "Time,SenderName,Sender,TalkerName,Talker,Content\n2022-11-17 21:07:03,小红,a,小红,a,hi\n",
    "line": "[LINE] 與小紅的聊天紀錄\n儲存日期：2022/11/18 09:00\n\n2022/11/17（四）\n21:07\t小紅\thi\n",
    "chatlab": _json(_CHATLAB),
    "sillytavern": _lines(
        {
            "user_name": "Ben",
            "character_name": "Ann",
            "create_date": "2025-1-2",
            "chat_metadata": {},
        },
        {
            "name": "Ben",
            "is_user": True,
            "is_system": False,
            "send_date": 1735787045000,
            "mes": "hi",
        },
    ),
    "vcard": "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Anna Berg\r\nBDAY:--0803\r\nTEL:1\r\nNOTE:x\r\nEND:VCARD\r\n",
    "google csv": 'First Name,Last Name,Notes,Phone 1 - Value\r\nAnna,Berg,"a\nb",1 ::: 2\r\n',
    "mem0": _json(_MEM0),
    "memory graph": _lines(*_GRAPH),
}
_JUNK = ("\x00", "\ufeff", "\u202f", "\u2028", "\ud800", "{", "}", "[", "]", '"', "'", ",", ":", "\t", "\r", "\n\n",
         "null", "-1", "1e999", "9" * 400, "true", "{}", "[]", '""', "END:VCARD\n", "BEGIN:VCARD\n", "=41=",
         ";CHARSET=x:", ";ENCODING=QUOTED-PRINTABLE:=FF", "\\", " ::: ", "99/99/9999, 99:99 - X: y\n", "[" * 3000,
         "𠮷", "é", "小红", "Ǆ", "\u0000", "\x1a", "PK\x03\x04", "<html>")  # fmt: skip
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "gb18030", "latin-1")


@dataclass(frozen=True)
class Tried:
    """One file: ``outcome`` is read, refused (with words), silent (nothing read and no word) or crashed."""

    outcome: str
    format: str
    problem: str = ""


def damaged(text: str, draw: random.Random) -> bytes:
    """A file that was cut, repeated, mixed with junk or with another, in some encoding."""
    for _ in range(draw.randint(0, 4)):
        text = draw.choice(_DAMAGES)(text, draw)
    encoding = draw.choice(_ENCODINGS) if draw.random() < 0.4 else "utf-8"
    raw = text.encode(encoding, errors="surrogatepass" if encoding == "utf-8" else "replace")
    if draw.random() < 0.2:
        at = draw.randrange(len(raw) + 1)
        raw = raw[:at] + draw.randbytes(draw.randint(1, 8)) + raw[at:]
    return raw


def _cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


def _without(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + text[at + draw.randint(1, 30) :]


def _with_junk(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(_JUNK) * draw.randint(1, 3) + text[at:]


def _repeated(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + text[: draw.randrange(len(text) + 1)] + text[at:]


def _with_other(text: str, draw: random.Random) -> str:
    return text + draw.choice([*SEEDS.values()])


def _other_value(text: str, draw: random.Random) -> str:
    """A value of a document is of another type."""
    parts = text.split(": ")
    at = draw.randrange(len(parts))
    parts[at] = draw.choice(("null", "1", "[]", "{}", '"x"', "1e400", "true", parts[at]))
    return ": ".join(parts)


_DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (
    _cut, _without, _with_junk, _repeated, _with_other, _other_value,
)  # fmt: skip


def attempt(path: Path, me: str | None = None) -> Tried:
    """What reading a file to its end comes to, as the dashboard and the commands do it."""
    try:
        dump = dumps.read(path, me)
        if dump is not None:
            held = len(dump.entries) + len(dump.statements) + len(dump.ties) + dump.left_out
            held += dump.skipped.count
            return Tried("read" if held else "silent", dump.format)
        found = overview.look(path, ZONE)
        return Tried("read" if found.messages else "silent", found.format)
    except NotReadable as error:
        return Tried("refused" if str(error) else "silent", "")
    except Exception:  # noqa: BLE001 whatever comes out is the finding
        return Tried("crashed", "", traceback.format_exc(limit=-4))


def written(folder: Path, raw: bytes, draw: random.Random) -> Path:
    """The file, at times as a member of an archive."""
    path = folder / "file"
    if draw.random() < 0.1:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(draw.choice(("a.json", "a.txt", "a.csv", "a.vcf", "a.jsonl")), raw)
        packed = bytearray(path.read_bytes())
        if draw.random() < 0.5:
            packed[draw.randrange(len(packed))] ^= draw.randint(1, 255)
        raw = bytes(packed)
    path.write_bytes(raw)
    return path


def attempts(seed: int, count: int) -> Iterator[tuple[str, int, Tried]]:
    """The name of the seed, the number that repeats the file, and what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + count):
            draw = random.Random(number)  # noqa: S311
            name = draw.choice([*SEEDS])
            path = written(Path(folder), damaged(SEEDS[name], draw), draw)
            yield name, number, attempt(path, draw.choice((None, "", "ben", "Anna")))


class Command(BaseCommand):
    help = "Reads random and damaged files by every importer; ends with an error on what it finds."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, default=5000)
        parser.add_argument("--seed", type=int, default=0, help="the first file; each has the next")

    def handle(self, *, count: int, seed: int, **_options: object) -> None:
        outcomes: dict[str, Counter[str]] = {name: Counter() for name in SEEDS}
        found = []
        for name, number, tried in tqdm(attempts(seed, count), total=count, unit="file"):
            outcomes[name][tried.outcome] += 1
            if tried.outcome in ("silent", "crashed"):
                found.append(
                    f"--seed {number} --count 1 ({name}): {tried.outcome}\n{tried.problem}"
                )
        for name, counts in outcomes.items():
            told = ", ".join(f"{outcome} {n}" for outcome, n in sorted(counts.items()))
            self.stdout.write(f"{name:>16}  {told}")
        for one in found[:20]:
            self.stderr.write(one)
        if found:
            raise CommandError(f"{len(found)} findings in {count} files")
