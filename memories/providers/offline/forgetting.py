"""Requests to forget: whether a sentence is one, whom it is about, and which matter of theirs."""

import re
from dataclasses import dataclass

from memories.providers.offline.lexicons import relations
from memories.providers.offline.names import tagged
from memories.providers.offline.text import own_words, sentences

_LEAD_ZH = r"^(?:请|麻烦|拜托|求你?|你|您|能不能|可不可以|可以|帮我|给我|都|全部?|直接|那就?|还是|就|也|先|快|另外|还有|对了|所以|算了|刚才说的|刚说的|以后)*"
_VERB_ZH = r"(?:忘(?:掉|了|记)|删(?:掉|除|了)|抹(?:掉|去)|清(?:除|空|掉))"
_SAID_ZH = r"我(?:之?前|刚才?|刚刚|上次|以前|昨天|今天|跟你|和你|对你|给你)*(?:说|讲|提|聊|告诉)"
_LEAD_EN = r"(?:(?:oh|ok|okay|hey|and|also|actually|so|just|please|pls|can you|could you|would you|will you|you can|you should|i want you to|i['’]?d like you to|one more thing|then|now)[,:]?\s)*"
_ASKS = [
    re.compile(
        rf"{_LEAD_ZH}把(?P<x>.{{1,24}}?)(?:都|全|全部|全都|也|给我|给|彻底|统统)*{_VERB_ZH}"
    ),
    re.compile(
        rf"{_LEAD_ZH}{_VERB_ZH}(?:掉|了)?(?:{_SAID_ZH}|关于|有关|所有|一切|这[件些个]|那[件些个]|刚才|刚刚|上次|之前)"
    ),
    re.compile(
        rf"(?:{_SAID_ZH}.{{0,16}}|这件?事|那件?事|这个|那个|这些|那些|刚才那?句?话?)(?:请|你|都|也|就|全)*{_VERB_ZH}吧"
    ),
    re.compile(
        r"(?:^|[的话事个些句段])(?:请|麻烦|你|都|也|就|千万|可|先|最好|以后)*(?:别|不要|不用|甭)(?:帮我|给我|替我|再|去|把.{1,8})*(?:记(?!得|恨|错|者|仇|性)|存(?!钱)|保存|保留)"
    ),
    re.compile(
        r"^(?:.{0,10}[话事句个段的])?(?:你|您|请|那|就|还是|所以|算了|麻烦|权|都|全)*当(?:作|做|成)?(?:我|刚才|什么)*(?:也|都|从来|从)*没(?:说|提|讲|听见|听到|听过|发生)"
    ),
    re.compile(
        r"不(?:想|希望|愿意?)(?:让|叫)?你(?:再|还|一直)*(?:记|存|保留)|(?:别|不要|不用|甭)(?:再|给我|帮我)*留(?:底|存|档|记录)"
    ),
    re.compile(
        rf"^{_LEAD_EN}"
        r"(?:please\s)?(?:forget|delete|erase|wipe|remove|disregard|strike|unlearn|don['’]?t (?:save|store|remember|record|keep|note)|do not (?:save|store|remember|record|keep))\s"
        r"(?:what|whatever|that|this|it(?=$|[ ,.!])(?!$)|everything|anything|the (?:thing|part|stuff|bit)|all|my|him|her|i (?:ever |even |just )*(?:said|told|mentioned|brought)"
        r"|about (?:(?-i:[A-Z])|what|everything|anything|all\b|my\b|our\b|him\b|her\b|them\b|.*\bi (?:just )?(?:told|said|mentioned)))",
        re.I,
    ),
    re.compile(
        rf"^{_LEAD_EN}(?:don['’]?t|do not|never) (?:save|store|record|log|note|write) (?:it|that|this|any of (?:it|that|this))(?: down)?\b",
        re.I,
    ),
    re.compile(
        rf"^{_LEAD_EN}(?:let['’]?s |let us |can we |could we )?pretend (?:that )?i (?:never|did ?n['’]?t|had ?n['’]?t)\b",
        re.I,
    ),
    re.compile(
        r"^(?:please )?(?:i['’]?d rather you|i would rather you|i['’]?d prefer (?:that )?you|i don['’]?t want you to|i do not want you to)(?: not| did ?n['’]?t| don['’]?t)?(?: to)? (?:remember|keep|save|store|record|know)(?:ing)? (?:that|this|it|what|any)",
        re.I,
    ),
    re.compile(
        rf"^{_LEAD_EN}stop (?:remember|stor|sav|record|keep)ing (?:things?|that|this|it|stuff|anything|everything|what|track)\b",
        re.I,
    ),
    re.compile(
        rf"^{_LEAD_EN}(?:there['’]?s |there is )?(?:no need|(?:you )?(?:don['’]?t|do not) (?:need|have)|you needn['’]?t) (?:to )?(?:remember|save|store|keep|record) (?:that|this|it|any of)\b",
        re.I,
    ),
    re.compile(r"\boff the record(?: please)?$", re.I),
    re.compile(
        rf"^{_LEAD_EN}get rid of (?:everything|anything|what|whatever|all) .*\b(?:know|said|told|have on|stored|saved|remember|mentioned)\b",
        re.I,
    ),
]
# A clause that asks beside one that says what is meant: 关于小兰的那些话，你忘了吧.
_TAIL_ZH = r"(?:请|麻烦|也|都|就|全部?|全都|给我|帮我|直接|彻底|统统|一并)*"
_TAILS = re.compile(
    rf"^(?:你|您){_TAIL_ZH}{_VERB_ZH}(?:吧|好了|好吗|行吗|可以吗)$|^{_TAIL_ZH}{_VERB_ZH}(?:吧|好了|好吗|行吗)?$"
    r"|^(?:and |then |so |please |just |you can )*(?:forget|delete|erase|wipe|remove) (?:it|them)(?: all)?(?: please)?$",
    re.I,
)
_TOLD = re.compile(
    rf"{_SAID_ZH}|关于|有关|的(?:事情?|话|一切|内容)|这件?事|那件?事|\b(?:i|i['’]ve) (?:just |ever )*(?:said|told|mentioned)\b|\bi never said\b",
    re.I,
)
_NEVER_SAID = re.compile(
    r"^i never said (?:that|this|anything)\s*,?\s*(?:ok|okay|right|alright|deal|yeah)\b", re.I
)  # fmt: skip
# Without one of these no sentence is a request.
_TRIGGERS = re.compile(
    r"忘|删|抹|清[除空掉]|当.{0,6}没|[别甭]|不[要用必许准想希愿]"
    r"|forget|delete|erase|wipe|remov|disregard|strike|unlearn|pretend|get rid|don['’]?t|do not|n['’]?t want|rather|prefer|never said|no need|stop|off the record",
    re.I,
)
_NOT = re.compile(
    r"日程|提醒|闹钟|会议|文件|邮件|照片|相册|微信|好友|朋友圈|备忘|账号|软件|聊天记录|短信|代码"
    r"|\b(?:file|photo|picture|email|reminder|calendar|alarm|app|account|line|row|code|message)s?\b",
    re.I,
)
_ASIDE = re.compile(
    r"^\s*(?:还有件?事|对了|算了|谢谢你?|不好意思|抱歉|哎|唉|诶|嗯+|好吧?|啊|哦|等等|另外|那个?|其实|sorry|oh|ok|okay|actually|wait|hmm+|also|hey|please|well|no)*\s*$",
    re.I,
)
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
    r"我(?:之前|刚才|刚刚|上次|以前|跟你|和你)*(?:说|提|讲|告诉你?)(?:过|了)?(?:的)?|关于|有关|那[些个件]?|这[些个件]?|的?(?:事情?|话|内容|信息|东西|部分)|一切|所有|全部|全都"
    r"|忘(?:掉|了|记)|抹掉|抹去|清除|清空|删(?:掉|除|了)|(?:别|不要|不用|甭)再?(?:记(?:着|住|下来?|录|得)?|存|保存|保留)|当我?没(?:说|提)过?|不想"
    r"|把|都|吧|请|麻烦|算了|还有|以后|千万|过|掉|下来|"
    r"\b(?:please|pls|forget|delete|erase|wipe|remove|disregard|strike|unlearn|what|that|this|everything|anything|about|the|thing|part|stuff|bit|"
    r"all|i|i've|said|told|tell|mentioned|you|just|earlier|before|from|don['’]?t|do|not|save|store|remember|record|keep|can|could|actually|also|and|"
    r"him|her|he|she|his|it|its|was|is|my|of|to|again|ever|want|hear|name|'s|ok|okay|so|now|me|know|we|talked|discussed|for|on|with)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Request:
    """``words`` and ``keys`` narrow it to a matter; ``last``: neither a person nor a matter
    is named, so the last statement is meant."""

    words: tuple[str, ...]
    keys: tuple[str, ...]


