"""What the user says that they themself are called."""

import re
from collections.abc import Iterator

from contacts.text import normalise
from memories.providers.offline.lexicons import given_names, relations
from memories.providers.offline.names import chinese_name_at
from memories.providers.offline.names_latin import is_stop_word

MAX_NAMES = 5
_CLOSES = r"(?=[\s，,。.！!；;、~～”\"」]|$|吧|就行|就好|就可以|哦|啦|呀|啊|，)"
_LATIN = r"[A-ZÀ-Þ][a-zà-ÿ'’-]+(?:\s[A-ZÀ-Þ][a-zà-ÿ'’-]+){0,2}"
_SAID_ZH = re.compile(
    rf"(?:^|[，,。！!；;\s])(?:我(?:的)?(?:全名|大名|本名|真名|中文名|英文名|名字|姓名)?(?P<is>名叫|就叫|叫做|叫|是|就是))\s?[“\"「]?(?P<n>[\u3400-\u9fff]{{2,4}}?|{_LATIN}){_CLOSES}"
)
_CALL_ME_ZH = re.compile(
    rf"(?:大家|朋友们?|同事们?|你|以后|可以|别人|都|就|也)*(?:叫|喊|称呼)我\s?[“\"「]?(?P<n>[\u3400-\u9fff]{{2,3}}?|{_LATIN}){_CLOSES}"
)
_SAID_EN = re.compile(
    rf"\b(?:[Mm]y (?:(?:full|first|real) )?name(?:['’]s| is)|(?:[Yy]ou can |[Pp]lease |[Jj]ust |[Ff]riends |[Ee]veryone |[Pp]eople )?[Cc]alls? me|I go by)\s(?P<n>{_LATIN})"
)
_I_AM = re.compile(
    rf"(?:^|[,.!]\s)(?:(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there| Mio)?[,!.]?\s)?I(?:['’]m| am)\s(?P<n>{_LATIN})(?=[,.!]|$|\sand\sI\b|\sfrom\b)"
)


def own_names(text: str) -> Iterator[str]:
    """The names by which the user introduces themself in ``text``: 我叫…, I'm …, call me …"""
    for match in _SAID_ZH.finditer(text):
        if _is_name(text, match, sure=match.group("is") not in {"是", "就是", "叫"}):
            yield match.group("n")
    for match in _CALL_ME_ZH.finditer(text):
        if _is_name(text, match, sure=False) or _doubled(match.group("n")):
            yield match.group("n")
    for match in _SAID_EN.finditer(text):
        if (
            not is_stop_word(match.group("n").split()[0])
            and normalise(match.group("n")) not in relations()
        ):
            yield match.group("n")
    for match in _I_AM.finditer(text):
        first = match.group("n").split()[0]
        if normalise(first) in given_names() and not is_stop_word(first):
            yield match.group("n")


def _is_name(text: str, match: re.Match[str], *, sure: bool) -> bool:
    name = match.group("n")
    if name in relations() or normalise(name) in relations() or name[0] in "我你他她它谁啥什":
        return False
    if name.isascii():
        return normalise(name.split()[0]) in given_names() and not is_stop_word(name.split()[0])
    return chinese_name_at(text, match.start("n"), strong=sure) == match.end("n")


def _doubled(name: str) -> bool:
    return len(name) == 2 and name[0] == name[1]
