"""Exports as the programs write them, made by hand from their documented fields. All invented."""

import json
import zipfile
from pathlib import Path
from typing import Any

LRM, NNBSP, BOM = "\u200e", "\u202f", "\ufeff"

WHATSAPP_IPHONE = (
    f"{BOM}[14/10/2021, 3:34:00{NNBSP}PM] Hiking: {LRM}Messages and calls are end-to-end encrypted.\n"
    f"[14/10/2021, 3:34:09{NNBSP}PM] Anna Berg: I just moved to Lisbon\n"
    "and I found: a flat\n"
    f"{LRM}[14/10/2021, 3:35:10{NNBSP}PM] ~{NNBSP}Ben: {LRM}image omitted\n"
    f"[14/10/2021, 3:36:10{NNBSP}PM] ~{NNBSP}Ben: wow {LRM}<This message was edited>\n"
    f"[14/10/2021, 11:59:59{NNBSP}AM] Anna Berg: {LRM}This message was deleted.\n"
    f"[15/10/2021, 12:05:00{NNBSP}AM] Anna Berg: at 10:30 tomorrow\n"
)
WHATSAPP_ANDROID = (
    "10/14/21, 15:34 - Anna created group “Trip: Rome”\n"
    "10/14/21, 15:34 - Messages to this group are end-to-end encrypted\n"
    "10/14/21, 15:35 - Anna: hello\n"
    "10/14/21, 15:36 - Ben: <Media omitted>\n"
    "10/14/21, 15:37 - Ben: IMG-1.jpg (file attached)\nlook at this\n"
    "10/14/21, 15:38 - +44 7700 900123: hi, new number\n"
)
WHATSAPP_CHINESE = (
    "2021/10/14 下午3:34 - 讯息和通话已端到端加密\n"
    "2021/10/14 下午3:35 - 小红: 我搬到深圳了\n"
    "2021/10/14 下午3:36 - 小红: <省略影音内容>\n"
    "2021/10/14 上午12:05 - 老周: 圖片已略去\n"
    "2021/10/15 上午12:05 - 老周: 真的啊\n"
)
WECHAT_COPY = (
    "小红 2022/11/17 21:07\n我搬到深圳了\n\n"
    "老周 2022/11/17 21:08\n「小红：我搬到深圳了」\n- - - - - - - - - - - - - - -\n恭喜\n\n"
    "小红 2022/11/17 21:09\n[图片]\n"
)
MEMOTRACE_TEXT = (
    "2022-11-17 21:07:03 小红\n我搬到深圳了\n\n2022-11-17 21:08:03 老周\n恭喜\n\n"
    "2022-11-17 21:09:03 小红\n[动画表情]\n\n"
)
MEMOTRACE_TABLE = (
    f"{BOM}localId,TalkerId,Type,SubType,IsSender,CreateTime,Status,StrContent,StrTime,Remark,"
    "NickName,Sender\n"
    "1,wxid_a,1,0,0,1668690423,,我搬到深圳了,2022-11-17 21:07:03,小红,Honghong,wxid_a\n"
    "2,wxid_a,1,0,1,1668690483,,恭喜,2022-11-17 21:08:03,,,wxid_me\n"
    "3,wxid_a,3,0,0,1668690543,,<msg/>,2022-11-17 21:09:03,小红,Honghong,wxid_a\n"
    "4,gh_news,1,0,0,1668690543,,优惠,2022-11-17 21:09:03,新闻,新闻,gh_news\n"
)
CHATLOG_TABLE = (
    "Time,SenderName,Sender,TalkerName,Talker,Content\n"
    "2022-11-17 21:07:03,小红,wxid_a,小红,wxid_a,我搬到深圳了\n"
    '2022-11-17 21:08:03,老周,wxid_me,小红,wxid_a,"恭喜\n恭喜"\n'
)
CHATLOG_TEXT = (
    "小红(wxid_a) 2022-11-17 21:07:03\n我搬到深圳了\n\n老周(我) 2022-11-17 21:08:03\n恭喜\n"
)
LINE = (
    "[LINE] 與小紅的聊天紀錄\n儲存日期：2022/11/18 09:00\n\n"
    "2022/11/17（四）\n21:07\t小紅\t我搬到高雄了\n"
    '21:08\t老周\t"恭喜\n什麼時候"\n21:09\t小紅\t[貼圖]\n21:10\t小紅已收回訊息\n'
    "21:11\t小紅\t下週\n"
)
SILLYTAVERN = "\n".join(
    json.dumps(row)
    for row in (
        {"user_name": "Ben", "character_name": "Seraphina", "create_date": "2023-6-19"},
        {"name": "Ben", "is_user": True, "send_date": "June 19, 2023 4:13pm", "mes": "I like tea"},
        {"name": "Seraphina", "is_user": False, "send_date": "2023-6-19 @16h 14m 05s 3ms", "mes": "Hm"},
        {"name": "x", "is_user": False, "is_system": True, "send_date": "", "mes": "hidden"},
    )
)  # fmt: skip