def may_ask(content: str) -> bool:
    """Whether a whole message may ask to forget something: cheap, for every message."""
    if not _TRIGGERS.search(content):
        return False
    return any(asks(sentence.text) for sentence in sentences(own_words(content)))


def asks(text: str) -> bool:
    """Whether one of the clauses asks to forget something that was said."""
    return bool(_NEVER_SAID.search(text) or any(_asking(_clauses(text)))) and not _NOT.search(text)


def _clauses(text: str) -> list[str]:
    return re.split(r"[，,；;。]\s?", text.strip().rstrip("。.!！~～?？"))


def _asking(clauses: list[str]) -> list[bool]:
    """Which clauses ask: by themselves, or as they stand beside what is meant."""
    told = [bool(_TOLD.search(clause)) for clause in clauses]
    found = []
    for number, clause in enumerate(clauses):
        tail = _TAILS.search(clause) and (clause[:1] in "你您" or any(told[:number]))
        found.append(bool(tail) or any(shape.search(clause) for shape in _ASKS))
    return found


def request(text: str) -> str:
    """The clauses of ``text`` that ask or say what is meant, without those beside them."""
    clauses = _clauses(text)
    asking = _asking(clauses)
    kept = [
        clause
        for number, clause in enumerate(clauses)
        if asking[number] or _is_topic(clauses, asking, number)
    ]
    return "，".join(kept) or text


