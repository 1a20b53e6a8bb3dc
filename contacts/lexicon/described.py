"""What descriptions of people are made of: heads, labels of attributes, empty words.

Collected by hand from how people ask for someone whose name escapes them, in both languages.
"""

# Words that tell no two values apart.
EMPTY = frozenset(
    """a an the my our his her their your of in at to for on and or with from is are was be
    company inc ltd co corp llc group limited some lot very really s
    的 了 在 是 和 与 及 等 个 只 条 一 一只 一条 一个 公司 有限公司 有限责任公司 责任 有限 股份 集团
    股份有限公司 叫 有 我 他 她 市 省 区""".split()
)

# Attributes of place, where a text may say more than is known: 广东深圳 of 深圳.
PLACES = frozenset("location hometown school company work_location".split())

# Who is described, when no role word is: word -> gender.
HEADS_ZH = {
    "人": "", "家伙": "", "男的": "male", "女的": "female", "男生": "male", "女生": "female",
    "男人": "male", "女人": "female", "姑娘": "female", "女孩": "female", "男孩": "male",
    "女孩子": "female", "男孩子": "male", "小伙子": "male", "小伙": "male", "大叔": "male",
    "大哥": "male", "大姐": "female", "妹子": "female", "小姐姐": "female", "小哥": "male",
    "小哥哥": "male", "阿姨": "female", "那位": "", "那个": "",
}  # fmt: skip
HEADS_EN = {
    "guy": "male", "man": "male", "woman": "female", "girl": "female", "boy": "male",
    "lady": "female", "dude": "male", "gal": "female", "gentleman": "male", "bloke": "male",
    "fellow": "male", "chap": "male", "one": "", "person": "", "someone": "", "somebody": "",
    "anyone": "", "anybody": "", "kid": "", "lad": "male",
}  # fmt: skip

# What an attribute is called in a text: "那个联系电话是…的人".
LABELS_ZH = {
    "年龄": ("age",), "年纪": ("age",), "岁数": ("age",),
    "生日": ("birthday",), "出生日期": ("birthday",),
    "身高": ("height",), "个子": ("height",),
    "电话": ("phone",), "联系电话": ("phone",), "电话号码": ("phone",), "手机": ("phone",),
    "手机号": ("phone",), "手机号码": ("phone",), "联系方式": ("phone", "email"),
    "邮箱": ("email",), "邮箱地址": ("email",), "电子邮箱": ("email",), "邮件地址": ("email",),
    "职业": ("job_title",), "职位": ("job_title",), "工作": ("job_title",), "岗位": ("job_title",),
    "职务": ("job_title",),
    "公司": ("company",), "单位": ("company",), "单位名称": ("company",), "公司名称": ("company",),
    "工作单位": ("company",), "公司名": ("company",),
    "工作地": ("location", "work_location", "company"), "工作地点": ("location", "work_location", "company"),
    "所在地": ("location",), "住址": ("location", "address"), "地址": ("address", "location"),
    "家乡": ("hometown",), "老家": ("hometown",), "籍贯": ("hometown",),
    "学校": ("school",), "专业": ("major", "education"), "学历": ("education",),
    "教育背景": ("education",), "教育程度": ("education",), "文化程度": ("education",),
    "兴趣": ("interests", "likes"), "爱好": ("interests", "likes"), "兴趣爱好": ("interests", "likes"),
    "性格": ("personality",), "星座": ("zodiac",), "生肖": ("zodiac",), "宠物": ("pet",),
}  # fmt: skip

LABELS_EN = {
    "email": ("email",), "email address": ("email",), "phone": ("phone",), "number": ("phone",),
    "phone number": ("phone",), "job": ("job_title",), "company": ("company",),
    "hometown": ("hometown",), "hobby": ("interests", "likes"), "school": ("school",),
    "major": ("major",), "age": ("age",), "height": ("height",),
}  # fmt: skip

PLACE = ("location", "hometown", "work_location")
WORK = ("company", "location", "work_location", "industry", "school")
JOB = ("job_title",)
SCHOOL = ("school", "education", "location")
ORIGIN = ("hometown", "location")
PET = ("pet",)
LIKING = ("interests", "likes", "habit", "skill")
DOING = (*LIKING, "job_title", "major", "possession", "vehicle", "language", "plan")
ANY = ("company", "school", "location", "hometown", "job_title", "interests", "likes", "pet",
       "personality", "major", "diet", "zodiac", "skill", "language", "vehicle", "work_location")  # fmt: skip

# Words that end a noun phrase, so that "who works at Tencent told me" gives Tencent.
STOP_EN = frozenset(
    """is was are were be been am has had have did does do will would can could should may might
    called named said says told asked again and but or because so when while where what who how
    why if that which whose then now today yesterday tomorrow lately recently doing going
    just still came went gave got sent texted wants wanted needs likes loves hates thinks never
    always also too please not invited""".split()
)

# What follows a bare "the nurse" that means a person: a verb, or the end.
AFTER_JOB_EN = r"(?:'s (?:name|number|phone|email|birthday|address)|(?= (?:is|was|called|named|again|doing|like|do|say|said|live|work|have|going|been|up)\b)|(?=\s*[?？]|\s*$))"
# What shows that the message asks for, or about, someone.
ASK_EN = r"\b(?:who|who's|whose|what|what's|whats|how|how's|where|where's|when|when's|remind|remember|tell me about|which)\b"
ASKED_OF_ZH = r"叫什么|叫啥|是谁|是哪位|是哪个|叫做什么|名字|姓什么|谁来着|的(?:邮箱|电话|手机|联系|生日|年龄|年纪|身高|家乡|老家|名字|姓名|爱好|兴趣|性格|学历|教育|职业|单位|公司|工作|住)"
