"""Bar charts, as numbers for an SVG drawn by a template."""

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
    """``bars`` in a box of ``width`` × ``height`` units; ``summary`` says it in words. The axes:
    the value at the ``top`` (empty without any) and the days at the ``ends``."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    summary: str
    top: str
    ends: tuple[str, str]


def bars(
    points: Sequence[tuple[str, float]], summary: str, form: str, ends: tuple[str, str]
) -> Chart:
    """A bar a point, in their order; the highest fills the box, and what is above zero shows.
    ``form`` is how a value is written on the axis."""
    most = max((value for _, value in points), default=0.0)
    step = WIDTH / max(len(points), 1)
    drawn = []
    for place, (title, value) in enumerate(points):
        height = max(HEIGHT * value / most, LEAST) if most and value else 0.0
        x, y, width = round(place * step, 2), round(HEIGHT - height, 2), round(step - GAP, 2)
        drawn.append(Bar(x, y, width, round(height, 2), title))
    return Chart(WIDTH, HEIGHT, tuple(drawn), summary, form.format(most) if most else "", ends)
