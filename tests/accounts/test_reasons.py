"""Reasons and errors as codes: the table, its use in the source, storage and rendering."""

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from django.urls import get_resolver
from django.utils import translation
from django.utils.translation import gettext

from accounts import reasons
from accounts.reasons import HOLES, TEMPLATES, CodedError, Reason
from dashboard import words
from memories.providers.offline.offline_provider import _TASTE_CHANGED
from tests import source
from understanding.coreference.antecedents import REASON_BY_FEATURE
from understanding.people.spans import KINDS
from understanding.same_person.pair_scoring import codes

# Together with others that read the source: it is parsed once.
pytestmark = pytest.mark.xdist_group("source")

PACKAGES = (
    "accounts",
    "contacts",
    "understanding",
    "memories",
    "dashboard",
    "imports",
    "mcp_server",
)
# What takes a code and its parameters.
CALLED = (
    "Reason",
    "NotReadable",
    "DayOrderUnknown",
    "OwnerUnknown",
    "NotAnAddressBook",
    "UnknownChoice",
)
# Codes that are looked up by what was found; the genders and places of an anaphor; one that earlier
# imports stored.
LOOKED_UP = {"vcard", *REASON_BY_FEATURE.values(), *KINDS.values(), *codes(), *_TASTE_CHANGED.values(),
             "female", "male", "former", "latter"}  # fmt: skip


@cache
def emitted() -> tuple[tuple[str, frozenset[str], str], ...]:
    """Each code that the source names, with its parameters and where it stands."""
    return tuple(
        (code, frozenset(word.arg or "**" for word in call.keywords), f"{at}:{call.lineno}")
        for at, call in _calls()
        for code in _texts(call.args[0])
    )


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for file, node in source.nodes(*PACKAGES):
        if isinstance(node, ast.Call) and _name(node) in CALLED and node.args:
            yield str(file.relative_to(source.ROOT)), node


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one)
            yield from _texts(other)


def test_every_code_that_is_emitted_stands_in_the_table_with_its_parameters() -> None:
    assert {at: code for code, _params, at in emitted() if code not in TEMPLATES} == {}
    wrong = {
        at: (code, given)
        for code, given, at in emitted()
        if code in TEMPLATES and given != HOLES[code]
    }
    assert wrong == {}
    assert len(emitted()) > 100


def test_every_code_that_is_looked_up_stands_in_the_table() -> None:
    assert LOOKED_UP - TEMPLATES.keys() == set()


def test_every_code_of_the_table_is_emitted() -> None:
    assert TEMPLATES.keys() - {code for code, _params, _at in emitted()} - LOOKED_UP == set()


def _errors(of: type[Exception] = CodedError) -> Iterator[str]:
    for one in of.__subclasses__():
        yield one.__name__
        yield from _errors(one)


def test_every_error_that_is_raised_carries_a_reason() -> None:
    assert get_resolver().url_patterns  # all views, and so all verbs, are imported
    names, bare = set(_errors()), []
    assert {"InvalidMerge", "InvalidCorrection", "CannotUndo", "TransientError"} <= names
    for file, node in source.nodes(*PACKAGES[:3]):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = _name(node)
        if called in names and called not in CALLED:  # these take a code
            text = isinstance(node.args[0], ast.Constant | ast.JoinedStr)
            bare += [f"{file.name}:{node.lineno}"] if text else []
    assert bare == []


def test_every_template_is_translated_with_its_holes(subtests: pytest.Subtests) -> None:
    for code, template in TEMPLATES.items():
        with subtests.test(code):
            with translation.override("zh-hans"):
                chinese = gettext(template)
            held = dict.fromkeys(HOLES[code], "7")
            plain = template.format(**held)
            assert any(map(str.isalpha, plain)) == (chinese != template)
            assert chinese.format(**held).count("7") >= len(HOLES[code])


NESTED = Reason(
    "among_several",
    reason=Reason("each_of", reasons=[Reason("spoken_of_last"), Reason("female")]),
    count=2,
)


def test_a_reason_is_said_in_english_and_in_the_readers_language() -> None:
    assert str(NESTED) == "mentioned last, female; 2 people answer to it"
    assert str(Reason("words", words=["a", "b"])) == "Both talk about a, b."
    with translation.override("zh-hans"):
        assert words.reason(NESTED) == "上一个提到的人，女性；有 2 人符合"
        assert words.reason(Reason("words", words=["猫", "狗"])).endswith("猫、狗。")
        path = Reason("beside_better", kinds=["supersedes", "shares_entity:腾讯"])
        assert "supersedes" not in words.reason(path)


def test_a_reason_is_read_as_it_was_stored() -> None:
    assert reasons.read(NESTED.stored) == NESTED
    assert "\\u" not in Reason("shared_entity", name="腾讯").stored
    assert reasons.read(reasons.stored("核实")) == "核实"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no longer at 腾讯",
        "{not json",
        '{"code": ',
        '{"code": "no_such_code", "params": {}}',
        '{"code": "left_place", "params": {}}',
        '{"code": ["a"], "params": {}}',
        '{"code": "left_place", "params": []}',
    ],
)
def test_words_that_are_no_reason_stay_words(text: str) -> None:
    assert reasons.read(text) == text
    assert words.reason(text) == text


def test_a_reason_without_what_its_template_needs_is_refused_where_it_is_made() -> None:
    with pytest.raises(TypeError, match="name"):
        Reason("shared_entity")
    with pytest.raises(KeyError):
        Reason("no_such_code")


def test_an_error_says_its_reason_in_english() -> None:
    error = CodedError(Reason("merged_already", name="小红", id="17"))
    assert str(error) == "小红 was merged into 17 already."
    assert CodedError("words of a page").reason == "words of a page"
