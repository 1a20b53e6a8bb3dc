"""How much a request to forget means that names no matter: all that is kept, all about a
person, or the last thing said."""

import re

from memories.text.forget_intent import STORE_EN, STORE_ZH

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