def _is_topic(clauses: list[str], asking: list[bool], number: int) -> bool:
    """Whether the next clause asks to forget what this one names."""
    after = number + 1
    following = after < len(clauses) and asking[after] and _TAILS.search(clauses[after])
    return bool(following and _TOLD.search(clauses[number]))


def stands_alone(text: str) -> bool:
    """Whether nothing is stated beside the request, so that it means what was said before:
    in 她的卡号是…，你别记 it means the words right before it."""
    clauses = _clauses(text)
    asking = _asking(clauses)
    first = asking.index(True) if True in asking else 0
    return all(
        _ASIDE.match(clause) or _is_topic(clauses, asking, number)
        for number, clause in enumerate(clauses[:first])
    )


def matter(text: str, people: list[str]) -> Request:
    """What of them is to be forgotten; ``people`` are the words in ``text`` that mean persons."""
    for person in sorted(people, key=len, reverse=True):
        text = text.replace(person, " ")
    plain = _FILLER.sub(" ", text)
    keys = dict.fromkeys(key for shape, keys in TOPICS if shape.search(plain) for key in keys)
    words = [
        word
        for word, flag in tagged(plain)
        if len(word) > 1 and (flag[0] in "nvaijelx" or flag == "eng") and word.strip()
    ]
    words = [w for w in words if w.lower() not in relations() and not re.fullmatch(r"\W+", w)]
    return Request(tuple(dict.fromkeys(words)), tuple(keys))
