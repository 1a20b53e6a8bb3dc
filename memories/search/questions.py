"""A query as the questions in it: each is searched for itself."""

import regex

# More parts than this are searched as one query: each costs an embedding.
MOST_PARTS = 4

_NEXT = regex.compile(
    r"(?:[。！？!?；;，,]\s*|\s)(?:另外|还有|此外|顺便(?:问一下|问问|问下)?|再问一下)[，,、]?"
    r"|[.?!;,]\s+(?:and )?(?:also|additionally|besides|another question|by the way)\b[, ]*",
    regex.IGNORECASE,
)
# Someone says that the question comes now: what went before it is talk.
_ANNOUNCED = regex.compile(
    r"(?:想|要)(?:要?问|知道|了解|说|请教|确认|搞清楚|弄清楚|弄明白)(?:一?下)?的?(?:问题|事情?)?"
    r"(?:其实|就)?(?:是)?(?:这个|这样)?[：:，,]"
    r"|(?:问题|疑问)(?:其实|就)?是(?:这个|这样)?[：:，,]"
    r"|\bwhat i (?:really |actually )?(?:want(?:ed)?|meant|need(?:ed)?) to (?:ask|know)"
    r"(?: is| was)?[:, ]+|\bmy (?:real |actual )?question is[:, ]+",
    regex.IGNORECASE,
)


def parts(query: str) -> list[str]:
    """The questions of ``query`` in order, each without the talk that leads up to it; the
    query itself when there is nothing to divide."""
    found = []
    for stretch in _NEXT.split(query):
        announced = [m.end() for m in _ANNOUNCED.finditer(stretch) if stretch[m.end() :].strip()]
        question = stretch[announced[-1] if announced else 0 :].strip()
        if question:
            found.append(question)
    return found if 0 < len(found) <= MOST_PARTS else [query]
