"""How much a memory that is no longer true still counts, and when a message asks for such.

What was found false is forgotten along a curve with a half-life (exponential forgetting:
Ebbinghaus 1885), the less certain the finding the less of it: TiMemory's forgetting
confidence, with a gradually falling weight. For a question about what used to be, nothing
is lost.
"""

import regex

# Days after which half of what is to be lost is lost, and the most that may be.
HALF_LIFE = 90
SHARE = 0.6

_PAST = regex.compile(
    r"\bused to\b|\bformer(?:ly)?\b|\bprevious(?:ly)?\b|\bback then\b|\bin the past\b|\bat the time\b"
    r"|\bearlier in\b|\bonce (?:was|were|had|lived|worked|loved|liked)\b|\bno longer\b|\banymore\b"
    r"|\bbefore (?:that|this|the (?:move|change|break-?up|switch))\b|\b(?:old|ex-?|last) (?:job|company|employer|address|flat|apartment|boss|boyfriend|girlfriend)\b"
    r"|^(?>(?s:.*?)\b(?:did|was|were|had)\b)(?s:.*)\bbefore\s*[?.!]*$"
    r"|\b(?:did|was|were|had|has|have|hasn['’]?t|haven['’]?t|didn['’]?t)\b(?! you\b).{1,40}\bever\b(?! since)"
    r"|(?:喜欢|讨厌|爱|恨|迷|追|住|养|当|做|干|学|用|待|谈|交往|结婚|单身|叫|姓)过(?!敏|来|去|年|节|期|生日|程)"
    r"|以前|之前(?:是|在|的|住|喜欢|做|爱)|从前|过去(?:是|在|住|喜欢|做|爱|的)|曾经|当初|当年|原来(?:是|在|的|住|喜欢|做|叫)"
    r"|原先|早先|本来(?:是|在|的|住|喜欢|做)|上一[份个任家]|前一[份个任家]|旧(?:工作|公司|住址|地址|手机)|前(?:公司|单位|男友|女友|老板|上司|任)",
    regex.IGNORECASE,
)


def history_weight(confidence: float, days: float) -> float:
    """The part of its score that an outdated memory keeps ``days`` after it was found out,
    with that ``confidence`` (0..1): 1 - confidence · SHARE · (1 - 0.5 ^ (days / HALF_LIFE)).
    Falls from 1, never below 1 - SHARE."""
    faded = 1 - 0.5 ** (max(days, 0.0) / HALF_LIFE)
    return 1 - confidence * SHARE * faded


def asks_past(message: str) -> bool:
    """Whether a message asks for what used to be."""
    return bool(_PAST.search(message))
