"""What people call those around them, in Chinese and English: one row a role.

``kind | subtype | gender | tags | level | Chinese words | English words`` (words are split
at white space in Chinese, at commas in English). *kind* is the role class that two words
must share to be one role. *tags* narrow it: older/younger, maternal/paternal, ex. *level*
says when the word means someone of the user's without "my" before it: ``kin`` (妈 rang),
``unique`` (the boss wants…: one has one of them) or ``common`` (never: a friend said).

Sources: 现代汉语词典 and 尔雅·释亲 for the Chinese system, Cambridge Dictionary's topic lists
"family" and "work" for the English one; spoken forms added by hand.
"""

TABLE = """
mother | family | female | | kin | 妈妈 妈 老妈 母亲 妈咪 阿妈 老娘 母上 母亲大人 母上大人 老母亲 娘亲 老妈子 俺娘 麻麻 家母 | mom, mum, mommy, mummy, mother, mama, mam, ma, momma, mumsy, mommie
father | family | male | | kin | 爸爸 爸 老爸 父亲 爹 老爹 爹地 阿爸 父上 父亲大人 老父亲 老头子 粑粑 家父 爹爹 | dad, daddy, father, papa, pa, pop, pops, dada
mother | family | female | step | kin | 继母 后妈 | stepmom, stepmum, stepmother, step-mom, step-mum, step-mother
father | family | male | step | kin | 继父 后爸 后爹 | stepdad, stepfather, step-dad, step-father
mother | family | female | inlaw his | kin | 岳母 丈母娘 岳母大人 | mother-in-law, mil
father | family | male | inlaw his | kin | 岳父 丈人 老丈人 岳父大人 老岳父 | father-in-law, fil
mother | family | female | inlaw hers | kin | 婆婆 |
father | family | male | inlaw hers | kin | 公公 |
grandmother | family | female | maternal | kin | 外婆 姥姥 外祖母 家婆 阿婆 姥娘 | maternal grandmother
grandmother | family | female | paternal | kin | 奶奶 祖母 阿嬷 嬷嬷 | paternal grandmother
grandmother | family | female | | kin | | grandmother, grandma, gran, granny, nana, nan, nanna, grammy, gram, grandmom, grandmum
grandfather | family | male | maternal | kin | 外公 姥爷 外祖父 阿公 | maternal grandfather
grandfather | family | male | paternal | kin | 爷爷 祖父 | paternal grandfather
grandfather | family | male | | kin | | grandfather, grandpa, granddad, grandad, gramps, grandpop, pawpaw
greatgrandmother | family | female | | kin | 太奶奶 曾祖母 太姥姥 太婆 | great-grandmother, great-grandma, great grandma, great grandmother
greatgrandfather | family | male | | kin | 太爷爷 曾祖父 太姥爷 太公 | great-grandfather, great-grandpa, great grandpa, great grandfather
brother | family | male | older | kin | 哥哥 哥 老哥 大哥 二哥 三哥 亲哥 亲哥哥 兄长 阿哥 | older brother, big brother, elder brother, big bro
brother | family | male | younger | kin | 弟弟 弟 老弟 小弟 亲弟弟 亲弟 阿弟 大弟 二弟 | younger brother, little brother, baby brother, kid brother, little bro
brother | family | male | | kin | 亲兄弟 | brother, bro
sister | family | female | older | kin | 姐姐 姐 老姐 大姐 二姐 三姐 亲姐 亲姐姐 家姐 阿姐 姊姊 | older sister, big sister, elder sister, big sis
sister | family | female | younger | kin | 妹妹 妹 老妹 小妹 亲妹妹 亲妹 阿妹 大妹 二妹 | younger sister, little sister, baby sister, kid sister, little sis
sister | family | female | | kin | | sister, sis
twin | family | | | common | 双胞胎 | twin
brother | family | male | step | kin | 继兄 继弟 | stepbrother, step-brother, half-brother, half brother
sister | family | female | step | kin | 继姐 继妹 | stepsister, step-sister, half-sister, half sister
husband | partner | male | | kin | 老公 丈夫 先生 爱人 孩子他爸 孩子爸 孩他爸 我家那位 当家的 | husband, hubby
wife | partner | female | | kin | 老婆 妻子 媳妇 媳妇儿 太太 爱人 夫人 内人 孩子他妈 孩子妈 孩他妈 老婆大人 | wife, wifey
spouse | partner | | | unique | 配偶 另一半 伴侣 | spouse, partner, significant other, better half
boyfriend | partner | male | | unique | 男朋友 男友 男票 | boyfriend, bf
girlfriend | partner | female | | unique | 女朋友 女友 女票 | girlfriend, gf
boyfriend | partner | male | ex | unique | 前男友 前男朋友 前任男友 | ex-boyfriend, ex boyfriend, ex-bf
girlfriend | partner | female | ex | unique | 前女友 前女朋友 前任女友 | ex-girlfriend, ex girlfriend, ex-gf
husband | partner | male | ex | unique | 前夫 | ex-husband, ex husband
wife | partner | female | ex | unique | 前妻 | ex-wife, ex wife
ex | partner | | ex | unique | 前任 前对象 | ex
fiance | partner | male | | unique | 未婚夫 | fiancé
fiance | partner | female | | unique | 未婚妻 | fiancée
date | partner | | | unique | 对象 相亲对象 暧昧对象 | date
crush | partner | | | unique | 暗恋对象 心上人 男神 女神 | crush
son | family | male | | kin | 儿子 大儿子 小儿子 二儿子 犬子 臭小子 | son, oldest son, older son, younger son, youngest son
daughter | family | female | | kin | 女儿 闺女 大女儿 小女儿 二女儿 千金 丫头 | daughter, older daughter, younger daughter, oldest daughter, youngest daughter
child | family | | | common | 孩子 宝宝 娃 小孩 娃儿 | child, kid, baby, toddler
son | family | male | inlaw | kin | 女婿 姑爷 | son-in-law
daughter | family | female | inlaw | kin | 儿媳 儿媳妇 | daughter-in-law
grandson | family | male | | kin | 孙子 外孙 外孙子 | grandson
granddaughter | family | female | | kin | 孙女 外孙女 | granddaughter
uncle | family | male | paternal older | kin | 伯伯 伯父 大伯 二伯 大爷爷 | uncle on my dad's side
uncle | family | male | paternal younger | kin | 叔叔 叔父 二叔 三叔 小叔 四叔 大叔 阿叔 |
uncle | family | male | maternal blood | kin | 舅舅 舅 大舅 二舅 小舅 三舅 老舅 舅父 阿舅 |
uncle | family | male | paternal marriage | kin | 姑父 姑丈 姑夫 |
uncle | family | male | maternal marriage | kin | 姨父 姨夫 姨丈 |
uncle | family | male | | kin | | uncle
aunt | family | female | paternal blood | kin | 姑姑 姑妈 大姑 二姑 小姑 三姑 姑母 姑 |
aunt | family | female | paternal marriage older | kin | 伯母 大伯母 大妈 大娘 |
aunt | family | female | paternal marriage younger | kin | 婶婶 婶 婶子 婶娘 二婶 三婶 |
aunt | family | female | maternal blood | kin | 姨妈 姨 大姨 二姨 小姨 三姨 姨母 阿姨 |
aunt | family | female | maternal marriage | kin | 舅妈 舅母 妗子 |
aunt | family | female | | kin | | aunt, auntie, aunty
godmother | family | female | | kin | 干妈 义母 教母 | godmother, godmom
godfather | family | male | | kin | 干爸 干爹 义父 教父 | godfather
godchild | family | | | unique | 干儿子 干女儿 教子 教女 | godson, goddaughter, godchild
cousin | family | male | older maternal | kin | 表哥 大表哥 二表哥 |
cousin | family | male | younger maternal | kin | 表弟 小表弟 大表弟 |
cousin | family | female | older maternal | kin | 表姐 大表姐 二表姐 |
cousin | family | female | younger maternal | kin | 表妹 小表妹 大表妹 |
cousin | family | male | older paternal | kin | 堂哥 堂兄 |
cousin | family | male | younger paternal | kin | 堂弟 |
cousin | family | female | older paternal | kin | 堂姐 |
cousin | family | female | younger paternal | kin | 堂妹 |
cousin | family | | | unique | 表亲 堂亲 | cousin, cuz
nephew | family | male | | kin | 侄子 侄儿 外甥 大侄子 小侄子 大外甥 小外甥 | nephew
niece | family | female | | kin | 侄女 外甥女 小侄女 侄女儿 小外甥女 | niece
brotherinlaw | family | male | older sister | kin | 姐夫 | brother-in-law, bil
brotherinlaw | family | male | younger sister | kin | 妹夫 | brother-in-law, bil
brotherinlaw | family | male | older wife | kin | 大舅子 大舅哥 | brother-in-law, bil
brotherinlaw | family | male | younger wife | kin | 小舅子 内弟 | brother-in-law, bil
brotherinlaw | family | male | older husband | kin | 大伯子 大伯哥 | brother-in-law, bil
brotherinlaw | family | male | younger husband | kin | 小叔子 | brother-in-law, bil
brotherinlaw | family | male | | kin | 连襟 | brother-in-law, bil
sisterinlaw | family | female | older brother | kin | 嫂子 嫂嫂 大嫂 二嫂 阿嫂 |
sisterinlaw | family | female | younger brother | kin | 弟妹 弟媳 弟媳妇 |
sisterinlaw | family | female | older husband | kin | 大姑子 大姑姐 |
sisterinlaw | family | female | younger husband | kin | 小姑子 |
sisterinlaw | family | female | older wife | kin | 大姨子 |
sisterinlaw | family | female | younger wife | kin | 小姨子 |
sisterinlaw | family | female | | kin | 妯娌 | sister-in-law, sil
relative | family | | | common | 亲戚 家人 | relative
bestfriend | friend | female | | unique | 闺蜜 好闺蜜 | bestie
bestfriend | friend | | | unique | 最好的朋友 好哥们 死党 铁哥们 好基友 挚友 | best friend, best mate, bff, best buddy
friend | friend | | | common | 朋友 好朋友 老朋友 哥们 哥们儿 兄弟 姐妹 好友 老友 伙伴 酒友 牌友 驴友 | friend, buddy, pal, mate, old friend, close friend, good friend, childhood friend, family friend, bud
childhoodfriend | friend | | | unique | 发小 青梅竹马 竹马 | childhood friend
netfriend | friend | | | common | 网友 笔友 游戏好友 | online friend, pen pal, internet friend
sportsfriend | friend | | | common | 球友 跑友 健身搭子 队友 篮球队友 饭搭子 搭子 | gym buddy, running buddy, running partner, workout partner, teammate, training partner, tennis partner
neighbor | other | | | common | 邻居 老邻居 街坊 对门 | neighbor, neighbour, next-door neighbor, next door neighbor
roommate | friend | | | unique | 室友 舍友 合租室友 大学室友 寝室长 | roommate, flatmate, housemate, room-mate, flat mate
classmate | friend | | | common | 同学 大学同学 高中同学 初中同学 小学同学 老同学 研究生同学 同桌 同窗 同班同学 | classmate, schoolmate, college friend, high school friend
deskmate | friend | | | unique | 同桌 老同桌 | desk mate, lab partner
senior | friend | male | | common | 学长 师兄 |
senior | friend | female | | common | 学姐 师姐 |
junior | friend | male | | common | 学弟 师弟 |
junior | friend | female | | common | 学妹 师妹 |
boss | colleague | | | unique | 老板 上司 领导 顶头上司 直属领导 大老板 直属上司 头儿 上级 直系领导 部门领导 主管 组长 部门经理 经理 | boss, manager, supervisor, line manager, team lead, team leader, leader, superior, department head, chief
colleague | colleague | | | common | 同事 男同事 女同事 老同事 前同事 工友 同僚 | colleague, coworker, co-worker, workmate, work friend, team member, ex-colleague
deskneighbor | colleague | | | common | 工位邻居 邻座 |
subordinate | colleague | | | common | 下属 手下 部下 | report, direct report, subordinate
intern | colleague | | | unique | 实习生 | intern
mentor | colleague | | | unique | 导师 师父 师傅 带教 博导 硕导 论文导师 | mentor, advisor, adviser, thesis advisor, phd advisor
apprentice | colleague | | | unique | 徒弟 | mentee, apprentice
businesspartner | colleague | | | unique | 合伙人 创业伙伴 | business partner, co-founder, cofounder
secretary | colleague | | | unique | 秘书 助理 | assistant, secretary, pa
client | other | | | common | 客户 甲方 大客户 老客户 | client, customer
teacher | other | | | common | 老师 教师 数学老师 语文老师 英语老师 | teacher, instructor, tutor, piano teacher, math teacher
homeroomteacher | other | | | unique | 班主任 | homeroom teacher
professor | other | | | common | 教授 | professor, prof
principal | other | | | unique | 校长 | principal, headmaster, headteacher
student | other | | | common | 学生 | student, pupil
coach | other | | | unique | 教练 健身教练 私教 | coach, trainer, personal trainer, physio
doctor | other | | | common | 医生 大夫 家庭医生 主治医生 主治医师 医师 | doctor, gp, physician, family doctor, surgeon, pediatrician, paediatrician, dermatologist
dentist | other | | | unique | 牙医 | dentist, orthodontist
therapist | other | | | unique | 心理医生 心理咨询师 咨询师 | therapist, shrink, counselor, counsellor, psychologist, psychiatrist
nurse | other | | | common | 护士 | nurse
lawyer | other | | | unique | 律师 | lawyer, attorney, solicitor
accountant | other | | | unique | 会计 | accountant
landlord | other | | | unique | 房东 房东太太 二房东 | landlord, landlady
tenant | other | | | unique | 租客 房客 | tenant, lodger
agent | other | | | unique | 中介 房产中介 经纪人 | agent, realtor, broker
nanny | other | | | unique | 保姆 月嫂 育儿嫂 保洁阿姨 钟点工 家政阿姨 阿姨 | nanny, babysitter, au pair, cleaner, cleaning lady
hairdresser | other | | | unique | 理发师 发型师 托尼老师 托尼 tony老师 | hairdresser, barber, hairstylist, stylist
mechanic | other | | | unique | 修车师傅 | mechanic
driver | other | | | unique | 司机 | driver
pastor | other | | | unique | 牧师 | pastor, priest, rabbi
bridesmaid | friend | | | unique | 伴娘 伴郎 | bridesmaid, best man, maid of honor
"""

