"""Spans of people in a text: the chain is exact, and what is found has its form."""

from itertools import pairwise, product
from math import exp, prod

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tools.training import by_author, span_tagger
from understanding.people.chain import Chain
from understanding.people.person_tagger import USER, owners, person_spans, recurring, same_person
from understanding.people.span_evidence import tokens

LABELS = ["B-name", "B-role", "I-name", "I-role", "O"]


def likelihoods(model, rows):
    """Of each sequence of labels that may be, its share of all."""
    found = {}
    for path in product(range(5), repeat=len(rows)):
        names = [LABELS[at] for at in path]
        if any(
            one[0] == "I" and before[1:] != one[1:]
            for before, one in zip(["O", *names], names, strict=False)
        ):
            continue
        scores = [model["weights"][f][at] for row, at in zip(rows, path, strict=True) for f in row]
        steps = [model["transitions"][a][b] for a, b in pairwise(path)]
        found[tuple(names)] = prod(exp(x) for x in (*scores, *steps))
    whole = sum(found.values())
    return {path: share / whole for path, share in found.items()}


def segments_of(path):
    starts = [at for at, label in enumerate(path) if label[0] == "B"]
    for start in starts:
        end = start + 1
        while end < len(path) and path[end][0] == "I":
            end += 1
        yield start, end, path[start][2:]


@pytest.mark.parametrize("length", [1, 2, 4])
def test_a_segment_is_as_probable_as_all_labellings_that_have_it(length):
    drawn = np.random.default_rng(length)
    model = {
        "labels": LABELS,
        "transitions": drawn.normal(size=(5, 5)).tolist(),
        "weights": {name: drawn.normal(size=5).tolist() for name in "abc"},
    }
    rows = [["a", "b"], ["c"], [], ["b", "c"]][:length]
    expected: dict = {}
    for path, share in likelihoods(model, rows).items():
        for segment in segments_of(path):
            expected[segment] = expected.get(segment, 0.0) + share
    found = {s[:3]: s.probability for s in Chain.from_json(model).segments(rows, 0.05)}
    assert found == pytest.approx({s: p for s, p in expected.items() if p >= 0.05})


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=3))
@example("my mate Dave's dads 阿Bo O’Brien", ["Dave", ""])
@example("\u0301 \U0001f468‍\U0001f469 ｄａｖｅ 佩芬學姐的老公", ["佩芬"])
def test_spans_of_any_text_lie_inside_it_one_after_the_other(text, known):
    spans = person_spans(text, known)
    ends = [0, *(end for _, end, *_ in spans)]
    for before, (start, end, kind, probability) in zip(ends, spans, strict=False):
        assert before <= start < end <= len(text)
        assert kind in ("name", "role")
        assert 0 <= probability <= 1
    group = same_person(text, spans)
    assert len(group) == len(spans)
    assert sorted(set(group)) == list(range(len(set(group))))
    for at, owner in enumerate(owners(text, spans)):
        assert owner is None or spans[at].kind == "role"
        assert owner in (None, USER) or (owner in range(len(spans)) and owner != at)


@given(st.text(max_size=60))
def test_tokens_hold_all_of_a_text_but_spaces(text):
    assert "".join(text[t.start : t.end] for t in tokens(text)) == "".join(
        char for char in text if not char.isspace()
    )


def test_a_role_has_its_owner_and_is_one_with_the_name_beside_it():
    text = "my mate Dave met Ryan's girlfriend"
    spans = person_spans(text)
    assert [text[s.start : s.end] for s in spans] == ["mate", "Dave", "Ryan", "girlfriend"]
    assert same_person(text, spans) == [0, 0, 1, 2]
    assert owners(text, spans) == [USER, None, None, 2]


@pytest.mark.parametrize(
    ("text", "word", "owner"),
    [
        ("孟川如今在温哥华开网约车，老婆是护士", "老婆", "孟川"),
        ("我同桌林悦生了，女儿六斤", "女儿", "林悦"),
        ("跟孟川喝酒，老婆不高兴", "老婆", None),
        ("孟川借了我的车，老婆不高兴", "老婆", None),
        ("孟川来了。老婆做了一桌菜", "老婆", None),
        ("孟川在温哥华，妈妈想去看看", "妈妈", None),
        ("我表哥跟老婆搬去威海了", "老婆", "表哥"),
        ("我爸和老婆在阳台下棋", "老婆", None),
        ("我表哥来了，我和老婆去接", "老婆", None),
    ],
)
def test_a_bare_partner_or_child_is_theirs_of_whom_the_sentence_is_told(text, word, owner):
    spans = person_spans(text)
    said = [text[span.start : span.end] for span in spans]
    found = owners(text, spans)[said.index(word)]
    assert found == (said.index(owner) if owner else USER)


@pytest.mark.parametrize(
    ("text", "word", "owner"),
    [
        ("My niece's riding teacher is ill", "teacher", "niece"),
        ("Ravi's late wife liked tulips", "wife", "Ravi"),
        ("Ravi's seeing mum on Friday", "mum", None),
        ("Ravi's my landlord", "landlord", USER),
        ("外甥的英语老师很凶", "老师", "外甥"),
        ("孟川的新女朋友会做饭", "女朋友", "孟川"),
    ],
)
def test_what_kind_of_role_it_is_may_stand_between_it_and_its_owner(text, word, owner):
    spans = person_spans(text)
    said = [text[span.start : span.end] for span in spans]
    found = owners(text, spans)[next(at for at, one in enumerate(said) if one.endswith(word))]
    assert found == (said.index(owner) if isinstance(owner, str) else owner)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My niece has a toddler called Ines who bites", "Ines"),
        ("A plumber named Pavel fixed it", "Pavel"),
        ("Her son's called Rufus", "Rufus"),
        ("We had dinner with my sister Hope", "Hope"),
        ("his new boss Miles Archer is fun", "Miles Archer"),
        ("邻居有个女儿叫朵朵，爱画画", "朵朵"),
        ("the whole crew calls him Badger", "Badger"),
        ("I've been calling her Pebble for years", "Pebble"),
    ],
)
def test_a_word_for_a_person_introduces_a_name(text, name):
    spans = person_spans(text)
    assert name in [
        text[s.start : s.end] for s in spans if s.kind == "name" and s.probability > 0.65
    ]


