"""Which matter a request to forget means."""

import re
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.segmentation import tagged
from contacts.text import HAN
from memories.providers.offline.lexicons import relations
from memories.text.forget_intent import MEMORY_ZH, STORE_EN, WISH_ZH

# Topics by which people ask, and the attributes under which what they told was kept.
TOPICS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(words, re.I), keys)
    for words, keys in (
        (r"药|\b(?:meds?|medications?|medicines?|pills?|prescriptions?|antidepressants?)\b", ("medication",)),
        (r"病|健康|身体|情绪|抑郁|怀孕|手术|\b(?:health|illness|sick(?:ness)?|diagnosis|condition|depress\w+|therapy|surgery|pregnan\w+)\b", ("health", "medication")),
        (r"过敏|\ballerg\w+", ("allergy",)),
        (r"工作|上班|公司|职业|离职|跳槽|\b(?:job|work|career|company|employer)\b", ("job_title", "company", "former_company", "workplace")),
        (r"工资|薪|收入|欠债|欠钱|存款|\b(?:salary|income|money|debts?|savings)\b", ("income", "salary", "debt")),
        (r"感情|恋爱|分手|离婚|结婚|婚姻|\b(?:divorce|breakup|break-up|marriage|relationship|dating)\b", ("marital_status",)),
        (r"住址|地址|住哪|\b(?:address|where (?:he|she|i) lives?)\b", ("location", "address")),
        (r"生日|\bbirthday\b", ("birthday",)),
        (r"年龄|岁数|\bage\b", ("age",)),
        (r"电话|手机号|\bphone\b", ("phone",)),
    )
)  # fmt: skip
_FILLER = re.compile(
    rf"{WISH_ZH}|能不能|可不可以|可以|帮我|给我|彻底|统统|以及|你(?:所|都|已经)*(?:记住|记得|记下|知道|了解|掌握|存|保存)(?:了|过)?的?|对(?=\s)|个人|任何|{MEMORY_ZH}|"
    r"我(?:之前|刚才|刚刚|上次|以前|跟你|和你)*(?:说|提|讲|告诉你?)(?:过|了)?(?:的)?|关于|有关|那[些个件]?|这[些个件]?|的?(?:事实|事情?|回事|(?<![电神童])话|内容|信息|东西|部分)|一切|所有|全部|全都"
    r"|忘(?:掉|了|记)|抹掉|抹去|清除|清空|删(?:掉|除|了)|(?:别|不要|不用|甭)再?(?:记(?:着|住|下来?|录|得)?|存|保存|保留)|当我?没(?:说|提)过?|不想"
    r"|把|都|吧|请|麻烦|算了|还有|以后|千万|过(?!敏)|移除|掉|下来|"
    r"\b(?:please|pls|forget|delete|erase|wipe|remove|disregard|strike|unlearn|what|that|this|everything|anything|about|the|thing|part|stuff|bit|"
    r"all|i|i've|said|told|tell|mentioned|you|just|earlier|before|from|don['’]?t|do|not|save|store|remember|record|keep|can|could|actually|also|and|"
    r"him|her|he|she|his|it|its|was|is|my|of|to|again|ever|want|hear|name|'s|ok|okay|so|now|me|know|we|talked|discussed|for|on|with|"
    r"in|at|a|an|am|are|were|has|have|had|clear|purge|reset|scrub|get|rid|would|will|like you|need|should|that['’]s|any|every|fact|entire|whole|personal|completely|altogether|"
    rf"stored?|saved?|kept|collected|learn(?:ed|t)|ever|your|mind|notes|{STORE_EN})\b",
    re.I,
)


# Verbs that many memories share: they name no matter beside a word that does.
_COMMON = words("grammar_en", "shared_verbs") | words("grammar_zh", "shared_verbs")

# Nouns of one character that say nothing of what is meant.
_VAGUE = words("grammar_zh", "vague")


@dataclass(frozen=True, slots=True)
class Request:
    """``words`` and ``keys`` narrow it to a matter; neither: no matter is named. ``kin``: words
    for somebody (前女友, ex), who need not be known."""

    words: tuple[str, ...]
    keys: tuple[str, ...]
    kin: tuple[str, ...] = ()


def matter(text: str, people: list[str]) -> Request:
    """What of them is to be forgotten; ``people`` are the words in ``text`` that mean persons."""
    for person in sorted(people, key=len, reverse=True):
        text = text.replace(person, " ")
    plain = _FILLER.sub(" ", text)
    keys = dict.fromkeys(key for shape, keys in TOPICS if shape.search(text) for key in keys)
    words = [
        word
        for word, flag in tagged(plain)
        if (len(word) > 1 and (flag[0] in "nvaijelx" or flag == "eng") and word.strip())
        or (flag[0] == "n" and word not in _VAGUE and HAN.match(word))
    ]
    kin = [w for w, _ in tagged(plain) if w.lower() in relations()]
    words = [w for w in words if w not in kin and not re.fullmatch(r"\W+", w)]
    words = [w for w in words if w.lower() not in _COMMON] or words
    return Request(tuple(dict.fromkeys(words)), tuple(keys), tuple(dict.fromkeys(kin)))