# Words for several at once: word -> the kinds (and tags) that it names together.
GROUPS: dict[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(
        "爸妈 父母 爸爸妈妈 爹妈 老爸老妈 双亲 爹娘 妈妈爸爸 parents folks".split(),
        (("father", ""), ("mother", "")),
    ),
    "mom and dad": (("father", ""), ("mother", "")),
    **dict.fromkeys("公婆 公公婆婆".split(), (("father", "hers"), ("mother", "hers"))),
    **dict.fromkeys("岳父母 岳父岳母 老丈人丈母娘".split(), (("father", "his"), ("mother", "his"))),
    **dict.fromkeys(("in-laws", "in laws", "inlaws"), (("father", "inlaw"), ("mother", "inlaw"))),
    **dict.fromkeys(
        ("爷爷奶奶", "祖父母"), (("grandfather", "paternal"), ("grandmother", "paternal"))
    ),
    **dict.fromkeys(
        "外公外婆 姥姥姥爷 姥爷姥姥 外祖父母".split(),
        (("grandfather", "maternal"), ("grandmother", "maternal")),
    ),
    "grandparents": (("grandfather", ""), ("grandmother", "")),
    "兄弟姐妹": (("brother", ""), ("sister", "")),
    "siblings": (("brother", ""), ("sister", "")),
    "brothers": (("brother", ""),),
    "sisters": (("sister", ""),),
    "哥哥姐姐": (("brother", "older"), ("sister", "older")),
    "弟弟妹妹": (("brother", "younger"), ("sister", "younger")),
    "孩子们": (("son", ""), ("daughter", ""), ("child", "")),
    "儿女": (("son", ""), ("daughter", "")),
    **dict.fromkeys(("kids", "children"), (("son", ""), ("daughter", ""), ("child", ""))),
    "sons": (("son", ""),),
    "daughters": (("daughter", ""),),
    "cousins": (("cousin", ""),),
    "闺蜜们": (("bestfriend", ""),),
    "室友们": (("roommate", ""),),
    **dict.fromkeys(("roommates", "flatmates", "housemates"), (("roommate", ""),)),
}

