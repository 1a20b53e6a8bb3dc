"""What a Chinese clause states about its subject: attribute keys and values in its own words."""

import re
from dataclasses import dataclass
from functools import lru_cache

from contacts.lexicon import alternation, words
from contacts.segmentation import tag, tagged
from memories.dates.date_words import chinese_number
from memories.providers.offline.extraction.polarity import FORMER, Standing, chinese
from memories.providers.offline.lexicons import english_places

_JOB = rf"(?:(?![了去看来在是的天我他她你说要会把被跟和找请问])[\u4e00-\u9fffA-Za-z ]){{0,8}}?(?:{alternation(words('occupations', 'zh'))})"
_DEGREE = r"博士后?|硕士|研究生|本科生?|大专|专科|中专|高中|初中|小学"
_GRADE = r"大[一二三四五]|研[一二三]|博[一二三四五]|高[一二三]|初[一二三]|[一二三四五六]年级|幼儿园[大中小]班|(?:大班|中班|小班)"
_SCHOOLS = alternation(words("organisations", "schools_zh"))
_BODY = rf"[胃腰腿脚眼耳牙肩肝肾肺心头手]|{alternation(words('ailments', 'body_zh'))}"
_ILLNESS = rf"{alternation(words('ailments', 'zh'))}|[\u4e00-\u9fff]癌|怀孕\S{{0,5}}"
_HOBBY_VERB = alternation(words("hobbies", "zh"))
_ORG_TAIL = alternation(words("organisations", "ends_zh"))
_ANIMAL = alternation(words("animals", "zh"))
_END = r"(?=$|[，,。！!？?、；;\s]|的(?:$|[，,。\s])|了(?:$|[，,。\s])|呢|吧|啊|呀|哦|嘛|上班|工作|就职|任职)"
_PLAN_VERB = r"(?:打算|准备|计划|决定)"


@dataclass(frozen=True, slots=True)
class Value:
    """One attribute value and where its words stand in the clause."""

    key: str
    value: str
    start: int
    end: int


