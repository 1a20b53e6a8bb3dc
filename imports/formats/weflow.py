"""WeChat by WeFlow or echotrace: a JSON object with the session and its messages."""

from collections.abc import Iterator

from imports.formats.json_stream import moment, objects, text_of
from imports.formats.text_lines import is_placeholder, without_quoted
from imports.source import Source
from imports.types import Turn

NAME = "weflow"
_TEXT, _REPLY = "文本消息", "引用消息"
_SESSION = ("session.wxid", "session.nickname", "session.remark", "session.displayName")
_OFFICIAL = ("gh_", "weixin", "notification_messages", "newsapp", "filehelper")


def sniff(head: str) -> float:
    if not head.lstrip().startswith("{"):
        return 0.0
    known = '"session"' in head and ('"isSend"' in head or '"createTime"' in head)
    return 0.95 if known or '"weflow"' in head else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for session, message in objects(source, "messages.item", _SESSION):
        wxid = text_of(session.get("session.wxid"))
        sender = text_of(message.get("senderUsername"))
        text, kind = text_of(message.get("content")).strip(), message.get("type")
        own = without_quoted(text)
        kind, text = (_TEXT, own) if kind == _REPLY and own != text else (kind, text)
        sent = message.get("isSend")
        no_talk = wxid.startswith(_OFFICIAL) or sender.startswith(_OFFICIAL) or sent is None
        if no_talk or kind != _TEXT or is_placeholder(text):
            continue
        at = moment(message.get("createTime"))
        if sent in (1, True):
            yield Turn("user", text, at, wxid, "user")
            continue
        called = tuple(text_of(session.get(key)) for key in _SESSION[1:])
        # In a talk of two the session is the other one.
        names = called if not wxid.endswith("@chatroom") and sender in ("", wxid) else ()
        name = next(
            filter(
                None,
                (names[1:2] or ("",))
                + (text_of(message.get("senderDisplayName")),)
                + names
                + (sender,),
            ),
            "",
        )
        if name:
            aliases = tuple(dict.fromkeys(one for one in names if one and one != name))
            yield Turn(name, text, at, wxid, key=sender or wxid, aliases=aliases)
