"""Where a personal name stands in a text, by surname and form: Chinese names."""

import re

from contacts.segmentation import frequency, tag, tagged
from contacts.text import HAN
from memories.providers.offline.lexicons import surnames

_TITLE = "总监|老师|医生|大夫|经理|主任|阿姨|叔叔|师傅|奶奶|爷爷|老板|律师|教练|教授|院长|校长|警官|护士|同学|先生|女士|小姐|大爷|大妈|大哥|大姐|姑娘|总|姐|哥|工|导|叔|姨|董|局|婶|嫂|伯|妈|爸"
# Characters that a given name rarely holds and that often follow one.
_NOT_GIVEN = frozenset(
    "的了在是要说就也都不很和跟给让把被去来有会能最这那吗呢吧啊嗯我你他她它们个做住养过得到叫从为但又还才只已没别刚因所以与或比吃喝买卖写看听问打拿送约找帮请等每再太真挺更该应当将且而则其及对回今昨"
)
_NOT_DOUBLED = _NOT_GIVEN | frozenset(
    "天刚常偏往渐慢早好明默妈爸哥姐弟妹爷奶叔舅姑婆公谢看想试等多少人年月日处家区纷悄匆忙频稍连仅恰各件样口声步层句哈嘿呵嘻嗯"
)
# Ordinary words that begin like a name or like 小X, 老X, 阿X (Modern Chinese Dictionary).
_ORDINARY = frozenset(
    """小时 小学 小区 小说 小吃 小孩 小猫 小狗 小心 小声 小事 小组 小姐 小伙 小票 小费 小店 小号 小米 小麦 小葱 小菜
    小于 小型 小众 小鸟 小鱼 小腿 小鸡 小雨 小雪 小寒 小暑 小满 小名 小字 小看 小气 小康 小车 小院 小镇 小城 小岛 小路
    小河 小山 小队 小班 小年 小酒 小锅 小火 小包 小孔 小牛 小步 小解 小别 小白鼠 小朋友 小红书 小程序 小龙虾 小视频 小仙女 小帮手 小作文 小情绪 小问题
    小半 小衣服 小胖 小道 小结 小提 小舅 小姨 小姑 小叔 小弟 小妹 小哥 小三 小爱 小度 小冰 小艺 小布 小鹏 小天鹅 小心翼翼
    老师 老板 老公 老婆 老家 老妈 老爸 老弟 老妹 老姐 老哥 老乡 老是 老样 老早 老人 老头 老太 老年 老鼠 老虎 老实 老同 老朋 老毛
    老大 老二 老三 老外 老爷 老牌 老城 老街 老款 老手 老天 老娘 老爹 老百 老远 老化 老套 老一 老想 老说 老有 老去 老来 老在 老了 老上
    阿姨 阿里 阿姆 阿拉 阿迪 阿根 阿富 阿胶 阿伯 阿婆 阿公 阿爸 阿妈 阿妹 阿哥 阿弟 阿云 阿莫 阿司 阿尔 阿卡 阿斯 阿联
    安静 高兴 方便 方正 明白 和平 平安 安心 安全 安排 安装 安慰 高考 高铁 高中 高峰 高手 高级 高原 高温 高血 高薪 金融 金额 金牌
    黄金 黄色 黄瓜 黄油 白天 白色 白酒 白菜 白领 白云 白痴 花生 花园 花店 花钱 花椒 时间 时候 时差 时代 时尚 马上 马路 马桶 马拉 马甲
    张开 周末 周年 周围 周边 周期 周一 周二 周三 周四 周五 周六 周日 周到 方法 方面 方案 方向 方式 方言 石头 石油 江南 江湖 江边
    水果 毛衣 毛病 毛巾 毛利 温度 温柔 温暖 温泉 严重 严格 严肃 安卓 康复 常常 常见 常用 常年 向来 向上 关系 关于 关心 关门 关键
    成都 成功 成绩 成本 成为 成年 成长 华为 华东 华南 华北 解决 解释 解放 单位 单身 单独 单子 单纯 全部 全家 全职 全国 全身 全都 全是
    应该 应用 连续 连忙 连锁 都是 都在 都有 曾经 曾在 和谐 和我 和他 和她 和你 于是 包括 包子 包装 项目 管理 强烈 强势 强度
    鱼片 车站 车子 车票 乐队 乐观 乐意 习惯 古代 古典 古地 简单 简历 简直 谢谢 容易 容量 万一 万分 万达 金子 雷雨 雷声 丁香 梅雨 梅花 兰州
    武汉 武术 武侠 苏州 杭州 郑州 徐州 常州 温州 柳州 贺州 贵州 广州 福州 荆州 赣州 惠州 冷静 冷笑 冷饮 东西 东京 东北 东南 东方 东边
    宁波 宁愿 宁可 盛大 盛行 祝福 祝贺 祝你 祝他 祝她 祝好 平时 平常 平均 平台 平板 平静 平衡 后来 红包 红色 红酒 红茶 红火 红薯 那个 那边
    那里 那时 那天 那种 那么 那就 那些 那会 查出 查看 查询 边上 边缘 通知 通过 通常 通勤 通话 步行 师兄 师姐 师弟 师妹 师傅 师父
    公司 公园 公寓 公主 公开 公交 公平 公公 公积 山东 山西 山上 山顶 房子 房租 房东 房间 房价 施工 能力 能够 封面 封闭 和我们 左右 左边 左眼
    麻烦 麻辣 麻将 麻醉 贝壳 计划 计算 元旦 元气 元宵 甘肃 甘心 井然 党员 充电 相信 相关 相处 相亲 相机 相当 相册 年底 年糕 权利 海康 海南 海边
    喜欢 有点 双胞 双十 双人 双休 汤圆 糯米 幸好 幸福 幸运 乌龟 居然 居家 黎明 宿舍 农历 农村 景点 景区 段子 景色 龙井 龙虾 艺术 初中 师资
    羊肉 羊毛 牛肉 牛奶 牛排 米饭 米粉 桂花 桂林 台北 文件 文化 文章 文案 文艺 雅思 钱包 范围 路上 路过 路边 路由 齐全 齐了 顾客 顾问 顾不
    鲁迅 童年 童话 颜色 颜值 夏天 夏季 夏令 秋天 秋季 冬天 冬季 春天 何时 何况 何必 吕布 许多 许久 许愿 余额 余下 元素 毕业 毕竟 孟婆 汪汪 狄仁""".split()
)
_FUNCTION_SURNAMES = frozenset(
    "都和于时全能向常相查那从单应通连到步红强解车容易东利师成明平安方万金白高古广花水石充关公边后农宿终暨居巩空还过有把就会是"
)
_PERSON_BEFORE = re.compile(
    r"(?:传|听说|据说|以为|希望|担心|感觉|好像|跟|和|与|给|约了?|找|陪|让|问|帮|送|见了?|遇到|碰到|碰见|叫上|喊|请|带|把|对|同|、|替|被|向|听|去接|接|及|还有|加上|联系|想|认识了?)$"
)
# Words that people are called as well: believed where a role word stands beside them.
_NAMES_TOO = frozenset(
    """小雨 小雪 小鱼 小鸟 小米 小麦 小满 小寒 小花 小草 小虎 小龙 小马 小牛 小山 小河 小康 小路 小艺 小冰 小爱 小布 小鹏
    小岛 小包 小豆 小枣 小葱 小月 小星 小北 小南 小溪 小舟 小雷 小贝 小七 小五 小六 小四""".split()
)
# Parts of speech (jieba's) that may follow the subject of a clause.
_PREDICATE = frozenset("vdpctrumayfxe")
_PLACES = frozenset({"ns", "nsf"})
RARE_CHARACTER = 3000  # occurrences in the segmenter's dictionary


