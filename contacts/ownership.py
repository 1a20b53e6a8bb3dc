"""The words around a kinship or role word that tell whose mother or boss is meant."""

import re

from contacts.lexicon import words

# Right before the word: it is the user's own (我妈, 我们老板, 咱家闺女, 我那个同事).
ZH_OWN = re.compile(
    r"(?:我们|咱们|俺们|我|咱|俺)(?:家|公司|部门|组|班|学校|单位|宿舍|寝室|团队)?(?:里)?的?"
    r"(?:那个|那位|这个|这位|家的?|亲|新|大|小|前|老|最好的|唯一的|亲爱的|可怜的|傻|宝贝|未来)?$"
)
# … it is someone else's (她妈妈, 你爸, 人家老公).
ZH_OTHER = re.compile(
    r"(他们|她们|它们|你们|您们|人家|别人|对方|某人|自己|大家|他|她|它|你|您|谁|ta)"
    r"(?:家|公司|学校|单位)?(?:里)?的?(?:那个|那位|这个|这位|亲|新|大|小|前|老)?$"
)
# Who is quoted when a colon or a verb of saying leads to 你爸: someone of the user's family.
ZH_SAYS = re.compile(r"(?:说|问|讲|道|发|喊|骂|回|留言|语音|消息|[:：]).{0,12}$")
# An owner in words: 小红的妈妈, 同事的老公. 的 after these is no owner but praise or pity.
ZH_PRAISE = re.compile(r"(?:亲爱|敬爱|可爱|可怜|善良|慈祥|最爱|心爱|伟大|唯一|已故|去世|年迈)的$")
# Whom or what a role in general is spoken of: 一个老板, 每位妈妈, 当妈的, 新来的同事.
ZH_GENERIC_BEFORE = re.compile(
    r"(?:[一两几三四五六七八九十百半每各某哪多0-9](?:个|位|名|群|对|帮|些|代|届|种|堆|大堆)?|这些|那些|这种|那种|有些"
    r"|[这那](?:个|位|帮|群)?|个|位|群|当|做|作为|成为|像个?|是个|有个|找个|叫个|当个|称为|名叫|号称|新来的?|别的|其他|其它|以前的?|过去的?|所有的?"
    r"|隔壁|邻居家?的?|路边的?|楼下的?|楼上的?|对门的?|好|坏|准|宝|新手|全职|单亲|别人家的?|假|老干|阿里|虎|狼|广场舞|外卖|快递|出租车?"
    r"|民宿|餐厅|饭店|水果|面馆|咖啡|奶茶|公司的?|学校的?|店里?的?|淘宝|网店|街边|菜场|小区|门口的?|认识的?|陌生|热心|食堂|宿管|保洁|保安|清洁)$"
)
# Right after the word: it is a compound or a word of its own (妈妈级, 爷爷辈, 老师们, 妈呀).
ZH_COMPOUND_AFTER = re.compile(
    r"^(?:们|辈|级别|级的|节|粉丝|桶|呀|咪呀|味的|款|范儿|族|群|圈|桑|灰|帽|心态|之家|去哪|的的都|里个|耶|了个|蛋|卖批|的都|文化|思维|手册|培训班)"
)
ZH_PARTICLES = "呀耶"
# What a child learns to say: 会叫舅舅了.
ZH_CALLED = re.compile(r"(?:会|学会|教他|教她|开口|学着|在)(?:叫|喊)$")
ZH_CALLED_AFTER = re.compile(r"^(?:了|$|[,，。!！])")
# A restaurant called after grandmother's home: 订了外婆家，人均八十.
ZH_EATERY = re.compile(r"^家")
ZH_EATERY_CUES = re.compile(
    r"人均|团建|订座|订位|取号|分店|连锁|点评|套餐|等位|外卖|招牌菜|打折|优惠券"
)
# A word of one character is the user's own without 我 only where these follow it.
ZH_AFTER_SINGLE = re.compile(
    r"^(?:[,，。!！?？~～:：、]|$|说|让|叫|给|在|的|今天|昨天|刚|又|也|都|就|不|没|来|去|做|打|问|把|要|想|生日|生病|住院|带|和|跟|退休)"
)
# 她妈 is her mother but 她妈的 is an oath.
ZH_OATH = re.compile(r"(?:[他她你它]|特|尼|草|操|艹|泥|日)$")
# Before a bare word of kin: what subjects and objects follow.
ZH_BARE_TAGS = frozenset("t c p d v u y e o".split())
ZH_BARE_WORDS = words("ownership", "zh_bare")
# A role one has one of (老板, 房东), said bare, is the user's own as the subject of an event:
# where the words say when it took place, whatever follows; else with a verb of these.
_ZH_EVENT = (
    "今天|昨天|前天|明天|后天|今晚|昨晚|明晚|今早|今儿|刚才|刚刚|刚|又|突然|忽然|临时|居然|竟然|终于|已经|最近|这两天|这几天|"
    "这周|上周|下周|上个月|这个月|下个月|早上|上午|中午|下午|晚上|周[一二三四五六日末]"
)
ZH_DEFINITE_AFTER = re.compile(
    rf"^(?:(?:{_ZH_EVENT}|还|也)*(?:{_ZH_EVENT})[^,，。!！?？、]"
    r"|(?:还|也)*(?:说|让|叫|批|骂|夸|找|催|要求|要|问|通知|答应|同意|不同意|把|给|开会|请假|发|打电话|来|带|涨|改|安排|表扬|没|不|出差|辞职|升))"
)

EN_OWN = words("ownership", "en_own")
EN_OTHER = words("ownership", "en_other")
EN_GENERIC = words("ownership", "en_generic")
# He is the boss, like the boss: said of someone, not naming one; so is the boss of …
EN_BEING = words("ownership", "en_being")
EN_OF = frozenset(("of",))
EN_DEFINITE = words("ownership", "en_definite")
# Between "my" and the word: "my dear old little sister".
EN_BETWEEN = words("ownership", "en_between")
EN_FORMER = words("ownership", "en_former")
# Before a bare word: it's a kind of mother, not one's own ("soccer mom", "single dad").
EN_KINDS = words("ownership", "en_kinds")
# After the word: it's a compound ("sister company", "motherboard", "boss fight", "dad joke").
EN_COMPOUND_AFTER = words("ownership", "en_compound_after")
# Kinship words that are used as a name, with nobody's "my" before them.
EN_BARE = words("ownership", "en_bare")
# Those of them that are words, names or sounds in lower case.
EN_BARE_CAPITAL = words("ownership", "en_bare_capital")
EN_SAYS = words("ownership", "en_says")