def chatgpt() -> list[dict[str, Any]]:
    """A conversation with a branch that was left, a hidden message, a tool and memory."""

    def node(key: str, parent: str | None, role: str, text: str, **fields: Any) -> dict[str, Any]:
        message = {
            "id": key, "author": {"role": role, "name": fields.pop("name", None)},
            "create_time": fields.pop("at", 1_700_000_000.5), "recipient": "all", "metadata": {},
            "content": {"content_type": "text", "parts": [text]}, **fields,
        }  # fmt: skip
        return {"id": key, "parent": parent, "children": [], "message": message}

    nodes = [
        {"id": "root", "parent": None, "children": ["s"], "message": None},
        node("s", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
        node("u1", "s", "user", "我朋友小红在腾讯"),
        node("left", "u1", "assistant", "an answer that was regenerated"),
        node("a1", "u1", "assistant", "好的", at=None),
        node("t1", "a1", "tool", "Model set context updated.", name="bio"),
        node("a2", "t1", "assistant", "search(…)", recipient="browser"),
        node("u2", "a2", "user", "她住在深圳", content={
            "content_type": "multimodal_text", "parts": [{"asset_pointer": "file"}, "她住在深圳"]}),
    ]  # fmt: skip
    return [
        {
            "title": "t", "create_time": 1_700_000_000.0, "conversation_id": "c1",
            "current_node": "u2", "mapping": {one["id"]: one for one in nodes},
        }
    ]  # fmt: skip


def claude() -> list[dict[str, Any]]:
    said = [
        {"uuid": "1", "sender": "human", "text": "I moved to Berlin in May",
         "created_at": "2025-06-04T12:00:00.123456Z"},
        {"uuid": "2", "sender": "assistant", "text": "", "created_at": "2025-06-04T12:00:05Z",
         "content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Nice"}]},
    ]  # fmt: skip
    return [
        {"uuid": "c1", "name": "n", "created_at": "2025-06-04T12:00:00Z", "chat_messages": said}
    ]


def telegram() -> dict[str, Any]:
    def by(name: str, key: str, text: Any, **fields: Any) -> dict[str, Any]:
        return {
            "id": 1, "type": "message", "date": "2022-11-17T21:07:03",
            "date_unixtime": "1668690423", "from": name, "from_id": key, "text": text, **fields,
        }  # fmt: skip

    entities = [{"type": "blockquote", "text": "quoted "}, {"type": "bold", "text": "I moved"},
                {"type": "plain", "text": " to Lisbon"}]  # fmt: skip
    return {
        "name": "Anna", "type": "personal_chat", "id": 7,
        "messages": [
            {"id": 0, "type": "service", "actor": "Anna", "action": "phone_call", "text": ""},
            by("Anna", "user1", "x", text_entities=entities),
            by("Ben", "user2", ["see ", {"type": "link", "text": "https://a.example"}]),
            by("Anna", "user1", "not her words", forwarded_from="News"),
            by("Anna", "user1", "", photo="photo.jpg"),
        ],
    }  # fmt: skip


def telegram_all() -> dict[str, Any]:
    bot = {**telegram(), "type": "bot_chat", "id": 8}
    return {"personal_information": {"user_id": 2}, "chats": {"list": [telegram(), bot]}}


def weflow() -> dict[str, Any]:
    def row(kind: str, text: str, sent: int | None, name: str = "小红") -> dict[str, Any]:
        return {
            "localId": 1, "createTime": 1668690423, "type": kind, "content": text, "isSend": sent,
            "senderUsername": "wxid_a" if not sent else "wxid_me", "senderDisplayName": name,
        }  # fmt: skip

    return {
        "weflow": {"version": "1"},
        "session": {"wxid": "wxid_a", "nickname": "Honghong", "remark": "小红", "type": "私聊"},
        "messages": [
            row("文本消息", "我搬到深圳了", 0), row("文本消息", "恭喜", 1, "我"),
            row("图片消息", "[图片]", 0), row("系统消息", "撤回了一条消息", None),
            row("引用消息", "别人的话", 0), row("引用消息", "[引用 小红：我对花生过敏]", 1),
            row("引用消息", "下周见[引用 我：[图片]]", 0),
        ],
    }  # fmt: skip


