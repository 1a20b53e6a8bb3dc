"""Lists of names: places from data files beside this module, organisations from a table."""

from functools import cache
from importlib import resources

from contacts.text import folded

# Companies and institutions that no suffix gives away. Own list, the best known of each trade.
ORGANISATIONS_ZH = frozenset(
    "腾讯 阿里巴巴 阿里云 字节跳动 字节 华为 百度 京东 美团 拼多多 网易 快手 滴滴 携程 小红书 哔哩哔哩 微软 谷歌 亚马逊 特斯拉 英伟达 英特尔 "
    "比亚迪 蔚来 理想汽车 小鹏汽车 吉利 联想 海尔 格力 美的集团 大疆 商汤 科大讯飞 中兴 宁德时代 顺丰 海底捞 星巴克 麦当劳 肯德基 瑞幸 喜茶 "
    "优衣库 宜家 山姆会员店 盒马 沃尔玛 家乐福 万达 万科 碧桂园 新东方 好未来 学而思 猿辅导 德勤 普华永道 毕马威 安永 麦肯锡 高盛 摩根大通 花旗 "
    "汇丰 西门子 博世 宝洁 联合利华 强生 辉瑞 中石油 中石化 国家电网 中国移动 中国联通 中国电信 清华 北大 复旦 浙大 南开 哈佛 斯坦福 麻省理工 "
    "中科院 联合国 世界银行 红十字会 协和 瑞金医院 华西医院 湘雅医院 同济医院".split()
)
ORGANISATIONS_EN = frozenset(
    name.strip()
    for name in (
        "Google, Microsoft, Facebook, Netflix, Spotify, Airbnb, Uber, Lyft, Tesla, SpaceX, Nvidia, Intel, AMD, IBM, "
        "Oracle, Salesforce, Adobe, Samsung, Huawei, Tencent, Alibaba, ByteDance, Baidu, Xiaomi, Lenovo, Sony, "
        "Nintendo, Toyota, Honda, Volkswagen, BMW, Siemens, Bosch, Boeing, Airbus, Starbucks, McDonald's, Ikea, IKEA, "
        "Walmart, Costco, Tesco, Sainsbury's, Lidl, Aldi, Nestle, Unilever, Pfizer, Novartis, Roche, GSK, Deloitte, "
        "PwC, KPMG, EY, McKinsey, Accenture, Goldman Sachs, JPMorgan, Morgan Stanley, HSBC, Barclays, Citibank, "
        "Harvard, Stanford, Yale, Princeton, MIT, UCLA, Caltech, UNICEF, UNESCO, NASA, BBC, CNN, NHS, WHO, FBI, "
        "Red Cross, World Bank, United Nations, European Union, OpenAI, DeepMind, GitHub, LinkedIn, YouTube, TikTok"
    ).split(",")
)


@cache
def places_en() -> frozenset[str]:
    """English names of places, normalised."""
    text = " ".join(_lines("places_en.txt"))
    return frozenset(folded(name) for name in text.split(","))


@cache
def places_zh() -> frozenset[str]:
    """Chinese names of places, normalised."""
    return frozenset(word for line in _lines("places_zh.txt") for word in line.split())


def _lines(name: str) -> list[str]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]