def is_ordinary(word: str) -> bool:
    """Whether ``word`` is a common word of Chinese that only looks like a name."""
    return word in _ORDINARY or word[:2] in _ORDINARY


def chinese_name_at(text: str, start: int, *, strong: bool) -> int | None:
    """Where a Chinese personal name that begins at ``start`` ends, or None. ``strong``: the
    words before it announce a name, so that an unusual one is believed."""
    rest = text[start : start + 6]
    if not rest or not HAN.match(rest):
        return None
    form = _by_form(rest, strong=strong)
    if form is not None:
        return start + form
    if not strong and (is_ordinary(rest) or any(tag(rest[:size]) in _PLACES for size in (2, 3))):
        return None
    for size in (2, 1):
        if not strong and rest[0] in _FUNCTION_SURNAMES and not _surely_name(text, start):
            continue
        if rest[:size] in surnames() and (size == 1 or strong or len(rest) > 2):
            length = _given_length(text, start, size, strong=strong)
            if length:
                return start + size + length
    if strong:
        return _unusual(text, start)
    return None


def _by_form(rest: str, *, strong: bool) -> int | None:
    """小X, 阿X, 老X, X总, X姐, 沈医生, 团团."""
    title = re.match(rf"([\u4e00-\u9fff]{{1,2}}?)(?:{_TITLE})(?![\u4e00-\u9fff]*们)", rest)
    if title and title.group() not in _ORDINARY:
        stem = title.group(1)
        word = title.group()
        if (
            (
                stem in surnames()
                or (
                    word[-1] in "姐哥"
                    and len(stem) == 1
                    and stem not in _NOT_GIVEN | set("大二三小老师学堂表亲哥姐帅小")
                )
            )
            and not (word[-1] in "工导局" and not strong)
            and not _is_word(word)
        ):
            return len(word)
    if (
        rest[0] in "小阿老"
        and len(rest) >= 2
        and rest[:2] not in _ORDINARY
        and rest[:3] not in _ORDINARY
    ):
        stem = rest[1]
        if (
            HAN.match(stem)
            and stem not in _NOT_GIVEN
            and (not _is_word(rest[:2]) or _is_called(rest))
            and not _is_word(rest[:3])
        ) and (rest[0] != "老" or stem in surnames()):
            return 2
    if (
        len(rest) >= 2
        and rest[0] == rest[1]
        and (strong or not _dictionary(rest[:2]))
        and rest[2:3] != rest[3:4]
        and rest[0] not in _NOT_DOUBLED
    ):
        return 2
    return None


