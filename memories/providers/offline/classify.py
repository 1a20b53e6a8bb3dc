"""Which of the seven types a memory is, and whether it is worth keeping at all."""

import re

from contacts.text import HAN
from memories.dates import find_dates
from memories.dates.date_words import DateHit
from memories.providers.offline.draft import Draft
from memories.types import Fact, MemoryType

_TYPE_OF_KEY = {
    "allergy": MemoryType.HEALTH, "health": MemoryType.HEALTH, "medication": MemoryType.HEALTH,
    "diet": MemoryType.PREFERENCE, "likes": MemoryType.PREFERENCE, "dislikes": MemoryType.PREFERENCE,
    "company": MemoryType.PROFESSIONAL, "job_title": MemoryType.PROFESSIONAL, "former_company": MemoryType.PROFESSIONAL,
    "skill": MemoryType.PROFESSIONAL, "interests": MemoryType.PREFERENCE, "habit": MemoryType.PREFERENCE,
}  # fmt: skip
_ORDER = [MemoryType.HEALTH, MemoryType.PROFESSIONAL, MemoryType.PREFERENCE]
_WILL = re.compile(
    r"打算|准备|计划|想(?!起|到|法|念)|要(?!求|么|不是)|将|约(?!了两)|报名|预约|明天|下周|下个?月|明年|提醒|截止|之前交|买给|\b(?:will|going to|plan\w*|want(?:s|ed)? to|hop(?:e|es|ing) to|next|tomorrow|starts?|due|deadline|thinking of|booked|signed up|moving)\b",
    re.I,
)
_WORK = re.compile(
    r"工作|上班|项目|公司|同事|老板|客户|加班|出差|升职|跳槽|离职|辞职|入职|薪|开会|会议|业绩|汇报|deadline|offer|\b(?:work|job|project|meeting|office|promot\w+|client|team|boss|salary|rais\w+|quit)\b",
    re.I,
)
_HEALTH = re.compile(
    r"医院|手术|吃药|生病|住院|体检|疼|过敏|怀孕|血|药|复查|牙|\b(?:hospital|doctor|surgery|sick|ill|pregnan\w+|pain|injur\w+|therapy|medication|recheck)\b",
    re.I,
)
_DID = re.compile(
    r"了|过|去|看|玩|吃|参加|\b(?:went|did|met|had|saw|played|visited|ran|finished|watched|celebrated)\b",
    re.I,
)
# What is told as over and done, in the words of its own day: 今天吃了, today I went.
_DONE = re.compile(
    r"[\u4e00-\u9fff](?:了|过(?!生日|节|年|寿)|完)|刚|\b(?:went|had|saw|met|ate|drank|did|was|were|came|took|got|gave|made|bought|ran|played|told|said|spoke|found|lost|won|wrote|read|sang|flew|drove|rode|swam|\w{2,}ed)\b",
    re.I,
)
_WHIM = re.compile(
    r"^(?:用户|The user)?\s?(?:是)?(?:有点|好|真|太|很|挺|还|就是|先|再|又|也)?(?:困|累|饿|烦|无聊|开心|高兴|难过|郁闷|尴尬|服了|激动|慌|晕|懵|惨|无语|感动|幸福|紧张)(?:了|死)?$"
)
_THIN = re.compile(r"^(?:.{0,3}(?:说|问|觉得|知道|看到|听到|笑|哭|来|去|走|回)了?.{0,2})$")


def memory_type(draft: Draft, facts: tuple[Fact, ...], when: DateHit | None) -> MemoryType:
    """The category of a memory, by its facts first and its words after."""
    text = draft.text()
    future = (
        when is not None
        and when.until is not None
        and when.until > draft.turn.said_at
        and not (_is_today(when, draft) and _DONE.search(text) and not _WILL.search(text))
    )
    keys = {fact.key for fact in facts}
    if (_WILL.search(text) and (future or "plan" in keys)) or (future and not keys):
        return MemoryType.PLAN
    kinds = {_TYPE_OF_KEY[key] for key in keys if key in _TYPE_OF_KEY}
    for kind in _ORDER:
        if kind in kinds:
            return kind
    if keys - {"plan"}:
        return MemoryType.PERSONAL
    if "plan" in keys:
        return MemoryType.PLAN
    if _HEALTH.search(text):
        return MemoryType.HEALTH
    if _WORK.search(text):
        return MemoryType.PROFESSIONAL
    if when is not None or _DID.search(text):
        return MemoryType.ACTIVITY
    return MemoryType.MISCELLANEOUS


def _is_today(when: DateHit, draft: Draft) -> bool:
    """Whether a date has begun by the time of the telling."""
    return when.at is not None and when.at.date() <= draft.turn.said_at.date()


def worth_keeping(draft: Draft, content: str) -> bool:
    """Whether a statement says something lasting about somebody."""
    if _WHIM.match(content):
        return False
    values = [value for piece in draft.pieces for value in piece.values]
    if values:
        return True
    text = draft.text()
    if draft.people() and find_dates(text, draft.turn.said_at, HAN.search(text) is not None):
        return True
    size = len(HAN.findall(text)) + 2 * len(re.findall(r"[A-Za-z]{2,}|\d+", text))
    if draft.subject is not None:
        return size >= 5 and not _THIN.match(text)
    if any(piece.explicit for piece in draft.pieces) and draft.people():
        return size >= 7
    if (
        not draft.people()
        and draft.pieces
        and draft.pieces[0].explicit
        and not draft.pieces[0].spots
    ):
        return size >= 6
    if any(spot.who is None for piece in draft.pieces for spot in piece.spots):
        return size >= 8 and bool(
            _WILL.search(text)
            or _WORK.search(text)
            or _HEALTH.search(text)
            or re.search(r"\d|用的|穿的|住的|路过|参观|参加|买了|养|学|戴", text)
        )
    return size >= 8 and bool(_WILL.search(text) and re.search(r"\d|[周月号]", text))