@pytest.mark.parametrize(
    "text",
    ["My niece has a boyfriend called Rufus", "我表姐有个女儿叫朵朵，爱画画", "Mum called Rufus"],
)
def test_whom_somebody_has_or_rings_is_not_that_somebody(text):
    spans = person_spans(text)
    group = same_person(text, spans)
    assert group[-1] != group[0]


@pytest.mark.parametrize(
    "text",
    [
        "my teacher Sunday school",
        "We saw a film called Heat",
        "妹妹叫外卖",
        "“a man called Horse”",
        "I'll call him Thursday",
        "She polished the Wesley on Sunday",
    ],
)
def test_what_is_called_something_without_being_a_person(text):
    spans = person_spans(text)
    assert [text[s.start : s.end] for s in spans if s.kind == "name"] == []


@pytest.mark.parametrize("text", ["跟老苗算是和好了 我姨还不信", "跟老苗算是和好了，我姨还不信"])
def test_a_relative_with_whom_a_clause_begins_is_not_who_is_named_before(text):
    spans = person_spans(text)
    assert [text[s.start : s.end] for s in spans] == ["老苗", "姨"]
    assert same_person(text, spans) == [0, 1]


@pytest.mark.parametrize(
    "text",
    ["She took a job in Florence.", "Ruben is from Paris, not Florence.", "他在Florence住过一年"],
)
def test_where_somebody_is_or_comes_from_is_nobody(text):
    spans = person_spans(text)
    assert "Florence" not in [text[s.start : s.end] for s in spans]


@pytest.mark.parametrize(
    ("text", "name"),
    [("We all believe in Florence.", "Florence"), ("在Florence家打牌", "Florence")],
)
def test_in_whom_and_at_whose_place_somebody_is_named(text, name):
    spans = person_spans(text, ["Florence"])
    assert name in [text[s.start : s.end] for s in spans]


def test_a_place_of_one_text_is_nobody_in_another():
    texts = ["Florence was lovely", "we lived in Florence then", "Florence rained all week"]
    again = recurring(texts)
    assert person_spans(texts[0])
    assert [span for text in texts for span in person_spans(text, recurring_names=again)] == []


@pytest.mark.parametrize("text", ["那姑娘叫裴宁", "这大叔真逗"])
def test_a_demonstrative_says_which_one_and_not_whose(text):
    assert owners(text, person_spans(text))[0] is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("汪工说图纸要改", "汪工"),
        ("贺导夸了我", "贺导"),
        ("邱局今天不在", "邱局"),
        ("老顾又来闹了", "老顾"),
        ("I met Mrs Bridge at the vet", "Mrs Bridge"),
        ("Our teacher is called Dr. Marsh", "Dr. Marsh"),
        ("I saw mr woods again", "mr woods"),
        ("Ask Mr Daniel Frost about it", "Mr Daniel Frost"),
    ],
)
def test_a_surname_with_a_title_is_a_name(text, name):
    spans = person_spans(text)
    assert name in [
        text[s.start : s.end] for s in spans if s.kind == "name" and s.probability > 0.65
    ]


@pytest.mark.parametrize(
    "text", ["I drank a Dr Pepper", "Miss Bristol already", "my mrs cooks well", "mr", "汪工作很忙"]
)
def test_what_a_title_makes_no_name_of(text):
    spans = person_spans(text)
    assert [text[s.start : s.end] for s in spans if s.kind == "name" and s.probability > 0.65] == []


@pytest.mark.parametrize("place", ["St. Oswald's", "St. Columba's", "Mt. Isobel"])
def test_a_saint_and_a_mountain_are_nobody(place):
    assert person_spans(f"We left early for {place}.") == []


def test_the_weights_fit_the_features():
    """On an author that they were learned from, which says nothing of others: it falls where
    features and weights no longer belong together."""
    texts = span_tagger.sentences(by_author.authors("sentences")["a06"])
    right = said = true = 0
    for one in texts:
        gold = {(s.start, s.end) for s in one.spans}
        found = {(s.start, s.end) for s in person_spans(one.text)}
        right, said, true = right + len(gold & found), said + len(found), true + len(gold)
    assert 2 * right / (said + true) > 0.85


def test_a_name_that_one_text_leaves_in_doubt_is_borne_out_by_others():
    texts = ["wolmar is late with the van", "then wolmar did the roof", "the roof is done"]
    again = recurring(texts)
    once = {t[s.start : s.end]: s.probability for t in texts for s in person_spans(t)}
    assert again["wolmar"] > once.get("wolmar", 0.0)
    assert not again.keys() & {"van", "roof"}
    spans = person_spans(texts[0], recurring_names=again)
    assert [(texts[0][s.start : s.end], s.probability) for s in spans] == [
        ("wolmar", again["wolmar"])
    ]


def test_no_sign_is_part_of_a_name():
    for text in ("男朋友，陈屿。在宁波", "我弟！韩野？", "「周桐」，我室友"):
        for span in person_spans(text):
            assert text[span.start : span.end].isalnum()