def _is_called(rest: str) -> bool:
    """老 or 小 with a surname (小张, 老周): an address that the dictionary lists as a word,
    unless its second character begins another one (小马路)."""
    if rest[0] not in "老小" or rest[1] not in surnames() - _FUNCTION_SURNAMES:
        return False
    cut = [word for word, _ in tagged(rest)]
    return cut[0] == rest[:2] or (len(cut[0]) == 1 and len(cut[1]) == 1)


def name_beside_role(text: str, start: int) -> int | None:
    """Where the name that begins at ``start`` ends, beside words for what its bearer is to
    somebody (我朋友小雨, 小雪是我妹妹), or None. There a word that is a name too is believed,
    as the subject of what follows."""
    end = chinese_name_at(text, start, strong=False) or _full_name_beside(text, start)
    if end is not None or text[start : start + 2] not in _NAMES_TOO:
        return end
    cut = tagged(text[start : start + 10])
    size = 1 if cut[0][0] == text[start : start + 2] else 2
    whole = "".join(word for word, _ in cut[:size]) == text[start : start + 2]
    follows = all(flag[0] in _PREDICATE for _, flag in cut[size : size + 1])
    return start + 2 if whole and follows else None


def _full_name_beside(text: str, start: int) -> int | None:
    """我同学高远在…: surname and given name that are a quality or a manner in the dictionary,
    where neither can stand."""
    word, flag = _token_at(text, start) or ("", "")
    fits = len(word) == 2 and word[0] in surnames() and word[0] != word[1]
    if not fits or flag[0] not in "adzb" or is_ordinary(word):
        return None
    return start + 2 if re.match(r"[在是住说姓叫]|搬到", text[start + 2 :]) else None


def _dictionary(word: str) -> bool:
    """A word of the dictionary that is not a name there."""
    return bool(tag(word)) and not tag(word).startswith("nr")


def _is_word(word: str) -> bool:
    """A dictionary word that is not tagged as a name."""
    return _dictionary(word) and (
        len(word) > 2 or tag(word)[0] in "vadcrpmtq" or frequency(word) > 300
    )


def _given_length(text: str, start: int, size: int, *, strong: bool) -> int:
    """How many characters of given name follow the surname at ``start`` (0: no name)."""
    run = re.match(r"[\u3400-\u9fff]*", text[start:])
    room = len(run.group()) - size if run else 0
    if room < 1:
        return 0
    token = _token_at(text, start)
    if size == 1 and _rare_given(text, start, token):
        return 2
    if (
        token is not None
        and token[1].startswith("nr")
        and 2 <= len(token[0]) <= size + 2
        and len(token[0]) > size
    ):
        return _tagged_given(text, start, size, token[0], last=room == 2, strong=strong)
    given = text[start + size : start + size + 2]
    if given[0] in _NOT_GIVEN and not (strong and given[0] in "想真太更和与将"):
        return 0
    if not strong and not _weak_given(text, start, size):
        return 0
    if given[0] == "家" and (len(given) < 2 or given[1] in _NOT_GIVEN):
        return 0
    if room == 1 or len(given) < 2 or given[1] in _NOT_GIVEN:
        return 1
    following = tagged(text[start + size + 1 :])
    single = following and len(following[0][0]) == 1
    if single and following[0][1][0] in "vdpcurym" and room > 2:
        return 1
    if (
        following
        and len(following[0][0]) > 1
        and following[0][1][0] in "vdtnmrl"
        and room > 1
        and tagged(given)[0][0] != given
    ):
        return 1
    return 2


