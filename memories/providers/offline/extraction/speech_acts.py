"""What a sentence does: state something, or ask, order, greet, suppose, joke, gossip."""

import re
from enum import Enum, auto

from contacts.text import HAN


class Act(Enum):
    """Only STATES and HEDGED may yield memories; the words of MAKES belong to a work to be made."""

    STATES = auto()
    HEDGED = auto()
    ASKS = auto()
    ORDERS = auto()
    MAKES = auto()
    GREETS = auto()
    SUPPOSES = auto()
    GOSSIPS = auto()
    JOKES = auto()
    INJECTS = auto()


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.I)


_INJECTS = _any(
    r"ignore (?:all |any |the )?(?:previous|prior|above|earlier)", r"disregard (?:all|the|previous|any)",
    r"忽略(?:之前|以上|上面|前面|所有|此前)", r"无视(?:之前|以上|上面)", r"you (?:must|are now|will now|should always)\b",
    r"system prompt", r"系统提示词?", r"从现在(?:开始|起)你", r"你(?:必须|现在是|要永远|以后必须)", r"remember that you\b",
    r"new instructions?:", r"^\s*(?:system|assistant)\s*:",
)  # fmt: skip
_WORK_ZH = r"翻译|润色|改写|改写成|总结|概括|摘要|校对|续写|扩写|缩写|仿写|造句|写(?!字|作业|的)|编(?:一|个|段)|起(?:一?个|几个)?(?:名|标题)|生成|转成|改成英文|看下这|看看这|看下下面|看看下面|分析(?:一下)?(?:这|下面)|解释(?:一下)?(?:这|下面)"
_MAKES = _any(
    rf"^(?:请|麻烦|你|能不能|可以|再|来|那|然后|好的?)?(?:你)?(?:帮|给|替|为)?(?:我|忙)?(?:再)?(?:把\S{{0,8}})?(?:{_WORK_ZH})",
    rf"(?:帮我|请你?|麻烦你?|能帮我|给我)\S{{0,8}}(?:{_WORK_ZH})",
    r"^(?:please |can you |could you |would you |pls |now |ok,? |hey,? |then )*(?:help me )?(?:to )?(?:write|translate|summari[sz]e|rewrite|proofread|draft|paraphrase|rephrase|edit|polish|compose|generate|fix (?:this|the|my)|debug|refactor|explain (?:this|the)|tl;?dr|shorten|correct (?:this|the|my)|review (?:this|the|my) (?:text|essay|email|code|resume|cv))\b",
    r"怎么翻译|用英[文语]怎么说|翻译成|how do you say|in (?:french|spanish|english|chinese|german) please|^(?:例句|原文|翻译|译文|题目|example|sentence)[:：]",
)  # fmt: skip
_ORDERS = _any(
    r"^(?:请|麻烦|求|劳驾)", r"^(?:你)?(?:帮|替)(?:我|忙)", r"^(?:给我|再来|来[一个点首段]|讲[个一]|说[个说]|推荐|查[一下查]|列[个一出]|订[个一]|设[个置]|提醒我|告诉我|加上|改一版|删|取消|打开|播放|接着|继续|换一?个|叫上|把\S+(?:加|删|改|发|记))",
    r"(?:(?:^|记得|到时候?|以后|[你请])提醒我|(?:^|[你请]|记得|顺便|麻烦)帮我(?!忙)|(?:也|都|千万|全)别|别(?:再|老|给我|忘了?|提醒|告诉|推荐|搞混|剧透)|不要(?:再|给我|提醒|推荐)|你(?:别|不要|能|可以|来|帮|看着|先|给|再)|让你|^(?:那|但|不过)?你(?!们)|(?:可以|不用|别|要|能)(?:记|存)(?:下来|一下|着)?$)",
    r"^(?:please|pls|can you|could you|would you|will you|remind me|tell me|give me|show me|help me|find|recommend|suggest|book|schedule|set|add|create|make (?:a|me)|list|search|look up|play|let's|let us|don't (?:tell|forget|remind|suggest|recommend)|do not|stop|go on|continue|keep|try|send)\b",
)  # fmt: skip
_NOTE = re.compile(
    r"^(?:请|麻烦|你|先|那你|帮我|给我|对了|顺便|也)*(?:帮我)?(?:记一下|记住|记下来?|记着|备注一下|记一笔|存一下|记个)(?:一下)?[：:，, ]*(?:吧|哈|啊)?"
    r"|^(?:please |also |and |pls |just )*(?:remember(?: that)?|note(?: that| down)?|make a note(?: that)?|for the record|fyi|just so you know|keep in mind(?: that)?|jot down)\b[,:]?\s*",
    re.I,
)
_ASKS = _any(
    r"[?？]", r"(?:吗|么|呢吗|没有呢|咋样|怎么样|如何|怎么办|为什么|为啥|是谁|是啥|干嘛|哪里|哪儿|多少钱?|几点|是不是|有没有|要不要|能不能|可不可以|会不会|好不好|行不行|该不该|对不对)(?:了|呢|啊|呀|来着|好)?$",
    r"^(?:what|when|where|who|whom|why|how|which|whose|is|are|was|were|do|does|did|can|could|should|shall|will|would|has|have|any idea|isn't|aren't|don't you|didn't)\b.*(?:\?|\bor not$)",
    r"^(?:怎么|什么|谁|哪|为什么|几|多少|有什么|有啥|咋)",
)  # fmt: skip
_SUPPOSES = _any(
    r"如果|要是|假如|假设|倘若|若是|万一|要不是|就算|哪怕|除非|敢\S{1,8}就|再\S{1,8}我就|的话(?=[，,。]|$)", r"(?:哪天|有一天|有朝一日)\S{0,8}(?:真|会|能)", r"瞎想|幻想|想象一下|做梦|梦到|梦见|白日梦|脑补|打个比方|比如说?我|恨不得|巴不得|但愿|要是能",
    r"(?<!as )(?<!even )(?<!see )(?<!wonder )(?<!asked )(?<!ask )(?<!know )\bif\b(?! (?:you|that) (?:know|makes|helps))", r"\b(?:imagine|suppose|supposing|what if|hypothetically|in theory|i wish|dreamt|dreamed|had a dream|pretend|say i)\b", r"\bi'?d (?:buy|move|quit|be|go|have|take|give|build|live|travel|marry)\b", r"\bwould(?:n't)? have\b",
)  # fmt: skip
_GOSSIPS = _any(
    r"听(?:说|人说|\S{1,6}说|闻|来的|来)", r"据说|据传|传言|传闻|谣言|八卦|风声|小道消息|有人说|(?:都|在|有人)在?传|说是(?=\S{4,})|谁知道|真假|不知真假|也不知道?真|不太信|别当真|也就听听",
    r"\b(?:i (?:just )?heard|rumou?rs?|rumou?red|gossip|apparently|supposedly|allegedly|people (?:say|are saying)|word is|they say|someone (?:said|told)|swears? (?:that|she|he|he's|she's)|hearsay)\b",
)  # fmt: skip
_HEDGES = _any(
    r"好像|似乎|可能|估计|大概|也许|说不定|应该是|貌似|看样子|感觉(?:他|她)|怀疑|猜|没定|不确定|还没决定", r"\b(?:maybe|perhaps|might|probably|seems?|seemingly|i think|i guess|not sure|i suspect|could be|possibly|i bet|looks like)\b",
)  # fmt: skip
_LAUGHS = _any(r"哈{2,}|笑死|233|\bl(?:ol|mao)\b|\bhaha|😂|🤣|\brofl\b")
_JOKES = _any(
    r"开(?:个)?玩笑|骗你的?|逗你的?|逗你玩|才怪|说笑|可真是[“\"]|真是[“\"]|瞎说的|玩梗|反话|假的啦", r"\b(?:just kidding|kidding|jk|joking|just joking|not really lol|as if|yeah right|sarcasm)\b|/s\b",
    r"(?:气|笑|累|困|饿|烦|吓|热|冷|急|羞|尴尬)死(?:了|我)", r"一万[次遍年]|八百[次遍年]|一百遍|上辈子|下辈子|外星人|超能力|宇宙第一|想吃了他|掐死|打死",
    r"\b(?:a million times|a thousand times|literally (?:died|dying|dead)|from mars|i'?ll kill|gonna kill|could kill)\b",
)  # fmt: skip
_REPORTS = _any(
    r"(?:说|吹|号称|声称|扬言|炫耀|嚷嚷|吵)\S{0,12}(?:要|自己|是|去)",
    r"\b(?:says?|said|claims?|claimed|swears?|jokes?|joked|insists?|announced)\b",
)
_GREETS = re.compile(
    r"^(?:嗨|你好|您好|哈喽|早上好|早安|晚安|晚上好|下午好|早|再见|拜拜|谢谢|多谢|谢啦|感谢|辛苦了?|好的?|好吧|好嘞|好呀|嗯+|哦+|噢|啊|对|对的|是的|没错|行|可以|没事|没关系|知道了|明白|收到|了解|哈+|嘿嘿|呵呵|算了|还行|不错|真好|太好了|也是|"
    r"差不多了?|刚刚好|都?平安|都好|挺好|不用|不用了|先不用|没有|没|不是|是|要|不要|够了|清净|完美|厉害|加油|就这个|就这样|在吗|hello|hi|hey|thanks?|thank you|thx|ty|ok|okay|got it|sure|yes|yeah|yep|no|nope|nah|cool|great|nice|perfect|awesome|bye|good (?:morning|night|evening)|see you|lol|haha|hmm+|wow|right|exactly|true|please|sorry|never ?mind|fine|alright|will do|sounds good|done|oops|ugh|meh)"
    r"(?:呀|啊|哦|呢|啦|哈|嘛|吧|了|的|你|谢谢| you| then| thanks| so much| a lot| lol| haha|ah)*$",
    re.I,
)  # fmt: skip


