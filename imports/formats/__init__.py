"""Formats of chats, one module each: ``sniff(head)`` returns how likely a text is of the format (0
to 1), ``parse(source)`` yields its turns and raises NotReadable."""

from imports.formats import (
    chatgpt,
    chatlab,
    chatlog,
    claude,
    line_chat,
    memotrace,
    sillytavern,
    telegram,
    wechat,
    weflow,
    whatsapp,
)

FORMATS = (
    chatgpt, claude, whatsapp, telegram, wechat, weflow, memotrace, chatlog, line_chat, chatlab,
    sillytavern,
)  # fmt: skip
# Names of these formats for people, and of those of people and memories (imports.dumps).
TITLES = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "whatsapp": "WhatsApp",
    "telegram": "Telegram",
    "wechat": "WeChat",
    "weflow": "WeChat (WeFlow)",
    "memotrace": "WeChat (MemoTrace)",
    "chatlog": "WeChat (chatlog)",
    "line": "LINE",
    "chatlab": "ChatLab",
    "sillytavern": "SillyTavern",
    "vcard": "vCard",
    "google-csv": "Google Contacts",
    "mem0": "mem0",
    "memory-graph": "MCP memory.jsonl",
}