def _tagged_given(text: str, start: int, size: int, word: str, *, last: bool, strong: bool) -> int:
    """How much of a name the segmenter saw, with the character before a stop that it cut off."""
    if last and len(word) == size + 1 and _ends_name(text, start + size + 1, strong):
        return 2
    return len(word) - size if strong or not _is_word(word) else 0


def _ends_name(text: str, at: int, strong: bool) -> bool:
    """Whether the last character before a stop belongs to the name before it (李梓轩。)."""
    last = text[at]
    return last not in _NOT_GIVEN and (strong or frequency(last) <= RARE_CHARACTER)


def _rare_given(text: str, start: int, token: tuple[str, str] | None) -> bool:
    """李柰今天…: a word (李子) seems to begin here, but the character after it is one of
    names, not of grammar, and a new phrase begins behind that."""
    if len(text) < start + 4 or text[start + 2] in _NOT_GIVEN or not HAN.match(text[start + 2]):
        return False
    if token is None or len(token[0]) != 2 or frequency(text[start + 2]) > RARE_CHARACTER:
        return False
    return bool(
        re.match(r"[今昨明也都又还就在是说要最刚已来去和跟把被吃做给，,、\s]", text[start + 3 :])
    )


def _surely_name(text: str, start: int) -> bool:
    """A surname that is an everyday word begins a name only where the segmenter sees one."""
    token = _token_at(text, start)
    return token is not None and token[1].startswith("nr") and len(token[0]) >= 2


def _weak_given(text: str, start: int, size: int) -> bool:
    """Without announcement a surname begins a name only if no common word starts there."""
    token = _token_at(text, start)
    if token is None:
        return False
    word, flag = token
    return flag.startswith("nr") or (
        len(word) == size and not (frequency(text[start : start + size + 1]) > 0)
    )


def _token_at(text: str, start: int) -> tuple[str, str] | None:
    position = 0
    for word, flag in tagged(text):
        if position == start:
            return word, flag
        position += len(word)
        if position > start:
            return None
    return None


def _unusual(text: str, start: int) -> int | None:
    """An announced name without a surname (核桃, 果果): the next word or two characters."""
    position = start
    for word, flag in tagged(text[start:]):
        if not HAN.match(word) or flag[0] in "vdpcurymtq" or len(word) > 4:
            break
        position += len(word)
        if position - start >= 2:
            break
    return position if 2 <= position - start <= 4 else None


def unlisted_name(text: str) -> bool:
    """Two or three characters that are no word at all, as a given name alone often is."""
    return (
        bool(re.fullmatch(r"[\u4e00-\u9fff]{2,3}", text))
        and not _dictionary(text)
        and not is_ordinary(text)
        and not set(text) & _NOT_GIVEN
    )


def behind_name(text: str, end: int) -> bool:
    """Whether a Chinese name ends right before ``end`` (小美|男朋友)."""
    return any(
        chinese_name_at(text, end - size, strong=False) == end
        and (end == size or not text[: end - size].endswith(("我", "咱", "俺")))
        for size in (2, 3, 4)
        if end >= size
    )


def doubled_name_at(text: str, start: int) -> int | None:
    """圆圆, 团团 after a relation word: where the pet name ends, or None."""
    pair = text[start : start + 2]
    if len(pair) < 2 or pair[0] != pair[1] or not HAN.match(pair) or pair[0] in _NOT_DOUBLED:
        return None
    following = text[start + 2 : start + 4]
    if len(following) == 2 and following[0] == following[1]:
        return None
    return start + 2


def announced_person(before: str) -> bool:
    """Whether the words before a place call for a person there (跟, 和, 约, with, and, told)."""
    return bool(_PERSON_BEFORE.search(before))
