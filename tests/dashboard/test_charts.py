from dashboard.charts import HEIGHT, LEAST, bars


def test_a_small_value_beside_a_large_one_can_be_seen_and_none_stays_empty() -> None:
    chart = bars([("a", 1000.0), ("b", 1.0), ("c", 0.0)], "", "{}", ("", ""))
    assert [bar.height for bar in chart.bars] == [HEIGHT, LEAST, 0.0]
    assert [bar.y + bar.height for bar in chart.bars] == [HEIGHT] * 3
