from memories.budget import Budget


def test_a_budget_is_left_until_its_calls_or_its_rows_are_spent() -> None:
    for spent, left in [({"calls": 1}, True), ({"calls": 2}, False), ({"rows": 3}, False)]:
        budget = Budget(calls=2, rows=3)
        budget.spend(**spent)
        assert budget.left == left
    budget = Budget(calls=1, rows=1)
    budget.spend()
    assert (budget.calls, budget.rows) == (1, 1)
