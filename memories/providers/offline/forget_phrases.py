"""What a request to forget is about: which matter, and how much when it names none."""

import re
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.segmentation import tagged
from contacts.text import HAN
from memories.providers.offline.lexicons import relations
from memories.text.forget_intent import MEMORY_ZH, STORE_EN, STORE_ZH, WISH_ZH

# Something just said, or pointed at: no more than that is meant.
_JUST = re.compile(
    r"刚才|刚刚|刚说|刚提|[这那][个件句条段次些]|\b(?:just|earlier today|this|that(?! you)|those|it)\b",
    re.I,
)
# Whoever is meant is not the user, known or not.
_SOMEBODY = re.compile(r"[他她]|\b(?:he|him|his|she|her|they|them|their|ours?)\b|\w['’]s\b", re.I)
_EVERYTHING = re.compile(
    # 删除我的所有数据, 清空你的记忆
    rf"(?:所有|全部|一切|整个|[我你您]的)(?:的|个人|所有|全部|一切)*{STORE_ZH}|(?:清空|重置)(?:所有|全部|掉|了)*{STORE_ZH}"
    # 把你记住的全部删掉, 关于我的一切
    r"|[你您](?:所|都|已经)*(?:记住|记得|记下|知道|了解|掌握|保存|存)(?:了|过|下)?的(?!.{1,8}的(?:事|话))"
    rf"|(?:关于|有关)我(?:自己|本人)?的(?:一切|所有|全部|事|{STORE_ZH})"
    # 忘了我跟你说过的一切, 把一切都忘掉
    r"|我[^，。]{0,8}(?:说|讲|聊|告诉)(?:你|过|了)*的?(?:一切|所有|全部)|^(?:请|你)*把(?:一切|所有|全部)的?(?:东西|事情?)?(?:都|全|给我)*[忘删抹清]"
    r"|(?:忘掉|删除|删掉|清除|抹去)(?:一切|所有|全部)的?(?:东西|事情?)?(?:吧|了)*$"
    r"|\b(?:everything|anything|all|whatever)\b.*\b(?:you(?:['’]ve| have)?(?: ever)? (?:know|remember|learn|store|save|keep|kept|collect|got|have)"
    r"|(?:about|on) me\b|i(?:['’]ve| have)? (?:ever )?(?:told|shared|ever said)|from (?:your|the) (?:memory|records|mind))"
    r"|\bwhat(?:ever)? you (?:know|remember|have stored|stored|saved|have) (?:about|on|of) me\b"
    rf"|(?<!from )(?<!in )\b(?:my|your|all)(?: (?:of|the|my|your|entire|whole|personal|stored|saved))* {STORE_EN}\b(?! (?:of|about|on) (?!me\b))"
    r"|\b(?:forget|delete|erase|wipe|remove|purge|clear) (?:absolutely )?(?:everything|all)(?: please| now)?$",
    re.I,
)  # fmt: skip
_WHOLE = re.compile(
    rf"一切|所有|全部|都|关于|有关|的(?:事|一切)|{STORE_ZH}|印象"
    rf"|\b(?:everything|anything|about|all|{STORE_EN})\b|\bfrom your (?:mind|notes)\b",
    re.I,
)
# Asked of a bare name; not what only asks to keep nothing (别记, don't save).
_BARE = re.compile(r"忘(?!不)|删|抹|清[除空掉]|\b(?:forget|delete|erase|wipe|remove|purge)\b", re.I)
_PRONOUN = re.compile(r"[他她它]们?|him|her|them|he|she|they", re.I)


def everything(text: str) -> bool:
    """Whether a request that names no person and no matter means all that is kept."""
    return bool(_EVERYTHING.search(text)) and not (_JUST.search(text) or _SOMEBODY.search(text))


def whole_person(text: str, called: list[str]) -> bool:
    """Whether a request that names no matter of the people it ``called`` so means all about
    them. A pronoun alone is too little to hold that on."""
    if _JUST.search(text):
        return False
    if _WHOLE.search(text):
        return True
    return bool(_BARE.search(text)) and not any(map(_PRONOUN.fullmatch, called))


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
