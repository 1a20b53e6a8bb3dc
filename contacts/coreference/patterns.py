"""Words that point back at people, and words that bring in those who are not contacts.

Closed classes (pronouns, demonstratives, speech and transfer verbs) follow the reference
grammars: Huddleston & Pullum, Cambridge Grammar of the English Language, ch. 5 and 17;
吕叔湘 现代汉语八百词. Kinship and roles come from ``contacts.roles``; the open classes of
``others.py`` are data files in ``words/``.
"""

import re

from contacts.lexicon import words

# Chinese personal pronouns, longest first; not those inside other words (吉他, 其他 but not
# 尤其他, 维他命, 他人之事, 他乡, 她经济) and expletives (他妈的, 真他妈, 管他呢, but not 他妈妈).
_NOT_AFTER = (
    r"(?<![吉维犹排])(?<!马耳)(?<!别无)(?<!(?<![有胜顺便])利)(?<!(?<!尤)其)"
    r"(?<!管(?=他(?:呢|的?(?:\W|$)|娘|三七|什么|怎么|多少)))(?<!去(?=他的?(?:吧|\W|$)))"
    r"(?<![真太都你我这那又还谁别](?=他妈(?!妈)))"
)
# His mother's, not an oath.
_MOTHERS = r"(?!生日|手术|病|电话|号码|工作|名字|身体|年纪|手机|生意|菜|房|店|意思|话|事)"
_NOT_BEFORE = (
    r"(?!人[，。的之」”]|[乡杀者]|国(?![庆内外家语])|日(?![常子本程语薪])|山之石|主义"
    rf"|[妈娘]的{_MOTHERS}"
    r"|(?:奶奶|大爷|祖宗)的(?:\W|$)|汀|克莫司|莫昔芬"
    r"|经济|力量|时代|文化|视角|世纪|综艺)"
)
# Oaths stand beside what is said and are about nobody; who swears vents their own mood.
EXPLETIVE_ZH = re.compile(
    rf"管他[妈娘]的|他[妈娘]的{_MOTHERS}|(?<=[真太都你我这那又还谁别])他妈(?!妈)|去他的|管他(?:呢|的|三七|什么|怎么|多少)|[特忒]么的|尼玛|卧槽|我[靠擦操](?![近])"
)
PERSONAL_ZH = re.compile(
    rf"{_NOT_AFTER}(?P<they>[她他]们?俩|[她他](?:们两个|们两|们俩)|[她他]们)"
    rf"|{_NOT_AFTER}(?P<one>[她他]){_NOT_BEFORE}"
    r"|(?<![A-Za-z])(?:(?P<tas>[Tt][Aa](?:们|俩))|(?P<ta>[Tt][Aa](?![A-Za-z'’])))"
)
PERSONAL_EN = re.compile(
    r"\b(?P<word>he|she|him|her|his|hers|himself|herself|they|them|their|theirs|themself"
    r"|themselves)\b(?!/)",
    re.IGNORECASE,
)
EN_FEMALE = frozenset(("she", "her", "hers", "herself"))
EN_SUBJECT = frozenset(("he", "she", "they"))
EN_POSSESSIVE = frozenset(("his", "their", "hers", "theirs"))
EN_REFLEXIVE = frozenset(("himself", "herself", "themself", "themselves"))
# After these, "her" is an object, not a possessive.
HER_OBJECT = re.compile(
    r"\W*$|[^\w\s]|\s+(?:a|an|the|and|or|but|to|for|in|on|at|that|if|about|with|from|by|of|off"
    r"|out|up|down|back|again|today|tomorrow|tonight|yesterday|now|soon|so|too|as|because|when"
    r"|while|how|what|where|why|some|my|your|our|this|next|last|before|after|twice|once|anyway"
    r"|home|there|here|first|instead|alone|all|every|more|I|we|is|was)\b"
)

