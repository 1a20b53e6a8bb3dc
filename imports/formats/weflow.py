"""WeChat by WeFlow or echotrace: a JSON object with the session and its messages."""

from collections.abc import Iterator

from imports.formats.json_stream import moment, objects, text_of
from imports.formats.text_lines import turn, without_quoted
from imports.source import Source
from imports.types import Turn

NAME = "weflow"
_TEXT, _REPLY = "文本消息", "引用消息"
_SESSION = ("session.wxid", "session.remark", "session.nickname", "session.displayName")
_OFFICIAL = ("gh_", "weixin", "notification_messages", "newsapp", "filehelper")


def sniff(head: str) -> float:
    if not head.lstrip().startswith("{"):
        return 0.0
    is_known = '"session"' in head and ('"isSend"' in head or '"createTime"' in head)
    return 0.95 if is_known or '"weflow"' in head else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for session, row in objects(source, "messages.item", _SESSION):
        wxid, *names = (text_of(session.get(key)) for key in _SESSION)
        sender, sent = text_of(row.get("senderUsername")), row.get("isSend")
        content = text_of(row.get("content")).strip()
        text, kind = without_quoted(content), row.get("type")
        typed = kind == _TEXT or (kind == _REPLY and text != content)
        if not typed or sent is None or any(one.startswith(_OFFICIAL) for one in (wxid, sender)):
            continue
        if wxid.endswith("@chatroom") or sender not in ("", wxid):
            names = []  # only a session of two has the name of the other person
        names.insert(1, text_of(row.get("senderDisplayName")))
        at, own = moment(row.get("createTime")), sent in (1, True)
        yield from turn(names, text, at, wxid, sender or wxid, own=own)