# Kinds that answer to one another: asked for the first, a contact of the others fits too.
COVERS: dict[str, tuple[str, ...]] = {
    "friend": ("bestfriend", "childhoodfriend"),
    "classmate": ("deskmate",),
    "teacher": ("homeroomteacher",),
    "doctor": ("dentist", "therapist"),
    "ex": ("boyfriend", "girlfriend", "husband", "wife"),
    "spouse": ("husband", "wife", "boyfriend", "girlfriend", "fiance"),
    "child": ("son", "daughter"),
    "fiance": ("boyfriend", "girlfriend"),
    "boyfriend": ("fiance",),
    "girlfriend": ("fiance",),
    "husband": ("spouse",),
    "wife": ("spouse",),
    "date": ("boyfriend", "girlfriend"),
    "grandmother": ("greatgrandmother",),
    "mentor": ("professor",),
}

# Tags of which a person bears at most one: a role with one never means a contact with another.
OPPOSITES: tuple[frozenset[str], ...] = (
    frozenset({"older", "younger"}),
    frozenset({"maternal", "paternal"}),
    frozenset({"blood", "marriage"}),
    frozenset({"his", "hers"}),
    frozenset({"sister", "wife", "husband", "brother"}),
)
# Tags that a word must share with the contact's own: my mother is not my mother-in-law.
STRICT: frozenset[str] = frozenset({"inlaw", "step", "ex"})