DEMONSTRATIVE_ZH = re.compile(
    r"(?P<pair>[这那](?:俩|两个?|二位|对)(?:人|位|家伙|姑娘|女的|男的|哥们儿?|姐妹|兄弟|活宝|冤家)?"
    r"|[这那](?:几个|几位|些|帮)(?:人|家伙|朋友|哥们儿?))"
    r"|(?P<one>[这那](?:一?个|一?位|个叫)?"
    r"(?P<noun>女人|男人|女的|男的|女生|男生|女孩子?|男孩子?|姑娘|小姑娘|丫头|妹子|小伙子?|小子"
    r"|哥们儿?|兄弟|老兄|大哥|大姐|姐们儿?|老太太|老头儿?|家伙|货|小孩|孩子|娃|人|朋友|同学"
    r"|同事|女士|先生|谁|\s?(?:girl|guy|boy|man|woman|lady|dude)))(?![们里类都])"
    r"|(?P<bare>[那这]位)(?!置)"
    r"|(?P<that>[^，。！？]{2,14}的那(?:位(?![置朋同女男先姑大老小哥兄])|个(?=[，。！？]|$)))"
)
DEMONSTRATIVE_EN = re.compile(
    r"\b(?P<pair>those two|these two|the two of them|both of them|the pair of them"
    r"|(?:those|these) (?:guys|girls|women|men|people|folks|clowns|idiots))\b"
    r"|\b(?:this|that)\s+(?:[\w-]+\s+){0,2}?"
    r"(?P<noun>guy|dude|man|boy|fella|fellow|bloke|gentleman|kid|person|woman|girl|lady|gal"
    r"|friend|idiot|clown|jerk|rascal)\b"
    r"|\bthe\s+(?P<told>guy|man|woman|girl|lady|person|friend|one)\s+(?=I\s|who\b|from\b|with\b)",
    re.IGNORECASE,
)
MORE_THAN_TWO = re.compile(r"几|些|帮|^(?:those|these) (?!two)", re.IGNORECASE)
FEMALE_NOUN = re.compile(
    r"女|姑娘|丫头|妹|大姐|姐们|姐妹|老太太|大妈|阿姨|奶奶|\b(?:girls?|wom[ae]n|lady|ladies|gals?)$"
)
MALE_NOUN = re.compile(
    r"男|小伙|小子|哥们|兄弟|老兄|大哥|小哥|老头|大叔|大爷|爷爷|先生"
    r"|\b(?:dude|m[ae]n|boys?|fella|fellow|bloke|gentlem[ae]n|guy)$"
)

FORMER_LATTER = re.compile(
    r"(?P<former>前者|\bthe former\b)|(?P<latter>后者|\bthe latter\b)", re.IGNORECASE
)
OTHER_PARTY = re.compile(r"对方|\bthe other (?:person|party|one)\b", re.IGNORECASE)
RENJIA = re.compile(r"(?<![老女])人家(?!里)")
# 人家 for the speaker (coaxing, to "you") or for people at large.
RENJIA_SELF = re.compile(
    r"人家(?:也|才|都|就|不|想|要|等|可|好|知道)[^，。！？]*(?:[嘛啦呀哦呢~～]|你)"
)
# Draws an antecedent from further back (刚才说的那位, the guy I told you about).
EARLIER = re.compile(
    r"先前|之前(?:说|提|聊)|刚才|刚刚说|上次(?:说|提|聊|跟你说)|前面说|我说的|跟你说过|提过"
    r"|\b(?:told you|mentioned|earlier|from before)\b",
    re.IGNORECASE,
)

