"""Chinese words around names: own lists."""

# An organisation's name ends with one of these, after something that is its own.
ORGANISATION_ENDS = (
    "公司 集团 事务所 工作室 研究所 研究院 研究中心 设计院 出版社 报社 杂志社 电视台 旅行社 俱乐部 基金会 协会 大学 学院 中学 小学 高中 附中 附小 "
    "幼儿园 培训学校 技校 医院 卫生院 诊所 银行 分行 支行 法院 检察院 公安局 派出所 博物馆 美术馆 图书馆 科技馆 纪念馆 剧院 剧团 乐团 "
    "咖啡馆 书店 餐厅 饭店 火锅店 健身房 养老院 福利院"
).split()
# A place's does so with one of these.
PLACE_ENDS = (
    "省 市 县 区 镇 乡 村 街道 路 大街 大道 胡同 巷 弄 小区 花园 家园 广场 公园 动物园 植物园 游乐园 景区 古镇 古城 老街 步行街 "
    "机场 火车站 高铁站 地铁站 南站 北站 东站 西站 码头 港 桥 大桥 山 峰 湖 河 江 岛 湾 海滩 沙滩 寺 庙 塔 宫 陵 遗址 湿地 草原 峡谷 瀑布 温泉 雪山 体育馆 体育场 大厦 商场 购物中心"
).split()
# Words that say of which sort an organisation or place is, never which one.
GENERIC = frozenset(
    "互联网 软件 硬件 科技 技术 信息 信息技术 网络 电子 贸易 外贸 进出口 广告 设计 建筑 建设 工程 装修 装饰 物流 快递 运输 保险 证券 基金 咨询 管理 "
    "游戏 文化 传媒 影视 传播 教育 培训 医疗 医药 生物 制药 食品 餐饮 旅游 服装 汽车 电商 金融 投资 房地产 地产 中介 翻译 会计 会计师 律师 法律 财务 "
    "国有 国营 民营 私人 私立 公立 私企 外资 合资 上市 创业 初创 大型 小型 中型 跨国 有限 责任 有限责任 股份 股份有限 控股 集团 分 总 子 母 新 老 原 前 本 该 某 "
    "附近 当地 地方 本地 重点 普通 双语 国际 实验 示范 民办 公办 农村 城市 市立 省立 县 市 区 镇 乡 省 级 省级 市级 县级 "
    "儿童 妇产 妇幼 妇幼保健 保健 口腔 眼科 牙科 整形 宠物 动物 中医 中医院 综合 三甲 社区 人民 中心 第一 职业 师范 理工 医科 艺术 音乐 体育 农业 财经 政法 外国语 外语 "
    "中央 附属 直属 商业 投行 家 名牌 知名 著名 大 小 好 同一 一 两 几 多 同 全 半 女子 男子 老年 青年 青少年 少年 学生 员工 职工 户外 篮球 足球 羽毛球 "
    "瑜伽 健身 日本 韩式 日式 西餐 中餐 素食 海鲜 自助 川菜 湘菜 连锁 网红 门口 楼下 隔壁 学校 公司 单位 工厂 大学 中学 小学 高中 医院 银行 "
    "住宅 高档 商业 居民 生活 主题 森林 国家 湿地 自然 自然保护 风景 名胜 风景名胜 天然 露天 人工 高铁 火车 地铁 汽车站 长途 旅行 登山 爬山 马 铁 公 水 铁路 道 十字 街 山 海 雪 火 冰 "
    "这 那 哪 每 各 其他 另 整 我 你 他 她 它 我们 他们 她们 自己 用户 朋友 同学 同事 老板 客户 老家 娘家 婆家 男方 女方 对方 双方 未来 现在 以前 过去 周边 "
    "东 西 南 北 东部 西部 南部 北部 郊 郊区 市区 城区 旧 古 高 低 长 短 红 白 黑 绿 蓝 金 银 花 草 树 石 土 沙 木 竹".split()
)
# The parts of speech (jieba's) that may stand inside such a name.
INSIDE = frozenset("n ns nt nz nr nrt nrfg j b m vn a ng s f an l i".split())
PROPER = frozenset("ns nt nz nrt nrfg".split())
# Single characters and words that end a name to their left, whatever the dictionary says.
NEVER_INSIDE = frozenset(
    "在 到 去 来 从 往 回 离 于 和 跟 与 同 给 对 向 把 被 让 请 叫 是 有 没 不 也 都 就 还 又 再 了 过 着 的 地 得 一家 一个 一所 一座 一条 家 个 所 座 条 位 名 住 做 "
    "上 下 里 外 内 前 后 中 开 进 出 看 吃 玩 逛 见 找 买 卖 说 想 要 会 能 爱 喜欢 今年 去年 明年 毕业 工作 上班 实习 入职 加入 考 考上 考入 读 念 就读 "
    "经过 路过 参观 附近 旁边 打算 计划 准备 常 常去 一起 经常 周末 每周 每天 小时候 年 月 日 号 岁 用户 职 入".split()
)
# After 在X, this says that X is where somebody works.
WORKS = "工作|上班|任职|实习|就职|供职|当差|做事"
# Before a title in quotation marks, this says what it is.
WORK_CUES = (
    "电影|影片|小说|书|绘本|散文|诗集|歌|歌曲|单曲|专辑|电视剧|连续剧|网剧|美剧|韩剧|日剧|剧|综艺|动画片|动画|动漫|番剧|番|漫画|游戏|手游|"
    "纪录片|话剧|音乐剧|舞剧|歌剧|节目|播客|剧本|画展|名著|教材|看|读|听|追|刷|重温|看完|读完|听完|追完|唱|玩"
)
# Before the name of somebody whom the user needn't know.
PEOPLE_CUES = "歌手|演员|作家|导演|画家|诗人|钢琴家|主持人|球星|球员|教练|偶像|明星|作者|译者|博主|主播|设计师|建筑师|科学家|总统|主席"
# After a place's name, these make it a style: 日本料理 is not in Japan.
STYLES = frozenset("料理 餐厅 菜 菜馆 式 语 话 货 品牌 风味 面 火锅 小吃 车 剧 动漫 电影".split())
