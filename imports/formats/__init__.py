"""The formats that are read, one module each: ``sniff(head)`` says how likely a text is of it
(0 to 1), ``parse(source)`` yields its turns and raises NotReadable."""

from collections.abc import Iterator
from typing import Protocol

from imports.formats import (
    chatgpt,
    chatlab,
    chatlog,
    claude,
    memotrace,
    sillytavern,
    telegram,
    wechat,
    weflow,
    whatsapp,
)
from imports.source import Source, decoded
from imports.types import NotReadable, Turn


class Format(Protocol):
    @property
    def NAME(self) -> str: ...  # noqa: N802 a constant of a module

    def sniff(self, head: str) -> float: ...

    def parse(self, source: Source) -> Iterator[Turn]: ...


FORMATS: tuple[Format, ...] = (
    chatgpt, claude, whatsapp, telegram, wechat, weflow, memotrace, chatlog, chatlab, sillytavern,
)  # fmt: skip
# How people know them, and those of people and memories (imports.dumps).
CHAT_TITLES = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "whatsapp": "WhatsApp",
    "telegram": "Telegram",
    "wechat": "WeChat",
    "weflow": "WeChat (WeFlow)",
    "memotrace": "WeChat (MemoTrace)",
    "chatlog": "WeChat (chatlog)",
    "chatlab": "ChatLab",
    "sillytavern": "SillyTavern",
}
DUMP_TITLES = {
    "vcard": "vCard",
    "google-csv": "Google Contacts",
    "mem0": "mem0",
    "memory-graph": "MCP memory.jsonl",
}
TITLES = {**CHAT_TITLES, **DUMP_TITLES}
LEAST = 0.5  # of a text that is taken for a format


def recognised(sources: list[Source]) -> tuple[Format, list[Source]]:
    """The format of the parts of a file, and those parts that are of it. Raises NotReadable."""
    sources_by_format: dict[str, list[Source]] = {}
    by_name = {one.NAME: one for one in FORMATS}
    scores: dict[str, float] = {}
    for source in sources:
        head = decoded(source.head())
        score, name = max((one.sniff(head), one.NAME) for one in FORMATS)
        if score >= LEAST:
            sources_by_format.setdefault(name, []).append(source)
            scores[name] = max(score, scores.get(name, 0.0))
    if not sources_by_format:
        known = ", ".join(TITLES.values())
        raise NotReadable("chat_unknown", formats=known)
    if len(sources_by_format) > 1:
        names = ", ".join(TITLES[name] for name in sorted(sources_by_format))
        raise NotReadable("chat_several_kinds", formats=names)
    [(name, parts)] = sources_by_format.items()
    return by_name[name], parts