# A fact of a person that is stated or asked without naming its owner (inalienable
# possession): 生日快到了吧, 血压有点高.
PERSONAL_NOUN = re.compile(
    r"\d+岁|新(?:公司|单位|家|房子?|工作|老板|同事|学校)|[一二三四五六七八九十]+岁|岁数|个子|身材|皮肤|长相|模样|声音|嘴巴|鼻子|耳朵|肚子|胳膊|血型|学历|收入"
    r"|生日|血压|血脂|血糖|体温|体重|身高|身体|嗓子|嘴|腿|脚|手|眼睛|眼圈|脸|头发|牙|胃|腰|膝盖|伤口|手术|病情|情绪"
    r"|心情|脾气|性格|年纪|岁数|年龄|电话|手机号|微信|邮箱|地址|老家|工作|工资|职业|专业|学校|对象|爱好|星座|属相|口味|婚礼|预产期"
    r"|签证|机票|成绩|考试|面试|感冒|烧|状态|精神|胆子|酒量"
)
# What a sentence without subject says of the speaker or of nobody: thanks and assent,
# hunger and sleep, the weather.
NOT_ABOUT_ANYONE_ZH = re.compile(
    r"^(?:今天|今晚|刚才?|外面|终于|现在|有点|好|太|真的?|都|快)*"
    r"(?:下[雨雪]|刮风|降温|打雷|好[热冷]|天[气黑亮]|停电|堵车|谢|多谢|感谢|知道了|明白|收到|了解|好的|好吧|行吧?"
    r"|可以|没事|算了|不用|不客气|哈|呵|嗯|哦|噢|晚安|早安|早上好|你好|拜拜|再见|随便|差不多|没关系|没什么|无所谓"
    r"|辛苦|累|困|饿|渴|睡|吃饭|下班|上班|到家|回家|出门|起床|洗澡|无聊|烦死|继续|开心|郁闷)"
)
# Only the one who feels it can say so: without a subject, predicates of sensation and mood are
# the speaker's own, unlike those of what others see (发烧, 瘦了).
_HOW = r"(?:[今这][天会]儿?|现在|最近|昨晚|早上|晚上|又|还是?|有点儿?|有些|好|真|太|很|特别|超级?|实在|一直|老是?|总是?|就是|感觉|觉得|突然|快要?|都|也|开始|隐隐|阵阵)*"
OWN_FEELING_ZH = re.compile(
    rf"^{_HOW}(?:(?:头|胃|肚子|嗓子|喉咙|牙|牙齿|腰|背|后背|腿|小腿|脚|手|手腕|眼睛|眼|脖子|肩膀?|膝盖|胸口?|心口|心里|全身|浑身|身上|身体|关节|胳膊|耳朵|鼻子|太阳穴){_HOW}"
    r"(?:疼|痛|酸|麻|胀|痒|晕|堵|闷|难受|不舒服|抽筋|没劲|发麻|冻僵)"
    r"|心情(?:很|不太?|特别|有点)?(?:好|差|糟|烦|低落|复杂)|不舒服|不太舒服|难受|难过|伤心|委屈|焦虑|崩溃|想哭|想吐|恶心|心累|心烦|心慌"
    r"|烦(?!恼的|人)|生气|气死|火大|害怕|紧张|孤独|寂寞|失落|迷茫|压力|睡不着|失眠|没睡好|没胃口|没力气|没劲|腰酸背痛|头昏|头晕|犯困|冷死|热死|撑死|疼死)"
)
# After which such a sentence may go on about the one who was said to suffer.
SUFFERS_ZH = re.compile(
    r"病|疼|痛|院|感冒|烧|不舒服|手术|咳|吐|难受|受伤|摔|孕|哭|难过|分手|失恋|离婚|吵架|压力|失眠|睡不|情绪|心情"
)
ASKED_OF_PERSON_ZH = re.compile(
    r"来着|怎么样了|咋样了|好[点些]了?[吗没]|近况|后来呢|然后呢|还好吗|没事吧|多大了?|几岁|住哪|住在哪|在哪儿?(?:工作|上班|读)"
    r"|做什么工作|干什么的|什么时候(?:回来|出院|结婚|毕业|生日|走|到|来|退休|生)|几号生|喜欢什么|爱吃什么|忌口|过敏|结婚了?[吗没]"
    r"|有没有(?:对象|男朋友|女朋友|孩子|回|消息)|叫什么名字|属什么|什么星座|有消息了?[吗没]|到了?[吗没]|回来了?[吗没]|出院了?[吗没]"
)
ASKED_OF_PERSON_EN = re.compile(
    r"^\W*(?:(?:so|and|oh|btw|by the way)\W+)*(?:any (?:news|update|updates|word)"
    r"|(?:when(?:'s| is) the )?birthday|how old again|still (?:sick|mad|upset|single|in|at|on|with"
    r"|working|living|dating)|feeling (?:any )?better|doing (?:any )?better|back (?:home|from)\b"
    r"|allergic to)",
    re.IGNORECASE,
)
REPORTED_ZH = re.compile(
    r"^(?:说是|说要|说自己|说(?!不定|实话|真的|明|起|到|白|好的|一下)|听说|据说|嫌|抱怨|非要|非得)"
)
# Sentences for the assistant, not about a person.
COMMAND_ZH = re.compile(
    r"^(?:那|就|再|好的?|行|嗯|对了|另外|麻烦)?[，,]?"
    r"(?:帮(?:我|忙)|请|麻烦|给我|能不能|可不可以|可以帮|推荐|翻译|解释|总结|介绍|提醒|打开|继续|再来|谢谢|好的$"
    # The same verbs with an aspect tell a story: 聊到十二点.
    r"|(?:查|写|算|列|换|改|加|删|设|放|讲|聊)(?![了过到得着完好])"
    r"|怎么(?!样|还|又)|如何|为什么|为啥|什么是|哪|多少|你|有没有(?:什么|推荐)|开头|结尾|标题)"
)
QUESTION = re.compile(r"[?？]|[吗么]\W*$|什么|怎么|哪|多少|几")
OVERT_SUBJECT_ZH = words("grammar_zh", "overt_subject")
# Others than whoever was spoken of, and words that only have 他 in them.
OTHERS_ZH = re.compile(
    r"其[他它她余]|别的|另外|另一|他人|旁人|所有人|每个人|任何人|人们|有些|有的|某些?[人个]|他[日乡国处者]"
)
PLANNED_ZH = re.compile(
    r"^(?:[今明后昨]\w?)?(?:得|要|需要|打算|准备|想|必须|只好|应该|不想|懒得|通宵|熬夜|先)"
)
ANSWER_EN = re.compile(
    r"^\W*(?:(?:yes|no|yeah|nope|oh|well|hmm)\W+)?(?:still|doing|feeling|much better|better|not"
    r" (?:great|good|well|yet|really)|recovering|happy|thrilled|excited|devastated|exhausted|got"
    r"|just got|loves?|loved|hates?|hated|seems?|said|says|went|came|broke|passed|failed|left)\b",
    re.IGNORECASE,
)
FIRST_PERSON_EN = re.compile(r"\b(?:I|I'm|my|me|we|our)\b")

