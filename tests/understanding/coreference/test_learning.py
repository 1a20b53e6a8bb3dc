"""What is learned of reference, on an author who was not shown."""

from tools.training.by_author import CORPUS
from tools.training.reference_model import figures, fit, rows


def test_two_authors_teach_whom_a_third_means() -> None:
    model = fit({name: rows(CORPUS / name) for name in ("a06", "a13")})
    found = figures(rows(CORPUS / "a14"), model)
    assert (found["exact"] or 0) > 0.6
    assert (found["precision"] or 0) > 0.75
    assert (found["somebody"] or 0) < 0.35