def judge(text: str, end_mark: str = "") -> Act:
    """What ``text`` does, the strongest reading first."""
    whole = text + end_mark
    if _INJECTS.search(text):
        return Act.INJECTS
    if _GREETS.match(text.strip(" ,，。.!！~～")):
        return Act.GREETS
    if _MAKES.search(text):
        return Act.MAKES
    if _SUPPOSES.search(text):
        return Act.SUPPOSES
    if _JOKES.search(text) or (_LAUGHS.search(text) and _REPORTS.search(text)):
        return Act.JOKES
    if _GOSSIPS.search(text):
        return Act.GOSSIPS
    if _ASKS.search(whole):
        return Act.ASKS
    if _ORDERS.search(text):
        return Act.ORDERS
    return Act.HEDGED if _HEDGES.search(text) else Act.STATES


def without_note(text: str) -> str:
    """``text`` without a leading "note down that": what follows is a statement."""
    match = _NOTE.match(text)
    return text[match.end() :] if match else text


def laughs(text: str) -> bool:
    """Whether the speaker laughs about what they say."""
    return bool(_LAUGHS.search(text))


def reports_plan(text: str) -> bool:
    """Somebody's own grand announcement (told with a laugh, it is a joke)."""
    return bool(re.search(r"要(?:去|当|报名|参加|竞选|娶|嫁)|going to|gonna|will\b", text)) and (
        HAN.search(text) is None or len(text) > 3
    )


