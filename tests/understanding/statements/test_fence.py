"""What Mio injected is known again however it comes back."""

import html
import json
import re
import textwrap
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contacts import cards
from contacts.models import Contact
from memories.context.render import InjectedContact, InjectedMemory, render
from memories.context.request import ContextRequest
from understanding.statements.own_words import own_words, without_injected

OWN = "By the way, I moved to Lisbon."
ONE = UUID(int=1)


def card(name: str, language: str) -> str:
    contact = Contact(
        name=name,
        relationship="SECRET friend",
        attributes={"company": [{"value": 'SECRET "Ltd"'}], "likes": [{"value": "SECRET tea"}]},
        timeline=[{"at": "2024-03", "text": "SECRET came to stay"}],
    )
    return str(cards.render(contact, language))


def block(language: str, contacts: int, memories: int, stays: bool) -> str:
    how = "conversation" if stays else "name"
    injected = render(
        language,
        ContextRequest(""),
        [
            InjectedContact(ONE, f"N{n}", how, "", 1.0, card(f"N{n} SECRET", language))
            for n in range(contacts)
        ],
        [
            InjectedMemory(ONE, f"SECRET{n} isn't what “they” say", 1.0, "", "2024-05-01")
            for n in range(memories)
        ],
    )
    return str(injected)


BLOCKS = st.builds(
    block, st.sampled_from(["en", "zh"]), st.integers(1, 3), st.integers(1, 3), st.booleans()
)
HEADINGS = re.compile(r"## (?:Related memories|相关记忆)")


def rewrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 48, break_long_words=False))


def requoted(text: str) -> str:
    return text.translate(str.maketrans("“”\"'", "「」”’"))


SPELLINGS = {
    "as it is": str,
    "escaped": html.escape,
    "escaped twice": lambda text: html.escape(html.escape(text)),
    "numbered entities": lambda text: text.replace("<", "&#60;").replace(">", "&#x3E;"),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON of a browser": lambda text: text.replace("<", "\\u003c").replace(">", "\\u003e"),
    "Markdown escapes": lambda text: re.sub(r"([<>#*\[\]])", r"\\\1", text),
    "quoted": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "quoted twice": lambda text: "".join(f">> {line}\n" for line in text.splitlines()),
    "wrapped anew": rewrapped,
    "one line": lambda text: " ".join(text.split()),
    "other quotation marks": requoted,
    "full width": lambda text: text.translate(str.maketrans("<>", "＜＞")),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "bold headings": lambda text: re.sub(r"(?m)^## (.*)$", r"**\1**", text),
    "no fence": lambda text: "\n".join(text.splitlines()[1:-1]),
}
CUT_BY_LINES = ("as it is", "escaped", "escaped twice", "quoted", "other quotation marks", "CRLF")


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(block=BLOCKS, kept=st.floats(0.3, 1), own=st.sampled_from([f"{OWN}\n\n", f"{OWN} ", ""]))
def test_however_it_is_written_and_wherever_its_end_is_cut(spelling, block, kept, own):
    copy = SPELLINGS[spelling](block)
    text = own + copy[: int(kept * len(copy))]
    for left in (own_words(text), without_injected(text)):
        assert "SECRET" not in left
        assert not own or OWN in left


@pytest.mark.parametrize("spelling", CUT_BY_LINES)
@given(block=BLOCKS, cut=st.integers(0, 40), own=st.sampled_from([f"{OWN}\n\n", ""]))
def test_wherever_its_beginning_is_cut(spelling, block, cut, own):
    lines = block.splitlines()
    last = next(n for n, line in enumerate(lines) if HEADINGS.match(line))
    text = own + SPELLINGS[spelling]("\n".join(lines[min(cut, last) :]))
    for left in (own_words(text), without_injected(text)):
        assert "SECRET" not in left
        assert not own or OWN in left


@given(block=BLOCKS)
def test_what_stands_behind_a_whole_copy_is_read(block):
    for spelling in ("as it is", "escaped", "JSON", "one line", "wrapped anew"):
        assert OWN in without_injected(f"{SPELLINGS[spelling](block)}\n{OWN}")
    assert OWN in without_injected(f"{SPELLINGS['no fence'](block)}\n\n{OWN}")


@pytest.mark.parametrize(
    "text",
    [
        "My friend Anna works at Google & lives in <Paris>.",
        "- [ ] buy milk\n- [x] call Mum\n## Shopping\n### Friday\nAnna: 5 pm",
        "Related memories are what I like about this app. People mentioned it.",
        "I met the people mentioned above. 2024-05-01: dinner with Anna",
        "相关记忆这个词怎么翻译？刚才提到的人是小红。",
        r"My file is C:\new\table\<x>, 100%25 sure &amp; done",
        "> what did Anna say\nShe said yes.",
    ],
)
def test_the_users_own_words_are_left_alone(text):
    assert without_injected(text) == text
