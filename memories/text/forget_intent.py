"""Whether a message asks to forget something, and which of its clauses do."""

import re

from memories.text.own_words import own_words
from memories.text.sentences import sentences

# Nouns that mean what is remembered, not a matter of it: 小红的记忆, Dan's records.
STORE_ZH = r"(?:记忆|数据|资料|信息|记录|档案)"
STORE_EN = r"(?:memory|memories|data|records?|info|information|details|facts|profile)"
WISH_ZH = r"我?(?:想|要|希望|需要)(?:让|叫|请)?[你您]|让[你您]"
_LEAD_ZH = rf"^(?:{WISH_ZH}|请|麻烦|拜托|求你?|你|您|能不能|可不可以|可以|能|帮我|给我|都|全部?|彻底|直接|那就?|还是|就|也|先|快|另外|还有|对了|所以|算了|刚才说的|刚说的|以后)*"
# Without such words 忘了小红 tells of somebody's bad memory.
_POLITE_ZH = rf"^(?:那|就|还是|所以|算了)*(?:请你?|麻烦你?|拜托你?|求你|{WISH_ZH}|能不能|可不可以|帮我|给我)+(?:把|都|也|就|彻底)*"
MEMORY_ZH = rf"(?:{STORE_ZH}|印象)"
_ENDS_ZH = r"(?:吧|了|好吗|行吗|可以吗|吗|啊|呀)*$"
_VERB_ZH = r"(?:忘(?:掉|了|记)|删(?:掉|除|了)|抹(?:掉|去)|清(?:除|空|掉)|移除)"
# Not what one does out of a bad memory.
_WIPE_ZH = r"(?:忘掉|删(?:掉|除|了)|抹(?:掉|去)|清(?:除|空|掉)|移除)"
_SAID_ZH = r"我(?:之?前|刚才?|刚刚|上次|以前|昨天|今天|跟你|和你|对你|给你)*(?:说|讲|提|聊|告诉)"
_LEAD_EN = r"(?:(?:oh|ok|okay|hey|and|also|actually|so|just|please|pls|can you|could you|would you|will you|you can|you should|i (?:want|need) you to|i['’]?d like you to|one more thing|then|now)[,:]?\s)*"
_VERB_EN = r"(?:forget|delete|erase|wipe|remove|clear|purge|reset|scrub)"
_ASKS = [
    re.compile(
        rf"{_LEAD_ZH}把(?P<x>.{{1,24}}?)(?:都|全|全部|全都|也|给我|给|彻底|统统)*{_VERB_ZH}"
    ),
    re.compile(
        rf"{_LEAD_ZH}{_VERB_ZH}(?:掉|了)?(?:{_SAID_ZH}|关于|有关|所有|全部|一切|这[件些个]|那[件些个]|刚才|刚刚|上次|之前)"
    ),
    re.compile(
        rf"{_LEAD_ZH}{_WIPE_ZH}"
        rf"(?:.{{1,30}}(?:这|那)(?:件事情?|个事实?|回事|事儿?){_ENDS_ZH}|[^，。]{{0,4}}(?:我|你|您)(?:自己|本人|个人|全部|所有|一切|的)*{MEMORY_ZH}|.{{0,6}}(?:你|您)(?:所|都|已经)*(?:存|记|知道|保存|了解|掌握))"
    ),
    re.compile(
        rf"{_POLITE_ZH}(?:忘记|忘了).{{1,30}}(?:这|那)(?:件事情?|个事实?|回事|事儿?){_ENDS_ZH}"
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
        r"(?:what|whatever|that|this|it(?=$|[ ,.!])(?!$)|everything|anything|the (?:thing|part|stuff|bit|fact)|all|my|him|her|i (?:ever |even |just )*(?:said|told|mentioned|brought)"
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
        rf"^{_LEAD_EN}{_VERB_EN} (?:(?:out|all|of|the|any|every|your|my|entire|whole|personal)\s)*?"
        rf"(?:(?:your|my) (?:entire |whole |personal )*{STORE_EN}\b"
        rf"|{STORE_EN} (?:that )?(?:you(?:['’]ve| have)? (?:know|hold|have|got|keep|kept|stored?|saved?|collect|remember)|(?:about|on|of|regarding|concerning) (?:me\b|us\b|my\b|(?-i:[A-Z])))"
        rf"|(?!(?:the|a|an|this line)\b).{{1,40}} from (?:your|the) (?:memory|memories|mind|records|notes))",
        re.I,
    ),
    re.compile(
        rf"^{_LEAD_EN}get rid of (?:everything|anything|what|whatever|all) .*\b(?:know|said|told|have on|stored|saved|remember|mentioned)\b",
        re.I,
    ),
]
# Shapes that fit texts, tables and keys as well: requests only where they name a known person
# or an attribute.
_ASKS_OF_SOMEBODY = [
    re.compile(
        rf"{_LEAD_ZH}{_WIPE_ZH}[^，。]{{1,12}}的(?:所有|全部|一切|任何|个人|的)*{MEMORY_ZH}{_ENDS_ZH}"
    ),
    re.compile(rf"{_LEAD_ZH}{_WIPE_ZH}我的[^，。]{{1,8}}{_ENDS_ZH}"),
    re.compile(
        rf"{_POLITE_ZH}忘(?:掉|记|了)[^，。]{{1,10}}$|^(?:就|还是)*忘[掉记][^，。]{{1,8}}吧$"
    ),
    re.compile(
        rf"^{_LEAD_EN}{_VERB_EN} (?:all |all of )?(?-i:[A-Z])[\w'’ -]{{0,30}}['’]s? {STORE_EN}$",
        re.I,
    ),
    re.compile(
        r"^(?:.*\s)?(?:please|pls|can you|could you|would you|will you|i (?:want|need) you to"
        r"|i['’]?d like you to)(?: please| just)? forget (?-i:[A-Z])[\w'’-]*(?: (?-i:[A-Z])[\w'’-]*)?"
        r"(?: please| completely| altogether| entirely)?$",
        re.I,
    ),
]
_SHAPES = (*_ASKS, *_ASKS_OF_SOMEBODY)
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
    r"忘|删|抹|清[除空掉]|移除|当.{0,6}没|[别甭]|不[要用必许准想希愿]"
    r"|forget|delete|erase|wipe|remov|disregard|strike|unlearn|pretend|get rid|don['’]?t|do not|n['’]?t want|rather|prefer|never said|no need|stop|off the record|clear|purge|reset|scrub",
    re.I,
)
# What words need at least in order to ask, where a model says that they do.
_CAN_ASK = re.compile(
    r"忘|删|抹|清[除空掉]|撤回|作废|当.{0,8}没|(?:[别甭]|不[要用必许准]).{0,6}[记存留提录]"
    r"|\b(?:forget|delete|erase|wipe|remove|disregard|strike|scrub|unlearn|scratch|get rid of"
    r"|off the record|between us"
    r"|(?:don['’]?t|do not|never)\s(?:\w+\s){0,3}?(?:save|store|keep|remember|record|note|mention))\b",
    re.I,
)
_NOT = re.compile(
    r"日程|提醒|闹钟|会议|文件|邮件|照片|相册|微信|好友|朋友圈|备忘|账号|软件|聊天记录|短信|代码|表格|缓存|浏览器"
    r"|\b(?:file|photo|picture|email|reminder|calendar|alarm|app|account|line|row|code|message|spreadsheet|browser|cache|cookie)s?\b",
    re.I,
)
_ASIDE = re.compile(
    r"^\s*(?:还有件?事|对了|算了|谢谢你?|不好意思|抱歉|哎|唉|诶|嗯+|好吧?|啊|哦|等等|另外|那个?|其实|sorry|oh|ok|okay|actually|wait|hmm+|also|hey|please|well|no)*\s*$",
    re.I,
)


def may_ask(content: str) -> bool:
    """Whether a whole message may ask to forget something: cheap, for every message."""
    if not _TRIGGERS.search(content):
        return False
    return any(asks(sentence.text) for sentence in sentences(own_words(content)))


def can_ask(text: str) -> bool:
    """Whether ``text`` has a word without which nobody asks to forget; whether it does ask is
    for a model to say."""
    return _CAN_ASK.search(text) is not None


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
        found.append(bool(tail) or any(shape.search(clause) for shape in _SHAPES))
    return found


def needs_somebody(text: str) -> bool:
    """Whether the request counts only where it names a known person or an attribute."""
    if _NEVER_SAID.search(text):
        return False
    clauses = _clauses(text)
    asking = [clause for clause, asks in zip(clauses, _asking(clauses), strict=True) if asks]
    return all(any(shape.search(clause) for shape in _ASKS_OF_SOMEBODY) for clause in asking) and (
        not any(shape.search(clause) for clause in asking for shape in _ASKS)
    )


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