def _rule(key: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return key, re.compile(pattern, re.I)


# Key, and a pattern whose group v is the value. Order matters: an earlier value shuts the place
# to later ones of the same key when the attribute is single.
_RULES: list[tuple[str, re.Pattern[str]]] = [
    _rule("birthday", r"(?:生日|出生日?期?|生在|过生日)(?:都?是|在|为|：|:|的话)*\s?(?:在|是)?(?:农历|阴历|阳历)?\s?(?P<v>(?:\d{4}年)?\s?\d{1,2}\s?月\s?\d{1,2}\s?[日号]?|(?:正|[一二三四五六七八九十]+)月(?:初?[一二三四五六七八九十廿]+)[日号]?)"),
    _rule("birthday", r"(?P<v>(?:\d{4}年)?\d{1,2}\s?月\s?\d{1,2}\s?[日号]?)\s?(?:是\S{0,3}|过)?(?:的)?生日"),
    _rule("birthday", r"(?:生在|生于|出生于|出生在)(?P<v>\d{4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?)"),
    _rule("age", r"(?<![大小])(?:今年|现在|才|刚|刚满|快|已经|都|正好|年龄是?|年纪是?)*\s?(?<![大小])(?P<v>\d{1,3}|[一二两三四五六七八九十]{1,3})\s?(?:周?岁|多岁|来岁)(?!半?的时候|时)"),
    _rule("age", r"今年(?:刚|快|都|已经)?(?P<v>[一二三四五六七八九]十[一二三四五六七八九]?|\d{2})(?=$|[，,。了])"),
    _rule("age", r"(?P<v>\d0后)"),
    _rule("zodiac", r"属(?P<v>[鼠牛虎兔龙蛇马羊猴鸡狗猪])"),
    _rule("zodiac", r"(?P<v>(?:白羊|金牛|双子|巨蟹|狮子|处女|天秤|天蝎|射手|摩羯|水瓶|双鱼)座)"),
    _rule("height", r"(?:身高|个子|个头)\S{0,3}?(?P<v>\d{3}\s?(?:cm|厘米|公分)|一米[一-九]\d?[一-九]?|1\.\d+米?)"),
    _rule("email", r"(?:邮箱|邮件|email)\S{0,6}?(?P<v>[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]*[A-Za-z0-9])"),
    _rule("email", r"(?P<v>[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]*[A-Za-z0-9])"),
    _rule("gender", r"性别是(?P<v>男|女)"),
    _rule("company", r"(?:单位|公司|工作单位|单位名称|公司名|任职公司)(?:的?名字|的?名称)?(?:就?叫做?|是)(?P<v>[\u4e00-\u9fffA-Za-z0-9&·]{2,20}?)" + _END),
    _rule("location", r"(?:工作的?地点?|工作的?地方|上班的?地方|工作地|住址|居住地|(?<!老)家|人)(?:就|都)?(?:在|是|位于)+\s?(?P<v>{PLACE}+)"),
    _rule("hometown", r"(?:老家|家乡|祖籍|籍贯|出生地)(?:就|都|也)?(?:在|是)+(?P<v>[\u4e00-\u9fff]{2,8}?)(?:的|那边|那儿|人|农村|乡下)?" + _END),
    _rule("hometown", r"(?:^|是个?|[，,\s])(?:地道的?|土生土长的?|正宗的?|老)?(?P<v>{PLACE}+)(?:那边的?)?(?:人|妹子|姑娘|小伙|女孩|男孩|长大)(?![民们员生才家士脉工气心])"),
    _rule("hometown", r"(?:是|来自)(?P<v>{PLACE}+)(?:那边)?(?:的|来的)?(?=$|[，,。])"),
    _rule("nationality", r"(?P<v>[\u4e00-\u9fff]{1,4}国)人"),
    _rule("company", r"(?:在|去|加入|入职|跳槽到|跳槽去|跳去|进了?|被\S{1,3}挖到)了?\s?(?P<v>[\u4e00-\u9fffA-Za-z0-9&·]{1,14}?(?:" + _ORG_TAIL + r"))(?:里|那边)?(?:上班|工作|任职|就职|当|做|干|实习|值班|的|$|[，,。])"),
    _rule("company", r"(?:入职|跳槽到|跳槽去|跳槽进|跳去|加入|进了|就职于|任职于|供职于|上班是在)了?(?P<v>[\u4e00-\u9fffA-Za-z0-9&·]{2,10}?)(?=$|[，,。了当做的])"),
    _rule("company", r"在\s?(?P<v>[A-Z][A-Za-z0-9&.]+(?:\s[A-Z][A-Za-z0-9&.]+)*|{ORG})\s?(?:那边)?(?:上班|工作|做|当|任职|就职|实习)"),
    _rule("company", r"在\s?(?P<v>{FIRM})\s?(?:那边|那儿)?(?:上班|工作|任职|就职)"),
    _rule("company", r"第一天在(?P<v>[\u4e00-\u9fffA-Za-z]{2,8})上班"),
    _rule("company", r"(?:^|[，,\s])(?:就?在)?(?P<v>{ORG}|[A-Z][A-Za-z]+)的(?=$|[，,。])"),
    _rule("company", r"^\s*(?!在|现|还|也|以|平|正|专|主|负|她|他|我|一|自|每|都|想|要|后|先)(?P<v>[\u4e00-\u9fffA-Za-z]{2,8})做(?=" + _JOB + ")"),
    _rule("former_company", r"(?:以前|之前|曾经?|原来|原先)(?:在|任职于|就职于|是)\s?(?P<v>[\u4e00-\u9fffA-Za-z0-9]{2,10}?)(?:上班|工作|任职|就职|做|当|的|$|[，,。])"),
    _rule("former_company", r"(?:辞了|辞掉了?|辞去了?|丢了)\s?(?P<v>[\u4e00-\u9fffA-Za-z0-9]{2,8}?)的?(?:工作|职位|职务|岗位)"),
    _rule("former_location", r"(?:从|搬离|搬出)了?\s?(?P<v>{PLACE}+)(?=搬|调|回|移居|$|[了，,。])(?:搬|调|回|移居)?"),
    _rule("former_company", r"(?:从|离开)\s?(?P<v>[\u4e00-\u9fffA-Za-z0-9]{2,8}?)(?:离职|出来|跳槽|辞职)"),
    _rule("former_company", r"(?:^|[，,\s是])(?P<v>[\u4e00-\u9fffA-Za-z]{2,6}?)那边\S{0,6}(?:离职|辞职)"),
    _rule("location", r"(?:现在|目前|人|也|还|都|一直|就|就是|现|平时|常年|长期|自己|一个人|跟我一起|和\S{1,4})*在\s?(?P<v>{PLACE}+)(?=$|[，,。！!了；;\s]|那边|这边|做|工作|上班|当|任|读|念|上[大中小高初]|上学|学|租|住|买房|定居|生活|发展|创业|开|养|office|带|待|呆|长大|混|干|搞|实习|办公|出生)"),
    _rule("location", r"(?:住在?|搬到|搬去|搬来|搬回|搬|定居在?|移居|租在|买房在?|落户|常驻|去了|回到|调到|调去|派到|派去)了?\s?(?P<v>{PLACE}+)"),
    _rule("location", r"(?<![忍记抓停站挡稳堵拦接])(?<![忍记抓停站挡稳堵拦接]不)(?:住在|住)(?P<v>(?![一二两三四五六七八九十几半多\d]|在|的|得|过|了|着|院|宿|不|进|一起)[\u4e00-\u9fffA-Za-z0-9]{2,10}?)(?=$|[，,。附的了])"),
    _rule("location", r"来(?P<v>{PLACE}+)[一二两三四五六七八九十\d几]+年"),
    _rule("school", r"(?:在|考上了?|就读于?|念|读|上|毕业于|是|去)\s?(?P<v>[\u4e00-\u9fffA-Za-z]{1,10}?(?:大学|学院|中学|一中|高中|小学|附中|幼儿园))"),
    _rule("school", r"(?P<v>" + _SCHOOLS + r")(?=(?:" + _GRADE + r")|的|读|念|毕业|上学|本科|研究生|$|[，,。])"),
    _rule("education", r"(?<!比我)(?<!比他)(?<!比她)(?P<v>" + _GRADE + r")(?![小只岁个])"),
    _rule("education", r"(?:学历\S{0,4}?|是个?|念|读|读到|念到|上到|读了?个?|只上到)(?P<v>" + _DEGREE + r")(?:学历|毕业|生)?(?=$|[，,。呢了毕学生])"),
    _rule("education", r"(?P<v>" + _DEGREE + r")(?:学历|毕业)"),
    _rule("major", r"(?:专业是|主修|攻读|学习?的?是|教(?!育|室|练|程|师|授|堂|材)|研究(?!生|所|院))(?P<v>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:的|专业)?" + _END),
    _rule("major", r"(?<!同)(?<!上)(?<!大)(?<!中)(?<!小)(?:^|[，,在里是我他她院校读农美音])(?:学|读|念)(?P<v>(?!习|校|生|历|会|了|到|过|期|费|位|书|完|大[一二三四五学]|研|博|高|初)[\u4e00-\u9fff]{2,6}?)(?:专业)?的?" + _END),
    _rule("job_title", r"(?:职业|职位|职务|岗位|工作|title)(?:就?是|为)(?:一?[个名位])?(?P<v>[\u4e00-\u9fffA-Za-z]{2,10}?)" + _END),
    _rule("job_title", r"(?:是|做|当|干|任|成了|升|升了|升任|转|转做|做的?是|担任|当上)了?(?:一?[个名位]|[位个名]|的是)?(?:做|当)?(?P<v>" + _JOB + r")(?:的|工作的?|这行|一行)?(?=$|[，,。呢了啊吧]|，|的活|经验|\d)"),
    _rule("job_title", r"(?:搞|做|干|教|卖|跑|开)(?P<v>[\u4e00-\u9fff]{2,6}?)的(?=$|[，,。！])"),
    _rule("job_title", r"(?P<v>(?:卖|开|送|跑)[\u4e00-\u9fff]{1,5}?(?:店|茶叶|保险|房|车|快递|外卖|出租|网约车|滴滴|水果|馆|厂|公司|工作室))(?:的|$|[，,。])"),
    _rule("job_title", r"(?:^|[，,\s])(?P<v>" + _JOB + r")(?=$|[，,。])"),
    _rule("company", r"(?:^|[，,\s也就还都在])在\s?(?P<v>(?!家|这|那|外|校|里|上|一|学|路)[\u4e00-\u9fffA-Za-z]{2,8}?)(?:做|当|任|负责)(?=" + _JOB + r")"),
    _rule("responsibility", r"(?:做|写|出)(?P<v>[\u4e00-\u9fffA-Za-z ]{2,8}?(?:报告|方案|文档|测试|推荐|模块|设计稿))(?=$|[，,。])"),
    _rule("location", r"从(?P<v>{PLACE}+)(?:过来|赶来|飞来|飞过来|来的?(?=$|[，,。]))"),
    _rule("diet", r"(?:^|[，,\s])(?P<v>[\u4e00-\u9fff、]{2,12}?)(?:都|一概|全都?)(?:不行|不能吃|不能碰|吃不了|不吃|不要)(?=$|[，,。])"),
    _rule("responsibility", r"(?:负责|管)(?P<v>[\u4e00-\u9fffA-Za-z ]{2,10}?)(?:这块|方面|的)?(?=$|[，,。])"),
    _rule("job_title", r"(?P<v>退休\S{0,2}老师|退休\S{0,2}教师|退休(?:工人|干部|医生|会计))"),
    _rule("allergy", r"对\s?(?P<v>[\u4e00-\u9fffA-Za-z、和 ]{1,12}?)\s?(?:严重|有点|很|也|都)?过敏"),
    _rule("allergy", r"(?:^|[，,\s他她我不能碰])(?P<v>(?!皮肤|有|会|不|没|很|说|就|过敏)[\u4e00-\u9fff]{1,4}?)(?:严重)?过敏(?!性|季|症|源)"),
    _rule("health", r"(?P<v>(?:" + _BODY + r")(?:一直|也|最近|又|有点|有些)?(?:不太?好|不行|疼|痛|酸|难受|不舒服|偏?高|偏?低|受伤|骨折|有问题|有毛病|发炎|肿|做了?手术|开刀|动手术))"),
    _rule("health", r"(?P<v>血压高|血糖高|尿酸高|血脂高|高血脂|三高)"),
    _rule("health", r"(?:有|得了?|患有?|是|查出了?来?|确诊了?|犯|老|一直|还|在|又|严重|轻度)?(?P<v>" + _ILLNESS + r")"),
    _rule("health", r"(?P<v>(?:做|动)了?[\u4e00-\u9fff]{0,6}手术)"),
    _rule("health", r"(?P<v>乳糖不耐受?|晕车|晕机|恐高|色盲|左撇子)"),
    _rule("medication", r"(?<!不)(?:吃|服)(?:着|了)?\s?(?P<v>[A-Za-z]{4,})(?=\s?(?:[一二两三四五半\d]|了|$))"),
    _rule("medication", r"(?:换成|改吃|在吃|吃的?是?|服用)了?(?P<v>[\u4e00-\u9fffA-Za-z]{2,10}?(?:片|胶囊|药|坦|平|汀|林|statin|他汀))"),
    _rule("diet", r"(?P<v>吃素|素食主义者?|素食|纯素|清真|vegetarian|vegan)"),
    _rule("dislikes", r"(?:不吃|不喝|忌口|戒了|不碰|不能吃|不能喝|不能碰|吃不了|喝不了)(?P<v>(?!素(?:$|[了的，,。]))[\u4e00-\u9fffA-Za-z、和]{1,10}?)(?:的东西|的)?(?=$|[，,。了！])"),
    _rule("dislikes", r"(?:不(?:太|怎么|是很|再)?(?:喜欢|爱)|讨厌|最烦|受不了|最怕|很怕|害怕|反感|hate)\s?(?P<v>[\u4e00-\u9fffA-Za-z0-9《》 ·]{1,14}?)(?:了)?(?=$|[，,。！!；;的]$|$|[，,。！])"),
    _rule("likes", r"(?<!不)(?<!不太)(?<!不怎么)(?<!不再)(?<!可)(?:最|特别|特|很|超|超级|非常|一直|尤其|就|都|还|也|真的|可)*(?:喜欢|(?<![可亲恋心热敬疼])爱(?![人情心好护]|$)|热爱|酷爱|迷上了?|痴迷|沉迷|偏爱|钟爱|爱好是?|爱上了?)(?:的?(?:事|事儿|东西)?就?是)?\s?(?P<v>[\u4e00-\u9fffA-Za-z0-9《》 ·]{1,16}?)(?:了)?(?=$|[，,。！!；;~]|的$)"),
    _rule("interests", r"(?:爱好|兴趣)(?:是|有|：)?(?P<v>[\u4e00-\u9fffA-Za-z、和]{1,16}?)(?=$|[，,。])"),
    _rule("interests", r"(?:天天|每天|经常|常|老|周末都?|平时|没事就|还|也|会|在学|最近在学|开始学|在练|痴迷|迷)(?:去|在|爱)?[\u4e00-\u9fff]{0,3}?(?P<v>" + _HOBBY_VERB + r")"),
    _rule("interests", r"^(?:还|也|会)?(?P<v>(?:打|弹|拉|吹|踢|种|钓|练|跳|唱)(?:架子鼓|吉他|钢琴|篮球|羽毛球|网球|乒乓球|小提琴|大提琴|二胡|笛子|鱼|瑜伽|舞|街舞|足球|花|bass|贝斯|鼓))"),
    _rule("interests", r"(?:在\S{0,5})?(?<![一几各这那多两三做种])(?P<v>种(?!类|种|子|族)了?[\u4e00-\u9fff、和]{1,8}?)(?=$|[，,。])"),
    _rule("major", r"(?:读|学|念|修|主修|攻读)(?:的?是)?(?P<v>[\u4e00-\u9fff]{1,6}?(?:医学|工程|科学|文学|法学|哲学|数学|物理学?|化学|生物学?|历史学?|经济学?|管理学?|心理学|社会学|教育学|新闻学?|传播学?|会计学?|金融学?|设计|建筑学?|护理学?|师范|软件|机械|电子|自动化|外语|英语|翻译))(?=$|[，,。的专])"),
    _rule("likes", r"(?:都|就|已经|全|只|改|早就)(?:换成?|改喝|改吃|只喝|只吃)了?(?P<v>[\u4e00-\u9fffA-Za-z ]{1,8}?(?:奶|茶|咖啡|豆浆|拿铁|汽水|面|饭|粥))(?=$|[，,。了])"),
    _rule("skill", r"(?:擅长|精通|拿手的?是?|最会|很会)(?P<v>[\u4e00-\u9fffA-Za-z]{2,8}?)(?=$|[，,。])"),
    _rule("skill", r"(?P<v>[\u4e00-\u9fff]{2,3})(?:最强|特别好|最好|很强)(?=$|[，,。])"),
    _rule("language", r"(?:会说|说|讲|母语是?|会)(?P<v>(?:英|日|韩|法|德|西班牙|俄|粤|葡萄牙|意大利|阿拉伯)[语文])"),
    _rule("pet", r"(?:养了?|有|领养了?|捡了?|收养了?)(?P<v>(?:一?[只条个匹]|[两三四五几]只)?(?:名?叫)[\u4e00-\u9fffA-Za-z]{1,6}的[\u4e00-\u9fff]{0,3}?(?:" + _ANIMAL + r"))"),
    _rule("pet", r"(?:养了?|有|领养了?|捡了?|收养了?)(?P<v>(?:一?[只条个匹]|两[只条个匹]|[三四五]只)?[\u4e00-\u9fffA-Za-z]{0,5}?(?:" + _ANIMAL + r")(?:叫[\u4e00-\u9fffA-Za-z]{1,5})?)"),
    _rule("marital_status", r"(?<!前)(?P<v>离婚|单身|分手|订婚|结婚|已婚|未婚(?![夫妻])|离异|再婚|丧偶|恋爱|领证|求婚|single|engaged|married)(?!纪念|照|礼|戒|蛋糕|证书|典|季)(?:了|过|中)?"),
    _rule("family", r"(?:有|生了?)(?P<v>(?:一?[个对]|两个|三个|俩|[一二两三]对)?(?:双胞胎\S{0,2}|儿子|女儿|孩子|女孩|男孩|闺女|龙凤胎|弟弟|妹妹|哥哥|姐姐|双胞胎|龙凤胎|twin (?:boys|girls)|twins))"),
    _rule("personality", r"(?:性格|为人|脾气|个性|(?<![\u4e00-\u9fff])人)(?:是|很|比较|有点|挺|特别|超|超级|还)+(?P<v>[\u4e00-\u9fff]{2,4}?|OK|nice)(?=$|[，,。的])"),
    _rule("diet", r"(?:忌口是?|忌)(?P<v>[\u4e00-\u9fff、]{2,10}?)(?=$|[，,。])"),
    _rule("personality", r"(?:是|很|就是|特别|比较|挺|超|超级|super|太)\s?(?P<v>内向|外向|社恐|社牛|开朗|乐观|细心|粗心|温柔|暴躁|急性子|慢性子|健谈|话痨|幽默|严格|靠谱|仗义|大方|小气|热心|善良|强势|固执|自律|detail-oriented|chill|introvert|extrovert|机灵|调皮|懂事|内敛|认真|严肃|沉默寡言|爱面子)"),
    _rule("vehicle", r"(?:开|买了?|换了?)(?:了|的是?|辆|一辆|台|部)*(?P<v>(?:特斯拉|比亚迪|宝马|奔驰|奥迪|大众|丰田|本田|蔚来|理想|小鹏|沃尔沃|保时捷|吉普|摩托)[\u4e00-\u9fffA-Za-z0-9]{0,6})"),
    _rule("habit", r"(?P<v>(?:每天|每周|每晚|从来(?!没)不?|总是|习惯|只在|只接受|只喝|只吃|雷打不动)[\u4e00-\u9fffA-Za-z0-9 ]{2,18}?)(?=$|[，,。！])"),
    _rule("plan", r"(?P<v>" + _PLAN_VERB + r"(?!是|求|么|不要|死|说|好|到)[\u4e00-\u9fffA-Za-z0-9 《》:：-]{2,30}?)(?:了|呢|吧)?(?=$|[，,。！])"),
]  # fmt: skip
_NOT_ORG = re.compile(
    r"^(?:新|老|原|小|大|这个|那个|一家|同一家?)?(?:公司|单位|学校|医院|公园|超市|店|餐厅|酒店|银行)$|还是|一直|已经|时候|地方|那边|附近|家里|路上|楼|哪|朋友圈|群"
)
# 在X上班 with these makes no employer of X: where and when people work, wherever it is.
_NOT_FIRM = re.compile(
    r"^(?:家|全职|兼职|自己|自家|老家|外|国|海外|户外|室内|线上|线下|城|乡|农村|市|郊|本地|当地|异地|基层|一线|一起|一块|单位|公司|学校|这|那|哪|同|别|某|前台|工地|车间|现场|远程|岗位)"
    r"|(?:楼|区|市|省|县|镇|村|路|街|里|上|下|边|面|外|附近|隔壁|行业|领域|方面|系统|部门|团队|办公室|宿舍|圈|界|组|岗|层|天|晚|点|年|月|号|时候|期间|城市|地方|地铁|家里)$"
    r"|[的了着不和跟与很]|还是|一直|已经"
)
# Firms that the segmenter's dictionary takes for places, verbs or the like (by hand).
FIRMS = words("organisations", "firms")
_LEAVES = re.compile(r"离职|辞|跳槽|上班|工作|任职|就职")
_LEADING = re.compile(r"^(?:是|做|干|搞|当|管|在|负责|现在|还|也|都|就|平时|刚|一[个名位])+(?=..)")
_NOT_VALUE = re.compile(
    r"^(?:什么|谁|哪|怎么|这|那|我|你|他|她|它|上了?$|的|了|着|过|是|不|没|一下|这个|那个|说|死|吧|呀|有点|很|也|都|得|到|一起|自己)|(?:什么|吗|呢|怎么)$"
)


def facts(text: str) -> list[Value]:
    """The attribute values that ``text`` (one clause, subject included or not) states."""
    found: list[Value] = []
    places = _places(text)
    for key, pattern in _compiled(places, _firms(text, places)):
        for match in pattern.finditer(text):
            value = match.group("v").strip(" ，,的了")
            if not value or (
                _NOT_VALUE.search(value) and key not in {"marital_status", "age", "habit"}
            ):
                continue
            stands = chinese(key, text, match)
            if stands is Standing.NOT or (stands is Standing.PAST and key not in FORMER):
                continue
            kept = FORMER[key] if stands is Standing.PAST else key
            if any(
                v.key in {key, kept} and v.start < match.end("v") and match.start("v") < v.end
                for v in found
            ):
                continue
            if key == "former_company" and value in places and not _LEAVES.search(match.group()):
                continue
            if _taken(key, match, found) or not _employs(key, value, text[match.end("v") :]):
                continue
            found.append(Value(kept, _tidy(key, value), match.start("v"), match.end("v")))
    return found


def _employs(key: str, value: str, after: str) -> bool:
    """Whether a value can be an organisation, if ``key`` asks for one."""
    if key not in {"company", "school", "former_company"}:
        return True
    if key == "former_company" and re.fullmatch(_JOB, value):
        return False
    if value in {"银行", "医院"} and re.match(r"上班|工作|任职|就职", after):
        return True
    return not _NOT_ORG.search(value)


def _tidy(key: str, value: str) -> str:
    """A value in its usual form: digits for ages, 日 for days, no verbs before a job."""
    if key == "age" and not value.isdigit() and not value.endswith("后"):
        return str(chinese_number(value))
    if key == "birthday":
        return re.sub(r"号$", "日", value.replace(" ", ""))
    if key in {"job_title", "company", "pet"}:
        value = _LEADING.sub("", value)
    if key == "pet":
        return _pet(value)
    if key in {"diet", "allergy", "dislikes"}:
        value = re.sub(r"(?<=[\u4e00-\u9fff])[和跟](?=[\u4e00-\u9fff])", "、", value)
    if key == "interests":
        return value.replace("种了", "种")
    if key in {"likes", "dislikes"}:
        return (
            re.sub(r"^(?:喝|吃|看|听)(?=[\u4e00-\u9fff]{2})", "", value)
            if len(value) > 2
            else value
        )
    return value


def _pet(value: str) -> str:
    """A pet and its name, if said: 一只叫毛球的兔子 → 兔子（毛球）."""
    value = re.sub(r"^一?[只条个匹]", "", value)
    match = re.fullmatch(r"(?:名?叫)(?P<n>.+?)的(?P<a>.+)|(?P<b>.+?)(?:名?叫)(?P<m>.+)", value)
    if match is None:
        return value
    return f"{match.group('a') or match.group('b')}（{match.group('n') or match.group('m')}）"


# A value that already has a stronger reading is not read again under a weaker key.
_WEAKER = {
    "location": {"hometown", "school", "company"},
    "company": {"school", "location", "job_title", "hometown", "former_company"},
    "school": {"company"},
    "job_title": {"education", "hometown", "company", "birthday", "age", "zodiac", "major"},
    "major": {"job_title", "likes", "interests"},
    "likes": {"dislikes", "interests"},
    "interests": {"dislikes", "likes", "job_title"},
    "habit": {"interests", "likes", "dislikes"},
    "plan": {"likes", "dislikes", "birthday", "habit"},
    "personality": {"health"},
    "age": {"height"},
    "family": {"pet"},
    "hometown": {"location", "nationality"},
}


def _taken(key: str, match: re.Match[str], found: list[Value]) -> bool:
    stronger = _WEAKER.get(key, set())
    start, end = match.span("v")
    return any(v.key in stronger and v.start < end and start < v.end for v in found)


def _firms(text: str, places: tuple[str, ...]) -> tuple[str, ...]:
    """The X of 在X上班 that may name an employer: a noun that is no place and no time."""
    found = []
    for match in re.finditer(
        r"在\s?(?P<v>[\u4e00-\u9fff]{2,8}?)(?:那边|那儿)?(?:上班|工作|任职|就职)", text
    ):
        value = match.group("v")
        known = value in FIRMS
        noun = tagged(value)[0][1][:1] in {"n", "j"}
        if known or (
            noun and not _NOT_FIRM.search(value) and not any(place in value for place in places)
        ):
            found.append(value)
    return tuple(found)


def _places(text: str) -> tuple[str, ...]:
    """Words of ``text`` that are places, by the segmenter's dictionary."""
    words = [
        word
        for word, flag in tagged(text)
        if flag in {"ns", "nsf"} and len(word) > 1 and word not in FIRMS and not word.endswith("人")
    ]
    for size in (4, 3, 2):
        for start in range(len(text) - size + 1):
            piece = text[start : start + size]
            if tag(piece) == "ns" and piece not in words and piece not in FIRMS:
                words.append(piece)
    words += [
        place
        for place in english_places()
        if re.search(rf"(?<![A-Za-z]){re.escape(place)}(?![A-Za-z])", text)
    ]
    return tuple(sorted(set(words), key=lambda word: (-len(word), word)))


@lru_cache(maxsize=256)
def _compiled(places: tuple[str, ...], firms: tuple[str, ...]) -> list[tuple[str, re.Pattern[str]]]:
    """The rules with the clause's own places and employers filled in."""
    place = f"(?:{alternation(places)}|新加坡)" if places else "(?:(?!))"
    org = "(?:大厂|国企|央企|外企|体制内|互联网|银行|医院|学校|大学|律所|投行|部队|机关)"
    firm = "(?:" + "|".join(map(re.escape, firms)) + ")"
    filled: list[tuple[str, re.Pattern[str]]] = []
    for key, pattern in _RULES:
        source = pattern.pattern
        if re.search(r"\{[A-Z]+\}", source):
            if ("{PLACE}" in source and not places) or ("{FIRM}" in source and not firms):
                continue
            source = source.replace("{PLACE}", place).replace("{ORG}", org).replace("{FIRM}", firm)
            filled.append((key, re.compile(source, re.I)))
        else:
            filled.append((key, pattern))
    return filled
