"""Names that are nobody the user knows: pets, celebrities, characters of stories, machines."""

import re

from contacts.lexicon import words
from contacts.text import normalise
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book

_HAN_NAME = r"[\u4e00-\u9fff]{2,4}?"
_LATIN = r"[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?"
_ANIMAL_ZH = r"(?:[橘黑白花狸灰蓝奶]?猫(?:咪)?|[小黑白黄]?狗(?:狗|子)?|柯基|金毛|泰迪|柴犬|哈士奇|布偶|英短|美短|仓鼠|兔子|鹦鹉|乌龟|宠物|[小]?猫猫|毛孩子)"
_ANIMAL_EN = r"(?:cat|kitten|dog|puppy|pup|hamster|rabbit|bunny|parrot|turtle|tortoise|goldfish|fish|horse|pony|hen|corgi|labrador|retriever|poodle|beagle|tabby|ferret|gecko|lizard|snake|guinea pig)"
_PETS = [
    re.compile(
        rf"(?:名?叫|名为|唤作)\s?[“\"「]?(?P<n>[\u4e00-\u9fff]{{1,4}}?|{_LATIN})[”\"」]?\s?的(?:小|大|老)?{_ANIMAL_ZH}"
    ),
    re.compile(
        rf"{_ANIMAL_ZH}[^，,。]{{0,6}}?(?:名?叫|名字是|叫做)\s?[“\"]?(?P<n>[\u4e00-\u9fff]{{1,4}}?|{_LATIN})(?=[”\"，,。！!\s的天了今也又在]|$)"
    ),
    re.compile(
        rf"(?:我|我们)家?的?{_ANIMAL_ZH}\s?(?P<n>{_LATIN}|[\u4e00-\u9fff]{{2}})(?=[今昨又也在把就，,。的\s]|$)"
    ),
    re.compile(
        rf"(?P<n>[\u4e00-\u9fff]{{2,3}}|{_LATIN})\s?(?:是|：)(?:你|我|他|她)?们?家?的?(?:一[只条])?{_ANIMAL_ZH}"
    ),
    re.compile(
        r"(?:我家|带|给|喂|遛|抱|撸)(?P<n>[\u4e00-\u9fff]{2})(?:去|的|做|打)?\S{0,4}(?:疫苗|绝育|猫粮|狗粮|猫砂|洗澡美容|驱虫|宠物|铲屎|散步)"
    ),
    re.compile(
        rf"\b(?:[Mm]y|[Oo]ur|[Aa]|[Hh]is|[Hh]er|[Tt]he|[Tt]heir)\s(?:\w+\s){{0,3}}?{_ANIMAL_EN},?\s(?:is\s)?(?:called\s|named\s)?(?P<n>[A-Z][a-z]+)\b"
    ),
    re.compile(
        rf"\b(?P<n>[A-Z][a-z]+),?\s(?:is\s)?(?:my|our|the|her|his|a)\s(?:\w+\s){{0,2}}?{_ANIMAL_EN}\b"
    ),
    re.compile(rf"{_ANIMAL_EN}s?\s(?:called|named)\s(?P<n>[A-Z][a-z]+)"),
]
_STARS = [
    re.compile(
        rf"(?P<n>{_HAN_NAME}|{_LATIN})\s?的?(?:演唱会|巡演|新歌|专辑|新专|粉丝|签售会门票|电影|新电影|新剧|综艺|直播间|脱口秀|超话|代言|单曲|MV|concert|album|movie|novel|song|tour|podcast)"
    ),
    re.compile(
        rf"(?:听|粉|追|抢到?了?|嗑|循环|看了?|读了?|刷)\s?(?P<n>{_HAN_NAME}|{_LATIN})的?(?:演唱会|歌|剧|戏|综艺|小说|电影|书|诗|画展|相声|作品|票|concert|album|movie|show)"
    ),
    re.compile(rf"(?:喜欢|爱看|最爱)(?P<n>{_HAN_NAME})(?:演的|唱的|写的|导的|主演|版)"),
    re.compile(
        rf"(?:歌手|演员|明星|偶像|爱豆|作家|诗人|导演|球星|网红|主持人|皇帝|总统|哲学家|科学家)(?:叫|是)?(?P<n>[\u4e00-\u9fff]{{2,4}}|{_LATIN})"
    ),
    re.compile(
        rf"\b(?:singer|actor|actress|author|president|director|rapper|novelist|poet|footballer|celebrity|band|artist|quarterback)\s(?P<n>{_LATIN})"
    ),
    re.compile(
        rf"\b(?P<n>{_LATIN})(?:'s)?\s(?:(?:new|latest|old|first|next|last|debut)\s)?(?:concert|album|movie|film|novel|song|tour|biography|documentary)\b"
    ),
    re.compile(
        rf"\b(?:tickets? (?:for|to see)|watching|listening to|a book (?:by|about)|a fan of|biography of)\s(?P<n>{_LATIN})"
    ),
]
_CHARACTERS = [
    re.compile(
        rf"(?:男主|女主|主角|主人公|反派|配角|角色|人物|女二|男二|NPC|人设)\s?(?:名字)?(?:叫|是|名叫)?\s?[“\"]?(?P<n>[\u4e00-\u9fff]{{2,3}}?|{_LATIN})(?=[”\"，,。！!\s在的从为是和]|$)"
    ),
    re.compile(
        r"我是[\u4e00-\u9fff]{0,6}(?:书生|侠客|掌柜|公子|小姐|王爷|皇帝|将军|侦探|骑士|法师)(?P<n>[\u4e00-\u9fff]{2,3})"
    ),
    re.compile(
        rf"(?:character|protagonist|hero|heroine|villain|wizard|paladin|rogue|bard|cleric|druid|elf|orc|knight|detective|NPC|main character),?\s(?:is\s)?(?:called\s|named\s)?(?:is\s)?(?P<n>{_LATIN})"
    ),
    re.compile(r"(?P<n>[\u4e00-\u9fff]{2})(?:后期|前期|黑化|人设|这个角色|CP)"),
    re.compile(
        r"(?:刷|追|看|重温)(?:完)?了?《?(?P<n>[\u4e00-\u9fff]{2,3})(?:传|记|演义)》?(?=[，,。\s]|$)"
    ),
]
_STORY_BEGINS = re.compile(
    r"(?:[一二三几\dN]刷|重温|重刷|追完?|补完?)了?《?[\u4e00-\u9fff]{2,5}(?:传|记|演义|剧)|角色扮演|我们来(?:玩|演)|扮演|写(?:一?[篇个部段])?(?:小说|故事|剧本|童话|同人|段子|dialogue)|小说里|故事里|剧本里|剧情|主角|女主|男主|编个?(?:故事|笑话)|"
    r"role-?play|\b(?:in|for) my (?:novel|story|book|screenplay|campaign|fanfic)|write (?:me )?(?:a|another) (?:story|scene|poem|dialogue|script)|short story|\bwriting (?:a|my|another) (?:\w+ )?(?:novel|story|book|screenplay|script|play|fanfic)|\bD&D\b|\bdnd\b|dungeons|our campaign|my character|protagonist|fan ?fic|写诗|(?:宫斗|武侠|西游|三国|红楼)",
    re.I,
)
_STORY_ENDS = re.compile(
    r"不玩了|说正经|言归正传|说真的|现实(?:里|中)|真实生活|顺便(?:说|问)?|回到现实|对了|题外话|不聊(?:这|小说|剧)|聊点别的|我自己|这是我\S{0,6}作业|跟你说个|"
    r"\bby the way\b|\bbtw\b|\bin real life\b|\birl\b|\bseriously\b|\bout of character\b|\banyway\b|\bon another note\b|\bback to reality\b|\bok(?:ay)?,? enough|\breal life\b|\bunrelated\b|\bactual(?:ly)? me\b|\bnot in the (?:game|story)",
    re.I,
)
_MACHINES = words("assistants")


