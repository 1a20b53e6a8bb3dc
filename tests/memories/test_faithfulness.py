"""What a text may not lose or add."""

import pytest

from memories import faithfulness


@pytest.mark.parametrize(
    ("text", "source", "lost"),
    [
        ("Nora has 2 cats.", "Nora has 2 cats in Ghent.", {"ghent"}),
        ("Nora has cats.", "Nora has 2 cats.", {"2"}),
        ("Nora has cats.", "Nora has two cats.", {"two"}),
        ("Nora was born in 1990.", "Nora was born on 5 May 1990.", {"5", "may"}),
        ("Nora eats meat.", "Nora doesn't eat meat.", {"negation"}),
        ("小红养了猫", "小红养了三只猫", {"三"}),
        ("小红吃辣", "小红不吃辣", {"negation"}),
        ("小红周末爬山", "小红每周周末爬山", {"每周"}),
        ("The nurse Nora sings.", "Nora, the nurse, sings.", set()),
        ("Nora's dog is called Rex.", "Nora has a dog, Rex.", set()),
    ],
)
def test_lost_particulars_are_named(text, source, lost):
    assert faithfulness.loses(text, source) == lost


@pytest.mark.parametrize(
    ("text", "sources", "added"),
    [
        ("Nora lives in Ghent.", ["Nora lives there."], {"ghent"}),
        ("Nora never sings.", ["Nora sings."], {"negation"}),
        ("Nora has 12 cats.", ["Nora has 1 cat.", "Nora has 2 dogs."], {"12"}),
        ("Nora has 1 cat and 2 dogs.", ["Nora has 1 cat.", "Nora has 2 dogs."], set()),
        ("The user met her on Monday.", ["The user met Nora on monday."], set()),
        ("小红去了东京", ["小红去了那里"], {"东京"}),
        ("Orla Quayle是会计。", ["Orla Quayle在Derry当会计。"], set()),
        ("他和Orla去了", ["他去了"], {"orla"}),
        ("小红2月去东京", ["小红二月去东京"], {"2"}),
    ],
)
def test_added_particulars_are_named(text, sources, added):
    assert faithfulness.adds(text, sources) == added