def tells_tall_tale(text: str) -> bool:
    """Somebody said to be something by their own account (told with a laugh, it is a joke)."""
    return bool(
        re.search(
            r"说(?:他|她|自己)+是|\b(?:says?|said|claims?|claimed)\s(?:that\s)?(?:he|she)(?:'s| is| was)\b",
            text,
        )
    )


# Stages on which nobody's relatives appear: saying that one will is a manner of speaking.
_STAGES = _any(
    r"奥运|世界杯|诺贝尔|奥斯卡|格莱美|好莱坞|\bNBA\b|国家队|国足|春晚|选秀|选美|世界冠军|首富|总统|联合国|登月|月球|火星|宇航员|太空|超级英雄|长生不老|征服世界|统治世界",
    r"\b(?:olympics?|world cup|nobel|oscars?|grammys?|hollywood|super bowl|world champion|president|astronaut|the moon|mars|take over the world|superhero)\b",
)
_EYES_ROLL = _any(
    r"翻\S{0,4}白眼|白眼翻|吹牛|吹\S{0,3}上天|做梦|逗[我你大]|搞笑|太逗|笑[死喷翻岔疯]|没(?:人|谁)信|谁信|不减当年|皮一下|贫嘴|耍宝|嘴贫",
    r"\broll(?:ed|s|ing)? (?:her|his|my|their) eyes|\bin (?:his|her) dreams\b|\byeah right\b|\bas if\b|\bsure thing, \w+\b",
)
_ANNOUNCES = _any(
    r"(?:要|想|准备|打算)(?:去|来|当|做|上|报名|参加|竞选|进军|拿|挑战|拯救|征服)|报名", r"\b(?:going to|gonna|will|would|wants? to|plans? to|signing up|trying out|run for|'ll)\b"
)  # fmt: skip


def boasts(text: str, sentence: str) -> bool:
    """An announcement nobody takes at its word: told as somebody's saying, and bound for a
    stage out of reach or met with rolled eyes in the same breath."""
    if not _REPORTS.search(sentence):
        return False
    if _STAGES.search(text) and _ANNOUNCES.search(text):
        return True
    said = _REPORTS.search(text) or _ANNOUNCES.search(text)
    return bool(said and _EYES_ROLL.search(sentence))


def is_joke_confession(text: str) -> bool:
    """The speaker says that what went before was a joke."""
    return bool(
        re.search(
            r"开(?:个)?玩笑|骗你的?|逗你(?:的|玩)|说笑|瞎说的|just kidding|\bkidding\b|\bjk\b|\bjoking\b|(?:was|it's) a joke",
            text,
            re.I,
        )
    )
