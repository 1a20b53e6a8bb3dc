"""Important dates in a model's answer become attribute values that say exactly one day."""

import pytest

from memories.providers.openai.extraction import extraction
from memories.providers.openai.schemas import ExtractionOut
from tests.memories.providers.openai.examples import answer, memory, request


@pytest.mark.parametrize(
    ("language", "given", "fact"),
    [
        ("zh", {"calendar": "lunar", "month": 8, "day": 15}, ("birthday", "农历八月十五")),
        ("zh", {"calendar": "阴历", "month": 8, "day": 15}, ("birthday", "soon")),
        ("en", {"month": 5, "day": 3, "year": 1990}, ("birthday", "May 3, 1990")),
        ("en", {"kind": "Gotcha", "month": 5, "day": 3}, ("gotcha_day", "May 3")),
        ("en", {"month": 2, "day": 30}, ("birthday", "soon")),
        ("en", {"month": 5, "day": 3, "person": "p9"}, ("birthday", "soon")),
    ],
)
def test_a_date_of_a_memory_takes_the_place_of_its_value(language, given, fact):
    date = {"kind": "birthday", "person": "p1", **given}
    facts = [{"key": "birthday", "value": "soon", "person": "p1"}]
    told = memory(facts=facts if fact[0] == "birthday" else [], important_dates=[date])
    out = ExtractionOut.model_validate(answer(told))
    question = extraction(request(language=language))
    assert question
    (found,) = question.read(out).memories
    assert [(one.key, one.value, one.person) for one in found.facts] == [(*fact, "p1")]
