"""Chinese surnames: the commonest 300 (public security ministry's name reports) and the
compound ones still in use, with the readings that differ from the character's usual one."""

SINGLE = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢"
    "姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文"
    "牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛"
    "曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏"
    "席卫米柏宗瞿桂全佟应臧闵苟邬边姬师仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝幸花展越强厉楚阎沃鞠"
)
COMPOUND = frozenset(
    "欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 令狐 司徒 夏侯 南宫 端木 长孙 独孤 宇文 轩辕 百里 东郭".split()
)
# Surnames that are so often plain words that a title after them proves little (和经理 is
# "and the manager").
WEAK = frozenset("和向于时常关安成连全明应党师方高金车花任从对")

READINGS = {
    "单": "shan",
    "曾": "zeng",
    "仇": "qiu",
    "解": "xie",
    "查": "zha",
    "任": "ren",
    "盖": "ge",
    "乐": "yue",
    "翟": "zhai",
    "朴": "piao",
    "区": "ou",
    "尉迟": "yuchi",
    "缪": "miao",
    "冼": "xian",
    "员": "yun",
    "秘": "bi",
    "繁": "po",
    "黑": "he",
    "重": "chong",
    "折": "she",
}