def chatlog() -> list[dict[str, Any]]:
    def row(text: str, own: bool, kind: int = 1) -> dict[str, Any]:
        return {
            "seq": 1, "time": "2022-11-17T21:07:03+08:00", "talker": "wxid_a", "talkerName": "小红",
            "isChatRoom": False, "sender": "wxid_me" if own else "wxid_a", "senderName": "",
            "isSelf": own, "type": kind, "subType": 0, "content": text,
        }  # fmt: skip

    return [row("我搬到深圳了", own=False), row("恭喜", own=True), row("x", own=False, kind=3)]


def chatlab() -> dict[str, Any]:
    def row(sender: str, name: str, text: str, kind: int = 0) -> dict[str, Any]:
        return {"sender": sender, "accountName": name, "timestamp": 1668690423, "type": kind,
                "content": text}  # fmt: skip

    return {
        "chatlab": {"version": "0.0.2"},
        "meta": {"name": "g", "platform": "qq", "type": "private"},
        "members": [{"platformId": "1", "accountName": "小红"}],
        "messages": [row("1", "小红", "我搬到深圳了"), row("2", "老周", "恭喜"), row("1", "小红", "进群", 80)],
    }  # fmt: skip


def chatlab_lines() -> str:
    whole = chatlab()
    header = {"_type": "header", "chatlab": whole["chatlab"], "meta": whole["meta"]}
    rows = [header, *({"_type": "member", **one} for one in whole["members"])]
    rows += [{"_type": "message", **one} for one in whole["messages"]]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


# name of the file, what it holds, its format, and who wrote what ("me": the file says it is the
# owner's).
Expected = list[tuple[str, str]]
ANNA_BEN: Expected = [("Anna", "I moved to Lisbon"), ("Ben", "see https://a.example")]
HONG: Expected = [("小红", "我搬到深圳了"), ("老周", "恭喜")]
HONG_AND_ME: Expected = [("小红", "我搬到深圳了"), ("me", "恭喜")]
CASES: dict[str, tuple[str, Any, str, Expected]] = {
    "chatgpt": ("conversations.json", chatgpt(), "chatgpt",
                [("me", "我朋友小红在腾讯"), ("assistant", "好的"), ("me", "她住在深圳")]),
    "claude": ("conversations.json", claude(), "claude",
               [("me", "I moved to Berlin in May"), ("assistant", "Nice")]),
    "whatsapp iphone": ("_chat.txt", WHATSAPP_IPHONE, "whatsapp", [
        ("Anna Berg", "I just moved to Lisbon\nand I found: a flat"), ("Ben", "wow"),
        ("Anna Berg", "at 10:30 tomorrow")]),
    "whatsapp android": ("WhatsApp Chat with Trip.txt", WHATSAPP_ANDROID, "whatsapp", [
        ("Anna", "hello"), ("Ben", "look at this"), ("+44 7700 900123", "hi, new number")]),
    "whatsapp chinese": ("与小红的 WhatsApp 聊天.txt", WHATSAPP_CHINESE, "whatsapp",
                         [("小红", "我搬到深圳了"), ("老周", "真的啊")]),
    "telegram": ("result.json", telegram(), "telegram", ANNA_BEN),
    "telegram all": ("result.json", telegram_all(), "telegram", ANNA_BEN),
    "wechat": ("chat.txt", WECHAT_COPY, "wechat", HONG),
    "weflow": ("chat.json", weflow(), "weflow", [*HONG_AND_ME, ("小红", "下周见")]),
    "memotrace csv": ("chat.csv", MEMOTRACE_TABLE, "memotrace", HONG_AND_ME),
    "memotrace txt": ("chat.txt", MEMOTRACE_TEXT, "memotrace", HONG),
    "chatlog json": ("chat.json", chatlog(), "chatlog", HONG_AND_ME),
    "chatlog csv": ("chat.csv", CHATLOG_TABLE, "chatlog",
                    [("小红", "我搬到深圳了"), ("老周", "恭喜\n恭喜")]),
    "chatlog txt": ("chat.txt", CHATLOG_TEXT, "chatlog", HONG_AND_ME),
    "line": ("[LINE] 小紅.txt", LINE, "line",
             [("小紅", "我搬到高雄了"), ("老周", "恭喜\n什麼時候"), ("小紅", "下週")]),
    "chatlab json": ("chat.json", chatlab(), "chatlab", HONG),
    "chatlab jsonl": ("chat.jsonl", chatlab_lines(), "chatlab", HONG),
    "sillytavern": ("chat.jsonl", SILLYTAVERN, "sillytavern",
                    [("me", "I like tea"), ("assistant", "Hm")]),
}  # fmt: skip


def as_text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(as_text(content), encoding="utf-8", newline="")
    return path


def pack(path: Path, **members: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), as_text(content))
    return path
