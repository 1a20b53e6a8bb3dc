"""What a sentence is about beyond its words: an attribute of a person, a time, a relative.

Each becomes a token of its own, so that 老家 finds 家乡 and hometown, 母亲 finds 妈 and mum,
and a question for a time finds sentences that have one (predictive annotation: Prager,
Brown, Coden and Radev, "Question-answering by predictive annotation", SIGIR 2000).
Tokens of text hold no letters before a colon, so these never meet them.
"""

from functools import cache

import regex

from contacts.roles import terms

HAS_TIME = "has:time"
ROLE = "role:"
# A question for a time asks for it more than for any of its words. Measured: 2 to 3.
TIME_WEIGHT = 2.5

# The attributes of people as they are stated and asked for (keys: contacts.attributes).
# Compiled by hand.
_ABOUT = {
    "hometown": r"老家|家乡|籍贯|故乡|祖籍|[哪那][里儿]人|[^\d\W的个些是有好一二两三四五六七八九十百千万多男女大别]人(?=[啊呀呢。，,？?！!]|$)"
    r"|\bhometown|native of|\bgrew up|\bcomes? from",
    "company": r"单位|公司|企业|上班|任职|供职|就职|东家|\bemployer|\bcompan(?:y|ies)|\bfirm\b"
    r"|\bwork(?:s|ed|ing)? (?:at|for)\b",
    "job_title": r"职业|职位|岗位|职务|行业|工作|干什么|做什么|干嘛的|[做干当是][\p{Han}]{0,4}(?:行的?|职位)"
    r"|是[做干当]|\bjobs?\b|\boccupation|\bprofession|\bcareer|\bwork(?:s|ed|ing)? as\b|for a living",
    "workplace": r"工作地|在.{1,8}(?:上班|工作)|(?:上班|工作)的?地",
    "phone": r"电话|手机号|联系方式|\bphone|\bmobile number|\bcell number",
    "email": r"邮箱|邮件|电邮|\be-?mail",
    "birthday": r"生日|出生|\bbirthday|\bborn\b",
    "age": r"年龄|年纪|岁数|\d岁|[一二三四五六七八九十]岁|几岁|多大|\bage\b|years? old|\bhow old",
    "education": r"学历|教育|毕业|文凭|本科|专科|大专|硕士|博士|高中|\bdegree|\beducat|\bgraduat|\bdiploma",
    "interests": r"爱好|兴趣|喜欢|热爱|钟爱|喜爱|\bhobb(?:y|ies)|\binterest|\benjoy|\bpassion|\bfond of",
    "name": r"名字|姓名|名叫|叫|称呼|\bnamed?\b|\bcalled\b",
    "height": r"身高|个子|多高|\d ?(?:cm|厘米|公分)|\bheight|\btall\b",
    "location": r"住在|住址|居住|家住|搬[到去]|\blives? (?:in|at)|\bliving in|\baddress\b|\bmoved to",
}
_ABOUT_PATTERNS = {f"about:{key}": regex.compile(pattern) for key, pattern in _ABOUT.items()}

_TIMES = regex.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|since|just|weekend|weeks?"
    r"|months?|years?|days?|birthday|this (?:morning|summer|winter|spring|fall|autumn)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july"
    r"|august|september|october|november|december|(?:19|20)\d\d|\d+(?:st|nd|rd|th))\b"
    r"|昨|今[天晚早年]|明[天晚早年]|后天|前天|上(?:周|个?月|个?星期)|下(?:周|个?月|个?星期)|去年|周末"
    r"|星期|礼拜|\d+[年月日号点]|[一二三四五六七八九十]+[年月日号点]|以前|最近|刚才|小时候"
)
_ASKS_TIME = regex.compile(
    r"\b(?:when|what (?:date|day|year|month|time)|how long|how many (?:days|weeks|months|years)"
    r"|which (?:year|month|day|date))\b"
    r"|什么时候|何时|哪[年天月]|哪一[年天月]|几[点月号]|多久|什么时间|啥时候|时间是"
)


def about(norm: str) -> list[str]:
    """The attributes that a normalised text states or asks for."""
    return [token for token, pattern in _ABOUT_PATTERNS.items() if pattern.search(norm)]


def has_time(norm: str) -> bool:
    """Whether a normalised text says when."""
    return bool(_TIMES.search(norm))


def asks_time(norm: str) -> bool:
    """Whether a normalised question asks when, or for how long."""
    return bool(_ASKS_TIME.search(norm))


def role(word: str) -> tuple[str, ...]:
    """What a word calls someone: 妈, 母亲 and mum are the same; () for any other word."""
    return _roles().get(word, ())


@cache
def _roles() -> dict[str, tuple[str, ...]]:
    # Professions tell what someone does, not who they are to the user.
    named: dict[str, tuple[str, ...]] = {}
    for word, roles in terms().items():
        tokens = (
            ROLE + "-".join([role.kind, *sorted(role.tags)])
            for role in roles
            if role.subtype != "other"
        )
        named[word] = tuple(dict.fromkeys(tokens))
    return named
