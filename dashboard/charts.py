"""Small charts as numbers for an SVG: no script, and readable in either theme."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, GAP, LEAST = 280.0, 56.0, 2.0, 1.5


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """``bars`` in a box of ``width`` × ``height`` units; ``summary`` says it in words."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    summary: str


def bars(points: Sequence[tuple[str, float]], summary: str) -> Chart:
    """A bar a point, in their order; the highest fills the box, and what is above zero shows."""
    most = max((value for _, value in points), default=0.0)
    step = WIDTH / max(len(points), 1)
    found = []
    for place, (title, value) in enumerate(points):
        height = max(HEIGHT * value / most, LEAST) if most and value else 0.0
        found.append(
            Bar(round(place * step, 2), round(HEIGHT - height, 2), round(step - GAP, 2),
                round(height, 2), title)
        )  # fmt: skip
    return Chart(WIDTH, HEIGHT, tuple(found), summary)