# Leads of an answer that say nothing about who the rest is about.
LEAD_ZH = re.compile(
    r"^(?:没有|还没|是的|是啊|对啊|对|嗯+|没|不是|还行|还好|好|是|有|不|哎|唉|哈+|其实|但是|不过|所以|结果|后来|然后|而且|反正|就是|可能|估计|应该)?"
    r"[，,。！!、\s呀啊呢吧了的]+"
)

# Source-goal verbs: what follows is rather about who received (Stevenson, Crawley &
# Kleinman 1994, Thematic roles, focus and the representation of events).
TRANSFER = re.compile(
    r"\b(?:told|informed|lent|lend|lends|gave|gives?|sent|sends?|handed|passed|sold|introduced|introduces"
    r"|showed|taught|teaches|loaned|threw|bought|brought|awarded|offered|mailed|invited|hired)\b"
    r"|送给|借给|寄给|递给|介绍给|交给|卖给|传给|教给|让给|推荐给|给(?=[^，。]{1,6}(?:寄|送|买|带|发|介绍|找|做|织|打)了)"
    r"|邀请|录取|聘请|安慰|表扬|批评|夸|骂了?|辞退|开除"
)
# Draft for someone: the "you" of the draft is the addressee.
DRAFT = re.compile(
    r"(?:给|回|发给|写给|向|跟)[^，。]{0,12}(?:写|拟|编|发|draft|回|起草|准备|准备一)"
    r"|(?:写|拟|编|发|回)[^，。]{0,10}(?:给|微信|短信|消息|邮件|回复|祝福|贺卡|信)"
    r"|\b(?:write|draft|compose|text|message|email|note|letter|card|reply)\b",
    re.IGNORECASE,
)
DRAFT_BODY = re.compile(
    r"^(?:那|嗯|好|行|对)?[，,]?(?:就|开头|结尾|最后|先|再|直接)?(?:写|说|加|改成|回|来一?句)"
    r"|^(?:开头|结尾|正文|称呼)|^\W*(?:just\s+)?(?:say|write|start|begin|open|end|put|add|make it"
    r"|tell|something like)\b",
    re.IGNORECASE,
)
# A name with these after it stands for a household or a circle: 亮子他们一家.
ASSOCIATES = re.compile(
    r"^(?:[他她]们|一家|两口子|夫妇|夫妻|全家|那家)|^(?:['’]s)? (?:and (?:his|her) )?family\b"
)
# 她们公司: the firm of one as well as of several.
ORGANISATION_AFTER = re.compile(
    r"\s*(?:公司|单位|学校|家|组|部门|班|村|小区|老板|领导|那边|那儿|宿舍|厂|医院|店|团队|老家)"
)
# A newcomer is put on the stage: 来了个X, there was a X (Li & Thompson 1981, ch. 17).
PRESENTED = re.compile(
    r"(?:有|是|来了?|遇[到见]了?|碰[到见]了?|认识了?|见了?|看[到见]了?|搬来了?|坐着|换了|招了|新来)一?[个位名]?[^，。]{0,6}$"
    r"|\b(?:there(?:'s| is| was)|met|meet|ran into|saw|hired|is|was|got) (?:an?|this|some)"
    r" [^,.]{0,16}$",
    re.IGNORECASE,
)
YOU = re.compile(r"你们?|您|\b(?:you|your|yours|you're|you've)\b", re.IGNORECASE)
REPLY_REQUEST = re.compile(
    r"(?:拟|写|回|编|想|起草|组织)(?:个|一?[句条段封份]|一下)?[^，。]{0,5}?(?:回复|消息|微信|短信|答复|话)"
    r"|(?:帮我|替我)(?:回绝|婉拒|拒绝|答应|回复|转告|谢谢|问候|道歉|回一下|回掉)"
    r"|\b(?:draft|write|help me with) a (?:reply|response|message back)\b"
    r"|\bhow should I (?:reply|respond)\b",
    re.IGNORECASE,
)

