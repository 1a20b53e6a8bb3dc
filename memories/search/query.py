"""Interprets a query: its intent, the weights of word and vector search, the time that it asks
about, whether it asks for what used to be, and the questions in it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import regex

from understanding.dates.time_range import Span, span
from understanding.text import normalise


class Intent(StrEnum):
    """MIRA's four: look up a fact, explore a field, find exact words, or none of these in
    particular."""

    RECALL = "recall"
    EXPLORE = "explore"
    EXACT = "exact"
    GENERAL = "general"


#: The weights of word search and vector search (MIRA).
WEIGHTS = {
    Intent.RECALL: (0.6, 0.4),
    Intent.EXPLORE: (0.3, 0.7),
    Intent.EXACT: (0.8, 0.2),
    Intent.GENERAL: (0.4, 0.6),
}

# Words in quotation marks, or a code or number that only its exact spelling finds.
_EXACT = regex.compile(
    r"""["“「『《][^"“”「」『』《》]{2,}["”」』》]|\b\d{5,}\b|\b[a-z]+-?\d[a-z\d-]*\b|\S@\S|https?://"""
)
_EXPLORE = regex.compile(
    r"\b(tell me (more |something |everything )?about|everything (about|you know)|anything"
    r"|what do (you|we|i) know|talk about|related to|similar|ideas?|suggest|recommend"
    r"|overview|summar(y|ise|ize))\b"
    r"|介绍|说说|聊聊|讲讲|关于.{0,60}(一切|所有|事情)|有关的|相关|类似|推荐|建议|总结|概括|都知道(些)?什么"
)
_RECALL = regex.compile(
    r"\?|^(who|whom|whose|what|which|when|where|why|how|did|does|do|is|are|was|were|has|have|had"
    r"|can|could|would|will|should)\b"
    r"|谁|什么|哪|几|多少|多大|多久|多长|多高|怎么|怎样|如何|是否|是不是|有没有|为何|吗|呢$|记得"
)


def infer(query: str) -> Intent:
    """Returns the intent that the form of ``query`` shows."""
    text = normalise(query).strip()
    if _EXACT.search(text):
        return Intent.EXACT
    if _EXPLORE.search(text):
        return Intent.EXPLORE
    if _RECALL.search(text):
        return Intent.RECALL
    return Intent.GENERAL


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


def asks_past(message: str) -> bool:
    """Whether a message asks for what used to be."""
    return bool(_PAST.search(message))


@dataclass(frozen=True, slots=True)
class Understood:
    """What the form of a query shows: its intent, the time it asks about, and whether it asks for
    what used to be."""

    intent: Intent
    span: Span | None
    past: bool


def understand(query: str, intent: str | None, moment: datetime) -> Understood:
    """Returns the intent as given, else inferred, and the time as seen from ``moment`` by the
    asker's clock. Raises ValueError for an unknown intent."""
    known_intent = Intent(intent) if intent else infer(query)
    return Understood(known_intent, span(query, moment), asks_past(query))


# More parts than this are searched as one query: each costs an embedding.
MOST_PARTS = 4

_NEXT = regex.compile(
    r"(?:[。！？!?；;，,]\s*|\s)(?:另外|还有|此外|顺便(?:问一下|问问|问下)?|再问一下)[，,、]?"
    r"|[.?!;,]\s+(?:and )?(?:also|additionally|besides|another question|by the way)\b[, ]*",
    regex.IGNORECASE,
)
# Words that announce a question: what is before them is talk.
_ANNOUNCED = regex.compile(
    r"(?:想|要)(?:要?问|知道|了解|说|请教|确认|搞清楚|弄清楚|弄明白)(?:一?下)?的?(?:问题|事情?)?"
    r"(?:其实|就)?(?:是)?(?:这个|这样)?[：:，,]"
    r"|(?:问题|疑问)(?:其实|就)?是(?:这个|这样)?[：:，,]"
    r"|\bwhat i (?:really |actually )?(?:want(?:ed)?|meant|need(?:ed)?) to (?:ask|know)"
    r"(?: is| was)?[:, ]+|\bmy (?:real |actual )?question is[:, ]+",
    regex.IGNORECASE,
)


def parts(query: str) -> list[str]:
    """Returns the questions of ``query`` in order, each without the talk that leads up to it; only
    the query itself if there is nothing to divide, or too many."""
    questions = []
    for stretch in _NEXT.split(query):
        announced = [m.end() for m in _ANNOUNCED.finditer(stretch) if stretch[m.end() :].strip()]
        question = stretch[announced[-1] if announced else 0 :].strip()
        if question:
            questions.append(question)
    return questions if 0 < len(questions) <= MOST_PARTS else [query]