def ban_machines(book: Book) -> None:
    """Assistants are nobody's contacts."""
    for name in _MACHINES:
        book.ban(name)


def note_excluded(reading: Reading, text: str) -> list[str]:
    """Note what ``text`` opens, closes or forbids, before it is read. The names in it of the
    user's own pets."""
    own_pets = [
        match.group("n")
        for pattern in _PETS
        for match in pattern.finditer(text)
        if re.match(r"我|[Mm]y\b|[Oo]ur\b", match.group())
    ]
    for pattern in (*_PETS, *_STARS, *_CHARACTERS):
        for match in pattern.finditer(text):
            _ban(reading.book, match.group("n"))
    if _STORY_ENDS.search(text):
        reading.in_story = False
    elif _STORY_BEGINS.search(text):
        reading.in_story = True
    return own_pets


def pet_in(text: str) -> str:
    """The name of the pet that ``text`` speaks of, or an empty string."""
    for pattern in _PETS:
        match = pattern.search(text)
        if match:
            return str(match.group("n"))
    return ""


def _ban(book: Book, name: str) -> None:
    name = re.sub(r"['’]s$", "", name)
    known = book.by_name(name)
    if known is not None and (known.contact_id is not None or known.relationship):
        return
    if normalise(name) not in words("names_zh", "no_stranger"):
        book.ban(name)