DENIED = re.compile(
    r"^\W*(?:不是|不对|不|没有|错了|搞错|弄错|no\b|nope\b|not\b|wrong\b)", re.IGNORECASE
)
NAMING = re.compile(r"^的?(?:名字|全名|大名)?叫|^['’]?s? (?:name is|called)", re.IGNORECASE)
SAID_INSTEAD = re.compile(
    r"说错|打错|搞错|记错|口误|更正|不对|\b(?:I meant|I mean|correction|sorry,|wrong)\b",
    re.IGNORECASE,
)
DENIED_BEFORE = re.compile(r"(?:不是|并非|\bnot )$", re.IGNORECASE)
DENIED_AFTER = re.compile(r"^(?:不|没)(?!错)|^ (?:isn't|doesn't|didn't|won't)\b")
# 也是: said in passing, by way of comparison; the topic stays where it was.
IN_PASSING = re.compile(r"^[^，。]{0,4}(?:也是|也一样|也这样)|^[^.,]{0,12}\btoo\b")

SUBORDINATE_START = re.compile(
    r"^\W*(?:因为|虽然|尽管|自从|还没等|没等|等|当|在|如果|要不是|除了|由于|为了|趁|既然|即使"
    r"|because|after|before|when|while|although|though|since|as soon as|as|if|until|despite|in)",
    re.IGNORECASE,
)
NAMED_AFTER = re.compile(
    r"我说的是|我是说|我指的是|说的就是|\bI mean\b|\bI'm talking about\b", re.IGNORECASE
)
SPEAKS_TO_ZH = re.compile(r"(?:跟|和|对|告诉|劝|安慰|问|提醒|通知)$")
SPEECH_BEFORE_QUOTE = re.compile(
    r"(?:[她他][^，。]{0,6}|[\u4e00-\u9fff]{2,4})(?:说|问|道|喊|回|答|写|嘀咕|抱怨)[:：，,\s]*$"
    r"|\b(?:said|says|asked|told|goes|went|shouted|replied|yelled|whispered|texted|wrote)\b[^.]{0,12}[,:]?\s*$",
    re.IGNORECASE,
)
# Whom one quotes (医生说…, the doctor said …) is the source of the news, not its topic.
QUOTED_AS_SOURCE = re.compile(
    r"^[^，。]{0,3}(?:说|让|叫|建议|叮嘱|要求|告诉|通知)|^\W*(?:\w+ )?(?:said|says|told|advised|thinks)\b",
    re.IGNORECASE,
)
# What an assistant politely calls the user's parents.
POLITE_KIN = frozenset(("叔叔", "阿姨", "伯父", "伯母"))
PROPOSED = re.compile(r"[?？]|你说的是|you mean", re.IGNORECASE)
ASKS_NAME = re.compile(r"叫什么|叫啥|名字|\bname\b|那个谁", re.IGNORECASE)
THIRD_PERSON = re.compile(r"\b(?:he|she|him|her|his|they|[A-Z][a-z]+)\b")
# That guy at the bank: more likely someone new than the one spoken of.
NEWCOMER_AFTER = re.compile(r"\s+(?:at|in|from|who|on|with|that|across|behind|near|next)\b")
SENTENCE_ENDS = "。！？.!?\n"
STOPS = "，。！？；,.!?; \n"


def noun_gender(noun: str) -> str:
    """The gender that a common noun for a person carries, or nothing."""
    if FEMALE_NOUN.search(noun):
        return "female"
    return "male" if MALE_NOUN.search(noun) else ""
